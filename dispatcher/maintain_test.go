package dispatcher_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"judgefarm/dispatcher"
	"judgefarm/dispatcher/dispatchertest"
	"judgefarm/dispatcher/queue"
	"judgefarm/dispatcher/results"
	"judgefarm/internal/blob"
	"judgefarm/judge"
)

// clock is a time that tests move.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// timed returns a farm whose dispatcher and results share a clock.
func timed(t *testing.T) (*dispatchertest.Farm, *clock) {
	c := &clock{now: time.Now()}
	return dispatchertest.New(t, func(cfg *dispatcher.Config) {
		cfg.Now = c.Now
		cfg.Results = results.NewMemory(results.Config{Now: c.Now, MaxAttempts: 2})
	}), c
}

// maintain runs Maintain until the test ends.
func maintain(t *testing.T, f *dispatchertest.Farm) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- f.Service.Maintain(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("maintain: %v", err)
		}
	})
}

func awaitLine(t *testing.T, f *dispatchertest.Farm, ids ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	err := f.Line.Await(ctx, func(jobs []queue.Job) bool {
		if len(jobs) != len(ids) {
			return false
		}
		for i, j := range jobs {
			if j.ID != ids[i] {
				return false
			}
		}
		return true
	})
	if err != nil {
		t.Fatalf("got line %v, want %v: %v", f.Line.Jobs(), ids, err)
	}
}

func TestLostWorkersSubmissionGoesToTheFront(t *testing.T) {
	t.Parallel()
	f, c := timed(t)
	lost := submit(t, f, good())
	f.Start(t, lost.ID)
	other := submit(t, f, good())
	c.Add(2 * time.Minute) // the lease of a minute runs out
	maintain(t, f)
	awaitLine(t, f, lost.ID, other.ID)

	// The second loss uses the attempts up.
	f.Start(t, lost.ID)
	c.Add(2 * time.Minute)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	j, err := f.Service.Wait(ctx, lost.ID)
	if err != nil || j.State != judge.FailedState || j.Failed == nil || j.Failed.Kind != judge.FailLost {
		t.Errorf("got %+v, %v, want failed because workers were lost", j, err)
	}
}

// standing is a store that answers no listing.
type standing struct{ blob.Store }

func (standing) List(ctx context.Context, _, _ string, _ int) ([]string, error) {
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

// What a lost worker had waits for nothing that the blob store does.
func TestReapingWaitsForNoBlobs(t *testing.T) {
	t.Parallel()
	c := &clock{now: time.Now()}
	f := dispatchertest.New(t, func(cfg *dispatcher.Config) {
		cfg.Now, cfg.Blobs = c.Now, standing{blob.NewMemory(0)}
		cfg.Results = results.NewMemory(results.Config{Now: c.Now})
	})
	lost := submit(t, f, good())
	f.Start(t, lost.ID)
	c.Add(2 * time.Minute)
	maintain(t, f)
	awaitLine(t, f, lost.ID)
}

func TestSweepPutsBackWhatTheLineLost(t *testing.T) {
	t.Parallel()
	f, c := timed(t)
	lost, kept := submit(t, f, good()), submit(t, f, good())
	f.Line.Remove(t.Context(), lost.ID) // as a Redis that lost its last second
	c.Add(10 * time.Second)
	maintain(t, f)
	awaitLine(t, f, kept.ID, lost.ID)
}

func TestMaintainOutlivesAnOutage(t *testing.T) {
	t.Parallel()
	f, c := timed(t)
	lost := submit(t, f, good())
	f.Start(t, lost.ID)
	f.Line.Down(errors.New("down"))
	c.Add(2 * time.Minute)
	maintain(t, f)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for after := int64(0); ; { // until it was reaped, while the line is down
		events, err := f.Service.Events(ctx, lost.ID, after)
		if err != nil {
			t.Fatal(err)
		}
		last := events[len(events)-1]
		if after = last.Seq; last.Type == results.EventState && strings.Contains(string(last.Data), "queued") && after > 1 {
			break
		}
	}
	f.Line.Down(nil)
	c.Add(10 * time.Second)
	awaitLine(t, f, lost.ID)
}

func TestOldIntentsAreDeletedOnceFinal(t *testing.T) {
	t.Parallel()
	c := &clock{now: time.Now()}
	deleted := make(chan string, 10)
	f := dispatchertest.New(t, func(cfg *dispatcher.Config) {
		cfg.Now = c.Now
		cfg.Results = results.NewMemory(results.Config{Now: c.Now, Retention: 30 * 24 * time.Hour})
		cfg.Blobs = watchedBlobs{cfg.Blobs, deleted}
	})
	first, waiting, second := submit(t, f, good()), submit(t, f, good()), submit(t, f, good())
	f.Finish(t, f.Start(t, first.ID), judge.Accepted)
	f.Finish(t, f.Start(t, second.ID), judge.WrongAnswer)
	c.Add(8 * 24 * time.Hour)
	young := submit(t, f, good())
	maintain(t, f)
	for _, want := range []string{first.ID, second.ID} { // keys come in order
		select {
		case key := <-deleted:
			if !strings.HasSuffix(key, want) {
				t.Fatalf("got %s deleted, want that of %s", key, want)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("intent of %s was not deleted", want)
		}
	}
	keys, err := f.Blobs.List(t.Context(), "intents/", "", 10)
	if err != nil || len(keys) != 2 || !strings.HasSuffix(keys[0], waiting.ID) || !strings.HasSuffix(keys[1], young.ID) {
		t.Errorf("got intents %v, %v, want those of %s and %s", keys, err, waiting.ID, young.ID)
	}
}

// watchedBlobs tells of every deletion.
type watchedBlobs struct {
	blob.Store
	deleted chan<- string
}

func (b watchedBlobs) Delete(ctx context.Context, key string) error {
	err := b.Store.Delete(ctx, key)
	b.deleted <- key
	return err
}
