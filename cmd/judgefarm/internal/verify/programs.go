package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"judgefarm/judge"
	"judgefarm/judge/checker"
	"judgefarm/judge/compile"
	"judgefarm/judge/engine"
	"judgefarm/judge/sandbox"
	"judgefarm/languages"
	"judgefarm/testcases"
)

// Input validators run when a package is made, not when it is used: what they may use
// is no matter of the problem's limits.
var validatorLimits = judge.Limits{
	CPU: 60 * time.Second, Wall: 180 * time.Second, Memory: 2 * judge.GiB, Output: 256 * judge.KiB, Tasks: 64,
}

// answer is what an input validator said of an input.
type answer struct {
	accepts bool
	text    string // what it printed
	broken  string // why it says nothing: a limit
}

// validator is an input validator, compiled.
type validator interface {
	name() string
	look(ctx context.Context, in testcases.Data, c testcases.Case, args []string) (answer, error)
	release()
}

// boxed is one that is a program of the package, run in a box.
type boxed struct {
	cfg  *Config
	v    testcases.Validator
	lang *languages.Language
	exe  *compile.Executable
}

// newBoxed compiles the validator. A *judge.Failed of the kind problem says that the
// package is at fault.
func newBoxed(ctx context.Context, cfg *Config, v testcases.Validator) (*boxed, error) {
	lang, err := checker.LanguageOf(cfg.Languages, &v.Program)
	if err != nil {
		return nil, err
	}
	res, err := cfg.Compiler.Compile(ctx, compile.Request{Language: lang, Files: v.Program.Files})
	if err != nil {
		return nil, err
	}
	if res.Executable == nil {
		return nil, &judge.Failed{Kind: judge.FailProblem, Reason: fmt.Sprintf("does not compile (%s)", res.Verdict),
			Err: fmt.Errorf("%.4000s", res.Log)}
	}
	return &boxed{cfg, v, lang, res.Executable}, nil
}

func (b *boxed) name() string { return b.v.Program.Name }
func (b *boxed) release()     { b.exe.Release() }

func (b *boxed) look(ctx context.Context, in testcases.Data, c testcases.Case, args []string) (answer, error) {
	limits := b.lang.Apply(b.v.Program.Limits.Or(validatorLimits))
	cmd, err := compile.CommandOf(b.lang, b.exe, limits)
	if err != nil {
		return answer{}, judge.Fail(judge.FailToolchain, err)
	}
	stdin, err := engine.Stdin(in)
	if err != nil {
		return answer{}, judge.Fail(judge.FailProblem, err)
	}
	defer stdin.Close()
	kept := sandbox.Stream{Limit: validatorLimits.Output, Keep: true}
	spec := sandbox.Spec{
		Args: slices.Concat(cmd.Args, b.v.Program.Args, b.v.Args[c.Name], args), Env: cmd.Env, Root: cmd.Root, Mounts: cmd.Mounts,
		Slack: cmd.Slack, Limits: limits, Stdin: stdin, Stdout: kept, Stderr: kept,
	}
	for _, f := range c.Files {
		data, err := testcases.ReadAll(f.Data, 64<<20)
		if err != nil {
			return answer{}, judge.Fail(judge.FailProblem, err)
		}
		spec.Files = append(spec.Files, sandbox.File{Name: f.Name, Data: data})
	}
	rep, err := b.cfg.Runner.Run(ctx, spec)
	if err != nil {
		return answer{}, cause(ctx, judge.FailSandbox, err)
	}
	return b.read(rep), nil
}

// read tells what the end of the program means: 42 accepts in the Kattis format, 0 in
// all others, and every other end of its own does not.
func (b *boxed) read(rep *sandbox.Report) answer {
	a := answer{text: firstLines(rep.Stderr.Data)}
	if a.text == "" {
		a.text = firstLines(rep.Stdout.Data)
	}
	yes := 0
	if b.v.Program.Protocol == testcases.ProtocolKattis {
		yes = 42
	}
	switch rep.Cause {
	case sandbox.CauseExit:
		a.accepts = rep.Exit == yes
		if !a.accepts && a.text == "" {
			a.text = fmt.Sprintf("status %d", rep.Exit)
		}
	case sandbox.CauseSignal:
		a.text = fmt.Sprintf("ended by signal %d; %s", rep.Signal, a.text)
	default:
		a.broken = fmt.Sprintf("was ended: %s", rep.Cause)
	}
	return a
}

// cause is ctx's cause when that is why, else a failure of ours.
func cause(ctx context.Context, kind judge.FailureKind, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return judge.Fail(kind, err)
}

// packageFault tells an error that the package itself is to blame for from one of
// ours: what it is, with what its programs printed.
func packageFault(err error) (reason, printed string, is bool) {
	var failed *judge.Failed
	var bad *judge.BadRequest
	switch {
	case errors.As(err, &bad):
		return bad.Error(), "", true
	case errors.As(err, &failed) && (failed.Kind == judge.FailProblem || failed.Kind == judge.FailChecker):
		if failed.Err != nil {
			printed = strings.TrimLeft(strings.TrimPrefix(failed.Err.Error(), failed.Reason), ";: ")
		}
		return failed.Reason, printed, true
	}
	return "", "", false
}
