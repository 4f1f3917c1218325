package engine_test

import (
	"strings"
	"testing"

	"judgefarm/judge"
	"judgefarm/judge/engine"
	"judgefarm/testcases"
)

// validator accepts outputs that hold its word, and counts itself among those asked.
func validator(name, word, more string) testcases.Rule {
	return testcases.Rule{
		Checker: judge.CheckerSpec{Name: testcases.CustomChecker},
		Program: script(name, "import sys\nfeedback = sys.argv[3]\nopen(feedback + 'judgemessage.txt', 'w').write('"+name+"')\n"+
			more+"\nsys.exit(42 if '"+word+"' in sys.stdin.read() else 43)\n", testcases.ProtocolKattis),
	}
}

// Of several output validators each must accept, and the first that does not is the last
// that is asked. Points are those of the last that gave any.
func TestEveryRule(t *testing.T) {
	t.Parallel()
	e, _ := realEngine(t)
	scores := "open(feedback + 'score_multiplier.txt', 'w').write('0.5')"
	for source, want := range map[string]struct {
		verdict judge.Verdict
		score   float64
		jury    string
	}{
		"print('one two')": {judge.Accepted, 5, "a.py\nb.py"},
		"print('two')":     {judge.WrongAnswer, 0, "a.py"},
		"print('one')":     {judge.WrongAnswer, 0, "a.py\nb.py"},
	} {
		first := validator("a.py", "one", "if 'fail' not in sys.argv: "+scores)
		c := caseOf("secret/1", "", "")
		c.Points = score(10)
		p := &testcases.Problem{
			Checker: first.Checker, CheckerProgram: first.Program, Rules: []testcases.Rule{validator("b.py", "two", "")}, EveryRule: true,
			Score: &testcases.Aggregate{}, Groups: []testcases.Group{{Name: "secret", Cases: []testcases.Case{c}}},
		}
		if want.verdict != judge.Accepted {
			p.CheckerProgram = validator("a.py", "one", "").Program // a score with a refusal would be a fault
		}
		out, err := judgeOutcome(t, e, p, source)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if j := out.Judgement; *j.Verdict != want.verdict || *j.Score != want.score || out.Outputs[0].Jury != want.jury {
			t.Errorf("%s: got %s, %v points, %q, want %+v", source, *j.Verdict, *j.Score, out.Outputs[0].Jury, want)
		}
	}
}

// Each case has its own checker, wall time and output.
func TestRulesOfCases(t *testing.T) {
	t.Parallel()
	e, _ := realEngine(t)
	problem := func() *testcases.Problem {
		p := &testcases.Problem{
			Checker: judge.CheckerSpec{Name: "dmoj/standard"},
			Rules:   []testcases.Rule{{Checker: judge.CheckerSpec{Name: "dmoj/easy"}}, validator("own.py", "CBA", "")},
			Limits:  judge.Limits{CPU: plenty, Wall: patience, Output: 1000},
			Groups:  []testcases.Group{{Name: "secret", Cases: []testcases.Case{caseOf("secret/1", "abc", "cba\n"), caseOf("secret/2", "abc", "CBA\n"), caseOf("secret/3", "", "")}}},
		}
		p.Groups[0].Cases[1].Rule, p.Groups[0].Cases[2].Rule = 1, 2
		return p
	}
	run := func(p *testcases.Problem, sub judge.Submission, source string) (*judge.Judgement, error) {
		if err := p.Seal(); err != nil {
			t.Fatal(err)
		}
		sub.ID, sub.Language, sub.Files, sub.Stop = "s", "python3", []judge.File{{Name: "main.py", Data: []byte(source)}}, judge.StopNever
		out, err := e.Judge(t.Context(), engine.Job{Problem: p, Submission: sub}, engine.Watcher{})
		if err != nil {
			return nil, err
		}
		return &out.Judgement, nil
	}
	said := func(j *judge.Judgement) string {
		var all []string
		for _, r := range j.Cases {
			all = append(all, string(r.Verdict))
		}
		return strings.Join(all, " ")
	}
	j, err := run(problem(), judge.Submission{}, "print('CBA')")
	if err != nil || said(j) != "WA AC AC" || !strings.HasPrefix(j.Checker, "dmoj/standard@1,dmoj/easy@1,custom@1+python3:") {
		t.Errorf("got %+v, %v", j, err)
	}
	j, err = run(problem(), judge.Submission{Checker: &judge.CheckerSpec{Name: "dmoj/easy"}}, "print('CBA')")
	if err != nil || said(j) != "AC AC WA" || j.Checker != "dmoj/easy@1" {
		t.Errorf("the request's checker: got %+v, %v", j, err)
	}
	p := problem()
	p.Checker.Name, p.Rules, p.Groups[0].Cases[1].Rule, p.Groups[0].Cases[2].Rule = "tokens", nil, 0, 0
	p.Limits.CPU, p.Groups[0].Cases[0].Limits = soon, judge.Limits{Output: 3}
	p.Groups[0].Cases[1].Limits = judge.Limits{Wall: soon}
	j, err = run(p, judge.Submission{}, "import sys, time\nprint('C' * 10, flush=True)\ntime.sleep(9)")
	if err != nil || strings.Replace(said(j), "ILE", "WTL", 1) != "OLE WTL WA" { // a slow start is more than idle
		t.Errorf("limits of cases: got %+v, %v", j, err)
	}
}
