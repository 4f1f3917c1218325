package kattis_test

import (
	"slices"
	"testing"

	"judgefarm/testcases"
)

// What the package's programs must accept or refuse has arguments of its folder and of its
// own: 2025-09, "Invalid output".
func TestSamplesHaveArguments(t *testing.T) {
	t.Parallel()
	p := open(t, map[string]string{
		"problem.yaml":               "problem_format_version: 2025-09\nname: x\n",
		"output_validator/v.py":      "",
		"data/invalid_output/a/1.in": "", "data/invalid_output/a/1.ans": "", "data/invalid_output/a/1.out": "",
		"data/invalid_output/test_group.yaml": "output_validator_args: [of folder]\n",
		"data/valid_output/a/test_group.yaml": "output_validator_args: [of a]\n",
		"data/valid_output/a/1.in":            "", "data/valid_output/a/1.ans": "", "data/valid_output/a/1.out": "",
		"data/valid_output/a/2.in": "", "data/valid_output/a/2.ans": "", "data/valid_output/a/2.out": "",
		"data/valid_output/a/2.yaml": "output_validator_args: [own]\n",
		"data/invalid_input/1.in":    "",
		"data/invalid_input/1.yaml":  "input_validator_args: [small]\nargs: [-v]\n",
	})
	got := map[string][]string{}
	for _, s := range slices.Concat(p.Jury.InvalidInputs, p.Jury.InvalidOutput, p.Jury.ValidOutputs) {
		got[s.Name] = s.Args
	}
	for name, want := range map[string][]string{
		"invalid_output/a/1": {"of folder"}, "valid_output/a/1": {"of a"}, "valid_output/a/2": {"own"}, "invalid_input/1": {"small", "-v"},
	} {
		if !slices.Equal(got[name], want) {
			t.Errorf("%s gets %q, want %q", name, got[name], want)
		}
	}
	if len(p.Jury.Unused) != 0 {
		t.Errorf("nobody reads %q", p.Jury.Unused)
	}
	p = open(t, map[string]string{
		"data/testdata.yaml":       "output_validator_flags: case_sensitive\n",
		"data/invalid_output/1.in": "", "data/invalid_output/1.ans": "", "data/invalid_output/1.out": "",
		"problem_statement/x.en.tex": "",
	})
	if s := p.Jury.InvalidOutput; len(s) != 1 || !slices.Equal(s[0].Args, []string{"case_sensitive"}) {
		t.Errorf("before 2025-09 flags are inherited: got %+v", []testcases.Sample(s))
	}
}
