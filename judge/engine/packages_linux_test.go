package engine_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"judgefarm/judge"
	"judgefarm/judge/engine"
	"judgefarm/testcases"
)

// What packages ask of a run, in real boxes.
func TestCasesOfPackages(t *testing.T) {
	t.Parallel()
	e, _ := realEngine(t)
	one := func(change func(*testcases.Problem)) *testcases.Problem {
		p := &testcases.Problem{Groups: []testcases.Group{{Name: "secret", Cases: []testcases.Case{caseOf("secret/1", "3\n", "9\n")}}}}
		change(p)
		return p
	}
	for name, c := range map[string]struct {
		p      *testcases.Problem
		source string
		want   judge.Verdict
	}{
		"arguments": {one(func(p *testcases.Problem) { p.Groups[0].Cases[0].Args = []string{"2", "a b"} }),
			"import sys; print(int(input()) ** int(sys.argv[1]), end='' if sys.argv[2] != 'a b' else '\\n')", judge.Accepted},
		"files of the case": {one(func(p *testcases.Problem) {
			p.Groups[0].Cases[0].Files = []testcases.CaseFile{{Name: "in/power.txt", Data: testcases.BytesData([]byte("2"))}}
		}), "print(int(input()) ** int(open('in/power.txt').read()))", judge.Accepted},
		"input file": {one(func(p *testcases.Problem) { p.InputFile = "in.txt" }),
			"import sys; assert sys.stdin.read() == ''; print(int(open('in.txt').read()) ** 2)", judge.Accepted},
		"output file": {one(func(p *testcases.Problem) { p.OutputFile = "out.txt" }),
			"print('noise'); open('out.txt', 'w').write(str(int(input()) ** 2))", judge.Accepted},
		"no output file": {one(func(p *testcases.Problem) { p.OutputFile = "out.txt" }), "print(9)", judge.WrongAnswer},
		"output file is a link": {one(func(p *testcases.Problem) { p.OutputFile = "out.txt" }),
			"import os; os.symlink('/proc/self/environ', 'out.txt')", judge.WrongAnswer},
		"output file too large": {one(func(p *testcases.Problem) { p.OutputFile, p.Limits.Output = "out.txt", 1024 }),
			"open('out.txt', 'w').write('9' * 1025)", judge.OutputLimit},
		"output file without end": {one(func(p *testcases.Problem) { p.OutputFile = "out.txt" }),
			"f = open('out.txt', 'wb', 0)\ntry:\n    while True: f.write(b'9' * 65536)\nexcept OSError: pass", judge.OutputLimit},
		"larger file beside it": {one(func(p *testcases.Problem) { p.OutputFile = "out.txt" }),
			"open('own', 'w').write('x' * (8 << 20)); open('out.txt', 'w').write(str(int(input()) ** 2))", judge.Accepted},
		"included file": {one(func(p *testcases.Problem) {
			p.Include = map[string]testcases.Include{"": {Files: []judge.File{{Name: "lib.py", Data: []byte("def sq(x): return x * x")}}}}
		}), "from lib import sq; print(sq(int(input())))", judge.Accepted},
		"included main": {one(func(p *testcases.Problem) {
			p.Include = map[string]testcases.Include{"python3": {Main: "driver.py", Files: []judge.File{
				{Name: "driver.py", Data: []byte("import main; print(main.sq(int(input())))")}}}}
		}), "def sq(x): return x * x", judge.Accepted},
		"checker's arguments": {one(func(p *testcases.Problem) {
			p.Checker.Name = "kattis"
			p.Groups[0].Cases[0].CheckerArgs = []string{"float_tolerance", "0.5"}
		}), "print(9.4)", judge.Accepted},
	} {
		j, err := judgePython(t, e, c.p, c.source)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if *j.Verdict != c.want {
			t.Errorf("%s: got %s, want %s: %+v", name, *j.Verdict, c.want, j.Cases)
		}
	}
}

// Requests that the problem does not allow are told before anything runs.
func TestProblemsRefuse(t *testing.T) {
	t.Parallel()
	e, _ := realEngine(t)
	for name, change := range map[string]func(*testcases.Problem){
		"language": func(p *testcases.Problem) { p.Languages = []string{"c"} },
		"files":    func(p *testcases.Problem) { p.CodeSize = 3 },
		"cpu_ms":   func(p *testcases.Problem) { p.Jury.Time.AcToLimit = judge.ScoreOf(2) },
	} {
		p := &testcases.Problem{Groups: []testcases.Group{{Name: "secret", Cases: []testcases.Case{caseOf("secret/1", "", "")}}}}
		change(p)
		if _, err := judgePython(t, e, p, "pass"); !judge.IsBadRequest(err) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v, want a bad request", name, err)
		}
	}
}

