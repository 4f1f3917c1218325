package engine_test

import (
	"strings"
	"testing"
	"time"

	"judgefarm/judge"
	"judgefarm/judge/engine"
	"judgefarm/testcases"
)

// judgeC judges one file of C.
func judgeC(t *testing.T, e *engine.Engine, p *testcases.Problem, source string) *judge.Judgement {
	t.Helper()
	if err := p.Seal(); err != nil {
		t.Fatal(err)
	}
	j := judgeFor(t, e, judge.Submission{ID: "s", Language: "c", Files: []judge.File{{Name: "main.c", Data: []byte(source)}}}, p)
	return &j
}

// A checker of lines gives points for those that are right, to wrong outputs and to
// what was printed before a run came to grief.
func TestPointsOfWrongRuns(t *testing.T) {
	t.Parallel()
	e, _ := realEngine(t)
	for name, c := range map[string]struct {
		source string
		want   judge.Verdict
		score  float64
	}{
		"right":                      {"print('1\\n2\\n3\\n4')", judge.Accepted, 20},
		"one wrong":                  {"print('1\\n2\\n3\\n5')", judge.WrongAnswer, 15},
		"crashes":                    {"print('1\\n2'); raise SystemExit(1)", judge.RuntimeError, 10},
		"too slow":                   {"print('1', flush=True)\nwhile True: pass", judge.TimeLimit, 5},
		"crashes after all is right": {"print('1\\n2\\n3\\n4'); raise SystemExit(1)", judge.RuntimeError, 20},
	} {
		c1 := caseOf("secret/1", "", "1\n2\n3\n4\n")
		c1.Points = score(20)
		p := &testcases.Problem{
			Checker: judge.CheckerSpec{Name: "dmoj/linecount"}, Score: &testcases.Aggregate{},
			Limits: judge.Limits{CPU: plenty, Wall: patience},
			Groups: []testcases.Group{{Name: "secret", Cases: []testcases.Case{c1}}},
		}
		if c.want == judge.TimeLimit {
			p.Limits.CPU = 500 * time.Millisecond
		}
		j, err := judgePython(t, e, p, c.source)
		if err != nil || *j.Verdict != c.want || *j.Score != c.score {
			t.Errorf("%s: got %+v, %v, want %s and %g", name, j, err, c.want, c.score)
		}
	}
}

// ask says what it wants to know and waits for the answer; it never flushes.
const (
	askPython = "import sys; print(7); print(int(sys.stdin.readline()) + 1)"
	askC      = "#include <stdio.h>\nint main() { int n; printf(\"7\\n\"); if (scanf(\"%d\", &n) != 1) return 1; printf(\"%d\\n\", n + 1); return 0; }"
	answers   = "import sys\nn = int(sys.stdin.readline())\nprint(n * 2, flush=True)\nsys.exit(0 if int(sys.stdin.readline()) == n * 2 + 1 else 1)"
)

// Programs that do not flush reach their interactor where the problem says so, and
// wait for ever where it does not.
func TestUnbuffered(t *testing.T) {
	t.Parallel()
	e, _ := realEngine(t)
	for _, unbuffered := range []bool{true, false} {
		want, limits := judge.IdleLimit, judge.Limits{CPU: soon, Wall: soon}
		if unbuffered {
			want, limits = judge.Accepted, judge.Limits{CPU: plenty, Wall: patience}
		}
		p := func() *testcases.Problem {
			return &testcases.Problem{
				Kind: testcases.Interactive, Interactor: script("talk.py", answers, testcases.ProtocolExit), Unbuffered: unbuffered,
				Limits: limits,
				Groups: []testcases.Group{{Name: "secret", Cases: []testcases.Case{caseOf("secret/1", "", "")}}},
			}
		}
		if j, err := judgePython(t, e, p(), askPython); err != nil || *j.Verdict != want {
			t.Errorf("unbuffered %v, Python: got %+v, %v, want %s", unbuffered, j, err, want)
		}
		if j := judgeC(t, e, p(), askC); *j.Verdict != want {
			t.Errorf("unbuffered %v, C: got %+v, want %s", unbuffered, j, want)
		}
	}
}

