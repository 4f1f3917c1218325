package checker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
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
	Program  *testcases.Program
	Language *languages.Language // of the program
	Dir      string              // for the data of a check while it runs; "" is the system's temporary directory
}

// What a checker program may use, whatever the submission printed. Its stack is
// bounded by the memory limit only: checkers recurse too.
var customLimits = judge.Limits{
	CPU: 10 * time.Second, Wall: 30 * time.Second,
	Memory: judge.GiB, Output: 64 * judge.KiB, Tasks: 64,
}

const (
	dataDir      = "/judge"                      // input and answer, read-only
	feedback     = "feedback/"                   // below the work directory
	juryMessage  = feedback + "judgemessage.txt" // to the jury
	teamMessage  = feedback + "teammessage.txt"  // to the submitter
	feedbackArg  = sandbox.WorkDir + "/" + feedback
	scoreFile    = feedback + "score.txt"
	shareFile    = feedback + "score_multiplier.txt"
	nextPass     = feedback + "nextpass.in"
	feedbackSize = 64 * judge.KiB // of each message
	feedbackKept = 64 * judge.MiB // of the whole folder, between passes
	teamMax      = 1024           // bytes of the message to the submitter that are kept
)

// custom runs the problem's own program in a box, by the protocol of its format.
// Whatever the protocol does not know as an answer, a limit or a crash included, is a
// failure of the checker and no verdict.
type custom struct {
	deps      Deps
	protocol  protocol
	files     []judge.File // of the program
	args      []string
	toolchain string // digest of what compiles and runs the program; "" where nobody asked
}

func newCustom(args []string, deps Deps) (Checker, error) {
	switch {
	case deps.Program == nil || len(deps.Program.Files) == 0:
		return nil, judge.Refuse(&judge.FieldError{Field: "checker.name", Reason: "custom needs a problem that brings a checker program"})
	case deps.Language == nil:
		return nil, judge.Refuse(&judge.FieldError{Field: "checker.language", Reason: "custom needs the language of its program"})
	case deps.Runner == nil || deps.Compiler == nil:
		return nil, errors.New("make custom checker: no runner or compiler")
	}
	p, ok := protocolOf(deps.Program.Protocol)
	if !ok {
		return nil, judge.Refuse(&judge.FieldError{Field: "checker.protocol",
			Reason: fmt.Sprintf("checkers that speak %.32q are not supported", deps.Program.Protocol)})
	}
	c := &custom{deps: deps, protocol: p, files: deps.Program.Files, args: slices.Concat(deps.Program.Args, args)}
	if p.harness != nil {
		if deps.Language.ID != harnessLanguage {
			return nil, judge.Refuse(&judge.FieldError{Field: "checker.language",
				Reason: fmt.Sprintf("must be %s for the protocol %s, is %s", harnessLanguage, deps.Program.Protocol, deps.Language.ID)})
		}
		c.files = p.harness(deps.Program.Files)
	}
	return c, nil
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

// OnError is what the package says of its checker.
func (c *custom) OnError() bool { return c.deps.Program.OnError }

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

	spec, err := c.spec(exe, files, in)
	if err != nil {
		return Ruling{}, err
	}
	rep, err := c.deps.Runner.Run(ctx, spec)
	switch {
	case err != nil && ctx.Err() != nil:
		return Ruling{}, context.Cause(ctx)
	case judge.IsBadRequest(err): // a box that no host makes
		return Ruling{}, judge.Fail(judge.FailChecker, fmt.Errorf("run checker on case %s: %w", in.Case, err))
	case err != nil:
		return Ruling{}, judge.Fail(judge.FailSandbox, fmt.Errorf("run checker on case %s: %w", in.Case, err))
	}
	r, err := c.protocol.ruling(in.Case, rep)
	if err == nil {
		r, err = bounded(in, r, rep)
	}
	if err != nil || !c.protocol.feedback || !in.Passes {
		return r, err
	}
	return another(in.Case, r, rep)
}

