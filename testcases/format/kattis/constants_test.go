package kattis_test

import (
	"slices"
	"strings"
	"testing"
)

// Constants hold in test_group.yaml too: 2025-09, "Constants".
func TestConstantsOfGroups(t *testing.T) {
	t.Parallel()
	p := open(t, map[string]string{
		"problem.yaml":                "problem_format_version: 2025-09\nname: x\nconstants: {eps: {value: 1e-6, tex: small}}\n",
		"data/secret/test_group.yaml": "output_validator_args: [float_tolerance, '{{eps}}', {{eps.value}}]\nargs: ['{{other}}']\n",
		"output_validator/v.py":       "",
	})
	c := p.Groups[1].Cases[0]
	if !slices.Equal(c.CheckerArgs, []string{"float_tolerance", "1e-6", "1e-6"}) || !slices.Equal(c.Args, []string{"{{other}}"}) {
		t.Errorf("got %+v", c)
	}
}

// A short name stands for a long value: what becomes of a file has the file's bound.
func TestConstantsThatGrow(t *testing.T) {
	t.Parallel()
	constants := "problem_format_version: 2025-09\nname: x\nconstants: {a: " + strings.Repeat("x", 100_000) + "}\n"
	got := faults(t, map[string]string{
		"problem.yaml":              constants,
		"submissions/accepted/a.py": strings.Repeat("{{a}}", 1000),
		"submissions/accepted/b.py": strings.Repeat("{{a}}", 10),
	})
	if len(got) != 1 || !strings.HasPrefix(got[0], "submissions/accepted/a.py: must be at most 8388608 bytes with the values of its constants") {
		t.Errorf("got %q", got)
	}
	got = faults(t, map[string]string{"problem.yaml": "problem_format_version: 2025-09\nname: x\nconstants: {'a}}b': 1, 7: 1}\n"})
	if len(got) != 2 || !strings.Contains(got[0], "must be called by letters") {
		t.Errorf("got %q", got)
	}
}
