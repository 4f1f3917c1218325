package kattis_test

import (
	"slices"
	"strings"
	"testing"

	"judgefarm/testcases"
)

// A group of 2025-09 may have a case in which a program looks at the submission.
func TestStaticValidation(t *testing.T) {
	t.Parallel()
	p := open(t, map[string]string{
		"problem.yaml":                     "problem_format_version: 2025-09\nname: Sum\ntype: scoring\nlimits: {validation_time: 7}\n",
		"data/secret/test_group.yaml":      "max_score: 100\n",
		"data/secret/01.in":                none,
		"data/secret/01.ans":               none,
		"data/secret/a/1.in":               "",
		"data/secret/a/1.ans":              "",
		"data/secret/a/2.in":               "",
		"data/secret/a/2.ans":              "",
		"data/secret/a/test_group.yaml":    "max_score: 70\nscore_aggregation: sum\nstatic_validation_score: 10\nstatic_validator_args: [-x, y]\n",
		"data/secret/b/1.in":               "",
		"data/secret/b/1.ans":              "",
		"data/secret/b/test_group.yaml":    "max_score: 30\nstatic_validation_score: pass-fail\n",
		"static_validator/check.py":        "",
		"submissions/accepted/a.py":        "",
		"submissions/wrong_answer/b.cpp":   none,
		"problem_statement/problem.en.tex": none,
	})
	if len(p.Rules) != 1 || p.EveryRule || p.Rules[0].Program.Protocol != testcases.ProtocolKattisStatic || p.Rules[0].Program.Limits.CPU == 0 {
		t.Fatalf("got rules %+v", p.Rules)
	}
	a, b := p.Groups[1].Groups[0], p.Groups[1].Groups[1]
	if c := a.Cases[0]; !c.Static || c.Rule != 1 || c.Name != "secret/a/=static" || c.Points.Cmp(score(t, "10")) != 0 || !slices.Equal(c.CheckerArgs, []string{"-x", "y"}) {
		t.Errorf("got %+v", c)
	}
	if len(a.Cases) != 3 || a.Cases[1].Static || a.Score.Accept.Cmp(score(t, "30")) != 0 {
		t.Errorf("got %+v, each worth %v", a.Cases, a.Score.Accept)
	}
	if c := b.Cases[0]; !c.Static || c.Points != nil || b.Score.Mode != testcases.ModeAll {
		t.Errorf("got %+v, %+v", c, b.Score)
	}
	for name, c := range map[string]struct {
		add  map[string]string
		want string
	}{
		"no program":    {map[string]string{"static_validator/check.py": none}, "needs a program in static_validator/"},
		"no score":      {map[string]string{"data/sample/test_group.yaml": "static_validator_args: [a]"}, "data/sample/test_group.yaml: line 1: static_validator_args needs"},
		"points":        {map[string]string{"data/sample/test_group.yaml": "static_validation_score: 5"}, "static_validation_score must be pass-fail"},
		"too many":      {map[string]string{"problem.yaml": "problem_format_version: 2025-09\nname: x\ntype: scoring", "data/secret/test_group.yaml": "max_score: 3\nstatic_validation_score: 5"}, "at most max_score"},
		"none":          {map[string]string{"problem.yaml": "problem_format_version: 2025-09\nname: x\ntype: scoring", "data/secret/test_group.yaml": "static_validation_score: pass-fail"}, "must be a number"},
		"submit-answer": {map[string]string{"problem.yaml": "problem_format_version: 2025-09\nname: x\ntype: submit-answer", "data/sample/test_group.yaml": "static_validation_score: pass-fail"}, "submit-answer"},
	} {
		add := map[string]string{"problem.yaml": "problem_format_version: 2025-09\nname: x\n", "static_validator/check.py": ""}
		for file, text := range c.add {
			add[file] = text
		}
		if c.add["static_validator/check.py"] == none {
			add["data/sample/test_group.yaml"] = "static_validation_score: pass-fail"
		}
		if got := strings.Join(faults(t, add), "\n"); !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
