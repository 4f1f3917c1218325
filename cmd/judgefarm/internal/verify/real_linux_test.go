package verify_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"judgefarm/cmd/judgefarm/internal/verify"
	"judgefarm/judge/checker"
	"judgefarm/judge/compile"
	"judgefarm/judge/engine"
	"judgefarm/judge/sandbox"
	"judgefarm/languages"
	"judgefarm/testcases/format"
)

// realConfig judges in real boxes.
func realConfig(t *testing.T, slots int) verify.Config {
	t.Helper()
	box, err := sandbox.New(sandbox.Config{Slots: slots})
	if errors.Is(err, sandbox.ErrHost) {
		t.Skipf("missing: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	set, err := languages.Load(languages.Config{})
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "judgefarm-verify-test-")
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	talkers, err := sandbox.New(sandbox.Config{Slots: slots, UIDBase: sandbox.DefaultUIDBase + slots, NoAhead: true})
	if err != nil {
		t.Fatal(err)
	}
	compiler, err := compile.New(compile.Config{Runner: box, Languages: set, Dir: filepath.Join(dir, "cache")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(compiler.Close(), talkers.Close(), box.Close(), os.RemoveAll(dir)); err != nil {
			t.Error(err)
		}
	})
	maker := checker.Maker{Runner: box, Compiler: compiler, Languages: set}
	e := engine.New(engine.Config{
		Runner: box, Compiler: compiler, Languages: set, Checkers: maker.For, Talkers: maker.Interactor, Interactors: talkers,
	})
	return verify.Config{Judge: e, Runner: box, Compiler: compiler, Languages: set, Checkers: maker.For, Slots: slots}
}

// write makes a package of the files.
func write(t *testing.T, tree map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range tree {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// verified is the report of a package, refused ones included.
func verified(t *testing.T, cfg *verify.Config, tree map[string]string, o verify.Options) *verify.Report {
	t.Helper()
	dir := write(t, tree)
	p, err := format.Open(dir)
	if r, is := verify.Refused("package", err); is {
		return r
	}
	if err != nil {
		t.Fatal(err)
	}
	o.Root = format.Root(dir)
	r, err := cfg.Package(t.Context(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
