package verify_test

import (
	"archive/zip"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"judgefarm/cmd/judgefarm/internal/verify"
	"judgefarm/testcases"
	"judgefarm/testcases/build"
	"judgefarm/testcases/format"
)

// made builds what a package has no data for.
func made(t *testing.T, cfg verify.Config, p *testcases.Problem) *testcases.Problem {
	t.Helper()
	b, err := build.New(build.Config{Runner: cfg.Runner, Compiler: cfg.Compiler, Languages: cfg.Languages})
	if err != nil {
		t.Fatal(err)
	}
	if p, err = b.Build(t.Context(), p, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	return p
}

// Packages of DMOJ, one for each thing that the format has, get the verdicts and the
// points that their tests promise, in real boxes.
func TestDMOJPackages(t *testing.T) {
	t.Parallel()
	cfg := realConfig(t, 1)
	root := "../../../../testcases/format/dmoj/testdata"
	dirs, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	judged := 0
	for _, d := range dirs {
		dir := filepath.Join(root, d.Name())
		p, err := format.Open(dir)
		if err != nil {
			t.Errorf("%s: %v", d.Name(), err)
			continue
		}
		r, err := cfg.Package(t.Context(), made(t, cfg, p), verify.Options{Root: format.Root(dir)})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range r.Findings {
			if f.Severity == verify.Fault || f.Severity == verify.Failure {
				t.Errorf("%s: %s: %s", d.Name(), f.File, f.Text)
			}
		}
		for _, row := range r.Submissions {
			if row.Verdict == "" && !strings.Contains(row.Missing, "as it should be") {
				t.Errorf("%s: %s was not judged: %s", d.Name(), row.Path, row.Missing)
			}
			judged++
		}
	}
	if judged < 30 {
		t.Errorf("%d submissions were judged, want at least 30: is the folder still there?", judged)
	}
}

// The same data in an archive, told by names alone, judges the same.
func TestDMOJArchive(t *testing.T) {
	t.Parallel()
	cfg := realConfig(t, 1)
	dir := write(t, map[string]string{
		"init.yml": "archive: data.zip\npoints: 2\n", "limits.csv": "x,1,65536\n",
		"tests/right/test.yml": "language: PY3\ntime: 1\nmemory: 65536\nsource: a.py\nscore: 2\n", "tests/right/a.py": "print(int(input()) ** 2)\n",
		"tests/wrong/test.yml": "language: PY3\ntime: 1\nmemory: 65536\nsource: a.py\ncases: [AC, WA]\n", "tests/wrong/a.py": "print(9)\n",
	})
	f, err := os.Create(filepath.Join(dir, "data.zip"))
	if err != nil {
		t.Fatal(err)
	}
	w := zip.NewWriter(f)
	for name, text := range map[string]string{"sq.1.in": "3\r", "sq.1.out": "9\r\n", "sq.2.in": "4", "sq.2.out": "16"} {
		e, err := w.Create(name)
		if err == nil {
			_, err = e.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	p, err := format.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	r, err := cfg.Package(t.Context(), p, verify.Options{Root: format.Root(dir)})
	if err != nil || r.Faults > 0 || len(r.Submissions) != 2 {
		t.Errorf("got %+v, %v", r, err)
	}
}
