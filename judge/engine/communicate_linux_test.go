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

// relay is a manager of any number of programs: each gets a number in turn and must
// answer with the double of it. "-1" tells a program to stop. The input is read in both
// ways that a manager has, and the share that it gives is in the answer.
const relay = `
import sys
n = int(sys.stdin.read())
assert n == int(open("input.txt").read())
pipes = sys.argv[1:]
ends = [(open(pipes[i + 1], "w"), open(pipes[i])) for i in range(0, len(pipes), 2)]
ok = True
for k in range(n):
    for to, back in ends:
        print(k, file=to, flush=True)
        line = back.readline()
        if line.strip() != str(2 * k):
            print("wrong after", k, file=sys.stderr)
            print("0.0")
            sys.exit(0)
for to, back in ends:
    print(-1, file=to, flush=True)
print("well done", file=sys.stderr)
print("1.0")
`

// streams and names are the right program, in the two ways of talking.
const (
	right = `
while True:
    k = int(inp.readline())
    if k < 0: break
    print(2 * k, file=out, flush=True)
`
	streams = "import sys; inp, out = sys.stdin, sys.stdout\n"
	names   = "import sys; inp, out = open(sys.argv[1]), open(sys.argv[2], 'w')\nprint('talks to nobody')\n"
)

func relayProblem(processes int, named bool) *testcases.Problem {
	return &testcases.Problem{
		Kind: testcases.Communication, Processes: processes, NamedPipes: named,
		Interactor: script("manager.py", relay, testcases.ProtocolCMS),
		Limits:     judge.Limits{CPU: plenty, Wall: patience},
		Groups:     []testcases.Group{{Name: "tests", Cases: []testcases.Case{caseOf("000", "5\n", "")}}},
	}
}

// Communication problems with one and several processes, in both ways of talking: every
// row of the table in docs/verdicts.md, in real boxes.
func TestCommunication(t *testing.T) {
	t.Parallel()
	e, _ := realEngine(t)
	only := func(v ...judge.Verdict) []judge.Verdict { return v }
	for name, c := range map[string]struct {
		processes int
		source    string // after streams or names
		want      []judge.Verdict
	}{
		"right":                            {1, right, only(judge.Accepted)},
		"right, two":                       {2, right, only(judge.Accepted)},
		"right, four":                      {4, right, only(judge.Accepted)},
		"wrong":                            {1, "inp.readline(); print(7, file=out, flush=True); inp.readline()", only(judge.WrongAnswer)},
		"one of two wrong":                 {2, "if sys.argv[-1] == '1': inp.readline(); print(7, file=out, flush=True)\n" + right, only(judge.WrongAnswer)},
		"right and exits with 1":           {1, right + "sys.exit(1)", only(judge.RuntimeError)},
		"one of two exits with 1":          {2, right + "sys.exit(int(sys.argv[-1]))", only(judge.RuntimeError)},
		"crashes at once":                  {2, "1 / 0", only(judge.RuntimeError)},
		"crashes in the middle":            {1, "inp.readline(); 1 / 0", only(judge.RuntimeError)},
		"ends in the middle":               {1, "inp.readline()", only(judge.WrongAnswer)},
		"crashes after the refusal":        {1, "inp.readline(); print(7, file=out, flush=True); assert inp.readline()", only(judge.WrongAnswer)},
		"waits for ever":                   {1, right + "inp2 = open(0); import time; time.sleep(60)", only(judge.IdleLimit)},
		"both wait for each other":         {2, "inp.readline(); inp.readline()", only(judge.IdleLimit)},
		"loops for ever":                   {2, "while True: pass", only(judge.TimeLimit)},
		"each within the time, not both":   {2, "import time\nwhile time.process_time() < 0.3: pass\n" + right, only(judge.TimeLimit)},
		"takes much memory":                {1, "x = bytearray(400 << 20)\n" + right, only(judge.MemoryLimit)},
		"floods and never reads":           {1, "while True: print('x' * 1000, file=out)", only(judge.WrongAnswer, judge.TimeLimit)},
		"writes to a dead manager":         {1, "inp.readline(); print(7, file=out, flush=True)\nfor i in range(10000): print('x' * 100, file=out)", only(judge.WrongAnswer)},
		"reads nothing and ends":           {2, "pass", only(judge.WrongAnswer)},
		"takes the pipes of the other one": {2, "import os; assert sorted(os.listdir('/pipes')) == [sys.argv[-1]]\n" + right, only(judge.Accepted)},
	} {
		for _, named := range []bool{true, false} {
			source := streams + c.source
			if named {
				source = names + c.source
			} else if strings.Contains(c.source, "/pipes") {
				continue
			}
			p := relayProblem(c.processes, named)
			if slices.Contains(c.want, judge.TimeLimit) {
				p.Limits.CPU = 500 * time.Millisecond
			}
			if slices.Contains(c.want, judge.IdleLimit) {
				p.Limits.CPU, p.Limits.Wall = soon, soon
			}
			j, err := judgePython(t, e, p, source)
			if err != nil {
				t.Errorf("%s, named %v: %v", name, named, err)
				continue
			}
			if !slices.Contains(c.want, *j.Verdict) || !strings.HasPrefix(j.Checker, "interactor@1+python3:") {
				t.Errorf("%s, named %v: got %s by %s, want %s: %+v", name, named, *j.Verdict, j.Checker, c.want, j.Cases)
			}
		}
	}
}

