package manifest_test

import (
	"slices"
	"strconv"
	"testing"

	"judgefarm/internal/manifest"
	"judgefarm/internal/manifest/manifesttest"
)

func TestFolder(t *testing.T) {
	t.Parallel()
	dir := manifesttest.Write(t, "p", map[string]string{
		"a": "", "b.in": "", "g/1.in": "", "g/1.ans": "", "g-x/2.in": "", "g/deep/3.in": "", "g/deep/4.in": "", "g.z": "", "h/5": "",
	})
	f, err := manifest.Open(dir, manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	equal := func(what string, got []string, want ...string) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", what, got, want)
		}
	}
	equal("names", f.Names(), "a", "b.in", "g-x/2.in", "g.z", "g/1.ans", "g/1.in", "g/deep/3.in", "g/deep/4.in", "h/5")
	files, folders := f.Children("")
	equal("files at the top", files, "a", "b.in", "g.z")
	equal("folders at the top", folders, "g", "g-x", "h")
	files, folders = f.Children("g")
	equal("files of g", files, "1.ans", "1.in")
	equal("folders of g", folders, "deep")
	files, folders = f.Children("none")
	equal("files of nothing", files)
	equal("folders of nothing", folders)
	equal("below g", f.Below("g"), "g/1.ans", "g/1.in", "g/deep/3.in", "g/deep/4.in")
	equal("below a file", f.Below("a"))
	if !f.HasFolder("g/deep") || f.HasFolder("a") || f.HasFolder("g/d") || !f.Has("g.z") || f.Has("g") {
		t.Error("what is a folder and what a file is not told apart")
	}
}

// Readers ask for what lies beside each case: an answer must not take a look at all of
// the package.
func TestFolderOfManyFiles(t *testing.T) { // not parallel: it counts allocations
	files := map[string]string{}
	for i := range 2000 {
		files["data/"+strconv.Itoa(i)+".in"] = ""
	}
	f, err := manifest.Open(manifesttest.Write(t, "p", files), manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(10, func() { f.Below("data/1000.files"); f.HasFolder("data/77.files") }); n > 4 {
		t.Errorf("asking for the files of one case takes %v allocations", n)
	}
}
