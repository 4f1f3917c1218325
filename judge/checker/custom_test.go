package checker_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"judgefarm/judge"
	"judgefarm/judge/checker"
	"judgefarm/judge/checker/checkertest"
	"judgefarm/judge/compile"
	"judgefarm/judge/sandbox"
	"judgefarm/judge/sandbox/sandboxtest"
	"judgefarm/languages"
	"judgefarm/testcases"
)

// compiled is a compiler whose product is a program of the fake runner.
type compiled struct{ verdict judge.Verdict }

func (c compiled) Compile(ctx context.Context, req compile.Request) (*compile.Result, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if c.verdict != "" {
		return &compile.Result{Verdict: c.verdict, Log: []byte("line 1: secret answer")}, nil
	}
	return &compile.Result{Executable: &compile.Executable{Dir: "/nowhere", Args: []string{"/exe/" + req.Files[0].Name}}}, nil
}

func (c compiled) Inspect(_ context.Context, l *languages.Language) (judge.LanguageRef, error) {
	if c.verdict != "" {
		return judge.LanguageRef{}, &judge.Failed{Kind: judge.FailToolchain, Reason: "g++ is missing"}
	}
	return judge.LanguageRef{ID: l.ID, Toolchain: "sha256:0123456789abcdef0123"}, nil
}

func kattisProgram() *testcases.Program {
	return &testcases.Program{Files: []judge.File{{Name: "check"}}, Protocol: testcases.ProtocolKattis}
}

