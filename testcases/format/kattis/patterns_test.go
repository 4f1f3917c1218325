package kattis_test

import (
	"fmt"
	"strings"
	"testing"
)

// Patterns with braces, and what they say of many submissions, have a bound.
func TestPatternsAreBounded(t *testing.T) {
	t.Parallel()
	const version = "problem_format_version: 2025-09\nname: x\n"
	many := map[string]string{"problem.yaml": version, "submissions/submissions.yaml": ""}
	for i := range 3 {
		many["submissions/submissions.yaml"] += fmt.Sprintf("? '%d{%s}'\n: {}\n", i, strings.Repeat("a,", 900))
	}
	if got := faults(t, many); len(got) != 1 || !strings.Contains(got[0], "at most 2000 patterns") {
		t.Errorf("got %q", got)
	}
	groups := map[string]string{"problem.yaml": version, "submissions/submissions.yaml": "accepted:\n"}
	for i := range 3000 {
		groups["submissions/submissions.yaml"] += fmt.Sprintf("  secret/%d: {}\n", i)
	}
	for i := range 400 {
		groups[fmt.Sprintf("submissions/accepted/%d.py", i)] = ""
	}
	if got := faults(t, groups); len(got) != 1 || !strings.Contains(got[0], "at most 1000000 times") {
		t.Errorf("got %q", got)
	}
}
