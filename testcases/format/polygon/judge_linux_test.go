package polygon_test

import (
	"path/filepath"
	"slices"
	"testing"

	"judgefarm/judge"
	"judgefarm/judge/checker"
	"judgefarm/judge/compile/compiletest"
	"judgefarm/judge/engine"
	"judgefarm/testcases"
	"judgefarm/testcases/build"
	"judgefarm/testcases/format"
)

// real is an engine and a builder over real boxes and compilers.
func real(t *testing.T) (*engine.Engine, *build.Builder) {
	t.Helper()
	r := compiletest.New(t, 1, 1)
	b, err := build.New(build.Config{Runner: r.Box, Compiler: r.Compiler, Languages: r.Languages, Talkers: r.Talkers})
	if err != nil {
		t.Fatal(err)
	}
	maker := checker.Maker{Runner: r.Box, Compiler: r.Compiler, Languages: r.Languages}
	return engine.New(engine.Config{
		Runner: r.Box, Compiler: r.Compiler, Languages: r.Languages, Checkers: maker.For, Talkers: maker.Interactor, Interactors: r.Talkers,
	}), b
}

func judged(t *testing.T, e *engine.Engine, p *testcases.Problem, s testcases.Labelled) judge.Judgement {
	t.Helper()
	out, err := e.Judge(t.Context(), engine.Job{Problem: p, Submission: judge.Submission{
		ID: "s", Language: s.Language, Files: s.Files, Stop: judge.StopNever,
	}}, engine.Watcher{})
	if err != nil {
		t.Fatalf("%s: %v", s.Path, err)
	}
	return out.Judgement
}

// meets reports whether the cases are what a label promises of them. A program that
// did not compile has none.
func meets(e testcases.Expectation, cases []judge.Run) bool {
	required := e.Required == nil || len(cases) == 0
	for _, c := range cases {
		if !e.Matches(c.Name) || c.Verdict == judge.Skipped {
			continue
		}
		if e.Permitted != nil && !slices.Contains(e.Permitted, c.Verdict) {
			return false
		}
		required = required || slices.Contains(e.Required, c.Verdict)
	}
	return required
}

// The packages of testdata hold every feature that is read. Their generators, main
// solutions, checkers and interactors run, and every solution earns what its tags say.
func TestPackagesAreJudged(t *testing.T) {
	t.Parallel()
	e, b := real(t)
	scores := map[string]float64{
		"sum/solutions/main.cpp": 100, "sum/solutions/sum.py": 100, "sum/solutions/positive.py": 12.5, "sum/solutions/first.py": 0, "sum/solutions/crash.py": 0,
		"copies/solutions/main.cpp": 40, "copies/solutions/half.py": 20, "copies/solutions/print.py": 0,
	}
	for _, name := range []string{"sum", "guess", "copies"} {
		p, err := format.Open(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		recipes := p.Digest
		if p, err = b.Build(t.Context(), p, t.TempDir()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if p.Digest == recipes || p.Pending() {
			t.Errorf("%s: nothing was made", name)
		}
		for _, s := range p.Submissions {
			j := judged(t, e, p, s)
			ok := slices.Contains(s.Allowed, *j.Verdict)
			for _, e := range s.Expect {
				ok = ok && meets(e, j.Cases)
			}
			if !ok {
				t.Errorf("%s/%s: got %s, %+v, the tag %s allows %v and %+v", name, s.Path, *j.Verdict, j.Cases, s.Label, s.Allowed, s.Expect)
			}
			if want, known := scores[name+"/"+s.Path]; known && *j.Score != want {
				t.Errorf("%s/%s: got %v points, want %v: %+v", name, s.Path, *j.Score, want, j.Groups)
			}
			delete(scores, name+"/"+s.Path)
		}
	}
	for path := range scores {
		t.Errorf("%s was not judged", path)
	}
}
