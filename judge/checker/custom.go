package checker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"judgefarm/judge"
	"judgefarm/judge/compile"
	"judgefarm/judge/sandbox"
	"judgefarm/languages"
	"judgefarm/testcases"
)

// Compiler is what a custom checker needs of judge/compile.
type Compiler interface {
	Compile(ctx context.Context, req compile.Request) (*compile.Result, error)
	// Inspect names the toolchain that Compile uses.
	Inspect(ctx context.Context, lang *languages.Language) (judge.LanguageRef, error)
}

// Deps is what a custom checker is made of. Built-in checkers need none of it.
type Deps struct {
	Runner   sandbox.Runner
	Compiler Compiler
	Language *languages.Language // of the program
	Files    []judge.File        // its sources, the main file first
	Dir      string              // for the data of a check while it runs; "" is the system's temporary directory
}

// What a checker program may use, whatever the submission printed. Its stack is
// bounded by the memory limit only: checkers recurse too.
var customLimits = judge.Limits{
	CPU: 10 * time.Second, Wall: 30 * time.Second,
	Memory: judge.GiB, Output: 64 * judge.KiB, Tasks: 64,
}

// The convention is that of Kattis output validators.
const (
	exitAccepted = 42
	exitWrong    = 43

	dataDir      = "/judge"                      // input and answer, read-only
	feedback     = "feedback/"                   // below the work directory
	juryMessage  = feedback + "judgemessage.txt" // to the jury
	teamMessage  = feedback + "teammessage.txt"  // to the submitter
	feedbackArg  = sandbox.WorkDir + "/" + feedback
	feedbackSize = 64 * judge.KiB // of each message
	teamMax      = 1024           // bytes of the message to the submitter that are kept
)

// custom runs the problem's own program in a box:
//
//	program /judge/input /judge/answer /work/feedback/ ARGS... < output
//
// Exit status 42 accepts, 43 refuses. Everything else, a limit or a crash
// included, is a failure of the checker and no verdict.
type custom struct {
	deps      Deps
	args      []string
	toolchain string // digest of what compiles and runs the program; "" where nobody asked
}

func newCustom(args []string, deps Deps) (Checker, error) {
	switch {
	case len(deps.Files) == 0:
		return nil, judge.Refuse(&judge.FieldError{Field: "checker.name", Reason: "custom needs a problem that brings a checker program"})
	case deps.Language == nil:
		return nil, judge.Refuse(&judge.FieldError{Field: "checker.language", Reason: "custom needs the language of its program"})
	case deps.Runner == nil || deps.Compiler == nil:
		return nil, errors.New("make custom checker: no runner or compiler")
	}
	return &custom{deps: deps, args: args}, nil
}

// toolchainDigits are enough to tell the compilers of a farm apart.
const toolchainDigits = 12

// ID names the program's language and toolchain after the version: the problem's
// digest covers its source, and another compiler is another program.
func (c *custom) ID() string {
	id := testcases.CustomChecker + "@1"
	if c.toolchain != "" {
		hex := strings.TrimPrefix(c.toolchain, "sha256:")
		id += "+" + c.deps.Language.ID + ":" + hex[:min(toolchainDigits, len(hex))]
	}
	return id
}

// inspect learns the toolchain.
func (c *custom) inspect(ctx context.Context) error {
	ref, err := c.deps.Compiler.Inspect(ctx, c.deps.Language)
	switch {
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return judge.Fail(judge.FailToolchain, fmt.Errorf("inspect the checker's toolchain: %w", err))
	}
	c.toolchain = ref.Toolchain
	return nil
}

// Check compiles the program, which costs a look into the compiler's cache from
// the second time on, and runs it once.
func (c *custom) Check(ctx context.Context, in Input) (Ruling, error) {
	exe, err := c.compile(ctx)
	if err != nil {
		return Ruling{}, err
	}
	defer exe.Release()
	files, err := stage(c.deps.Dir, in)
	if err != nil {
		return Ruling{}, err
	}
	defer files.remove()

	spec, err := c.spec(exe, files)
	if err != nil {
		return Ruling{}, err
	}
	rep, err := c.deps.Runner.Run(ctx, spec)
	switch {
	case err != nil && ctx.Err() != nil:
		return Ruling{}, context.Cause(ctx)
	case err != nil:
		return Ruling{}, judge.Fail(judge.FailSandbox, fmt.Errorf("run checker on case %s: %w", in.Case, err))
	}
	return customRuling(in.Case, rep)
}