func (c *custom) compile(ctx context.Context) (*compile.Executable, error) {
	res, err := c.deps.Compiler.Compile(ctx, compile.Request{
		Language: c.deps.Language, Files: c.files, Flags: c.deps.Program.Flags,
	})
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, judge.Fail(judge.FailChecker, fmt.Errorf("compile checker: %w", err))
	case res.Executable == nil:
		return nil, &judge.Failed{Kind: judge.FailChecker,
			Reason:    fmt.Sprintf("the checker does not compile (%s)", res.Verdict),
			Retryable: res.Verdict == judge.CompileTimeLimit, // of a machine that was busy
			Err:       fmt.Errorf("compile checker: %s: %.2000s", res.Verdict, res.Log)}
	}
	return res.Executable, nil
}

func (c *custom) spec(exe *compile.Executable, files *staged, in Input) (sandbox.Spec, error) {
	limits := c.deps.Language.Apply(c.deps.Program.Limits.Or(customLimits))
	cmd, err := compile.CommandOf(c.deps.Language, exe, limits)
	if err != nil {
		return sandbox.Spec{}, judge.Fail(judge.FailChecker, err)
	}
	said := sandbox.Stream{Limit: limits.Output, Keep: true} // how much it talks is no reason to fail
	spec := sandbox.Spec{
		Args: slices.Concat(cmd.Args, c.call(c.protocol.files), c.args, in.Args), Env: cmd.Env, Root: cmd.Root, Slack: cmd.Slack, Limits: limits,
		Mounts: append(slices.Clone(cmd.Mounts), sandbox.Mount{Source: files.data, Target: dataDir}),
		Stdout: said, Stderr: said,
	}
	if c.protocol.output {
		spec.Stdin = files.output
	}
	if c.protocol.feedback {
		spec.Files, spec.Collect = folder(in)
	}
	if c.protocol.static {
		spec.Args, spec.Mounts = slices.Concat(cmd.Args, staticArgs(in), c.args, in.Args), cmd.Mounts
		spec.Files = append(spec.Files, sources(in)...)
	}
	if c.protocol.harness != nil {
		spec.Files, spec.Collect, err = factsOf(in)
	}
	return spec, err
}

// call is the command line after the program: the protocol's, or the package's own.
func (c *custom) call(files []string) []string {
	if c.deps.Program.Call == nil {
		return files
	}
	name := strings.NewReplacer("{input_file}", inputPath, "{output_file}", outputPath, "{answer_file}", answerPath)
	own := make([]string, len(c.deps.Program.Call))
	for i, word := range c.deps.Program.Call {
		own[i] = name.Replace(word)
	}
	return own
}

// folder is the feedback folder before the run and what is taken of it afterwards.
func folder(in Input) ([]sandbox.File, []sandbox.Collect) {
	// The empty messages bring the folder into being, as the box's user.
	files := []sandbox.File{{Name: juryMessage}, {Name: teamMessage}}
	collect := []sandbox.Collect{}
	for _, name := range []string{juryMessage, teamMessage, scoreFile, shareFile} {
		collect = append(collect, sandbox.Collect{Name: name, Max: feedbackSize})
	}
	if in.Passes {
		collect = append(collect, sandbox.Collect{Name: strings.TrimSuffix(feedback, "/"), Max: feedbackKept, Dir: true})
		if in.Feedback != nil {
			files = in.Feedback
		}
	}
	return files, collect
}

// another reads what a checker of several passes left: the next input, which is taken
// away, and everything else, which the next pass finds again. Problem package format,
// "Multi-pass validation".
func another(name string, r Ruling, rep *sandbox.Report) (Ruling, error) {
	for _, f := range rep.Files {
		if !strings.HasPrefix(f.Name, feedback) {
			continue
		}
		switch {
		case f.Err != nil && f.Name == nextPass && !errors.Is(f.Err, fs.ErrNotExist):
			return Ruling{}, nonsense(name, "wrote a next input that cannot be taken", rep)
		case f.Err != nil:
		case f.Name == nextPass:
			r.Next = append([]byte{}, f.Data...)
		case !slices.ContainsFunc(r.Feedback, func(g sandbox.File) bool { return g.Name == f.Name }):
			r.Feedback = append(r.Feedback, sandbox.File{Name: f.Name, Data: f.Data})
		}
	}
	if r.Next != nil && r.Verdict != judge.Accepted {
		return Ruling{}, nonsense(name, "refused the output and asked for another pass", rep)
	}
	return r, nil
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
