package build_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"judgefarm/testcases/build"
)

// Trim removes what was used longest ago, and what an earlier process did not finish.
func TestTrim(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i, name := range []string{"old", "middle", "new", "tmp-1"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, make([]byte, 100), 0o600); err != nil {
			t.Fatal(err)
		}
		used := time.Unix(int64(1000+i), 0)
		if err := os.Chtimes(path, used, used); err != nil {
			t.Fatal(err)
		}
	}
	if err := build.Trim(dir, 250); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"old": false, "middle": true, "new": true, "tmp-1": false} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != want {
			t.Errorf("%s: got %v, want it there: %t", name, err, want)
		}
	}
	if err := build.Trim(filepath.Join(dir, "none"), 1); err != nil {
		t.Errorf("a directory that is not there: %v", err)
	}
}
