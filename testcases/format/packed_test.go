package format_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"judgefarm/testcases"
	"judgefarm/testcases/format"
)

// packages finds every problem package that the tests of formats have.
func packages(t *testing.T) []string {
	t.Helper()
	var found []string
	for _, root := range []string{bundled, "."} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() || root == "." && !strings.Contains(path, "testdata") {
				return err
			}
			if _, err := format.Open(path); err != nil {
				return nil // no package, or one that is refused
			}
			found = append(found, path)
			return fs.SkipDir
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

// Whatever a problem was written in, its packed form is the same problem, and packing
// that gives the same bytes.
func TestPackProblem(t *testing.T) {
	t.Parallel()
	all := packages(t)
	entries, err := os.ReadDir(bundled)
	if err != nil || len(all) < len(entries) {
		t.Fatalf("found %d packages, want at least the %d bundled ones: %v", len(all), len(entries), err)
	}
	for _, path := range all {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			p, err := format.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			archive := packed(t, p)
			got, err := format.OpenArchive(bytes.NewReader(archive), int64(len(archive)), t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			if got.Digest != p.Digest || got.Format != p.Format || got.Name != p.Name || got.ID != "" {
				t.Errorf("got %s %q of format %q, want %s %q of %q", got.Digest, got.Name, got.Format, p.Digest, p.Name, p.Format)
			}
			if len(got.Submissions) != len(p.Submissions) || len(got.Cases()) != len(p.Cases()) {
				t.Errorf("got %d submissions and %d cases, want %d and %d", len(got.Submissions), len(got.Cases()), len(p.Submissions), len(p.Cases()))
			}
			if !bytes.Equal(packed(t, got), archive) {
				t.Error("packed again it has other bytes")
			}
			file := filepath.Join(t.TempDir(), "a-name.tar.gz")
			if err := os.WriteFile(file, archive, 0o644); err != nil {
				t.Fatal(err)
			}
			inMemory, err := format.Open(file)
			if err != nil || inMemory.ID != "a-name" || inMemory.Digest != p.Digest {
				t.Errorf("from its archive: %v, %v", inMemory, err)
			}
		})
	}
}

func packed(t *testing.T, p *testcases.Problem) []byte {
	t.Helper()
	var first, second bytes.Buffer
	if err := format.PackProblem(p, &first); err != nil {
		t.Fatal(err)
	}
	if err := format.PackProblem(p, &second); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(first.Bytes(), second.Bytes()) {
		t.Error("one problem gives two packages")
	}
	return first.Bytes()
}
