package resultstest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"judgefarm/dispatcher/results"
	"judgefarm/judge"
)

// info is a version of a problem whose package has this name.
func info(id, pkg string) judge.ProblemInfo {
	return judge.ProblemInfo{
		ID: id, Name: "Title <&> é", Package: "sha256:" + pkg, Digest: "sha256:d" + pkg, Cases: 3, Samples: 1,
		Checker: judge.CheckerSpec{Name: "floats", Args: []string{"abs=1e-6"}}, UpdatedAt: time.Unix(1_700_000_000, 0).UTC(),
	}
}

func put(t *testing.T, s results.Store, id, pkg string) judge.ProblemInfo {
	t.Helper()
	got, err := s.PutProblem(t.Context(), info(id, pkg))
	if err != nil {
		t.Fatalf("PutProblem %s: %v", id, err)
	}
	return got
}

// wantPackage checks which version a name points to.
func wantPackage(t *testing.T, s results.Store, id, pkg string, version int) {
	t.Helper()
	got, err := s.GetProblem(t.Context(), id, 0)
	want := info(id, pkg)
	want.Version = version
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s is %+v, %v, want %+v", id, got, err, want)
	}
}

func problems(t *testing.T, open New) {
	s := open(t, results.Config{})
	_, err := s.GetProblem(t.Context(), "p", 0)
	wantErr(t, "GetProblem of none", err, results.ErrNoProblem)
	_, err = s.ProblemVersions(t.Context(), "p")
	wantErr(t, "ProblemVersions of none", err, results.ErrNoProblem)
	_, err = s.PointProblem(t.Context(), "p", 0)
	wantErr(t, "PointProblem of none", err, results.ErrNoProblem)
	wantErr(t, "DeleteProblem of none", s.DeleteProblem(t.Context(), "p"), results.ErrNoProblem)
	_, err = s.PutProblem(t.Context(), info("", "a"))
	if err == nil {
		t.Error("a problem without an id was stored")
	}

	put(t, s, "p", "a")
	wantPackage(t, s, "p", "a", 1)
	if again := put(t, s, "p", "a"); again.Version != 1 {
		t.Errorf("the same package made version %d", again.Version)
	}
	put(t, s, "p", "b")
	put(t, s, "p", "a") // what was before is a version of its own when it comes again
	wantPackage(t, s, "p", "a", 3)
	read := put(t, s, "q", "a") // names share packages
	if read.Version != 1 {
		t.Errorf("the first version of q is %d", read.Version)
	}
	v, err := s.ProblemVersions(t.Context(), "p")
	if err != nil || v.ID != "p" || v.Current != 3 || v.Revision != 3 || len(v.Versions) != 3 ||
		v.Versions[0].Version != 3 || v.Versions[1].Package != "sha256:b" {
		t.Errorf("versions of p: %+v, %v", v, err)
	}
	old, err := s.GetProblem(t.Context(), "p", 2)
	if err != nil || old.Package != "sha256:b" {
		t.Errorf("version 2 is %+v, %v", old, err)
	}
	_, err = s.GetProblem(t.Context(), "p", 9)
	wantErr(t, "GetProblem of a version that never was", err, results.ErrNoVersion)

	// The same package that is read otherwise (after an upgrade) is another version.
	changed := info("q", "a")
	changed.Digest = "sha256:other"
	if got, err := s.PutProblem(t.Context(), changed); err != nil || got.Version != 2 {
		t.Errorf("a package with another digest is version %d, %v, want 2", got.Version, err)
	}
}

func problemsBack(t *testing.T, open New) {
	s := open(t, results.Config{})
	for _, pkg := range []string{"a", "b", "c"} {
		put(t, s, "p", pkg)
	}
	point := func(version, want int) {
		t.Helper()
		got, err := s.PointProblem(t.Context(), "p", version)
		if err != nil || got.Version != want {
			t.Errorf("PointProblem to %d: %+v, %v, want version %d", version, got, err, want)
		}
	}
	point(0, 2)
	point(0, 1)
	wantPackage(t, s, "p", "a", 1)
	_, err := s.PointProblem(t.Context(), "p", 0)
	wantErr(t, "PointProblem before the first", err, results.ErrNoVersion)
	_, err = s.PointProblem(t.Context(), "p", 7)
	wantErr(t, "PointProblem to none", err, results.ErrNoVersion)
	point(3, 3)
	point(3, 3)
	v, err := s.ProblemVersions(t.Context(), "p")
	if err != nil || v.Revision != 6 || len(v.Versions) != 3 {
		t.Errorf("after three changes of the pointer: %+v, %v, want revision 6", v, err)
	}
	point(1, 1)
	put(t, s, "p", "d")
	wantPackage(t, s, "p", "d", 4)
}