// passes wants its input doubled, and asks for one pass more each time. What it gets as
// input is that of the pass; problem package format, "Invocation". It keeps a count in
// its own file.
const passes = `
import sys, os
given, answer, feedback = sys.argv[1:4]
count = feedback + "count"
n = int(open(count).read()) + 1 if os.path.exists(count) else 1
open(count, "w").write(str(n))
open(feedback + "judgemessage.txt", "a").write(f"pass {n}\n")
out = int(sys.stdin.read())
if os.path.exists(feedback + "nextpass.in"): sys.exit(1)
if out != 2 * int(open(given).read()): sys.exit(43)
if n < int(open(answer).read()): open(feedback + "nextpass.in", "w").write(str(out))
sys.exit(42)
`

func TestMultiPass(t *testing.T) {
	t.Parallel()
	e, _ := realEngine(t)
	problem := func(most int) *testcases.Problem {
		return &testcases.Problem{
			Passes: most, Checker: judge.CheckerSpec{Name: testcases.CustomChecker}, CheckerProgram: script("check.py", passes, testcases.ProtocolKattis),
			Groups: []testcases.Group{{Name: "secret", Cases: []testcases.Case{caseOf("secret/1", "5", "3")}}},
		}
	}
	if j, err := judgePython(t, e, problem(3), "print(2 * int(input()))"); err != nil || *j.Verdict != judge.Accepted {
		t.Errorf("three passes: got %+v, %v", j, err)
	}
	if j, err := judgePython(t, e, problem(3), "n = int(input()); print(2 * n if n < 20 else 0)"); err != nil || *j.Verdict != judge.WrongAnswer {
		t.Errorf("wrong in the third pass: got %+v, %v", j, err)
	}
	if j, err := judgePython(t, e, problem(3), "n = int(input()); print(2 * n if n < 10 else 1 // 0)"); err != nil || *j.Verdict != judge.RuntimeError {
		t.Errorf("crash in the second pass: got %+v, %v", j, err)
	}
	_, err := judgePython(t, e, problem(2), "print(2 * int(input()))")
	var failed *judge.Failed
	if !errors.As(err, &failed) || failed.Kind != judge.FailChecker || !strings.Contains(failed.Reason, "2 passes") {
		t.Errorf("more passes than allowed: got %v", err)
	}
}

// Points of groups, of checkers and of the problem's own grader.
func TestPoints(t *testing.T) {
	t.Parallel()
	e, _ := realEngine(t)
	group := func(name string, a *testcases.Aggregate, inputs ...string) testcases.Group {
		g := testcases.Group{Name: name, Score: a}
		for i, in := range inputs {
			g.Cases = append(g.Cases, caseOf(fmt.Sprintf("%s/%d", name, i+1), in, in+in))
		}
		return g
	}
	p := &testcases.Problem{
		Score: &testcases.Aggregate{},
		Groups: []testcases.Group{
			group("small", &testcases.Aggregate{Mode: testcases.ModeMin, Accept: score(30)}, "1", "2"),
			group("large", &testcases.Aggregate{Mode: testcases.ModeAll, Scale: score(70)}, "11", "12", "13"),
		},
	}
	j, err := judgePython(t, e, p, "s = input(); print(s + s if s != '12' else 0)")
	if err != nil || *j.Verdict != judge.WrongAnswer || *j.Score != 30 || *j.MaxScore != 100 || len(j.Groups) != 2 ||
		j.Groups[0].Score != 30 || j.Groups[1].Verdict != judge.WrongAnswer || j.Cases[4].Verdict != judge.Skipped {
		t.Fatalf("got %+v, %v", j, err)
	}
	p.Checker.Name = testcases.CustomChecker
	p.CheckerProgram = script("check.py", "import sys; open(sys.argv[3] + 'score_multiplier.txt', 'w').write('0.5'); sys.exit(42)", testcases.ProtocolKattis)
	p.Groups = p.Groups[:1]
	if j, err = judgePython(t, e, p, "print(1)"); err != nil || *j.Verdict != judge.Accepted || *j.Score != 15 {
		t.Errorf("shares: got %+v, %v", j, err)
	}
	p.Groups[0].Score = &testcases.Aggregate{
		Mode: testcases.ModeCustom, Accept: score(10), GraderArgs: []string{"7"},
		Grader: script("grade.py", "import sys; n = sum(float(l.split()[1]) for l in sys.stdin); print('AC', n * int(sys.argv[1]))", ""),
	}
	if j, err = judgePython(t, e, p, "print(1)"); err != nil || *j.Verdict != judge.Accepted || *j.Score != 70 {
		t.Errorf("grader: got %+v, %v", j, err)
	}
	p.Groups[0].Score.Grader = script("grade.py", "print('much')", "")
	var failed *judge.Failed
	if _, err = judgePython(t, e, p, "print(1)"); !errors.As(err, &failed) || failed.Kind != judge.FailProblem || !failed.Retryable {
		t.Errorf("a grader that gives nothing: got %v, want a failure that is tried again, as with a checker", err)
	}
}