// A grader in Python talks as its protocol says; what it raises is no ruling, but for
// WrongAnswer.
func TestDMOJInteractor(t *testing.T) {
	t.Parallel()
	e, _ := realEngine(t)
	grader := `
from dmoj.graders.interactive import InteractiveGrader
from dmoj.result import CheckerResult
class Grader(InteractiveGrader):
    def interact(self, case, interactor):
        print("noise")
        n, asked = int(case.input_data()), 0
        while True:
            asked += 1
            if asked == 9: interactor.readln().decode()
            guess = interactor.readint(1, 1000)
            if guess == n: break
            interactor.writeln("less" if n < guess else "more")
        if asked == 1: return CheckerResult(True, case.points / 2, "lucky")
        return asked <= 10
`
	right := "low, high = 1, 1000\nwhile True:\n    mid = (low + high) // 2\n    print(mid, flush=True)\n" +
		"    try: said = input()\n    except EOFError: break\n    if said == 'less': high = mid - 1\n    else: low = mid + 1"
	for name, c := range map[string]struct {
		source, message string
		want            judge.Verdict
		score           float64
	}{
		"right":        {right, "", judge.Accepted, 10},
		"lucky":        {"print(777)", "lucky", judge.Accepted, 5},
		"too often":    {"for n in range(1, 778): print(n)", "", judge.WrongAnswer, 0},
		"no number":    {"print('A')", `expected int, got "A"`, judge.WrongAnswer, 0},
		"out of range": {"print(1001)", "in range", judge.WrongAnswer, 0},
		"no text":      {"import os\nfor n in range(1, 9): print(n, flush=True)\nos.write(1, b'\\xff\\n')", "", judge.WrongAnswer, 0},
		"says nothing": {"pass", "", judge.WrongAnswer, 0},
		"crashes":      {"print(5, flush=True); input(); 1 / 0", "", judge.RuntimeError, 0},
	} {
		c1 := caseOf("secret/1", "777\n", "")
		c1.Points, c1.CheckerArgs = score(10), []string{`{"point_value": 10}`}
		own := script("grader.py", grader, testcases.ProtocolDMOJ)
		own.Args = []string{"{}"}
		p := &testcases.Problem{
			Kind: testcases.Interactive, Interactor: own, Score: &testcases.Aggregate{},
			Groups: []testcases.Group{{Name: "secret", Cases: []testcases.Case{c1}}},
		}
		j, err := judgePython(t, e, p, c.source)
		if err != nil || *j.Verdict != c.want || *j.Score != c.score || !strings.Contains(j.Cases[0].Message, c.message) {
			t.Errorf("%s: got %+v, %v, want %+v", name, j, err, c)
		}
	}
}

// The problem's text comes before each of the submission's own files of its language.
func TestIncludeBefore(t *testing.T) {
	t.Parallel()
	e, _ := realEngine(t)
	p := &testcases.Problem{
		Include: map[string]testcases.Include{"c": {
			Before: "#include \"grader.h\"\n#define main other\n",
			Files: []judge.File{
				{Name: "grader.h", Data: []byte("int twice(int);\n")},
				{Name: "grader_main.c", Data: []byte("#include \"grader.h\"\n#include <stdio.h>\nint main() { printf(\"%d\\n\", twice(21)); return 0; }\n")},
			},
		}},
		Groups: []testcases.Group{{Name: "secret", Cases: []testcases.Case{caseOf("secret/1", "", "42\n")}}},
	}
	if j := judgeC(t, e, p, "int twice(int n) { return 2 * n; }\nint main() { return 1; }\n"); *j.Verdict != judge.Accepted {
		t.Errorf("got %+v", j)
	}
	if j := judgeC(t, e, p, "int main() { return 0; }\n"); *j.Verdict != judge.CompileError {
		t.Errorf("no function: got %+v", j)
	}
}

// A format that keeps the limits elsewhere has no defaults.
func TestLimitsElsewhere(t *testing.T) {
	t.Parallel()
	e, _ := realEngine(t)
	p := &testcases.Problem{Groups: []testcases.Group{{Name: "secret", Cases: []testcases.Case{caseOf("secret/1", "", "")}}}}
	p.Jury.Time.Elsewhere = "write limits.csv"
	_, err := judgePython(t, e, p, "pass")
	for _, want := range []string{"limits.cpu_ms", "limits.memory_kib", "write limits.csv"} {
		if !judge.IsBadRequest(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want a bad request about %s", err, want)
		}
	}
	p.Limits = judge.Limits{CPU: plenty, Wall: patience, Memory: 64 * judge.MiB}
	if j, err := judgePython(t, e, p, "pass"); err != nil || *j.Verdict != judge.Accepted {
		t.Errorf("with limits: got %+v, %v", j, err)
	}
}
