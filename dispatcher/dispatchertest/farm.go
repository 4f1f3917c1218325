// Package dispatchertest makes a dispatcher that stands on memory, for tests of
// what lies above it: no Redis, no worker, no clock to wait for.
package dispatchertest

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"judgefarm/dispatcher"
	"judgefarm/dispatcher/queue"
	"judgefarm/dispatcher/results"
	"judgefarm/internal/blob"
	"judgefarm/judge"
)

// Farm is a dispatcher with its stores. The test plays the worker.
type Farm struct {
	Service *dispatcher.Service
	Line    *Line
	Results results.Store
	Blobs   blob.Store
}

// New returns a farm that knows the languages c and python3 (alias py). change,
// where not nil, may replace parts of the configuration.
func New(t testing.TB, change func(*dispatcher.Config)) *Farm {
	t.Helper()
	line := &Line{Bound: 1000, Retry: 3 * time.Second}
	cfg := dispatcher.Config{
		Line: line, Results: results.NewMemory(results.Config{}), Blobs: blob.NewMemory(0),
		Language: func(name string) (string, bool) {
			id, known := map[string]string{"c": "c", "python3": "python3", "py": "python3"}[name]
			return id, known
		},
		Log: slog.New(slog.DiscardHandler),
	}
	if change != nil {
		change(&cfg)
	}
	s, err := dispatcher.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return &Farm{Service: s, Line: line, Results: cfg.Results, Blobs: cfg.Blobs}
}

// Start leases a submission, as a worker does.
func (f *Farm) Start(t testing.TB, id string) judge.Attempt {
	t.Helper()
	f.Line.Remove(t.Context(), id)
	a, err := f.Results.Lease(t.Context(), id, "w1", time.Minute)
	if err != nil {
		t.Fatalf("lease %s: %v", id, err)
	}
	return a
}

// Case publishes one accepted run.
func (f *Farm) Case(t testing.TB, a judge.Attempt, index, total int) {
	t.Helper()
	run := judge.Run{Name: "1", Verdict: judge.Accepted}
	if err := f.Results.Progress(t.Context(), a, results.CaseEvent{Index: index, Total: total, Run: run}); err != nil {
		t.Fatalf("progress %s: %v", a.Submission, err)
	}
}

// Finish records a final judgement.
func (f *Farm) Finish(t testing.TB, a judge.Attempt, v judge.Verdict) {
	t.Helper()
	j := judge.NewJudgement(a.Submission, time.Now())
	j.State, j.Verdict, j.Attempt, j.Worker = judge.Judged, &v, a.Charged, a.Worker
	if err := f.Results.Finish(t.Context(), a, j); err != nil {
		t.Fatalf("finish %s: %v", a.Submission, err)
	}
}

// Line is a queue.Line in memory. It delivers to nobody.
type Line struct {
	Bound int
	Retry time.Duration

	mu    sync.Mutex
	jobs  []queue.Job
	down  error
	heard chan struct{} // closed at the next change
}

// Down makes every call fail with err until it is called with nil.
func (l *Line) Down(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down = err
}

// Push implements queue.Line.
func (l *Line) Push(_ context.Context, j queue.Job, front bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.down != nil {
		return l.down
	}
	for _, waiting := range l.jobs {
		if waiting.ID == j.ID {
			return nil
		}
	}
	switch {
	case front:
		l.jobs = append([]queue.Job{j}, l.jobs...)
	case len(l.jobs) >= l.Bound:
		return queue.ErrFull
	default:
		l.jobs = append(l.jobs, j)
	}
	l.changedLocked()
	return nil
}

// Remove implements queue.Line.
func (l *Line) Remove(_ context.Context, id string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, j := range l.jobs {
		if j.ID == id {
			l.jobs = append(l.jobs[:i:i], l.jobs[i+1:]...)
			l.changedLocked()
			break
		}
	}
	return l.down
}

// Depth implements queue.Line.
func (l *Line) Depth(context.Context) (map[string]int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	depth := map[string]int{}
	for _, j := range l.jobs {
		depth[j.Priority]++
	}
	return depth, l.down
}

// RetryAfter implements queue.Line.
func (l *Line) RetryAfter(context.Context) time.Duration { return l.Retry }

// Feed implements queue.Line: there is nobody to feed.
func (l *Line) Feed(ctx context.Context) error { <-ctx.Done(); return nil }

// Ready implements queue.Line.
func (l *Line) Ready(context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.down
}

// Jobs returns what waits, in order.
func (l *Line) Jobs() []queue.Job {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]queue.Job(nil), l.jobs...)
}

// Await returns once the line satisfies ok, or an error when ctx ends.
func (l *Line) Await(ctx context.Context, ok func([]queue.Job) bool) error {
	for {
		l.mu.Lock()
		jobs := append([]queue.Job(nil), l.jobs...)
		if l.heard == nil {
			l.heard = make(chan struct{})
		}
		heard := l.heard
		l.mu.Unlock()
		if ok(jobs) {
			return nil
		}
		select {
		case <-heard:
		case <-ctx.Done():
			return errors.Join(errors.New("line did not change as awaited"), context.Cause(ctx))
		}
	}
}

func (l *Line) changedLocked() {
	if l.heard != nil {
		close(l.heard)
		l.heard = nil
	}
}
