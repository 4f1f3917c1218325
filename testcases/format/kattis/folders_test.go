package kattis_test

import (
	"slices"
	"testing"

	"judgefarm/judge"
)

// In 2025-09 a folder without configuration is no group: its cases are those of the group
// that it is in, with its arguments and in the order of their names.
func TestFoldersOfAGroup(t *testing.T) {
	t.Parallel()
	p := open(t, map[string]string{
		"problem.yaml":       "problem_format_version: 2025-09\nname: x\ntype: scoring\nlimits: {time_limit: 1}",
		"data/secret/01.in":  none,
		"data/secret/01.ans": none,
		"data/secret/g/test_group.yaml": "max_score: 100\nscore_aggregation: sum\nargs: [-v]\noutput_validator_args: [case_sensitive]\n" +
			"input_validator_args: [big]\n",
		"data/secret/g/a/1.in": "", "data/secret/g/a/1.ans": "",
		"data/secret/g/a/deep/1.in": "", "data/secret/g/a/deep/1.ans": "",
		"data/secret/g/b.in": "", "data/secret/g/b.ans": "",
		"data/secret/g/b-2.in": "", "data/secret/g/b-2.ans": "",
	})
	if len(p.Groups[1].Groups) != 1 {
		t.Fatalf("got groups %+v", p.Groups[1])
	}
	g := p.Groups[1].Groups[0]
	var names []string
	for _, c := range g.Cases {
		names = append(names, c.Name)
		if !slices.Equal(c.CheckerArgs, []string{"case_sensitive"}) || !slices.Equal(c.Args, []string{"-v"}) ||
			!slices.Equal(p.Jury.ValidatorArgs[c.Name], []string{"big", "-v"}) {
			t.Errorf("case %s has not the arguments of its group: %+v", c.Name, c)
		}
	}
	if want := []string{"secret/g/a/1", "secret/g/a/deep/1", "secret/g/b", "secret/g/b-2"}; !slices.Equal(names, want) {
		t.Errorf("got cases %q, want %q", names, want)
	}
	if len(g.Groups) != 0 || g.Score.Accept.Cmp(judge.ScoreOf(25)) != 0 {
		t.Errorf("got %+v, each worth %v", g, g.Score.Accept)
	}
}
