package dispatcher_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"judgefarm/dispatcher"
	"judgefarm/dispatcher/dispatchertest"
	"judgefarm/dispatcher/results"
	"judgefarm/internal/blob"
	"judgefarm/internal/testenv"
	"judgefarm/judge"
)

// push uploads a package of one case whose answer is text.
func push(t *testing.T, f *dispatchertest.Farm, id, text string) judge.ProblemInfo {
	t.Helper()
	info, err := f.Service.PutProblem(t.Context(), id, bytes.NewReader(archive(t, "1.in", "1\n", "1.out", text)))
	if err != nil {
		t.Fatalf("push %s: %v", id, err)
	}
	return info
}

// on submits against a problem and returns what it was resolved to.
func on(t *testing.T, f *dispatchertest.Farm, problem string) judge.ProblemRef {
	t.Helper()
	r := good()
	r.Tests, r.Problem = nil, problem
	return *submit(t, f, r).Problem
}

func ref(info judge.ProblemInfo) judge.ProblemRef {
	return judge.ProblemRef{ID: info.ID, Version: info.Version, Digest: info.Digest}
}

func TestNamePointsToAVersion(t *testing.T) {
	t.Parallel()
	f := dispatchertest.New(t, nil)
	one, two := push(t, f, "p", "1"), push(t, f, "p", "2")
	if one.Version != 1 || two.Version != 2 || one.Digest == two.Digest {
		t.Fatalf("got %+v and %+v, want versions 1 and 2", one, two)
	}
	if again := push(t, f, "p", "2"); again.Version != 2 {
		t.Errorf("the package that is current made version %d", again.Version)
	}
	for problem, want := range map[string]judge.ProblemInfo{"p": two, "p@1": one, "p@2": two} {
		if got := on(t, f, problem); got != ref(want) {
			t.Errorf("%s is %+v, want %+v", problem, got, ref(want))
		}
	}
	for _, problem := range []string{"p@3", "p@0", "p@-1", "p@01", "p@x", "p@", "@1", "q@1", "p@1@2"} {
		r := good()
		r.Tests, r.Problem = nil, problem
		if _, err := f.Service.Submit(t.Context(), r); !judge.IsBadRequest(err) || !strings.Contains(err.Error(), "is not known") {
			t.Errorf("%s: got %v, want a refusal", problem, err)
		}
	}
	back, err := f.Service.RollbackProblem(t.Context(), "p", 0)
	if err != nil || back.Version != 1 || on(t, f, "p") != ref(one) {
		t.Errorf("after the rollback: %+v, %v", back, err)
	}
	if _, err := f.Service.RollbackProblem(t.Context(), "p", 0); !errors.Is(err, dispatcher.ErrNoVersion) {
		t.Errorf("got %v before the first version", err)
	}
}

// What was accepted is judged against its package, whatever became of the name.
func TestDeletedProblemStaysForItsSubmissions(t *testing.T) {
	t.Parallel()
	f := dispatchertest.New(t, nil)
	info := push(t, f, "p", "1")
	r := good()
	r.Tests, r.Problem = nil, "p"
	j := submit(t, f, r)
	if err := f.Service.DeleteProblem(t.Context(), "p"); err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{
		"get":      func() error { _, err := f.Service.GetProblem(t.Context(), "p", 0); return err }(),
		"versions": func() error { _, err := f.Service.ProblemVersions(t.Context(), "p"); return err }(),
		"rollback": func() error { _, err := f.Service.RollbackProblem(t.Context(), "p", 1); return err }(),
		"delete":   f.Service.DeleteProblem(t.Context(), "p"),
	} {
		if !errors.Is(err, dispatcher.ErrNoProblem) {
			t.Errorf("%s of a deleted problem: %v", what, err)
		}
	}
	if keys, err := f.Blobs.List(t.Context(), "problems/", "", 10); err != nil || len(keys) != 0 {
		t.Errorf("copies are left: %v, %v", keys, err)
	}
	if _, err := readBlob(t, f, blob.ContentKey(strings.TrimPrefix(info.Package, "sha256:"))); err != nil {
		t.Errorf("the package of submission %s: %v", j.ID, err)
	}
}

