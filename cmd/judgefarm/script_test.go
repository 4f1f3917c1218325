package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestScripts runs the command as a person at a shell does.
func TestScripts(t *testing.T) {
	t.Parallel()
	cache := openDir(t)
	repo, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("JUDGEFARM_CACHE_DIR", cache)
			env.Setenv("REPO", repo)
			return nil
		},
	})
}

func TestMain(m *testing.M) {
	testscript.Main(cleaning{m}, map[string]func(){"judgefarm": main})
}

// cleaning removes what the tests built together.
type cleaning struct{ *testing.M }

func (c cleaning) Run() int {
	code := c.M.Run()
	_ = os.Remove(binaryPath()) // absent when no test needed it
	return code
}
