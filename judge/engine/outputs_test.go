package engine_test

import (
	"slices"
	"strings"
	"testing"

	"judgefarm/judge"
	"judgefarm/judge/engine"
	"judgefarm/judge/sandbox/sandboxtest"
	"judgefarm/testcases"
)

// asksForOutputs is a problem of three cases that asks for outputs.
func asksForOutputs(t *testing.T) *testcases.Problem {
	t.Helper()
	p := &testcases.Problem{
		Kind: testcases.OutputOnly, Languages: []string{"c"}, Limits: judge.Limits{Output: 10}, CodeSize: 4,
		Groups: []testcases.Group{{Name: "secret", Cases: []testcases.Case{
			caseOf("secret/1", "1", "one"), caseOf("secret/2", "2", "two"), caseOf("secret/3", "3", "three"),
		}}},
		Score: &testcases.Aggregate{},
	}
	p.Groups[0].Cases[1].Hint, p.Groups[0].Cases[1].Sample = "count", true
	if err := p.Seal(); err != nil {
		t.Fatal(err)
	}
	return p
}

// Nothing is run for a problem that asks for outputs; the checker rules on each, and
// what is not there or too large does not come before it.
func TestOutputsAreHandedIn(t *testing.T) {
	t.Parallel()
	e, fake := newEngine(t, map[string]sandboxtest.Program{"echo": echo})
	files := func(pairs ...string) (all []judge.File) {
		for i := 0; i < len(pairs); i += 2 {
			all = append(all, judge.File{Name: pairs[i], Data: []byte(pairs[i+1])})
		}
		return all
	}
	for name, c := range map[string]struct {
		files []judge.File
		want  []judge.Verdict
		score float64
		says  string // of the second case
	}{
		"all":       {files("1.out", "one", "2.out", "two\n", "3.out", "three"), []judge.Verdict{"AC", "AC", "AC"}, 3, ""},
		"wrong":     {files("1.out", "one", "2.out", "too", "3.out", "three"), []judge.Verdict{"AC", "WA", "AC"}, 2, "\ncount"},
		"missing":   {files("1.out", "one", "3.out", "three"), []judge.Verdict{"AC", "WA", "AC"}, 2, "no file 2.out was handed in"},
		"too large": {files("1.out", "one", "2.out", "two"+strings.Repeat(" ", 8)), []judge.Verdict{"AC", "OLE", "WA"}, 1, "output over 10 bytes"},
	} {
		sub := judge.Submission{ID: "1", Language: "text", Files: c.files}
		out, err := e.Judge(t.Context(), engine.Job{Submission: sub, Problem: asksForOutputs(t)}, engine.Watcher{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		j := out.Judgement
		if got := verdicts(j); !slices.Equal(got, c.want) || *j.Score != c.score || !strings.Contains(j.Cases[1].Message, c.says) || j.Compile != nil {
			t.Errorf("%s: got %s, %v points, %+v", name, got, *j.Score, j.Cases)
		}
	}
	if ran := fake.Specs(); len(ran) > 0 {
		t.Errorf("something was run: %+v", ran)
	}
	bad := judge.Submission{ID: "1", Language: "text", Files: files("main.cpp", "x", "1.out", "one")}
	if _, err := e.Judge(t.Context(), engine.Job{Submission: bad, Problem: asksForOutputs(t)}, engine.Watcher{}); !judge.IsBadRequest(err) || !strings.Contains(err.Error(), "files[0].name") {
		t.Errorf("a file of no case: got %v", err)
	}
}

// A program that is sent to a problem that asks for outputs is run: what it prints is
// the output. Elsewhere plain text is a program that prints itself.
func TestProgramsForOutputs(t *testing.T) {
	t.Parallel()
	e, fake := newEngine(t, map[string]sandboxtest.Program{"echo": echo})
	p := asksForOutputs(t)
	sub := submission("echo")
	out, err := e.Judge(t.Context(), engine.Job{Submission: sub, Problem: p}, engine.Watcher{})
	if err != nil || len(fake.Specs()) != 3 || *out.Judgement.Verdict != judge.WrongAnswer {
		t.Errorf("program: got %+v, %v, %d runs", out, err, len(fake.Specs()))
	}
	sub.Language = "text"
	if _, err := e.Judge(t.Context(), engine.Job{Submission: sub, Problem: problem(t, "1", "1")}, engine.Watcher{}); err != nil || len(fake.Specs()) != 4 {
		t.Errorf("text in another problem: got %v, %d runs", err, len(fake.Specs()))
	}
}