// What a manager does wrong is our failure, and what it says reaches people.
func TestManagers(t *testing.T) {
	t.Parallel()
	e, _ := realEngine(t)
	problem := func(source string) *testcases.Problem {
		p := relayProblem(2, true)
		p.Interactor = script("manager.py", "import sys\n"+source, testcases.ProtocolCMS)
		p.Score = &testcases.Aggregate{Scale: score(100)}
		return p
	}
	for name, source := range map[string]string{
		"crashes":         "1 / 0",
		"gives nothing":   "pass",
		"gives too much":  "print(1.5)",
		"gives no number": "print('good')",
	} {
		var failed *judge.Failed
		if _, err := judgePython(t, e, problem(source), "pass"); !errors.As(err, &failed) || failed.Kind != judge.FailChecker {
			t.Errorf("%s: got %v", name, err)
		}
	}
	j, err := judgePython(t, e, problem("print(0.25)\nprint('a quarter', file=sys.stderr)"), "pass")
	if err != nil || *j.Verdict != judge.Accepted || *j.Score != 25 {
		t.Errorf("a quarter: got %+v, %v", j, err)
	}
	// A manager that nobody answers waits as long as the programs may, not for ever.
	waits := problem("for p in sys.argv[1::2]: open(p).read()\nprint(1)")
	waits.Limits.CPU, waits.Limits.Wall = soon, soon
	j, err = judgePython(t, e, waits, "import time; time.sleep(60)")
	if err != nil || *j.Verdict != judge.IdleLimit {
		t.Errorf("waits: got %+v, %v", j, err)
	}
}

// Problems with more processes than there are boxes are refused, and several cases
// with several processes never wait for each other for ever.
func TestSpareBoxes(t *testing.T) {
	t.Parallel()
	e, _ := realEngineOf(t, 2)
	e.Config.Slots = engine.NewSlots(2)
	e = engine.New(e.Config)
	var failed *judge.Failed
	if _, err := judgePython(t, e, relayProblem(5, true), "pass"); !errors.As(err, &failed) || !strings.Contains(failed.Reason, "5 processes") {
		t.Errorf("five processes: got %v", err)
	}
	p := relayProblem(3, true)
	for i := range 6 {
		p.Groups[0].Cases = append(p.Groups[0].Cases, caseOf(fmt.Sprintf("%03d", i+1), "3", ""))
	}
	if j, err := judgePython(t, e, p, names+right); err != nil || *j.Verdict != judge.Accepted || len(j.Cases) != 7 {
		t.Errorf("side by side: got %+v, %v", j, err)
	}
	p.Limits.Ptrace = false
	sub := judge.Submission{ID: "s", Language: "python3", Limits: judge.Limits{Ptrace: true}, Files: []judge.File{{Name: "a.py", Data: []byte(right)}}}
	if _, err := e.Judge(t.Context(), engine.Job{Problem: p, Submission: sub}, engine.Watcher{}); !judge.IsBadRequest(err) || !strings.Contains(err.Error(), "limits.ptrace") {
		t.Errorf("strict: got %v", err)
	}
}
