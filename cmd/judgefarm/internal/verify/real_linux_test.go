package verify_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"judgefarm/cmd/judgefarm/internal/verify"
	"judgefarm/judge/checker"
	"judgefarm/judge/compile/compiletest"
	"judgefarm/judge/engine"
	"judgefarm/testcases/format"
)

// realConfig judges in real boxes.
func realConfig(t *testing.T, slots int) verify.Config {
	t.Helper()
	r := compiletest.New(t, slots, slots)
	maker := checker.Maker{Runner: r.Box, Compiler: r.Compiler, Languages: r.Languages}
	e := engine.New(engine.Config{
		Runner: r.Box, Compiler: r.Compiler, Languages: r.Languages, Checkers: maker.For, Talkers: maker.Interactor, Interactors: r.Talkers,
	})
	return verify.Config{Judge: e, Runner: r.Box, Compiler: r.Compiler, Languages: r.Languages, Checkers: maker.For, Slots: slots}
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