// guess lets the program find a number in ten questions.
const guess = `
import sys
n, asked = int(open(sys.argv[1]).read()), 0
try:
    while True:
        word, x = input().split()
        if word == "answer": sys.exit(42 if int(x) == n else 43)
        asked += 1
        if asked > 10: sys.exit(43)
        print("less" if n < int(x) else "more" if n > int(x) else "same", flush=True)
except (EOFError, ValueError):
    open(sys.argv[3] + "teammessage.txt", "w").write("no answer")
    sys.exit(43)
`

// Interactive problems, and programs that misbehave in them: D41 of the attacks.
func TestInteractive(t *testing.T) {
	t.Parallel()
	e, _ := realEngine(t)
	right := `
low, high = 1, 1000
while low < high:
    mid = (low + high) // 2
    print("ask", mid, flush=True)
    said = input()
    if said == "same": low = high = mid
    elif said == "less": high = mid - 1
    else: low = mid + 1
print("answer", low, flush=True)
`
	for name, c := range map[string]struct {
		source string
		want   []judge.Verdict
	}{
		"right":                       {right, []judge.Verdict{judge.Accepted}},
		"wrong":                       {"print('answer 1')", []judge.Verdict{judge.WrongAnswer}},
		"right and exits with 1":      {right + "raise SystemExit(1)", []judge.Verdict{judge.RuntimeError}},
		"crashes in the middle":       {"print('ask 5', flush=True); input(); 1 / 0", []judge.Verdict{judge.RuntimeError}},
		"ends without an answer":      {"print('ask 5', flush=True)", []judge.Verdict{judge.WrongAnswer}},
		"goes on after its answer":    {right + "import time; time.sleep(60)", []judge.Verdict{judge.IdleLimit}},
		"refused, and goes on":        {"print('answer 1', flush=True); import time; time.sleep(60)", []judge.Verdict{judge.WrongAnswer}},
		"waits for ever":              {"input()", []judge.Verdict{judge.IdleLimit}},
		"loops for ever":              {"while True: pass", []judge.Verdict{judge.TimeLimit}},
		"floods and never reads":      {"while True: print('ask 5' * 1000)", []judge.Verdict{judge.WrongAnswer, judge.OutputLimit, judge.TimeLimit}},
		"asks and never reads":        {"while True: print('ask 5')", []judge.Verdict{judge.WrongAnswer, judge.TimeLimit}},
		"writes to a dead interactor": {"print('answer 1', flush=True)\nfor i in range(100000): print('x' * 100)", []judge.Verdict{judge.WrongAnswer}},
	} {
		p := &testcases.Problem{
			Kind: testcases.Interactive, Interactor: script("guess.py", guess, testcases.ProtocolKattis),
			Limits: judge.Limits{CPU: plenty, Wall: patience},
			Groups: []testcases.Group{{Name: "sample", Cases: []testcases.Case{caseOf("sample/1", "777", "")}}},
		}
		p.Groups[0].Cases[0].Sample, p.Groups[0].Cases[0].Hint = true, "halve it"
		if slices.Contains(c.want, judge.TimeLimit) {
			p.Limits.CPU = 500 * time.Millisecond
		}
		if slices.Contains(c.want, judge.IdleLimit) {
			p.Limits.CPU, p.Limits.Wall = soon, soon
		}
		j, err := judgePython(t, e, p, c.source)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !slices.Contains(c.want, *j.Verdict) || !strings.HasPrefix(j.Checker, "interactor@1+python3:") {
			t.Errorf("%s: got %s by %s, want %s: %+v", name, *j.Verdict, j.Checker, c.want, j.Cases)
		}
		if said := j.Cases[0].Message; strings.HasSuffix(said, "halve it") == (*j.Verdict == judge.Accepted) {
			t.Errorf("%s: %s says %q, want the hint of a sample that is not accepted", name, *j.Verdict, said)
		}
	}
}

