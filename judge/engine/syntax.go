package engine

import (
	"context"

	"judgefarm/judge"
	"judgefarm/judge/compile"
	"judgefarm/judge/sandbox"
	"judgefarm/testcases"
)

// misspelt reports whether what a program ended of is that its sources are not of their
// language, and makes that the judgement. Only the first run is a reason to look: a
// syntax error does not wait for a certain input, and a language without a compiler has
// each of its submissions looked at once at most. docs/decisions/0015.
func (c *cases) misspelt(ctx context.Context, one testcases.Case, r ran) (bool, error) {
	s := c.session
	if c.tried || s.ready(one) || one.Static {
		return false, nil
	}
	c.tried = true
	run := r.run
	ended := run.Verdict == judge.RuntimeError && run.Cause == string(sandbox.CauseExit)
	if !ended || !s.lang.Suspects(r.output.Stderr) {
		return false, nil
	}
	files, main, _ := s.sourceFiles()
	res, err := s.Compiler.Check(ctx, compile.Request{Language: s.lang, Files: files, Main: main, Strict: s.lim.Ptrace})
	if err != nil {
		return false, err
	}
	j := &s.out.Judgement
	j.Timing.Compile += judge.MillisOf(res.Took)
	if res.Verdict == "" || !s.lang.Check.Confirms(res.Log, r.output.Stderr) {
		return false, nil
	}
	j.Timing.Run += run.Usage.Wall
	j.Cases, s.out.Outputs = []judge.Run{}, nil // documents have a list, of none
	s.refused(res)
	return true, nil
}
