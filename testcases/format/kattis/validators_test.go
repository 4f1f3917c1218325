package kattis_test

import (
	"slices"
	"testing"

	"judgefarm/testcases"
)

// Before 2025-09 a problem may have several output validators, each of which must accept.
func TestSeveralValidators(t *testing.T) {
	t.Parallel()
	p := open(t, map[string]string{
		"problem.yaml":              "validation: custom\nvalidator_flags: -x\nlimits: {validation_time: 7}\n",
		"output_validators/a.py":    "",
		"output_validators/b/b.cpp": "", "output_validators/b/b.h": "",
	})
	if len(p.Rules) != 1 || !p.EveryRule || p.CheckerProgram.Name != "output_validators/a.py" {
		t.Fatalf("got checker %+v, rules %+v, every %v", p.CheckerProgram, p.Rules, p.EveryRule)
	}
	b := p.Rules[0]
	if b.Program.Name != "output_validators/b" || len(b.Program.Files) != 2 || !slices.Equal(b.Checker.Args, []string{"-x"}) ||
		b.Checker.Name != testcases.CustomChecker || b.Program.Limits != p.CheckerProgram.Limits {
		t.Errorf("got %+v of %+v", b, b.Program)
	}
}

// Where the least score is the best, what is partly accepted scores more than that.
func TestLeastIsBest(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"range: 0 100": "0", "range: -inf 100": "", "range: -5.5 +inf": "-5.5"} {
		p := open(t, map[string]string{
			"problem.yaml": "type: scoring\ngrading: {objective: min}\n", "data/testdata.yaml": text,
			"submissions/partially_accepted/p.py": "",
		})
		i := slices.IndexFunc(p.Submissions, func(s testcases.Labelled) bool { return s.Label == "partially_accepted" })
		if i < 0 {
			t.Fatalf("submissions %+v", p.Submissions)
		}
		e := p.Submissions[i].Expect[0]
		if got := e.Above; e.Partial || (got == nil) != (want == "") || got != nil && got.Cmp(score(t, want)) != 0 {
			t.Errorf("%s: got %+v, want above %q", text, e, want)
		}
	}
}