// An interactor that breaks is our failure; one of testlib hands its notes to a checker.
func TestInteractors(t *testing.T) {
	t.Parallel()
	e, _ := realEngine(t)
	problem := func(protocol testcases.Protocol, source string) *testcases.Problem {
		return &testcases.Problem{
			Kind: testcases.Interactive, Interactor: script("talk.py", source, protocol),
			Groups: []testcases.Group{{Name: "secret", Cases: []testcases.Case{caseOf("secret/1", "7", "8")}}},
		}
	}
	var failed *judge.Failed
	_, err := judgePython(t, e, problem(testcases.ProtocolKattis, "raise SystemExit(1)"), "pass")
	if !errors.As(err, &failed) || failed.Kind != judge.FailChecker {
		t.Errorf("broken interactor: got %v", err)
	}
	notes := problem(testcases.ProtocolTestlib, "import sys; open(sys.argv[2], 'w').write(input() + open(sys.argv[3]).read())")
	notes.Checker = judge.CheckerSpec{Name: testcases.CustomChecker}
	notes.CheckerProgram = script("check.py", "import sys; sys.exit(0 if open(sys.argv[2]).read() == 'x8' else 1)", testcases.ProtocolTestlib)
	if j, err := judgePython(t, e, notes, "print('x')"); err != nil || *j.Verdict != judge.Accepted {
		t.Errorf("notes: got %+v, %v", j, err)
	}
	if j, err := judgePython(t, e, notes, "print('y')"); err != nil || *j.Verdict != judge.WrongAnswer {
		t.Errorf("wrong notes: got %+v, %v", j, err)
	}
	e.Talkers = nil
	if _, err := judgePython(t, e, notes, "print('x')"); !errors.As(err, &failed) || failed.Kind != judge.FailProblem {
		t.Errorf("no interactors: got %v", err)
	}
}

// A problem whose data is still to be made is our failure and no verdict.
func TestPendingIsNotJudged(t *testing.T) {
	t.Parallel()
	e, _ := realEngine(t)
	c := caseOf("secret/1", "", "")
	c.Answer, c.AnswerFrom = nil, &testcases.Recipe{Program: script("answer.py", "print(1)", testcases.ProtocolPlain)}
	p := &testcases.Problem{Groups: []testcases.Group{{Name: "secret", Cases: []testcases.Case{c}}}}
	var failed *judge.Failed
	if _, err := judgePython(t, e, p, "print(1)"); !errors.As(err, &failed) || failed.Kind != judge.FailProblem {
		t.Errorf("got %v, want a failure of the problem", err)
	}
}

// A submission of several files in a language without a compiler finds them in its work
// directory, but for those that the problem gives or takes there.
func TestFilesBesideTheProgram(t *testing.T) {
	t.Parallel()
	e, _ := realEngine(t)
	p := &testcases.Problem{
		OutputFile: "out.txt",
		Groups:     []testcases.Group{{Name: "secret", Cases: []testcases.Case{caseOf("secret/1", "", "own mine")}}},
	}
	p.Groups[0].Cases[0].Files = []testcases.CaseFile{{Name: "given.txt", Data: testcases.BytesData([]byte("own"))}}
	if err := p.Seal(); err != nil {
		t.Fatal(err)
	}
	for source, want := range map[string]judge.Verdict{
		"exec(open('lib/part.py').read())": judge.Accepted,
		"pass":                             judge.WrongAnswer,
	} {
		out, err := e.Judge(t.Context(), engine.Job{Problem: p, Submission: judge.Submission{
			ID: "s", Language: "python3", Main: "main.py", Files: []judge.File{
				{Name: "main.py", Data: []byte(source)},
				{Name: "lib/part.py", Data: []byte("open('out.txt', 'w').write(open('given.txt').read() + ' mine')")},
				{Name: "out.txt", Data: []byte("own mine")}, {Name: "given.txt", Data: []byte("other")},
			},
		}}, engine.Watcher{})
		if err != nil || *out.Judgement.Verdict != want {
			t.Errorf("%s: got %+v, %v, want %s", source, out, err, want)
		}
	}
}
