// Package compiletest is what tests need that compile and run programs for real. It is
// for tests alone.
package compiletest

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"judgefarm/judge/compile"
	"judgefarm/judge/sandbox"
	"judgefarm/languages"
)

// Real are boxes, the bundled languages and a compiler, until the end of the test.
type Real struct {
	Box, Talkers *sandbox.Sandbox // Talkers is nil when none were asked for
	Languages    *languages.Set
	Compiler     *compile.Compiler
	Dir          string // below the system's temporary one: a test's own is closed to the boxes' users
}

// New makes them with so many slots, and as many of other users as talkers says. On a
// host that cannot have boxes it skips the test.
func New(t testing.TB, slots, talkers int) *Real {
	t.Helper()
	r := &Real{}
	var err error
	r.Box, err = sandbox.New(sandbox.Config{Slots: slots})
	if errors.Is(err, sandbox.ErrHost) {
		t.Skipf("missing: %v", err)
	}
	must(t, err)
	t.Cleanup(func() { report(t, r.Box.Close()) })
	if talkers > 0 {
		r.Talkers, err = sandbox.New(sandbox.Config{Slots: talkers, UIDBase: sandbox.DefaultUIDBase + slots, NoAhead: true})
		must(t, err)
		t.Cleanup(func() { report(t, r.Talkers.Close()) })
	}
	r.Languages, err = languages.Load(languages.Config{})
	must(t, err)
	r.Dir, err = os.MkdirTemp("", "judgefarm-real-")
	must(t, err)
	t.Cleanup(func() { report(t, os.RemoveAll(r.Dir)) })
	must(t, os.Chmod(r.Dir, 0o755))
	r.Compiler, err = compile.New(compile.Config{Runner: r.Box, Languages: r.Languages, Dir: filepath.Join(r.Dir, "cache")})
	must(t, err)
	t.Cleanup(func() { report(t, r.Compiler.Close()) })
	return r
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func report(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}
