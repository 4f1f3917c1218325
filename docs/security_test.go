package docs

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReachable: docs/security.md has a row for each group of calls that boxes may
// make, by the group's reason in the table of the code.
func TestReachable(t *testing.T) {
	t.Parallel()
	rules := regexp.MustCompile(`\{allow, "[^"]*", "([^"]*)"\}`).FindAllStringSubmatch(read(t, filepath.Join(root, "judge/sandbox/syscalls.go")), -1)
	if len(rules) < 10 {
		t.Fatalf("found only %d groups of allowed calls", len(rules))
	}
	page := read(t, "security.md")
	for _, r := range rules {
		if !strings.Contains(page, "| "+r[1]+" |") {
			t.Errorf("security.md has no row for %q", r[1])
		}
	}
	if rows := strings.Count(page[strings.Index(page, "| group |"):strings.Index(page, "Not reachable")], "\n|") - 1; rows != len(rules) {
		t.Errorf("%d rows for %d groups", rows, len(rules))
	}
}
