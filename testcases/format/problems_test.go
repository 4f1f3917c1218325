package format_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"judgefarm/judge"
	"judgefarm/testcases"
	"judgefarm/testcases/format"
)

const bundled = "../testdata/problems"

// The bundled problems open, and their labelled submissions promise every verdict
// that a program can earn, but for CTL, which takes 10 s of a compiler's time.
func TestBundledProblems(t *testing.T) {
	t.Parallel()
	entries, err := os.ReadDir(bundled)
	if err != nil {
		t.Fatal(err)
	}
	promised, checkers := map[judge.Verdict]int{}, map[string]bool{}
	for _, e := range entries {
		p, err := format.Open(filepath.Join(bundled, e.Name()))
		if err != nil {
			t.Errorf("%s: %v", e.Name(), err)
			continue
		}
		choice, _ := testcases.ParseChecker(p.Checker)
		checkers[choice.Name] = true
		endings := map[string]bool{}
		for _, s := range p.Submissions {
			for _, v := range s.Allowed {
				promised[v]++
			}
			endings[filepath.Ext(s.Files[0].Name)] = true
		}
		if p.ID != e.Name() || p.Name == "" || !p.Cases()[0].Sample || len(p.Cases()) < 3 || len(endings) < 3 {
			t.Errorf("%s: got id %q, name %q, %d cases, languages %v", e.Name(), p.ID, p.Name, len(p.Cases()), endings)
		}
	}
	for _, v := range []judge.Verdict{
		judge.Accepted, judge.WrongAnswer, judge.PresentationError, judge.TimeLimit, judge.WallTimeLimit, judge.IdleLimit,
		judge.MemoryLimit, judge.OutputLimit, judge.RuntimeError, judge.SecurityViolation, judge.CompileError,
	} {
		if promised[v] < 2 {
			t.Errorf("%s: promised by %d submissions, want two at least", v, promised[v])
		}
	}
	for _, k := range testcases.CheckerKinds() {
		if !strings.Contains(k.Name, "/") && !checkers[k.Name] { // those of other systems are tested with their format
			t.Errorf("checker %s is used by no problem", k.Name)
		}
	}
}

// The committed data is what its generator makes.
func TestBundledDataIsGenerated(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("missing: python3")
	}
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), python, "../testdata/generate.py", dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("generate: %v: %s", err, out)
	}
	made, committed := dataFiles(t, dir), dataFiles(t, bundled)
	if !slices.Equal(made, committed) {
		t.Fatalf("got files %q, want %q", committed, made)
	}
	for _, name := range made {
		want, errWant := os.ReadFile(filepath.Join(dir, name))
		got, errGot := os.ReadFile(filepath.Join(bundled, name))
		if err := errors.Join(errWant, errGot); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not as generated", name)
		}
	}
}

// dataFiles lists the cases of all problems below dir.
func dataFiles(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if ext := filepath.Ext(name); err == nil && !d.IsDir() && (ext == ".in" || ext == ".ans") {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