func problemsDelete(t *testing.T, open New) {
	s := open(t, results.Config{})
	put(t, s, "p", "a")
	put(t, s, "p", "b")
	whole, err := s.ProblemVersions(t.Context(), "p")
	if err != nil {
		t.Fatal(err)
	}
	if restored, err := s.RestoreProblem(t.Context(), whole); err != nil || restored {
		t.Errorf("a name that is there was restored: %v, %v", restored, err)
	}
	wantErr(t, "DeleteProblem", s.DeleteProblem(t.Context(), "p"), nil)
	_, err = s.GetProblem(t.Context(), "p", 0)
	wantErr(t, "GetProblem after delete", err, results.ErrNoProblem)
	if restored, err := s.RestoreProblem(t.Context(), whole); err != nil || restored {
		t.Errorf("a name that was deleted came back: %v, %v", restored, err)
	}
	put(t, s, "p", "c")
	wantPackage(t, s, "p", "c", 1)

	// Another store, which knows nothing of it.
	fresh := open(t, results.Config{})
	whole.Current = 1
	if restored, err := fresh.RestoreProblem(t.Context(), whole); err != nil || !restored {
		t.Fatalf("RestoreProblem: %v, %v", restored, err)
	}
	wantPackage(t, fresh, "p", "a", 1)
	put(t, fresh, "p", "a") // as it is: no new version
	wantPackage(t, fresh, "p", "a", 1)
	put(t, fresh, "p", "d")
	wantPackage(t, fresh, "p", "d", 3)
	whole.ID, whole.Current = "other", 9
	if _, err := fresh.RestoreProblem(t.Context(), whole); err == nil {
		t.Error("a name that points nowhere was restored")
	}
}

func problemsList(t *testing.T, open New) {
	s := open(t, results.Config{MaxProblems: 3, MaxVersions: 2})
	for _, id := range []string{"b", "a=1", "c.d"} {
		put(t, s, id, "x")
	}
	_, err := s.PutProblem(t.Context(), info("d", "x"))
	wantErr(t, "PutProblem past the bound", err, results.ErrProblemsFull)
	put(t, s, "b", "y") // of a name that is there, another version has room
	put(t, s, "b", "z")
	_, err = s.GetProblem(t.Context(), "b", 1)
	wantErr(t, "GetProblem of a forgotten version", err, results.ErrNoVersion)
	ids := func(after string, max int) (ids []string) {
		t.Helper()
		all, err := s.ListProblems(t.Context(), after, max)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range all {
			ids = append(ids, p.ID)
		}
		return ids
	}
	if got := ids("", 2); !slices.Equal(got, []string{"a=1", "b"}) {
		t.Errorf("first page is %q", got)
	}
	if got := ids("b", 2); !slices.Equal(got, []string{"c.d"}) {
		t.Errorf("second page is %q", got)
	}
	wantErr(t, "DeleteProblem", s.DeleteProblem(t.Context(), "b"), nil)
	put(t, s, "d", "x")
	if got := ids("", 9); !slices.Equal(got, []string{"a=1", "c.d", "d"}) {
		t.Errorf("after a deletion: %q", got)
	}
}

// Of pushes at the same time each gets a number of its own, and the name points to
// the highest; deletions and rollbacks in between never leave half a problem.
func problemsAtOnce(t *testing.T, open New) {
	s := open(t, results.Config{})
	var wg sync.WaitGroup
	got := make([]int, 20)
	for i := range got {
		wg.Go(func() {
			p, err := s.PutProblem(t.Context(), info("p", fmt.Sprint(i)))
			if err != nil {
				t.Errorf("PutProblem: %v", err)
			}
			got[i] = p.Version
		})
		wg.Go(func() {
			if _, err := s.PutProblem(t.Context(), info("q", fmt.Sprint(i))); err != nil {
				t.Errorf("PutProblem: %v", err)
			}
			_, back := s.PointProblem(t.Context(), "q", 0)
			for _, err := range []error{back, s.DeleteProblem(t.Context(), "q")} {
				if err != nil && !errors.Is(err, results.ErrNoProblem) && !errors.Is(err, results.ErrNoVersion) {
					t.Errorf("change q: %v", err)
				}
			}
			if p, err := s.GetProblem(t.Context(), "q", 0); err == nil && p.Package == "" {
				t.Errorf("q points to nothing: %+v", p)
			}
		})
	}
	wg.Wait()
	slices.Sort(got)
	for i, n := range got {
		if n != i+1 {
			t.Fatalf("got versions %v, want 1 to 20", got)
		}
	}
	if p, err := s.GetProblem(t.Context(), "p", 0); err != nil || p.Version != 20 {
		t.Errorf("p is at version %d, %v, want 20", p.Version, err)
	}
}
