package kattis_test

import (
	"strings"
	"testing"
	"time"
)

// Where several files state the time limit, it is as in DOMjudge: problem.yaml comes before
// domjudge-problem.ini, and .timelimit must not say another one.
func TestSeveralTimeLimits(t *testing.T) {
	t.Parallel()
	const stated = "problem_format_version: 2025-09\nname: x\nlimits: {time_limit: 3}\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  time.Duration
		note  string
	}{
		"yaml and the same": {map[string]string{"problem.yaml": stated, ".timelimit": "3.0\n"}, 3 * time.Second, ""},
		"yaml and ini":      {map[string]string{"problem.yaml": stated, "domjudge-problem.ini": "timelimit='5'\n"}, 3 * time.Second, "domjudge-problem.ini: has a time limit of 5s, which is not used: problem.yaml:3 states 3s"},
		"ini and the same":  {map[string]string{"domjudge-problem.ini": "timelimit='5'\n", ".timelimit": "5"}, 5 * time.Second, ""},
	} {
		p := open(t, c.files)
		notes := ""
		for _, n := range p.Jury.Notes {
			notes += n.File + ": " + n.Text
		}
		if p.Limits.CPU != c.want || notes != c.note {
			t.Errorf("%s: got %v and notes %q, want %v and %q", name, p.Limits.CPU, notes, c.want, c.note)
		}
	}
	for _, files := range []map[string]string{
		{"problem.yaml": stated, ".timelimit": "2"}, {"domjudge-problem.ini": "timelimit='5'\n", ".timelimit": "2"},
	} {
		if got := faults(t, files); len(got) != 1 || !strings.HasPrefix(got[0], ".timelimit: holds a time limit of 2s, and ") {
			t.Errorf("%v: got %q", files, got)
		}
	}
}
