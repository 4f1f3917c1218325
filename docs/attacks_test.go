package docs

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	attackRow   = regexp.MustCompile(`(?m)^\| (D\d\d) \|.*\| ([^|]+) \|$`)
	attacksMake = regexp.MustCompile(`(?m)^attacks:(?:.*\n\t.*)*`)
	runPattern  = regexp.MustCompile(`-run '([^']+)' (.+)`)
)

// TestAttacks: every misbehaving submission is a row of docs/attacks.md, each row
// names tests that are there and speak of it by its id, and make attacks runs them.
func TestAttacks(t *testing.T) {
	t.Parallel()
	rows := attackRow.FindAllStringSubmatch(read(t, "attacks.md"), -1)
	recipe := attacksMake.FindString(read(t, filepath.Join(root, "Makefile")))
	run := runPattern.FindStringSubmatch(recipe)
	if run == nil {
		t.Fatalf("no -run pattern and packages in make attacks: %q", recipe)
	}
	repeated := regexp.MustCompile(run[1])
	for i, row := range rows {
		if want := fmt.Sprintf("D%02d", i+1); row[1] != want {
			t.Fatalf("row %s, want %s", row[1], want)
		}
		for test := range strings.SplitSeq(row[2], ", ") {
			dir, name, ok := strings.Cut(test, " ")
			if !ok {
				t.Errorf("%s: %q is no package and test", row[1], test)
				continue
			}
			if !testSpeaksOf(t, dir, name, row[1]) {
				t.Errorf("%s: package %s has no test %s, or its tests do not speak of %[1]s", row[1], dir, name)
			}
			if !repeated.MatchString(name) || !strings.Contains(run[2], "./"+dir) {
				t.Errorf("%s: make attacks does not run %s of %s", row[1], name, dir)
			}
		}
	}
	if len(rows) != 41 {
		t.Errorf("%d rows, want 41", len(rows))
	}
}

// testSpeaksOf reports whether a package's test files define a test and name a row.
func testSpeaksOf(t *testing.T, dir, name, id string) bool {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(root, dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	defined, named := false, false
	for _, file := range found {
		text := read(t, file)
		defined = defined || strings.Contains(text, "\nfunc "+name+"(t *testing.T)")
		named = named || regexp.MustCompile(`\b`+id+`\b`).MatchString(text)
	}
	return defined && named
}
