package dispatcher_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"judgefarm/dispatcher"
	"judgefarm/dispatcher/dispatchertest"
	"judgefarm/dispatcher/results"
	"judgefarm/internal/blob"
	"judgefarm/judge"
)

// hooked calls before each Delete of a package.
type hooked struct {
	blob.Store
	deleting atomic.Pointer[func(key string)]
}

func (h *hooked) Delete(ctx context.Context, key string) error {
	if f := h.deleting.Load(); f != nil && strings.HasPrefix(key, "sha256/") {
		(*f)(key)
	}
	return h.Store.Delete(ctx, key)
}

// collecting is a farm with a clock and a store with a hook.
func collecting(t *testing.T) (*dispatchertest.Farm, *clock, *hooked) {
	t.Helper()
	c, h := &clock{now: time.Now()}, &hooked{Store: blob.NewMemory(0)}
	return dispatchertest.New(t, func(cfg *dispatcher.Config) {
		cfg.Now, cfg.Blobs = c.Now, h
		cfg.Results = results.NewMemory(results.Config{Now: c.Now, MaxVersions: 2, Retention: 1000 * time.Hour})
	}), c, h
}

func there(t *testing.T, f *dispatchertest.Farm, info judge.ProblemInfo) bool {
	t.Helper()
	r, _, err := f.Blobs.Get(t.Context(), blob.ContentKey(strings.TrimPrefix(info.Package, "sha256:")))
	if errors.Is(err, blob.ErrNotFound) {
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if b, err := io.ReadAll(r); err != nil || len(b) == 0 {
		t.Errorf("package %s: %d bytes, %v", info.Package, len(b), err)
	}
	return true
}

func collect(t *testing.T, f *dispatchertest.Farm) {
	t.Helper()
	if err := f.Service.Collect(t.Context()); err != nil {
		t.Fatal(err)
	}
}

const longAfter = 97 * time.Hour // retention of intents and what is added to it

// A package goes when no version names it any more and no submission can ask for it.
func TestCollect(t *testing.T) {
	t.Parallel()
	f, c, _ := collecting(t)
	first, second, third := push(t, f, "p", "1"), push(t, f, "p", "2"), push(t, f, "p", "3")
	gone, shared, again := push(t, f, "gone", "4"), push(t, f, "a", "5"), push(t, f, "again", "6")
	push(t, f, "b", "5")
	for _, id := range []string{"gone", "b", "again"} {
		if err := f.Service.DeleteProblem(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	collect(t, f)
	c.Add(longAfter)
	if !there(t, f, second) || !there(t, f, third) || !there(t, f, shared) {
		t.Error("a package with a name is gone")
	}
	collect(t, f)
	if there(t, f, first) || there(t, f, gone) || there(t, f, again) {
		t.Error("a package that nobody can ask for is still there")
	}
	if info := push(t, f, "again", "6"); info.Package != again.Package || !there(t, f, info) {
		t.Errorf("pushed again: %+v", info)
	}
	for range 3 {
		c.Add(longAfter)
		collect(t, f)
	}
	if !there(t, f, again) || !there(t, f, second) {
		t.Error("a package with a name is gone")
	}
	left, err := f.Blobs.List(t.Context(), "unnamed/", "", 10)
	if err != nil || len(left) > 0 {
		t.Errorf("marks left: %v, %v", left, err)
	}
}

// A name that was there for long counts from when it is gone, not from the push.
func TestCollectCountsFromTheEndOfTheName(t *testing.T) {
	t.Parallel()
	f, c, _ := collecting(t)
	info := push(t, f, "p", "1")
	c.Add(longAfter) // and nobody collected meanwhile
	if err := f.Service.DeleteProblem(t.Context(), "p"); err != nil {
		t.Fatal(err)
	}
	collect(t, f)
	if !there(t, f, info) {
		t.Fatal("gone at once")
	}
	c.Add(longAfter - 2*time.Hour)
	collect(t, f)
	if !there(t, f, info) {
		t.Error("gone before its time")
	}
	c.Add(3 * time.Hour)
	collect(t, f)
	if there(t, f, info) {
		t.Error("still there")
	}
}

// Submissions that wait, however long, keep the version that they came with; so do those
// of a rejudge.
func TestCollectKeepsWhatIsAskedFor(t *testing.T) {
	t.Parallel()
	f, c, _ := collecting(t)
	info := push(t, f, "p", "1")
	r := good()
	r.Tests, r.Problem = nil, "p@1"
	sub := submit(t, f, r)
	if err := f.Service.DeleteProblem(t.Context(), "p"); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		c.Add(longAfter)
		collect(t, f)
	}
	if !there(t, f, info) {
		t.Fatal("the package of a submission that waits is gone")
	}
	f.Finish(t, f.Start(t, sub.ID), judge.Accepted)
	again, err := f.Service.Rejudge(t.Context(), judge.RejudgeRequest{Submissions: []string{sub.ID}})
	if err != nil {
		t.Fatal(err)
	}
	f.Service.Prune(t.Context())
	c.Add(47 * time.Hour)
	collect(t, f)
	if !there(t, f, info) {
		t.Error("the package of a rejudge is gone")
	}
	f.Finish(t, f.Start(t, again.Submissions[0].Judgement), judge.Accepted)
	c.Add(longAfter)
	f.Service.Prune(t.Context())
	collect(t, f)
	if there(t, f, info) {
		t.Error("the package is still there when nobody can ask for it")
	}
}

// A package that is gone is not counted as in quarantine: nobody could let it out.
func TestCollectEndsTheQuarantine(t *testing.T) {
	t.Parallel()
	f, c, _ := collecting(t)
	gone, kept := push(t, f, "p", "1"), push(t, f, "q", "2")
	for _, info := range []judge.ProblemInfo{gone, kept} {
		if _, err := f.Results.Quarantine(t.Context(), info.Package, judge.Quarantine{Reason: "it crashed"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Service.DeleteProblem(t.Context(), "p"); err != nil {
		t.Fatal(err)
	}
	collect(t, f)
	if n, err := f.Service.CountQuarantined(t.Context()); err != nil || n != 2 {
		t.Errorf("got %d, %v while the package can be asked for, want 2", n, err)
	}
	c.Add(longAfter)
	collect(t, f)
	if n, err := f.Service.CountQuarantined(t.Context()); err != nil || n != 1 || there(t, f, gone) {
		t.Errorf("got %d, %v when it is gone, want 1", n, err)
	}
}

// A push or a rejudge at the very moment of the removal has its package.
func TestCollectMeetsAPush(t *testing.T) {
	t.Parallel()
	f, c, h := collecting(t)
	info := push(t, f, "p", "1")
	if err := f.Service.DeleteProblem(t.Context(), "p"); err != nil {
		t.Fatal(err)
	}
	collect(t, f)
	c.Add(longAfter)
	var deleted []string
	meet := func(key string) {
		h.deleting.Store(nil)
		deleted = append(deleted, key)
		c.Add(time.Second)
		push(t, f, "q", "1")
	}
	h.deleting.Store(&meet)
	collect(t, f)
	if want := []string{blob.ContentKey(strings.TrimPrefix(info.Package, "sha256:"))}; !slices.Equal(deleted, want) {
		t.Fatalf("deleted %v, want %v", deleted, want)
	}
	if !there(t, f, info) {
		t.Error("the package of the push is gone")
	}
}
