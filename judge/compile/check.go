package compile

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"judgefarm/judge"
	"judgefarm/judge/sandbox"
)

// Check asks the language's check, which it must have, about sources that Compile took:
// a Result with CompileError says that they are not of the language, one without a
// verdict that nothing is known. It runs in a box, once for each sources, toolchain and
// limits. Errors are those of Compile.
func (c *Compiler) Check(ctx context.Context, req Request) (*Result, error) {
	began := c.cfg.Clock()
	if err := checkFiles(req.Files); err != nil {
		return nil, err
	}
	tc, err := c.toolchain(ctx, req.Language)
	if err != nil {
		return nil, err
	}
	w := newWork(tc, req)
	w.strict = req.Strict && w.lang.Check.Says != nil // others run no code of the program
	out, cached, err := c.obtain(ctx, checkKey(w), func(ctx context.Context) (built, error) { return c.runCheck(ctx, w) })
	if err != nil {
		return nil, err
	}
	if out.entry != nil {
		c.cache.unpin(out.entry)
	}
	return &Result{
		Verdict: out.meta.Verdict, Log: out.meta.Log, LogTotal: out.meta.LogTotal,
		Usage: out.meta.Usage, Cached: cached, Took: c.cfg.Clock().Sub(began),
	}, nil
}

// runCheck runs a check and rules on it: only a status of its own is a word.
func (c *Compiler) runCheck(ctx context.Context, w *work) (built, error) {
	step := &w.lang.Check.Step
	spec := compilerSpec(w, step, "")
	spec.Collect, spec.Limits.Ptrace = nil, w.strict
	rep, err := c.execute(ctx, w, step, spec)
	if err != nil {
		return built{}, err
	}
	b := built{lasting: true, meta: meta{Usage: judge.Usage{CPU: rep.CPU, Wall: rep.Wall, Memory: rep.Memory}}}
	switch {
	case rep.Cause != sandbox.CauseExit:
		b.lasting = rep.Cause != sandbox.CauseWall && rep.Cause != sandbox.CauseIdle
	case rep.Exit != 0:
		b.meta.Verdict, b.meta.Log, b.meta.LogTotal = judge.CompileError, rep.Stdout.Data, rep.Stdout.Total
	}
	return b, nil
}

// checkKey is over all that the outcome depends on: what the executable does, whose
// toolchain's digest has the check in it, the check's limits, and strict mode.
func checkKey(w *work) string {
	// Encoding a struct of numbers cannot fail.
	limits, _ := json.Marshal(w.lang.Check.Limits)
	sum := sha256.Sum256(fmt.Appendf(nil, "judgefarm check 2\n%s\n%t\n%s\n", limits, w.strict, w.key))
	return hex.EncodeToString(sum[:])
}
