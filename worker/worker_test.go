package worker_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"judgefarm/dispatcher/queue"
	"judgefarm/dispatcher/results"
	"judgefarm/internal/blob"
	"judgefarm/judge"
	"judgefarm/judge/engine"
	"judgefarm/testcases"
	"judgefarm/worker"
	"judgefarm/worker/artifacts"
)

// room is one worker with working stores in memory and a scripted engine.
type room struct {
	store   *results.Memory
	blobs   *blob.Memory
	line    *line
	judge   func(ctx context.Context, job engine.Job) (*engine.Outcome, error)
	keepErr error
	kept    []judge.State // the record's state at each Keep

	keepFails int           // Keep fails so many times with keepErr; 0: always
	source    queue.Source  // nil delivers "s" once
	frontend  blob.Store    // nil is blobs
	patience  time.Duration // 0 is 1 ns
	well      func(context.Context) error
	take      context.Context // nil is work's
	records   results.Store   // nil is store
	lease     time.Duration   // 0 is a minute
}

// late answers a lease when it has run out already, and no renewal.
type late struct {
	results.Store
	renewals atomic.Int64
}

func (l *late) Lease(ctx context.Context, id, worker string, d time.Duration) (judge.Attempt, error) {
	a, err := l.Store.Lease(ctx, id, worker, time.Minute)
	<-time.After(d)
	return a, err
}

func (l *late) Renew(context.Context, judge.Attempt, time.Duration) (bool, error) {
	l.renewals.Add(1)
	return false, errAway
}

// line is a queue.Line that remembers what came back.
type line struct {
	queue.Line // the rest is not called
	mu         sync.Mutex
	pushed     []queue.Job
	front      []bool
}

func (l *line) Push(_ context.Context, j queue.Job, front bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pushed, l.front = append(l.pushed, j), append(l.front, front)
	return nil
}

// Judge and Keep make room the engine and the keeper.
func (r *room) Judge(ctx context.Context, job engine.Job, watch engine.Watcher) (*engine.Outcome, error) {
	return r.judge(ctx, job)
}

func (r *room) Keep(ctx context.Context, a judge.Attempt, _ *judge.Judgement, _ []artifacts.Artifact) error {
	rec, err := r.store.Get(ctx, a.Submission)
	if err != nil {
		return err
	}
	r.kept = append(r.kept, rec.State)
	if r.keepFails > 0 && len(r.kept) > r.keepFails {
		return nil
	}
	return r.keepErr
}

func (r *room) Get(context.Context, string) (*testcases.Problem, func(), error) {
	return nil, nil, errors.New("no uploaded problems here")
}

// one delivers a single job.
type one string

func (id one) Take(_, work context.Context, _ int, h queue.Handler) error {
	h(work, queue.Job{ID: string(id)})
	return nil
}

func newRoom(t *testing.T) *room {
	t.Helper()
	return &room{
		store: results.NewMemory(results.Config{}), blobs: blob.NewMemory(0), line: &line{},
		judge: func(context.Context, engine.Job) (*engine.Outcome, error) { return accepted(), nil },
	}
}

func accepted() *engine.Outcome {
	verdict, now := judge.Accepted, time.Now()
	j := judge.NewJudgement("s", now)
	j.State, j.Verdict, j.JudgedAt = judge.Judged, &verdict, &now
	return &engine.Outcome{Judgement: j}
}

