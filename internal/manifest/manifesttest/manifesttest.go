// Package manifesttest is what tests of package formats have in common: folders that
// are written from texts, and the faults of a refusal. It is for tests alone.
package manifesttest

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"judgefarm/judge"
)

// None in the place of a text is a file that is not there.
const None = "\x00"

// Write makes a folder of this name with files by their names, and returns its path. What
// a later map holds takes the place of an earlier one's.
func Write(t testing.TB, folder string, layers ...map[string]string) string {
	t.Helper()
	files := map[string]string{}
	for _, l := range layers {
		maps.Copy(files, l)
	}
	dir := filepath.Join(t.TempDir(), folder)
	for name, text := range files {
		if text == None {
			continue
		}
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Faults are the texts of a refusal; any other error, and none, ends the test.
func Faults(t testing.TB, err error) []string {
	t.Helper()
	var bad *judge.BadRequest
	if !errors.As(err, &bad) {
		t.Fatalf("got %v, want a bad request", err)
	}
	var texts []string
	for _, f := range bad.Faults {
		texts = append(texts, f.Error())
	}
	return texts
}
