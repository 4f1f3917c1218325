package languages

import (
	"strings"
	"testing"
)

func TestRecipes(t *testing.T) {
	t.Parallel()
	for _, name := range Recipes() {
		r, err := BundledRecipe(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		lang, faults := parse(r.Definition(strings.Repeat("a", 64)))
		if len(faults) > 0 || lang.ID != name || lang.Environment.Root != "sha256:"+strings.Repeat("a", 64) {
			t.Errorf("%s makes %+v, %v", name, lang, faults)
		}
		if _, taken := bundledSet(t).Find(name); taken {
			t.Errorf("%s is a bundled language, too", name)
		}
	}
	if _, err := BundledRecipe("python9"); err == nil || !strings.Contains(err.Error(), "python3+sci") {
		t.Errorf("unknown recipe: %v", err)
	}
	for text, want := range map[string]string{
		"id: x\n": "environment.root: must be the word ROOT",
		definition("x", "environment:\n  root: ROOT\nrank: none\n"):                                    "line 11: cannot unmarshal",
		strings.Replace(definition("x", "environment:\n  root: ROOT\n"), ", packages: [small]", "", 1): "toolchain.packages",
	} {
		if _, err := ParseRecipe([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

const control = `Package: b
Version: 1:2-3
Architecture: amd64
Depends: x
SHA256: ` + digestB + `
Description: text
 more text

Package: a
Architecture: all
Version: 1
SHA256: ` + digestA + `

Package: a
Architecture: all
Version: 1
SHA256: ` + digestA + `
`

const (
	digestA = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	digestB = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
)

// What is built is written to a lock and read back the same; every difference of
// another build is named.
func TestLock(t *testing.T) {
	t.Parallel()
	lock := ParseControl([]byte(control))
	if len(lock) != 2 || lock[0] != (Package{"a", "1", "all", digestA}) || lock[1] != (Package{"b", "1:2-3", "amd64", digestB}) {
		t.Fatalf("lock = %+v", lock)
	}
	read, err := ParseLock(lock.Bytes())
	if err != nil || len(lock.Differences(read)) > 0 || len(read) != 2 {
		t.Errorf("read %+v, %v", read, err)
	}
	read[0].SHA256 = digestB
	got := strings.Join(lock.Differences(read[:1]), "\n")
	for _, want := range []string{"locked, and not built: a 1 " + digestA, "locked, and not built: b", "built, and not locked: a 1 " + digestB} {
		if !strings.Contains(got, want) {
			t.Errorf("differences lack %q:\n%s", want, got)
		}
	}
	if _, err := ParseLock([]byte("# note\na 1 all\n")); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("broken lock: %v", err)
	}
}