// submit records a submission with one inline test.
func (r *room) submit(t *testing.T) {
	t.Helper()
	doc, err := json.Marshal(judge.Admitted{
		ID: "s", Language: "c", Stop: judge.StopNever, Files: []judge.FileJSON{{Name: "a.c"}}, Tests: []judge.TestJSON{{Expected: "1"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.blobs.Put(t.Context(), "intents/s", bytes.NewReader(doc), int64(len(doc)), ""); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	err = r.store.Create(t.Context(), results.Record{
		ID: "s", Request: "intents/s", Priority: queue.Train, FairKey: "k", CreatedAt: now, State: judge.Queued,
		Judgement: judge.NewJudgement("s", now),
	})
	if err != nil {
		t.Fatal(err)
	}
}

// deliver runs a worker over the one submission until it is done with it.
func (r *room) deliver(t *testing.T, work context.Context) results.Record {
	t.Helper()
	source, blobs := queue.Source(one("s")), blob.Store(r.blobs)
	if r.source != nil {
		source = r.source
	}
	if r.frontend != nil {
		blobs = r.frontend
	}
	records, lease := results.Store(r.store), time.Minute
	if r.records != nil {
		records, lease = r.records, r.lease
	}
	w, err := worker.New(worker.Config{
		Name: "w", Slots: 1, Source: source, Line: r.line, Results: records, Blobs: blobs, Problems: r, Judge: r,
		Artifacts: r, Patience: max(r.patience, 1), Well: r.well, Lease: lease, Heartbeat: 5 * time.Millisecond, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	take := r.take
	if take == nil {
		take = work
	}
	if err := w.Run(take, work); err != nil {
		t.Fatal(err)
	}
	rec, err := r.store.Get(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// ended waits for the end of the attempt's context and gives its cause.
func ended(ctx context.Context, _ engine.Job) (*engine.Outcome, error) {
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

func TestJudgementIsFinalAfterItsArtifacts(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.submit(t)
	rec := r.deliver(t, t.Context())
	if rec.State != judge.Judged || *rec.Judgement.Verdict != judge.Accepted || rec.Judgement.Worker != "w" || rec.Judgement.Attempt != 1 {
		t.Errorf("record = %+v, want judged AC by w in attempt 1", rec)
	}
	if len(r.kept) != 1 || r.kept[0] != judge.Judging {
		t.Errorf("artifacts were kept in states %v, want once, while judging", r.kept)
	}
	if r.deliver(t, t.Context()); len(r.kept) != 1 {
		t.Error("a second delivery was judged again")
	}
}

func TestOurFaultsComeBackCharged(t *testing.T) {
	t.Parallel()
	tests := map[string]func(*room){
		"engine": func(r *room) {
			r.judge = func(context.Context, engine.Job) (*engine.Outcome, error) {
				return nil, judge.Fail(judge.FailSandbox, errors.New("no box"))
			}
		},
		"artifacts": func(r *room) { r.keepErr = errors.New("bucket is full") },
	}
	for name, spoil := range tests {
		r := newRoom(t)
		spoil(r)
		r.submit(t)
		for attempt := 1; attempt < results.DefaultMaxAttempts; attempt++ {
			if rec := r.deliver(t, t.Context()); rec.State != judge.Queued || rec.Attempt.Charged != attempt {
				t.Fatalf("%s: record after attempt %d = %+v, want queued with it charged", name, attempt, rec)
			}
			if len(r.line.pushed) != attempt || !r.line.front[attempt-1] || r.line.pushed[attempt-1].Priority != queue.Train {
				t.Fatalf("%s: pushed %v, want the job at the front after attempt %d", name, r.line.pushed, attempt)
			}
		}
		rec := r.deliver(t, t.Context())
		if rec.State != judge.FailedState || rec.Judgement.Failed == nil || rec.Judgement.Verdict != nil {
			t.Errorf("%s: record after the last attempt = %+v, want failed with a reason and no verdict", name, rec)
		}
	}
}

func TestWhatCannotGetBetterFailsAtOnce(t *testing.T) {
	t.Parallel()
	tests := map[string]func(*testing.T, *room){
		"engine says so": func(_ *testing.T, r *room) {
			r.judge = func(context.Context, engine.Job) (*engine.Outcome, error) {
				return nil, &judge.Failed{Kind: judge.FailProblem, Reason: "checker does not compile"}
			}
		},
		"bad request": func(_ *testing.T, r *room) {
			r.judge = func(context.Context, engine.Job) (*engine.Outcome, error) {
				return nil, judge.Refuse(&judge.FieldError{Field: "language", Reason: "unknown"})
			}
		},
		"request blob is gone": func(t *testing.T, r *room) {
			if err := r.blobs.Delete(t.Context(), "intents/s"); err != nil {
				t.Fatal(err)
			}
		},
		"request blob is garbage": func(t *testing.T, r *room) {
			if err := r.blobs.Put(t.Context(), "intents/s", bytes.NewReader([]byte("{")), 1, ""); err != nil {
				t.Fatal(err)
			}
		},
	}
	for name, spoil := range tests {
		r := newRoom(t)
		r.submit(t)
		spoil(t, r)
		rec := r.deliver(t, t.Context())
		if j := rec.Judgement; rec.State != judge.FailedState || j.Failed == nil || j.Retryable || j.Verdict != nil || len(r.line.pushed) != 0 {
			t.Errorf("%s: record = %+v, pushed %v, want failed, not retryable, nothing pushed", name, rec, r.line.pushed)
		}
	}
}

func TestDrainCostsNoAttempt(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.submit(t)
	work, drain := context.WithCancel(t.Context())
	r.judge = func(ctx context.Context, job engine.Job) (*engine.Outcome, error) {
		drain()
		return ended(ctx, job)
	}
	rec := r.deliver(t, work)
	if rec.State != judge.Queued || rec.Attempt.Charged != 0 || rec.Attempt.Fence != 1 {
		t.Errorf("record = %+v, want queued, nothing charged, fence 1", rec)
	}
	if len(r.line.pushed) != 1 || !r.line.front[0] {
		t.Errorf("pushed %v, want the job at the front", r.line.pushed)
	}
}

func TestCancelWhileJudging(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.submit(t)
	r.judge = func(ctx context.Context, job engine.Job) (*engine.Outcome, error) {
		if _, err := r.store.Cancel(ctx, "s"); err != nil {
			t.Error(err)
		}
		return ended(ctx, job)
	}
	rec := r.deliver(t, t.Context())
	if rec.State != judge.Cancelled || rec.Judgement.State != judge.Cancelled || rec.Judgement.Verdict != nil {
		t.Errorf("record = %+v, want cancelled", rec)
	}
}

// A worker that was taken for dead stops when it hears of it, and its result is refused.
func TestLostLease(t *testing.T) {
	t.Parallel()
	tests := map[string]func(context.Context, engine.Job) (*engine.Outcome, error){
		"while judging": ended,
		"at the end":    func(context.Context, engine.Job) (*engine.Outcome, error) { return accepted(), nil },
	}
	for name, then := range tests {
		r := newRoom(t)
		r.submit(t)
		r.judge = func(ctx context.Context, job engine.Job) (*engine.Outcome, error) {
			if _, err := r.store.Reap(ctx, time.Now().Add(time.Hour), 10); err != nil {
				t.Error(err)
			}
			if _, err := r.store.Lease(ctx, "s", "other", time.Minute); err != nil {
				t.Error(err)
			}
			return then(ctx, job)
		}
		rec := r.deliver(t, t.Context())
		if rec.State != judge.Judging || rec.Attempt.Worker != "other" || len(r.line.pushed) != 0 {
			t.Errorf("%s: record = %+v, pushed %v, want the other's attempt untouched", name, rec, r.line.pushed)
		}
	}
}

// A lease counts from when it was asked for: the answer may have been on its way for
// most of it, and then another worker may have the submission.
func TestLeaseThatComesLate(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.submit(t)
	slow := &late{Store: r.store}
	r.records, r.lease = slow, 500*time.Millisecond
	var cause error
	r.judge = func(ctx context.Context, job engine.Job) (*engine.Outcome, error) {
		_, cause = ended(ctx, job)
		return nil, cause
	}
	r.deliver(t, t.Context())
	if n := slow.renewals.Load(); n != 1 || cause == nil || cause.Error() != "lease lost" {
		t.Errorf("%d renewals, then %v, want the first to tell that the lease is lost", n, cause)
	}
}

func TestConfigIsChecked(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]worker.Config{
		"no name":         {Slots: 1},
		"no slots":        {Name: "w"},
		"heartbeat rarer": {Name: "w", Slots: 1, Lease: time.Second, Heartbeat: time.Second},
	} {
		if _, err := worker.New(cfg); err == nil {
			t.Errorf("%s: New = nil, want an error", name)
		}
	}
}
