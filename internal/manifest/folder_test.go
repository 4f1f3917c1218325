package manifest_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
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

// Links between folders, however they lie, are no work without end to who follows them.
func TestFoldersThatLinkToEachOther(t *testing.T) {
	t.Parallel()
	circle := map[string]string{"a/x": "../b", "a/y": "../b", "b/x": "../a", "b/y": "../a"}
	ladder := map[string]string{}
	for i := range 30 {
		for _, name := range []string{"x", "y"} {
			ladder[strconv.Itoa(i)+"/"+name] = "../" + strconv.Itoa(i+1)
		}
	}
	for name, c := range map[string]struct {
		links map[string]string
		want  string
	}{
		"circle": {circle, "a/x/x: is a link in a circle"},
		"ladder": {ladder, "package: has links that lead to folders more than 10000 times"},
	} {
		dir := manifesttest.Write(t, "p", map[string]string{"z": ""})
		for link, to := range c.links {
			link = filepath.Join(dir, link)
			if err := errors.Join(os.MkdirAll(filepath.Dir(link), 0o755), os.MkdirAll(filepath.Join(filepath.Dir(link), to), 0o755), os.Symlink(to, link)); err != nil {
				t.Fatal(err)
			}
		}
		f, err := manifest.Open(dir, manifest.Options{Links: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Refusal(); err == nil || !strings.Contains(err.Error(), c.want) || f.Faults() > 8 {
			t.Errorf("%s: got %d faults, %v", name, f.Faults(), err)
		}
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

// What readers take into memory has a bound for the whole package, and what is read twice
// is there once.
func TestFolderMemory(t *testing.T) {
	t.Parallel()
	f, err := manifest.Open(manifesttest.Write(t, "p", map[string]string{"a": "12345", "b": "12345", "c": "12345"}), manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f.Leave(12)
	for range 3 {
		if b, ok := f.Read("a", 10); !ok || string(b) != "12345" {
			t.Fatalf("got %q, %v", b, ok)
		}
	}
	if _, ok := f.Read("b", 10); !ok || f.Faults() != 0 {
		t.Fatalf("10 bytes of 12 are too many: %v", f.Refusal())
	}
	for _, name := range []string{"c", "c"} {
		if _, ok := f.Read(name, 10); ok {
			t.Error("15 bytes of 12 were read")
		}
	}
	if got := manifesttest.Faults(t, f.Refusal()); len(got) != 1 || !strings.Contains(got[0], "c: brings what is read of the package into memory") {
		t.Errorf("got %q", got)
	}
}

// A stranger's package may have as many faults as it likes.
func TestFolderOfManyFaults(t *testing.T) {
	t.Parallel()
	f, err := manifest.Open(manifesttest.Write(t, "p", map[string]string{"a": ""}), manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const many = 50_000
	for range many {
		f.Refuse("a", "is wrong")
		f.Note("a", "is odd")
	}
	if n := f.Faults(); n != many {
		t.Errorf("got %d faults", n)
	}
	got := manifesttest.Faults(t, f.Refusal())
	if len(got) != 201 || !strings.Contains(got[200], "and 49800 faults more") {
		t.Errorf("got %d faults, the last is %q", len(got), got[len(got)-1])
	}
	notes := f.Notes()
	if last := notes[len(notes)-1]; len(notes) != 10_001 || last.Text != "and 40000 notes more" {
		t.Errorf("got %d notes, the last is %q", len(notes), last)
	}
}
