package worker_test

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"judgefarm/dispatcher/queue"
	"judgefarm/dispatcher/results"
	"judgefarm/judge"
	"judgefarm/judge/engine"
	"judgefarm/worker"
	"judgefarm/worker/artifacts"
)

// slow is a keeper that stores nothing before it may.
type slow struct {
	may  chan struct{}
	kept atomic.Int64
}

func (s *slow) Keep(ctx context.Context, _ judge.Attempt, _ *judge.Judgement, _ []artifacts.Artifact) error {
	select {
	case <-s.may:
		s.kept.Add(1)
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// deliveries hands out a submission as often as it is sent one, from one goroutine.
type deliveries chan string

func (d deliveries) Take(_, work context.Context, _ int, h queue.Handler) error {
	for id := range d {
		h(work, queue.Job{ID: id})
	}
	return nil
}

// settling runs a worker of one slot over deliveries of "s".
func settling(t *testing.T, r *room, keeper worker.Keeper, jobs deliveries, work context.Context) (ended chan error) {
	t.Helper()
	w, err := worker.New(worker.Config{
		Name: "w", Slots: 1, Source: jobs, Line: r.line, Results: r.store, Blobs: r.blobs, Problems: r, Judge: r,
		Artifacts: keeper, Lease: time.Minute, Heartbeat: time.Second, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	ended = make(chan error, 1)
	go func() { ended <- w.Run(work, work) }()
	return ended
}

// While artifacts are stored the slot takes the next job, one and no more; nothing is
// final before its artifacts are stored, and Run waits for all of it.
func TestSlotIsFreeWhileArtifactsAreStored(t *testing.T) {
	t.Parallel()
	r, keeper, jobs := newRoom(t), &slow{may: make(chan struct{})}, make(deliveries)
	r.submit(t)
	judged := make(chan struct{}, 10)
	r.judge = func(context.Context, engine.Job) (*engine.Outcome, error) {
		judged <- struct{}{}
		return accepted(), nil
	}
	ended := settling(t, r, keeper, jobs, t.Context())
	jobs <- "s"
	<-judged
	jobs <- "unknown" // is taken though nothing of "s" is stored
	if rec, err := r.store.Get(t.Context(), "s"); err != nil || rec.State != judge.Judging {
		t.Errorf("record = %+v, %v, want judging until its artifacts are stored", rec, err)
	}
	close(jobs)
	select {
	case err := <-ended:
		t.Fatalf("Run = %v before the attempt was settled", err)
	case keeper.may <- struct{}{}:
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if rec, err := r.store.Get(t.Context(), "s"); err != nil || rec.State != judge.Judged || keeper.kept.Load() != 1 {
		t.Errorf("record = %+v, %v after %d keeps, want judged after one", rec, err, keeper.kept.Load())
	}
}

// An attempt that settles at the end of work goes back uncharged.
func TestDrainWhileSettling(t *testing.T) {
	t.Parallel()
	r, keeper, jobs := newRoom(t), &slow{may: make(chan struct{})}, make(deliveries)
	r.submit(t)
	work, drain := context.WithCancel(t.Context())
	ended := settling(t, r, keeper, jobs, work)
	jobs <- "s"
	close(jobs)
	drain()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	rec, err := r.store.Get(t.Context(), "s")
	if err != nil || rec.State != judge.Queued || rec.Attempt.Charged != 0 || len(r.line.pushed) != 1 {
		t.Errorf("record = %+v, %v, pushed %v, want queued, uncharged and back in the line", rec, err, r.line.pushed)
	}
}

// A conclusion that panics ends its heartbeat and frees its place.
func TestPanicWhileSettling(t *testing.T) {
	t.Parallel()
	r, jobs := newRoom(t), make(deliveries)
	r.submit(t)
	ended := settling(t, r, panics{}, jobs, t.Context())
	jobs <- "s"
	close(jobs)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if back, err := r.store.Reap(t.Context(), time.Now().Add(2*time.Minute), 10); err != nil || len(back) != 1 {
		t.Errorf("Reap = %v, %v, want the attempt back", back, err)
	}
}

type panics struct{}

func (panics) Keep(context.Context, judge.Attempt, *judge.Judgement, []artifacts.Artifact) error {
	panic(errors.New("a bug"))
}

// Runs that end close together are told in one call, in order, and all of them
// before the judgement.
func TestProgressIsToldTogether(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.submit(t)
	const runs = 100
	watched := &watching{room: r, runs: runs}
	counted := &counting{Store: r.store}
	w, err := worker.New(worker.Config{
		Name: "w", Slots: 1, Source: one("s"), Line: r.line, Results: counted, Blobs: r.blobs, Problems: r, Judge: watched,
		Artifacts: r, Lease: time.Minute, Heartbeat: time.Second, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Run(t.Context(), t.Context()); err != nil {
		t.Fatal(err)
	}
	events, err := r.store.Events(t.Context(), "s", 0)
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	for _, e := range events {
		if e.Type == results.EventCase {
			told++
		}
	}
	last := events[len(events)-1].Type
	if told != runs || last != results.EventFinal || counted.calls.Load() > runs/2 {
		t.Errorf("%d of %d runs told in %d calls, last event %s, want all in fewer calls, then the final one", told, runs, counted.calls.Load(), last)
	}
}

// watching is an engine that tells of runs as fast as it can.
type watching struct {
	*room
	runs int
}

func (w *watching) Judge(_ context.Context, _ engine.Job, watch engine.Watcher) (*engine.Outcome, error) {
	for i := range w.runs {
		watch.Case(i, w.runs, judge.Run{Verdict: judge.Accepted})
	}
	return accepted(), nil
}

type counting struct {
	results.Store
	calls atomic.Int64
}

func (c *counting) Progress(ctx context.Context, a judge.Attempt, runs ...results.CaseEvent) error {
	c.calls.Add(1)
	return c.Store.Progress(ctx, a, runs...)
}