// A results store that forgot gets its names back: at start and at first use.
func TestNamesOutliveResults(t *testing.T) {
	t.Parallel()
	blobs := blob.NewMemory(0)
	with := func(c *dispatcher.Config) { c.Blobs = blobs }
	f := dispatchertest.New(t, with)
	push(t, f, "p", "1")
	two := push(t, f, "p", "2")
	push(t, f, "p", "3")
	push(t, f, "gone", "1")
	if _, err := f.Service.RollbackProblem(t.Context(), "p", 2); err != nil {
		t.Fatal(err)
	}
	if err := f.Service.DeleteProblem(t.Context(), "gone"); err != nil {
		t.Fatal(err)
	}
	// What dispatchers wrote before there were versions.
	old := fmt.Sprintf(`{"id":"old","name":"Old","digest":%q,"package":%q,"limits":{},"checker":{"name":"tokens"},"cases":1}`, two.Digest, two.Package)
	if err := blobs.Put(t.Context(), "problems/old/current.json", strings.NewReader(old), int64(len(old)), ""); err != nil {
		t.Fatal(err)
	}

	again := dispatchertest.New(t, with)
	if got := on(t, again, "p"); got != ref(two) {
		t.Errorf("p is %+v, want %+v", got, ref(two))
	}
	if got := push(t, again, "p", "4"); got.Version != 4 {
		t.Errorf("the next version is %d, want 4", got.Version)
	}
	if got := push(t, again, "old", "5"); got.Version != 2 {
		t.Errorf("the version after that of an earlier dispatcher is %d, want 2", got.Version)
	}

	third := dispatchertest.New(t, with)
	maintain(t, third)
	awaitNames(t, third, "old@2 p@4")
	if err := third.Service.DeleteProblem(t.Context(), "old"); err != nil {
		t.Fatal(err)
	}
	awaitNames(t, dispatchertest.New(t, with), "")
	fourth := dispatchertest.New(t, with)
	maintain(t, fourth)
	awaitNames(t, fourth, "p@4")
}

// awaitNames asks until the list is as wanted: Maintain tells nobody that it restored.
func awaitNames(t *testing.T, f *dispatchertest.Farm, want string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for {
		list, err := f.Service.Problems(t.Context(), "", 0)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range list {
			got = append(got, fmt.Sprintf("%s@%d", p.ID, p.Version))
		}
		if strings.Join(got, " ") == want {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("got problems %v, want %s", got, want)
		}
	}
}

// Two dispatchers push, roll back and delete the same name at the same time: the
// copy ends as results has it.
func TestNamesOfTwoDispatchers(t *testing.T) {
	t.Parallel()
	addr, blobs := testenv.Redis(t), blob.NewMemory(0)
	farms := []*dispatchertest.Farm{onRedis(t, addr, blobs), onRedis(t, addr, blobs)}
	var wg sync.WaitGroup
	for i := range 12 {
		f := farms[i%2]
		wg.Go(func() {
			_, err := f.Service.PutProblem(t.Context(), "p", bytes.NewReader(archive(t, "1.in", "1\n", "1.out", fmt.Sprint(i))))
			if err == nil && i%3 == 0 {
				_, err = f.Service.RollbackProblem(t.Context(), "p", 0)
			}
			if err == nil && i%5 == 4 {
				err = f.Service.DeleteProblem(t.Context(), "p")
			}
			if err != nil && !errors.Is(err, dispatcher.ErrNoVersion) && !errors.Is(err, dispatcher.ErrNoProblem) {
				t.Errorf("change p: %v", err)
			}
		})
	}
	wg.Wait()
	want, err := farms[0].Service.ProblemVersions(t.Context(), "p")
	if errors.Is(err, dispatcher.ErrNoProblem) {
		push(t, farms[0], "p", "x")
		want, err = farms[1].Service.ProblemVersions(t.Context(), "p")
	}
	if err != nil {
		t.Fatal(err)
	}
	restored := dispatchertest.New(t, func(c *dispatcher.Config) { c.Blobs = blobs; c.Results = results.NewMemory(results.Config{}) })
	got, err := restored.Service.ProblemVersions(t.Context(), "p")
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the copy says %+v, %v, want %+v", got, err, want)
	}
}