// program makes a custom checker that is a Go function.
func program(t *testing.T, run sandboxtest.Program, args ...string) (checker.Checker, *sandboxtest.Fake) {
	t.Helper()
	fake := &sandboxtest.Fake{Default: run}
	c, err := checker.New(judge.CheckerSpec{Name: "custom", Args: args}, checker.Deps{
		Runner: fake, Compiler: compiled{}, Language: &languages.Language{ID: "x"},
		Program: kattisProgram(), Dir: t.TempDir(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return c, fake
}

// same accepts the output that is the answer, as a Kattis validator does.
func same(p *sandboxtest.Proc) int {
	var answer []byte
	for _, m := range p.Mounts {
		if rest, ok := strings.CutPrefix(p.Args[2], m.Target+"/"); ok {
			answer, _ = os.ReadFile(filepath.Join(m.Source, rest))
		}
	}
	output, err := io.ReadAll(p.Stdin)
	if err != nil {
		return 1
	}
	feedback := strings.TrimPrefix(p.Args[3], sandbox.WorkDir+"/")
	p.Files[feedback+"judgemessage.txt"] = append([]byte("wanted "), answer...)
	if string(output) == string(answer) {
		return 42
	}
	p.Files[feedback+"teammessage.txt"] = []byte("not the same\n")
	return 43
}

func TestCustomConformance(t *testing.T) {
	t.Parallel()
	checkertest.Run(t, checkertest.Suite{
		New: func(t *testing.T) checker.Checker {
			c, _ := program(t, same)
			return c
		},
		Answer: "hidden 1\n", Right: "hidden 1\n", Wrong: "seen\n",
	})
}

// What the program gets is what docs/checkers.md says.
func TestCustomConvention(t *testing.T) {
	t.Parallel()
	c, fake := program(t, same, "--strict", "a b")
	got, err := c.Check(t.Context(), checkertest.Input("answer", "output"))
	if err != nil {
		t.Fatal(err)
	}
	want := checker.Ruling{Verdict: judge.WrongAnswer, Message: "not the same", Jury: "wanted answer"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	spec := fake.Specs()[0]
	args := []string{"/exe/check", "/judge/input", "/judge/answer", "/work/feedback/", "--strict", "a b"}
	if !slices.Equal(spec.Args, args) {
		t.Errorf("got arguments %q, want %q", spec.Args, args)
	}
	limits := judge.Limits{CPU: 10 * time.Second, Wall: 30 * time.Second, Memory: judge.GiB, Output: 64 * judge.KiB, Tasks: 64}
	if spec.Limits != limits || spec.Box.Stack != 0 {
		t.Errorf("got limits %+v, stack %d, want %+v and the stack as large as the memory", spec.Limits, spec.Box.Stack, limits)
	}
	if c.ID() != "custom@1" {
		t.Errorf("got id %s", c.ID())
	}
}

// Everything but 42 and 43 is a failure of ours, and says nothing of the data.
func TestCustomFails(t *testing.T) {
	t.Parallel()
	programs := map[string]sandboxtest.Program{
		"exit 0":       func(p *sandboxtest.Proc) int { io.WriteString(p.Stderr, "secret answer"); return 0 },
		"exit 1":       func(*sandboxtest.Proc) int { return 1 },
		"crash":        func(p *sandboxtest.Proc) int { p.Signal = 11; return 0 },
		"killed":       func(p *sandboxtest.Proc) int { p.Signal = 9; return 42 },
		"CPU limit":    func(p *sandboxtest.Proc) int { p.CPU = 11 * time.Second; return 42 },
		"wall limit":   func(p *sandboxtest.Proc) int { p.Wall = 31 * time.Second; return 42 },
		"memory limit": func(p *sandboxtest.Proc) int { p.Memory = 2 * judge.GiB; return 42 },
	}
	for name, run := range programs {
		c, _ := program(t, run)
		got, err := c.Check(t.Context(), checkertest.Input("secret answer", "x"))
		var failed *judge.Failed
		if !errors.As(err, &failed) || failed.Kind != judge.FailChecker || !failed.Retryable || !reflect.DeepEqual(got, checker.Ruling{}) {
			t.Errorf("%s: got %+v, %v, want a failure of the checker", name, got, err)
			continue
		}
		if strings.Contains(failed.Reason, "secret answer") {
			t.Errorf("%s: the reason shows answer data: %s", name, failed.Reason)
		}
	}
}

// A program may print without end and leave huge or no messages: none of it
// changes a ruling, and what is kept is bounded.
func TestCustomThatTalks(t *testing.T) {
	t.Parallel()
	c, _ := program(t, func(p *sandboxtest.Proc) int {
		for range 100 {
			io.WriteString(p.Stdout, strings.Repeat("x", 64<<10))
		}
		p.Files["feedback/judgemessage.txt"] = make([]byte, 1<<20)
		p.Files["feedback/teammessage.txt"] = []byte(strings.Repeat("\xff", 5000))
		return 43
	})
	got, err := c.Check(t.Context(), checkertest.Input("", ""))
	if err != nil || got.Verdict != judge.WrongAnswer || got.Jury != "" || len(got.Message) > 4096 {
		t.Errorf("got %s, %d and %d bytes of messages, %v", got.Verdict, len(got.Message), len(got.Jury), err)
	}
}

// A checker that the compiler refuses is refused everywhere; one that it did not get
// done with may be on a machine that is less busy.
func TestCustomDoesNotCompile(t *testing.T) {
	t.Parallel()
	for verdict, again := range map[judge.Verdict]bool{judge.CompileError: false, judge.CompileTimeLimit: true} {
		c, err := checker.New(judge.CheckerSpec{Name: "custom"}, checker.Deps{
			Runner: &sandboxtest.Fake{}, Compiler: compiled{verdict},
			Language: &languages.Language{}, Program: kattisProgram(),
		})
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Check(t.Context(), checkertest.Input("", ""))
		var failed *judge.Failed
		if !errors.As(err, &failed) || failed.Kind != judge.FailChecker || failed.Retryable != again || strings.Contains(failed.Reason, "secret") {
			t.Errorf("%s: got %v, want a failure of the checker; worth a retry: %v", verdict, err, again)
		}
	}
}

// Nothing of a check is left on the disk, whatever its end.
func TestCustomLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, run := range []sandboxtest.Program{same, func(*sandboxtest.Proc) int { return 1 }} {
		c, err := checker.New(judge.CheckerSpec{Name: "custom"}, checker.Deps{
			Runner: &sandboxtest.Fake{Default: run}, Compiler: compiled{}, Language: &languages.Language{},
			Program: kattisProgram(), Dir: dir,
		})
		if err != nil {
			t.Fatal(err)
		}
		in := checkertest.Input("1", "2")
		c.Check(t.Context(), in)
		in.Output = func() (io.ReadCloser, error) { return nil, errors.New("broken") }
		if _, err := c.Check(t.Context(), in); err == nil {
			t.Error("want an error")
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("got %v, %v, want an empty folder", entries, err)
	}
}

type oneLanguage struct{ *languages.Language }

func (l oneLanguage) Find(id string) (*languages.Language, bool) { return l.Language, id == l.ID }

func (l oneLanguage) ForFile(name string) (*languages.Language, bool) {
	return l.Language, strings.HasSuffix(name, ".cpp")
}

func TestMaker(t *testing.T) {
	t.Parallel()
	m := checker.Maker{
		Runner: &sandboxtest.Fake{}, Compiler: compiled{}, Languages: oneLanguage{&languages.Language{ID: "cpp17"}},
	}
	p := &testcases.Problem{CheckerProgram: &testcases.Program{Files: []judge.File{{Name: "a.cpp"}}, Language: "cpp17"}}
	if c, err := m.For(t.Context(), p, judge.CheckerSpec{Name: "custom"}); err != nil || c.ID() != "custom@1+cpp17:0123456789ab" {
		t.Errorf("got %v, %v, want custom, named after its toolchain", c, err)
	}
	if c, err := m.For(t.Context(), p, judge.CheckerSpec{Name: "lines"}); err != nil || c.ID() != "lines@1" {
		t.Errorf("got %v, %v, want lines", c, err)
	}
	missing := m
	missing.Compiler = compiled{judge.CompileError}
	var failed *judge.Failed
	if _, err := missing.For(t.Context(), p, judge.CheckerSpec{Name: "custom"}); !errors.As(err, &failed) || failed.Kind != judge.FailToolchain {
		t.Errorf("toolchain is missing: got %v, want a failure of the toolchain", err)
	}
	if _, err := missing.For(t.Context(), p, judge.CheckerSpec{Name: "lines"}); err != nil {
		t.Errorf("lines needs no toolchain: %v", err)
	}
	p.CheckerProgram.Language = ""
	if c, err := m.For(t.Context(), p, judge.CheckerSpec{Name: "custom"}); err != nil || c.ID() != "custom@1+cpp17:0123456789ab" {
		t.Errorf("language told by the file: got %v, %v", c, err)
	}
	p.CheckerProgram.Script = true
	if c, err := m.For(t.Context(), p, judge.CheckerSpec{Name: "custom"}); err != nil || c.ID() != "custom@1+script:0123456789ab" {
		t.Errorf("a script: got %v, %v", c, err)
	}
	p.CheckerProgram.Script, p.CheckerProgram.Language = false, "algol"
	if _, err := m.For(t.Context(), p, judge.CheckerSpec{Name: "custom"}); !judge.IsBadRequest(err) {
		t.Errorf("unknown language: got %v, want a bad request", err)
	}
	if _, err := m.For(t.Context(), &testcases.Problem{}, judge.CheckerSpec{Name: "custom"}); !judge.IsBadRequest(err) {
		t.Errorf("no program: got %v, want a bad request", err)
	}
}
