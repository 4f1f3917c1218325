package engine_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"judgefarm/judge"
	"judgefarm/judge/checker"
	"judgefarm/judge/compile"
	"judgefarm/judge/engine"
	"judgefarm/judge/sandbox"
	"judgefarm/judge/sandbox/sandboxtest"
	"judgefarm/languages"
	"judgefarm/testcases"
)

// compiler accepts every source but one that says so. The file's content is the
// name of the scripted program that it becomes.
type compiler struct{ t *testing.T }

func (c *compiler) Inspect(context.Context, *languages.Language) (judge.LanguageRef, error) {
	return judge.LanguageRef{ID: "c", Version: "test", Toolchain: "sha256:00"}, nil
}

func (c *compiler) Compile(_ context.Context, req compile.Request) (*compile.Result, error) {
	switch program := string(req.Files[0].Data); program {
	case "syntax error":
		return &compile.Result{Verdict: judge.CompileError, Log: []byte("main.c:1: no\n")}, nil
	case "broken compiler":
		return nil, judge.Fail(judge.FailSandbox, errors.New("no box"))
	default:
		return &compile.Result{Executable: &compile.Executable{Dir: c.t.TempDir(), Args: []string{program}}}, nil
	}
}

// Check finds what a program's source says of itself.
func (c *compiler) Check(_ context.Context, req compile.Request) (*compile.Result, error) {
	switch program := string(req.Files[0].Data); program {
	case "misspelt":
		return &compile.Result{Verdict: judge.CompileError, Log: []byte("main.py:1: no\n")}, nil
	case "broken check":
		return nil, judge.Fail(judge.FailSandbox, errors.New("no box"))
	}
	return &compile.Result{}, nil
}

func newEngine(t *testing.T, programs map[string]sandboxtest.Program) (*engine.Engine, *sandboxtest.Fake) {
	t.Helper()
	set, err := languages.Load(languages.Config{})
	if err != nil {
		t.Fatal(err)
	}
	fake := &sandboxtest.Fake{Programs: programs}
	return engine.New(engine.Config{
		Runner: fake, Compiler: &compiler{t}, Languages: set,
		Checkers: func(_ context.Context, _ *testcases.Problem, spec judge.CheckerSpec) (checker.Checker, error) {
			if spec.Name == "picky" {
				return picky{}, nil
			}
			if spec.Name == "crashing" {
				return crashing{}, nil
			}
			return checker.New(spec, checker.Deps{})
		},
	}), fake
}

type crashing struct{}

func (crashing) ID() string { return "crashing@1" }
func (crashing) Check(context.Context, checker.Input) (checker.Ruling, error) {
	return checker.Ruling{}, errors.New("segfault")
}

// picky crashes at outputs that begin with "fault" and compares the others.
type picky struct{}

