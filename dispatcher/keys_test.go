package dispatcher_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"judgefarm/dispatcher"
	"judgefarm/dispatcher/dispatchertest"
	"judgefarm/internal/blob"
	"judgefarm/judge"
)

// meeting runs once, before the first intent is stored: what another dispatcher does
// with the same key meanwhile.
type meeting struct {
	blob.Store
	with atomic.Pointer[func()]
}

func (m *meeting) Put(ctx context.Context, key string, r io.Reader, size int64, contentType string) error {
	if strings.HasPrefix(key, "intents/") {
		if with := m.with.Swap(nil); with != nil {
			(*with)()
		}
	}
	return m.Store.Put(ctx, key, r, size, contentType)
}

// Of two requests with one key the slower must not change what the faster one's
// record names: its problem may have got a version in between.
func TestSlowerRequestChangesNoIntent(t *testing.T) {
	t.Parallel()
	blobs := &meeting{Store: blob.NewMemory(0)}
	f := dispatchertest.New(t, func(c *dispatcher.Config) { c.Blobs = blobs })
	push(t, f, "p", "1\n")
	r := good()
	r.Key, r.Problem, r.Tests = "k", "p", nil
	with := func() {
		push(t, f, "p", "2\n")
		submit(t, f, r)
	}
	blobs.with.Store(&with)
	j := submit(t, f, r)
	if j.Problem.Version != 2 {
		t.Errorf("got version %d, want that of the faster request", j.Problem.Version)
	}
	rec, err := f.Results.Get(t.Context(), j.ID)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := readBlob(t, f, rec.Request)
	if err != nil {
		t.Fatal(err)
	}
	var admitted judge.Admitted
	if err := json.Unmarshal(doc, &admitted); err != nil {
		t.Fatal(err)
	}
	if *admitted.Problem != *rec.Judgement.Problem {
		t.Errorf("the record says %+v, what is judged %+v", *rec.Judgement.Problem, *admitted.Problem)
	}
	if keys, err := f.Blobs.List(t.Context(), "intents/", "", 10); err != nil || len(keys) != 1 {
		t.Errorf("got intents %q, %v, want one", keys, err)
	}
}

// A key that was refused is free, also for a request that was under way meanwhile.
func TestSlowerRequestOfARefusedKey(t *testing.T) {
	t.Parallel()
	blobs := &meeting{Store: blob.NewMemory(0)}
	var clock sync.Mutex
	now := time.Now()
	f := dispatchertest.New(t, func(c *dispatcher.Config) {
		c.Blobs = blobs
		c.Now = func() time.Time { clock.Lock(); defer clock.Unlock(); return now }
	})
	f.Line.Bound = 1
	first := submit(t, f, good())
	r := good()
	r.Key = "k"
	with := func() {
		if _, err := f.Service.Submit(t.Context(), r); !errors.Is(err, dispatcher.ErrFull) {
			t.Errorf("got %v, want full", err)
		}
	}
	blobs.with.Store(&with)
	if j, err := f.Service.Submit(t.Context(), r); !errors.Is(err, dispatcher.ErrFull) {
		t.Errorf("got %v and %v, want full", j.State, err)
	}
	if err := f.Line.Remove(t.Context(), first.ID); err != nil {
		t.Fatal(err)
	}
	clock.Lock()
	now = now.Add(2 * time.Second)
	clock.Unlock()
	if j := submit(t, f, r); j.State != judge.Queued {
		t.Errorf("got %s, want queued", j.State)
	}
}
