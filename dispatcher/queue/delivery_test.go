package queue

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Several feeders and workers: each job is delivered once when nothing fails, never
// more of them at once than there are slots.
func TestEachJobOnce(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, fresh func() Config) {
		const jobs, slots = 200, 3
		cfg := fresh()
		q := newQueue(t, cfg)
		for range 3 {
			feed(t, newQueue(t, cfg))
		}
		var mu sync.Mutex
		seen := map[string]int{}
		done := make(chan struct{}, 2*jobs)
		for range 2 {
			var running atomic.Int64
			takeUp(t, cfg, slots, func(_ context.Context, j Job) {
				if n := running.Add(1); n > slots {
					t.Errorf("%d jobs at once in %d slots", n, slots)
				}
				mu.Lock()
				seen[j.ID]++
				mu.Unlock()
				running.Add(-1)
				done <- struct{}{}
			})
		}
		for i := range jobs {
			push(t, q, fmt.Sprint(i), priorities()[i%3], fmt.Sprint(i%7), false)
		}
		for range jobs {
			next(t, done)
		}
		mu.Lock()
		for id, n := range seen {
			if n != 1 {
				t.Errorf("job %s was delivered %d times", id, n)
			}
		}
		mu.Unlock()
		wantDepth(t, q, 0, 0, 0)
	})
}

// A job comes whole, and its handler's context is that of Take's work.
func TestJobArrivesWhole(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, fresh func() Config) {
		cfg := fresh()
		q := newQueue(t, cfg)
		feed(t, q)
		got := make(chan Job, 1)
		takeUp(t, cfg, 1, func(ctx context.Context, j Job) {
			if _, limited := ctx.Deadline(); limited {
				t.Error("the handler's context has a deadline of asynq's")
			}
			got <- j
		})
		want := Job{ID: "s1", Priority: Batch, FairKey: "tenant é\n{}", Enqueued: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)}
		if err := q.Push(t.Context(), want, false); err != nil {
			t.Fatalf("Push: %v", err)
		}
		if j := next(t, got); j != want {
			t.Errorf("job: got %+v, want %+v", j, want)
		}
	})
}

// Draining: no new job, the one that runs is waited for and not disturbed, the
// others reach another worker.
func TestDrain(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, fresh func() Config) {
		const jobs = 8
		cfg := fresh()
		q := newQueue(t, cfg)
		feed(t, q)
		started, release, disturbed := make(chan string, jobs), make(chan struct{}), make(chan error, 1)
		stop := takeUp(t, cfg, 1, func(ctx context.Context, j Job) {
			started <- j.ID
			<-release
			disturbed <- ctx.Err()
		})
		for i := range jobs {
			push(t, q, fmt.Sprint(i), Train, "a", false)
		}
		first := next(t, started)
		stopped := make(chan struct{})
		go func() { stop(); close(stopped) }()
		got := make(chan string, jobs)
		takeUp(t, cfg, 1, func(_ context.Context, j Job) { got <- j.ID })
		for seen := map[string]bool{first: true}; len(seen) < jobs; {
			id := next(t, got)
			if seen[id] {
				t.Errorf("job %s came twice", id)
			}
			seen[id] = true
		}
		select {
		case <-stopped:
			t.Error("Take returned while a handler ran")
		default:
		}
		close(release)
		next(t, stopped)
		if err := next(t, disturbed); err != nil {
			t.Errorf("the handler's context ended: %v", err)
		}
		if len(started) != 0 {
			t.Errorf("a job started after the drain began: %s", <-started)
		}
	})
}

// A job that arrives when take has ended goes back to the front.
func TestLateArrivalGoesBack(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, fresh func() Config) {
		cfg := fresh()
		q := newQueue(t, cfg)
		push(t, q, "1", Train, "a", false)
		push(t, q, "2", Train, "a", false)
		if got := pop(t, q, 1); len(got) != 1 || got[0] != "1" {
			t.Fatalf("pop: got %v, want 1", got)
		}
		ended, stop := context.WithCancel(t.Context())
		stop()
		r := &taking{
			Taker: &Taker{q.conn}, slots: make(chan struct{}, 1),
			handle: func(context.Context, Job) { t.Error("the handler ran") },
		}
		for range 8 { // select picks at random
			r.process(ended, t.Context(), []byte(`{"id":"1","priority":"train","fair_key":"a"}`))
		}
		if got := pop(t, q, 10); len(got) != 2 || got[0] != "1" {
			t.Errorf("line: got %v, want 1 before 2", got)
		}
	})
}

// A handler that panics, and a task that is no job, are acknowledged and do not end the worker.
func TestBrokenHandlerIsAcknowledged(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, fresh func() Config) {
		cfg := fresh()
		q := newQueue(t, cfg)
		feed(t, q)
		came := make(chan string, 4)
		takeUp(t, cfg, 1, func(_ context.Context, j Job) {
			came <- j.ID
			if j.ID == "bad" {
				panic("bad job")
			}
		})
		for _, id := range []string{"bad", "good"} {
			push(t, q, id, Train, "a", false)
			if got := next(t, came); got != id {
				t.Errorf("got job %s, want %s", got, id)
			}
		}
		wantDepth(t, q, 0, 0, 0)
	})
}

// A feeder that died between the line and asynq loses nothing.
func TestFeederCrash(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, fresh func() Config) {
		cfg := fresh()
		q := newQueue(t, cfg)
		push(t, q, "1", Train, "a", false)
		out, err := q.do(t.Context(), q.run.pop, 1, 50, 0).Slice() // and it dies
		if err != nil || len(out) != 2 {
			t.Fatalf("pop: got %v, %v", out, err)
		}
		push(t, q, "1", Train, "a", false) // the sweep finds it: it waits already
		wantDepth(t, q, 0, 1, 0)
		came := make(chan string, 4)
		takeUp(t, cfg, 1, func(_ context.Context, j Job) { came <- j.ID })
		feed(t, newQueue(t, cfg))
		if got := next(t, came); got != "1" {
			t.Errorf("got job %s, want 1", got)
		}
	})
}

// A worker that died with a task it had not taken yet loses nothing; a task that is
// merely waiting in asynq is not delivered twice.
func TestOverdue(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, fresh func() Config) {
		cfg := fresh()
		q := newQueue(t, cfg)
		q.hand = 0 // everything is overdue at once
		push(t, q, "1", Train, "a", false)
		push(t, q, "2", Train, "a", false)
		if err := q.handOverAll(t.Context()); err != nil {
			t.Fatalf("handOverAll: %v", err)
		}
		if err := q.maintain(t.Context()); err != nil {
			t.Fatalf("maintain: %v", err)
		}
		if got := pop(t, q, 10); len(got) != 0 {
			t.Errorf("pending jobs went back: %v", got)
		}
		// What asynq's server does when it takes a task, before it dies.
		pendingKey := q.keys[len(q.keys)-1]
		task, err := q.client.RPop(t.Context(), pendingKey).Result()
		if err != nil {
			t.Fatalf("RPOP: %v", err)
		}
		if err := q.client.HSet(t.Context(), "asynq:{"+cfg.Prefix+"}:t:"+task, "state", "active").Err(); err != nil {
			t.Fatalf("HSET: %v", err)
		}
		if err := q.maintain(t.Context()); err != nil {
			t.Fatalf("maintain: %v", err)
		}
		if got := pop(t, q, 10); len(got) != 1 || got[0] != "1" {
			t.Errorf("after the worker died: got %v back, want 1", got)
		}
		wantDepth(t, q, 0, 2, 0)
	})
}