func (picky) ID() string { return "picky@1" }
func (picky) Check(ctx context.Context, in checker.Input) (checker.Ruling, error) {
	r, err := in.Output()
	if err != nil {
		return checker.Ruling{}, err
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	if err != nil || strings.HasPrefix(string(text), "fault") {
		return checker.Ruling{}, errors.Join(err, errors.New("segfault"))
	}
	exact, err := checker.New(judge.CheckerSpec{Name: "tokens"}, checker.Deps{})
	if err != nil {
		return checker.Ruling{}, err
	}
	return exact.Check(ctx, in)
}

// echo prints its input.
func echo(p *sandboxtest.Proc) int {
	if _, err := io.Copy(p.Stdout, p.Stdin); err != nil {
		return 1
	}
	return 0
}

func problem(t *testing.T, pairs ...string) *testcases.Problem {
	t.Helper()
	var cfg testcases.InlineConfig
	for i := 0; i < len(pairs); i += 2 {
		cfg.Tests = append(cfg.Tests, testcases.InlineTest{Stdin: []byte(pairs[i]), Expected: []byte(pairs[i+1])})
	}
	p, err := testcases.Inline(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func submission(program string) judge.Submission {
	return judge.Submission{ID: "1", Language: "c", Files: []judge.File{{Name: "main.c", Data: []byte(program)}}}
}

func verdicts(j judge.Judgement) []judge.Verdict {
	var all []judge.Verdict
	for _, r := range j.Cases {
		all = append(all, r.Verdict)
	}
	return all
}

func TestJudgeStops(t *testing.T) {
	t.Parallel()
	p := problem(t, "1", "1", "2", "x", "3", "3")
	tests := []struct {
		stop  judge.Stop
		want  []judge.Verdict
		score float64
	}{
		{"", []judge.Verdict{"AC", "WA", "SK"}, 1.0 / 3},
		{judge.StopFirstFail, []judge.Verdict{"AC", "WA", "SK"}, 1.0 / 3},
		{judge.StopNever, []judge.Verdict{"AC", "WA", "AC"}, 2.0 / 3},
	}
	for _, tt := range tests {
		e, fake := newEngine(t, map[string]sandboxtest.Program{"echo": echo})
		sub := submission("echo")
		sub.Stop = tt.stop
		var heard []judge.Verdict
		out, err := e.Judge(t.Context(), engine.Job{Submission: sub, Problem: p}, engine.Watcher{
			Case: func(i, total int, run judge.Run) {
				if i != len(heard) || total != 3 {
					t.Errorf("watcher heard of case %d of %d, want %d of 3", i, total, len(heard))
				}
				heard = append(heard, run.Verdict)
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		j := out.Judgement
		if got := verdicts(j); !slices.Equal(got, tt.want) || !slices.Equal(heard, tt.want) || *j.Verdict != "WA" || *j.Score != tt.score {
			t.Errorf("stop %q: cases %v, heard %v, verdict %v, score %v, want %v, WA, %v", tt.stop, got, heard, *j.Verdict, *j.Score, tt.want, tt.score)
		}
		ran := slices.DeleteFunc(slices.Clone(tt.want), func(v judge.Verdict) bool { return v == judge.Skipped })
		if boxes := len(fake.Specs()); boxes != len(ran) {
			t.Errorf("stop %q: %d boxes, want %d", tt.stop, boxes, len(ran))
		}
	}
}

func TestJudgeFillsTheDocument(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t, map[string]sandboxtest.Program{"echo": echo})
	sub := submission("echo")
	sub.Limits = judge.Limits{CPU: 2 * time.Second}
	out, err := e.Judge(t.Context(), engine.Job{Submission: sub, Problem: problem(t, "a", "a")}, engine.Watcher{})
	if err != nil {
		t.Fatal(err)
	}
	j := out.Judgement
	if j.State != judge.Judged || j.JudgedAt == nil || j.Language == nil || j.Enforced == nil || j.Checker != "tokens@1" ||
		!strings.HasPrefix(j.Problem.Digest, "sha256:") || j.Limits.CPU != 2000 || j.Limits.Wall != 6000 {
		t.Errorf("judgement lacks something: %+v", j)
	}
	if run := j.Cases[0]; run.Stdout == nil || run.Stdout.Text != "a" || run.Exit == nil || *run.Exit != 0 {
		t.Errorf("run of an inline test = %+v, want its output and exit status", run)
	}
}

func TestHiddenOutputIsNotShown(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t, map[string]sandboxtest.Program{"echo": echo})
	p := problem(t, "secret", "other")
	p.Inline = false
	out, err := e.Judge(t.Context(), engine.Job{Submission: submission("echo"), Problem: p}, engine.Watcher{})
	if err != nil {
		t.Fatal(err)
	}
	run := out.Judgement.Cases[0]
	if run.Stdout != nil || strings.Contains(run.Message, "secret") || strings.Contains(run.Message, "other") {
		t.Errorf("run of a hidden case shows data: %+v", run)
	}
	if len(out.Outputs) != 1 || string(out.Outputs[0].Stdout) != "secret" {
		t.Errorf("outputs for artifacts = %+v, want the program's", out.Outputs)
	}
}

// The arguments of a forbidden call are the program's choice, so they are shown only
// where its output is.
func TestForbiddenCallIsTold(t *testing.T) {
	t.Parallel()
	e, fake := newEngine(t, map[string]sandboxtest.Program{"open": func(p *sandboxtest.Proc) int {
		p.Syscall = `openat("/etc/secret", O_RDONLY)`
		return 0
	}})
	for inline, want := range map[bool]string{true: `openat("/etc/secret", O_RDONLY)`, false: "openat"} {
		p := problem(t, "secret", "other")
		p.Inline = inline
		sub := submission("open")
		sub.Limits.Ptrace = true
		out, err := e.Judge(t.Context(), engine.Job{Submission: sub, Problem: p}, engine.Watcher{})
		if err != nil {
			t.Fatal(err)
		}
		j := out.Judgement
		if run := j.Cases[0]; run.Verdict != judge.SecurityViolation || run.Syscall != want || run.Message != "ended for the forbidden system call openat" {
			t.Errorf("inline %v: %+v, want SV and %q", inline, run, want)
		}
		if !j.Limits.Ptrace || !fake.Specs()[len(fake.Specs())-1].Limits.Ptrace {
			t.Errorf("limits as applied %+v do not name strict mode", j.Limits)
		}
	}
}

func TestCompileErrorRunsNothing(t *testing.T) {
	t.Parallel()
	e, fake := newEngine(t, nil)
	out, err := e.Judge(t.Context(), engine.Job{Submission: submission("syntax error"), Problem: problem(t, "", "")}, engine.Watcher{})
	if err != nil {
		t.Fatal(err)
	}
	j := out.Judgement
	if *j.Verdict != judge.CompileError || *j.Score != 0 || j.Compile.Log.Text != "main.c:1: no\n" || len(fake.Specs()) != 0 {
		t.Errorf("judgement = %+v after %d boxes, want CE with its log and no box", j, len(fake.Specs()))
	}
}

// A submission's own executable that cannot be started is its fault.
func TestExecutableThatCannotBeStarted(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t, nil)
	out, err := e.Judge(t.Context(), engine.Job{Submission: submission(sandbox.ExeDir + "/a.out"), Problem: problem(t, "", "")}, engine.Watcher{})
	if err != nil || *out.Judgement.Verdict != judge.RuntimeError || out.Judgement.Cases[0].Cause != string(sandbox.CauseExec) {
		t.Errorf("Judge = %+v, %v, want RTE by exec", out, err)
	}
}

// Faults of ours are errors, never verdicts; whatever the program did.
func TestOurFaults(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		program string
		checker string
		kind    judge.FailureKind
	}{
		{"compiler's box", "broken compiler", "", judge.FailSandbox},
		{"checker", "echo", "crashing", judge.FailChecker},
		{"interpreter that cannot be started", "/usr/bin/gone", "", judge.FailToolchain},
	}
	for _, tt := range tests {
		e, _ := newEngine(t, map[string]sandboxtest.Program{"echo": echo})
		sub := submission(tt.program)
		if tt.checker != "" {
			sub.Checker = &judge.CheckerSpec{Name: tt.checker}
		}
		out, err := e.Judge(t.Context(), engine.Job{Submission: sub, Problem: problem(t, "a", "a")}, engine.Watcher{})
		var failed *judge.Failed
		if out != nil || !errors.As(err, &failed) || failed.Kind != tt.kind {
			t.Errorf("%s: Judge = %v, %v, want a failure of kind %s", tt.name, out, err, tt.kind)
		}
	}
}

// A box that no host makes is the problem's fault, not the request's nor this host's.
func TestBoxesThatNoHostMakes(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t, map[string]sandboxtest.Program{"echo": echo})
	p := problem(t, "a", "a")
	p.Groups[0].Cases[0].Args = []string{strings.Repeat("x", 1<<20)}
	_, err := e.Judge(t.Context(), engine.Job{Submission: submission("echo"), Problem: p}, engine.Watcher{})
	var failed *judge.Failed
	if judge.IsBadRequest(err) || !errors.As(err, &failed) || failed.Kind != judge.FailProblem || failed.Retryable {
		t.Errorf("Judge = %+v, want a failure of the problem that is not tried again", err)
	}
}

func TestBadRequestsComeBeforeAnythingRuns(t *testing.T) {
	t.Parallel()
	tests := map[string]func(*judge.Submission){
		"language": func(s *judge.Submission) { s.Language = "klingon" },
		"limits":   func(s *judge.Submission) { s.Limits = judge.Limits{CPU: time.Second, Wall: time.Millisecond} },
		"checker":  func(s *judge.Submission) { s.Checker = &judge.CheckerSpec{Name: "guess"} },
	}
	for field, spoil := range tests {
		e, fake := newEngine(t, map[string]sandboxtest.Program{"echo": echo})
		sub := submission("echo")
		spoil(&sub)
		_, err := e.Judge(t.Context(), engine.Job{Submission: sub, Problem: problem(t, "", "")}, engine.Watcher{})
		if !judge.IsBadRequest(err) || !strings.Contains(err.Error(), field) || len(fake.Specs()) != 0 {
			t.Errorf("bad %s: Judge = %v after %d boxes, want a bad request that names it", field, err, len(fake.Specs()))
		}
	}
}

func TestCancelGivesItsCause(t *testing.T) {
	t.Parallel()
	cause := errors.New("drained")
	ctx, cancel := context.WithCancelCause(t.Context())
	e, _ := newEngine(t, map[string]sandboxtest.Program{"wait": func(p *sandboxtest.Proc) int {
		cancel(cause)
		<-p.Done
		return 0
	}})
	_, err := e.Judge(ctx, engine.Job{Submission: submission("wait"), Problem: problem(t, "", "")}, engine.Watcher{})
	if !errors.Is(err, cause) {
		t.Errorf("Judge = %v, want %v", err, cause)
	}
}

func TestInputIsASealedCopy(t *testing.T) {
	t.Parallel()
	e, fake := newEngine(t, map[string]sandboxtest.Program{"echo": echo})
	if _, err := e.Judge(t.Context(), engine.Job{Submission: submission("echo"), Problem: problem(t, "a", "a")}, engine.Watcher{}); err != nil {
		t.Fatal(err)
	}
	var spec sandbox.Spec = fake.Specs()[0]
	if spec.Stdin == nil || spec.Stdin.Name() != "stdin" {
		t.Errorf("stdin = %v, want a nameless copy", spec.Stdin)
	}
}
