package kattis_test

import (
	"testing"
	"time"
)

// Since 2025-09 submissions write no files unless the package says so; before, they may.
func TestFileWriting(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"problem_format_version: 2025-09\nname: x":                            true,
		"problem_format_version: 2025-09\nname: x\nallow_file_writing: false": true,
		"problem_format_version: 2025-09\nname: x\nallow_file_writing: true":  false,
		"problem_format_version: 2023-07-draft\nname: x":                      false,
		"name: x\nlicense: unknown":                                           false,
		"name: x\nallow_file_writing: false":                                  true,
	} {
		if p := open(t, map[string]string{"problem.yaml": text + "\n"}); p.Sealed != want {
			t.Errorf("%q: sealed %v, want %v", text, p.Sealed, want)
		}
	}
}

// A package with DOMjudge's tags is judged as there where the format says nothing.
func TestMadeForDOMjudge(t *testing.T) {
	t.Parallel()
	const tagged = "# @EXPECTED_RESULTS@: CORRECT\n"
	for name, c := range map[string]struct {
		yaml, source, limit string
		sealed              bool
		wall                time.Duration
	}{
		"tagged":             {"license: unknown", tagged, "5", true, 10 * time.Second},
		"with a small limit": {"license: unknown", tagged, "0.5", true, 2500 * time.Millisecond},
		"untagged":           {"license: unknown", "# CORRECT\n", "5", false, 0},
		"may write":          {"allow_file_writing: true", tagged, "5", false, 10 * time.Second},
		"interactive":        {"validation: custom interactive", tagged, "5", true, 0},
	} {
		files := map[string]string{"problem.yaml": "name: x\n" + c.yaml + "\n", "submissions/accepted/a.py": c.source, ".timelimit": c.limit}
		if name == "interactive" {
			files["output_validators/v.py"] = "v"
		}
		if p := open(t, files); p.Sealed != c.sealed || p.Limits.Wall != c.wall {
			t.Errorf("%s: sealed %v, wall limit %v, want %v, %v", name, p.Sealed, p.Limits.Wall, c.sealed, c.wall)
		}
	}
}
