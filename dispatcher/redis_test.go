package dispatcher_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"judgefarm/dispatcher"
	"judgefarm/dispatcher/dispatchertest"
	"judgefarm/dispatcher/queue"
	"judgefarm/dispatcher/results"
	"judgefarm/internal/blob"
	"judgefarm/internal/testenv"
	"judgefarm/judge"
)

// onRedis returns a dispatcher over real stores, as its process would have it.
func onRedis(t *testing.T, addr string, blobs blob.Store) *dispatchertest.Farm {
	t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	line, err := queue.New(queue.Config{URL: "redis://" + addr, Bound: 100, Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	store, err := results.NewRedis(results.Config{URL: "redis://" + addr, Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(line.Close(), store.Close()); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return dispatchertest.New(t, func(c *dispatcher.Config) { c.Line, c.Results, c.Blobs = line, store, blobs })
}

func waiting(t *testing.T, f *dispatchertest.Farm) int {
	t.Helper()
	depth, err := f.Service.Depth(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return depth[queue.Interactive] + depth[queue.Train] + depth[queue.Batch]
}

func TestTwoDispatchersOnRedis(t *testing.T) {
	t.Parallel()
	addr, blobs := testenv.Redis(t), blob.NewMemory(0)
	farms := []*dispatchertest.Farm{onRedis(t, addr, blobs), onRedis(t, addr, blobs)}
	const keys = 10
	ids := make([][]string, keys)
	for i := range ids {
		ids[i] = make([]string, 4)
	}
	var wg sync.WaitGroup
	for i := range ids {
		for n := range ids[i] {
			wg.Go(func() {
				r := good()
				r.Key = fmt.Sprint("key ", i)
				j, err := farms[n%2].Service.Submit(t.Context(), r)
				if err != nil {
					t.Errorf("submit: %v", err)
				}
				ids[i][n] = j.ID
			})
		}
	}
	wg.Wait()
	for i := range ids {
		for _, id := range ids[i] {
			if id != ids[i][0] {
				t.Errorf("key %d names %v", i, ids[i])
			}
		}
	}
	if got := waiting(t, farms[0]); got != keys {
		t.Errorf("got %d jobs, want %d", got, keys)
	}

	// One dispatcher answers for what came to the other.
	f, id := farms[0], ids[0][0]
	done := make(chan judge.Judgement, 1)
	go func() {
		j, err := farms[1].Service.Wait(t.Context(), id)
		if err != nil {
			t.Errorf("wait: %v", err)
		}
		done <- j
	}()
	a, err := f.Results.Lease(t.Context(), id, "w1", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	f.Finish(t, a, judge.Accepted)
	if j := <-done; j.State != judge.Judged || *j.Verdict != judge.Accepted {
		t.Errorf("got %+v", j)
	}
	if j, err := farms[1].Service.Cancel(t.Context(), ids[1][0]); err != nil || j.State != judge.Cancelled {
		t.Errorf("got %s, %v", j.State, err)
	}
	if got := waiting(t, f); got != keys-1 {
		t.Errorf("got %d jobs after a cancel, want %d", got, keys-1)
	}
}

func TestFullRedisTakesBack(t *testing.T) {
	t.Parallel()
	f := onRedis(t, testenv.Redis(t), blob.NewMemory(0))
	for range 100 {
		submit(t, f, good())
	}
	_, err := f.Service.Submit(t.Context(), good())
	var full *dispatcher.FullError
	if !errors.As(err, &full) || full.RetryAfter < time.Second {
		t.Fatalf("got %v, want full", err)
	}
	if keys, err := f.Blobs.List(t.Context(), "intents/", "", 200); err != nil || len(keys) != 100 || waiting(t, f) != 100 {
		t.Errorf("got %d intents, %v, %d jobs", len(keys), err, waiting(t, f))
	}
}

// A Redis that is away is told as such, in time, and what was acknowledged before
// is there afterwards.
func TestRedisGoesAway(t *testing.T) {
	t.Parallel()
	server := testenv.StartRedis(t, "--appendonly", "yes", "--appendfsync", "always")
	f := onRedis(t, server.Addr, blob.NewMemory(0))
	r := good()
	r.Key = "k"
	j := submit(t, f, r)
	server.Kill()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if _, err := f.Service.Submit(ctx, good()); !errors.Is(err, dispatcher.ErrUnavailable) {
		t.Errorf("got %v, want unavailable", err)
	}
	if _, err := f.Service.Get(ctx, j.ID); !errors.Is(err, dispatcher.ErrUnavailable) {
		t.Errorf("got %v, want unavailable", err)
	}
	if ctx.Err() != nil {
		t.Error("a dead Redis was not noticed in time")
	}
	server.Start()
	if again := submit(t, f, r); again.ID != j.ID || again.State != judge.Queued {
		t.Errorf("got %s %s, want %s queued", again.ID, again.State, j.ID)
	}
	if got := waiting(t, f); got != 1 {
		t.Errorf("got %d jobs, want 1", got)
	}
}