func (c *custom) compile(ctx context.Context) (*compile.Executable, error) {
	res, err := c.deps.Compiler.Compile(ctx, compile.Request{Language: c.deps.Language, Files: c.deps.Files})
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, judge.Fail(judge.FailChecker, fmt.Errorf("compile checker: %w", err))
	case res.Executable == nil:
		return nil, &judge.Failed{Kind: judge.FailChecker,
			Reason: fmt.Sprintf("the checker does not compile (%s)", res.Verdict),
			Err:    fmt.Errorf("compile checker: %s: %.2000s", res.Verdict, res.Log)}
	}
	return res.Executable, nil
}

func (c *custom) spec(exe *compile.Executable, files *staged) (sandbox.Spec, error) {
	limits := c.deps.Language.Apply(customLimits)
	cmd, err := compile.CommandOf(c.deps.Language, exe, limits)
	if err != nil {
		return sandbox.Spec{}, judge.Fail(judge.FailChecker, err)
	}
	args := append(slices.Clone(cmd.Args), dataDir+"/input", dataDir+"/answer", feedbackArg)
	said := sandbox.Stream{Limit: limits.Output, Keep: true} // how much it talks is no reason to fail
	return sandbox.Spec{
		Args: append(args, c.args...), Env: cmd.Env, Root: cmd.Root, Slack: cmd.Slack, Limits: limits,
		Mounts: append(slices.Clone(cmd.Mounts), sandbox.Mount{Source: files.data, Target: dataDir}),
		Stdin:  files.output, Stdout: said, Stderr: said,
		// The empty messages bring the folder into being, as the box's user.
		Files:   []sandbox.File{{Name: juryMessage}, {Name: teamMessage}},
		Collect: []sandbox.Collect{{Name: juryMessage, Max: feedbackSize}, {Name: teamMessage, Max: feedbackSize}},
	}, nil
}

// customRuling reads what the box says. A reason never holds what the program
// printed, which may be answer data; the wrapped error does, for the log.
func customRuling(name string, rep *sandbox.Report) (Ruling, error) {
	r := Ruling{Message: message(rep, teamMessage, teamMax), Jury: message(rep, juryMessage, int(feedbackSize))}
	exited := rep.Cause == sandbox.CauseExit
	switch {
	case exited && rep.Exit == exitAccepted:
		r.Verdict = judge.Accepted
		return r, nil
	case exited && rep.Exit == exitWrong:
		r.Verdict = judge.WrongAnswer
		if r.Message == "" {
			r.Message = "the problem's checker refused the output"
		}
		return r, nil
	}
	reason := fmt.Sprintf("the checker was ended on case %s: %s", name, rep.Cause)
	switch {
	case exited:
		reason = fmt.Sprintf("the checker exited with status %d on case %s, not with %d or %d", rep.Exit, name, exitAccepted, exitWrong)
	case rep.Cause == sandbox.CauseSignal:
		reason = fmt.Sprintf("the checker was ended by signal %d on case %s", rep.Signal, name)
	}
	return Ruling{}, &judge.Failed{Kind: judge.FailChecker, Reason: reason, Retryable: true,
		Err: fmt.Errorf("%s; it said %.2000q", reason, rep.Stderr.Data)}
}

// message returns a collected file as text of at most max bytes. One that the
// box refused to hand out changes no ruling.
func message(rep *sandbox.Report, name string, max int) string {
	for _, f := range rep.Files {
		if f.Name == name && f.Err == nil {
			b := f.Data[:min(len(f.Data), max)]
			return strings.TrimSpace(strings.ToValidUTF8(string(b), "\uFFFD"))
		}
	}
	return ""
}
