package build_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"judgefarm/judge"
	"judgefarm/judge/compile/compiletest"
	"judgefarm/judge/sandbox"
	"judgefarm/testcases"
	"judgefarm/testcases/build"
)

// counted counts the boxes that programs ran in.
type counted struct {
	sandbox.Runner
	runs atomic.Int64
}

func (c *counted) Run(ctx context.Context, spec sandbox.Spec) (*sandbox.Report, error) {
	c.runs.Add(1)
	return c.Runner.Run(ctx, spec)
}

// realBuild is what a Builder needs, with real boxes; runs counts what is no compile.
func realBuild(t *testing.T) (build.Config, *counted) {
	t.Helper()
	r := compiletest.New(t, 1, 1)
	runs := &counted{Runner: r.Box}
	return build.Config{Runner: runs, Compiler: r.Compiler, Languages: r.Languages, Talkers: r.Talkers}, runs
}

func python(name, source string) *testcases.Program {
	return &testcases.Program{Name: name, Files: []judge.File{{Name: name, Data: []byte(source)}}}
}

func text(s string) testcases.Data { return testcases.BytesData([]byte(s)) }

func read(t *testing.T, d testcases.Data) string {
	t.Helper()
	b, err := testcases.ReadAll(d, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func problem(cases ...testcases.Case) *testcases.Problem {
	return &testcases.Problem{Groups: []testcases.Group{{Name: "tests", Cases: cases}}}
}

func builder(t *testing.T, cfg build.Config) *build.Builder {
	t.Helper()
	b, err := build.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var (
	print2  = python("gen.py", "import sys; print(*sys.argv[1:])")
	reverse = python("reverse.py", "import sys; print(' '.join(reversed(sys.stdin.read().split())))")
	several = python("several.py", "import sys\nfor i in sys.argv[1:]: open(i, 'w').write(i * 2)")
	total   = python("total.py", "import sys; print(sum(map(int, sys.stdin.read().split())))")
)

func TestBuild(t *testing.T) {
	t.Parallel()
	cfg, runs := realBuild(t)
	dir := t.TempDir()
	answer := &testcases.Recipe{Program: total}
	pending := func() *testcases.Problem {
		return problem(
			testcases.Case{Name: "tests/1", InputFrom: &testcases.Recipe{Program: print2, Args: []string{"1", "2 3"}}, AnswerFrom: answer},
			testcases.Case{Name: "tests/2", InputFrom: &testcases.Recipe{Program: reverse, Stdin: &testcases.Recipe{Program: print2, Args: []string{"4", "5"}}}, AnswerFrom: answer},
			testcases.Case{Name: "tests/3", InputFrom: &testcases.Recipe{Program: several, Args: []string{"7", "8"}, Output: "7"}, AnswerFrom: answer},
			testcases.Case{Name: "tests/4", InputFrom: &testcases.Recipe{Program: several, Args: []string{"7", "8"}, Output: "8"}, Answer: text("here\n")},
			testcases.Case{Name: "tests/5", Input: text("9"), AnswerFrom: answer},
		)
	}
	want := problem(
		testcases.Case{Name: "tests/1", Input: text("1 2 3\n"), Answer: text("6\n")},
		testcases.Case{Name: "tests/2", Input: text("5 4\n"), Answer: text("9\n")},
		testcases.Case{Name: "tests/3", Input: text("77"), Answer: text("77\n")},
		testcases.Case{Name: "tests/4", Input: text("88"), Answer: text("here\n")},
		testcases.Case{Name: "tests/5", Input: text("9"), Answer: text("9\n")},
	)
	if err := want.Seal(); err != nil {
		t.Fatal(err)
	}
	p := pending()
	if err := p.Seal(); err != nil {
		t.Fatal(err)
	}
	got, err := builder(t, cfg).Build(t.Context(), p, dir)
	if err != nil {
		t.Fatal(err)
	}
	if got.Digest != want.Digest || got.Pending() || !p.Pending() || got.MadeFrom != p.Digest || got.Named() != p.Named() {
		for i, c := range got.Cases() {
			t.Errorf("%s: got %q and %q, want %q and %q", c.Name, read(t, c.Input), read(t, c.Answer),
				read(t, want.Groups[0].Cases[i].Input), read(t, want.Groups[0].Cases[i].Answer))
		}
	}
	// One run for the two files, and one for the generator that two cases call alike.
	if n := runs.runs.Load(); n != 4+4 {
		t.Errorf("got %d runs, want 8", n)
	}
	again, err := builder(t, cfg).Build(t.Context(), pending(), dir)
	if err != nil || again.Digest != want.Digest || runs.runs.Load() != 8 {
		t.Errorf("the second time: %v, %d runs", err, runs.runs.Load())
	}
	if whole, err := builder(t, cfg).Build(t.Context(), want, filepath.Join(dir, "none")); err != nil || whole != want {
		t.Errorf("a problem that lacks nothing: got %v, %v", whole, err)
	}
	other := pending()
	other.Groups[0].Cases[0].InputFrom.Args[0] = "0"
	if got, err := builder(t, cfg).Build(t.Context(), other, dir); err != nil || read(t, got.Cases()[0].Answer) != "5\n" || runs.runs.Load() != 10 {
		t.Errorf("another argument: %v, %d runs", err, runs.runs.Load())
	}
}

// On a farm each recipe has a program of its own, equal to the others': a generator that
// writes several files runs once all the same, and what it leaves counts once.
func TestBuildOfEqualPrograms(t *testing.T) {
	t.Parallel()
	cfg, runs := realBuild(t)
	own := func(p *testcases.Program) *testcases.Program {
		equal := *p
		equal.Files = slices.Clone(p.Files)
		return &equal
	}
	var cases []testcases.Case
	for i := range 4 {
		cases = append(cases, testcases.Case{Name: fmt.Sprintf("tests/%d", i), Answer: text(""), InputFrom: &testcases.Recipe{
			Program: own(several), Args: []string{"1", "2", "3", "4"}, Output: strconv.Itoa(i + 1),
		}})
	}
	cfg.MaxBytes = 8 // two for each of four files
	got, err := builder(t, cfg).Build(t.Context(), problem(cases...), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if in := read(t, got.Cases()[3].Input); in != "44" || runs.runs.Load() != 1 {
		t.Errorf("got %q after %d runs, want one run", in, runs.runs.Load())
	}
}

// A main solution finds the files and arguments that submissions find.
func TestBuildWithFiles(t *testing.T) {
	t.Parallel()
	cfg, _ := realBuild(t)
	main := python("main.py", "import sys; assert sys.stdin.read() == ''; open('out.txt', 'w').write(open('in.txt').read()[::-1] + open('list').read() + sys.argv[1])")
	p := problem(testcases.Case{Name: "tests/1", Input: text("abc"), Args: []string{"!"}, Files: []testcases.CaseFile{{Name: "list", Data: text("x")}}, AnswerFrom: &testcases.Recipe{Program: main, Output: "out.txt"}})
	p.InputFile, p.OutputFile = "in.txt", "out.txt"
	got, err := builder(t, cfg).Build(t.Context(), p, t.TempDir())
	if err != nil || read(t, got.Cases()[0].Answer) != "cbax!" {
		t.Errorf("got %v, %v", got, err)
	}
}

// The answer of an interactive problem is what its interactor notes.
func TestBuildTalks(t *testing.T) {
	t.Parallel()
	cfg, _ := realBuild(t)
	pending := func(question string) *testcases.Problem {
		p := problem(testcases.Case{Name: "tests/1", Input: text("21"), AnswerFrom: &testcases.Recipe{
			Program: python("main.py", "print(int(input()) * 2)"),
		}})
		p.Kind = testcases.Interactive
		p.Interactor = python("talk.py", `import sys
n = int(open(sys.argv[1]).read())
assert open(sys.argv[3]).read() == ''
print(`+question+`, flush=True)
said = input()
open(sys.argv[2], 'w').write('said ' + said)
sys.exit(0 if int(said) == 2 * n else 1)
`)
		p.Interactor.Protocol = testcases.ProtocolTestlib
		return p
	}
	dir := t.TempDir()
	got, err := builder(t, cfg).Build(t.Context(), pending("n"), dir)
	if err != nil || read(t, got.Cases()[0].Answer) != "said 42" {
		t.Fatalf("got %v, %v", got, err)
	}
	_, err = builder(t, cfg).Build(t.Context(), pending("n + 1"), dir)
	wantFault(t, "another interactor in the same directory", err, "main.py, which makes the answer of case tests/1, was refused by the interactor", false)
	cfg.Talkers = nil
	_, err = builder(t, cfg).Build(t.Context(), pending("n"), dir)
	wantFault(t, "no runner of interactors", err, "would have to talk to an interactor", false)
}

func wantFault(t *testing.T, name string, err error, reason string, retryable bool) {
	t.Helper()
	var failed *judge.Failed
	if !errors.As(err, &failed) || failed.Kind != judge.FailProblem || !strings.Contains(failed.Reason, reason) || failed.Retryable != retryable {
		t.Errorf("%s: got %+v, want a reason with %q, retryable %t", name, err, reason, retryable)
	}
	if failed != nil && strings.Contains(failed.Reason, "hidden") {
		t.Errorf("%s: the reason shows what the program said: %s", name, failed.Reason)
	}
}

// What is wrong with a package is told with program, arguments and case, and never
// with what the program said.
func TestBuildFaults(t *testing.T) {
	t.Parallel()
	cfg, _ := realBuild(t)
	limited := func(source string, l judge.Limits) *testcases.Program {
		p := python("gen.py", source)
		p.Limits = l
		return p
	}
	for name, c := range map[string]struct {
		r      *testcases.Recipe
		reason string
		retry  bool
	}{
		"status":     {&testcases.Recipe{Program: python("gen.py", "import sys; print('hidden', file=sys.stderr); sys.exit(3)"), Args: []string{"1", "2"}}, "gen.py 1 2, which makes the input of case tests/1, exited with status 3", false},
		"signal":     {&testcases.Recipe{Program: python("gen.py", "import os; os.abort()")}, "was ended by signal 6", false},
		"CPU time":   {&testcases.Recipe{Program: limited("while True: pass", judge.Limits{CPU: 100 * time.Millisecond, Wall: 30 * time.Second})}, "used more than its 100ms of CPU time", false},
		"wall time":  {&testcases.Recipe{Program: limited("import time; time.sleep(600)", judge.Limits{CPU: time.Second, Wall: time.Second})}, "took longer than 1s", true},
		"memory":     {&testcases.Recipe{Program: limited("x = bytearray(300 << 20)\nfor i in range(0, len(x), 4096): x[i] = 1", judge.Limits{Memory: 64 * judge.MiB})}, "used more than its 64 MiB of memory", false},
		"output":     {&testcases.Recipe{Program: limited("print('x' * 100000)", judge.Limits{Output: 4 * judge.KiB})}, "wrote more than 4096 bytes", false},
		"stderr":     {&testcases.Recipe{Program: limited("import sys\nwhile True: sys.stderr.write('x' * 65536)", judge.Limits{CPU: 100 * time.Millisecond})}, "used more than its 100ms of CPU time", false},
		"a file":     {&testcases.Recipe{Program: python("gen.py", "f = open('flood', 'wb')\nwhile True: f.write(b'x' * 65536)")}, "gen.py, which makes the input of case tests/1", false},
		"nothing":    {&testcases.Recipe{Program: python("gen.py", "pass")}, "wrote nothing", false},
		"no file":    {&testcases.Recipe{Program: print2, Args: []string{"1"}, Output: "7"}, "wrote no file 7", false},
		"a link":     {&testcases.Recipe{Program: python("gen.py", "import os; os.symlink('/etc/passwd', '7')"), Output: "7"}, "wrote a file 7 that cannot be taken", false},
		"a syntax":   {&testcases.Recipe{Program: python("gen.cpp", "hidden")}, "gen.cpp, which makes the input of case tests/1, does not compile (CE)", false},
		"a language": {&testcases.Recipe{Program: python("gen.xyz", "hidden")}, "no language is told", false},
		"the first of two": {&testcases.Recipe{Program: reverse, Stdin: &testcases.Recipe{Program: python("first.py", "exit(1)")}},
			"first.py, which makes the input of case tests/1, exited with status 1", false},
	} {
		_, err := builder(t, cfg).Build(t.Context(), problem(testcases.Case{Name: "tests/1", InputFrom: c.r, Answer: text("")}), t.TempDir())
		wantFault(t, name, err, c.reason, c.retry)
	}
	cfg.MaxBytes = 5
	p := problem(testcases.Case{Name: "tests/1", InputFrom: &testcases.Recipe{Program: print2, Args: []string{"1", "2"}}, AnswerFrom: &testcases.Recipe{Program: total}})
	_, err := builder(t, cfg).Build(t.Context(), p, t.TempDir())
	wantFault(t, "too much", err, "total.py, which makes the answer of case tests/1, brings the problem's made data to more than", false)
}

// brokenBoxes fails as a host does.
type brokenBoxes struct{ sandbox.Runner }

func (brokenBoxes) Run(context.Context, sandbox.Spec) (*sandbox.Report, error) {
	return nil, errors.New("no box")
}

// What is ours is told apart, and can be tried again.
func TestBuildOurFault(t *testing.T) {
	t.Parallel()
	cfg, runs := realBuild(t)
	p := problem(testcases.Case{Name: "tests/1", InputFrom: &testcases.Recipe{Program: print2, Args: []string{"1"}}, Answer: text("")})
	own := cfg
	own.Runner = brokenBoxes{runs}
	var failed *judge.Failed
	if _, err := builder(t, own).Build(t.Context(), p, t.TempDir()); !errors.As(err, &failed) || failed.Kind != judge.FailSandbox || !failed.Retryable {
		t.Errorf("a sandbox that fails: got %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("drained")
	cancel(cause)
	if _, err := builder(t, cfg).Build(ctx, p, t.TempDir()); !errors.Is(err, cause) {
		t.Errorf("a context that ended: got %v, want its cause", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := builder(t, cfg).Build(t.Context(), p, file); !errors.As(err, &failed) || failed.Kind != judge.FailStorage {
		t.Errorf("no directory: got %v", err)
	}
	if _, err := build.New(build.Config{}); err == nil {
		t.Error("a builder without boxes was made")
	}
}
