package worker_test

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"testing"
	"time"

	"judgefarm/dispatcher/queue"
	"judgefarm/internal/blob"
	"judgefarm/judge"
	"judgefarm/judge/engine"
	"judgefarm/worker"
)

// outage is a blob store that is away for a number of calls, Ready included.
type outage struct {
	blob.Store
	left  atomic.Int64
	asked atomic.Int64
}

var errAway = errors.New("connection refused")

func (o *outage) away() error {
	o.asked.Add(1)
	if o.left.Add(-1) >= 0 {
		return errAway
	}
	return nil
}

func (o *outage) Get(ctx context.Context, key string) (io.ReadCloser, int64, error) {
	if err := o.away(); err != nil {
		return nil, 0, err
	}
	return o.Store.Get(ctx, key)
}

func (o *outage) Ready(ctx context.Context) error { return o.away() }

// A store that is away longer than the worker's patience is no fault of a submission.
func TestOutageCostsNoAttempt(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.submit(t)
	o := &outage{Store: r.blobs}
	o.left.Store(4) // two tries and two looks at Ready
	r.frontend = o
	rec := r.deliver(t, t.Context())
	if rec.State != judge.Judged || rec.Judgement.Attempt != 1 || o.asked.Load() != 5 {
		t.Errorf("record = %+v after %d calls, want judged in attempt 1 after 5", rec, o.asked.Load())
	}
}

func TestOutageEndsWithADrain(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.submit(t)
	o := &outage{Store: r.blobs}
	o.left.Store(1 << 40)
	r.frontend = o
	work, drain := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer drain()
	rec := r.deliver(t, work)
	if rec.State != judge.Queued || rec.Attempt.Charged != 0 {
		t.Errorf("record = %+v, want queued and nothing charged", rec)
	}
}

// An upload that is refused while the store says that it is well is tried on for the
// worker's patience, without judging again.
func TestRefusedUploadIsTriedOn(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.submit(t)
	r.keepErr = errors.New("503 slow down")
	r.keepFails = 1
	judged := 0
	r.judge = func(context.Context, engine.Job) (*engine.Outcome, error) { judged++; return accepted(), nil }
	r.patience = time.Minute
	rec := r.deliver(t, t.Context())
	if rec.State != judge.Judged || rec.Judgement.Attempt != 1 || judged != 1 || len(r.kept) != 2 {
		t.Errorf("record = %+v, judged %d times, kept in %v, want judged once and kept at the second try", rec, judged, r.kept)
	}
}

// twice delivers the same submission again as soon as the worker takes more.
type twice string

func (id twice) Take(_, work context.Context, _ int, h queue.Handler) error {
	h(work, queue.Job{ID: string(id)})
	h(work, queue.Job{ID: string(id)})
	return nil
}

// A worker that cannot judge leaves others the time to take what it gave back.
func TestFaultsOfOursRestTheWorker(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.submit(t)
	var at []time.Time
	r.judge = func(context.Context, engine.Job) (*engine.Outcome, error) {
		at = append(at, time.Now())
		return nil, judge.Fail(judge.FailSandbox, errors.New("no box"))
	}
	r.source = twice("s")
	r.deliver(t, t.Context())
	if len(at) != 2 || at[1].Sub(at[0]) < worker.FirstRest {
		t.Errorf("attempts at %v, want two with %v between them", at, worker.FirstRest)
	}
}

// A host that says that it cannot judge takes nothing until it is well again.
func TestAnIllHostTakesNoWork(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.submit(t)
	calls := 0
	r.judge = func(context.Context, engine.Job) (*engine.Outcome, error) {
		if calls++; calls == 1 {
			return nil, judge.Fail(judge.FailStorage, errors.New("no space left on device"))
		}
		return accepted(), nil
	}
	looks, well := 0, false
	r.well = func(context.Context) error {
		if looks++; looks == 1 {
			return errors.New("disk is full")
		}
		if !well && calls != 1 {
			t.Errorf("look %d came after %d attempts, want 1", looks, calls)
		}
		well = true // looks go on until the second attempt is settled
		return nil
	}
	r.source = twice("s")
	rec := r.deliver(t, t.Context())
	if rec.State != judge.Judged || calls != 2 || looks < 2 {
		t.Errorf("record = %+v after %d attempts and %d looks, want judged in the second", rec, calls, looks)
	}
}

// At the end of take a worker that rests gives back what it holds.
func TestRestEndsWithTake(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.submit(t)
	calls := 0
	take, stop := context.WithCancel(t.Context())
	r.take = take
	r.judge = func(context.Context, engine.Job) (*engine.Outcome, error) {
		calls++
		return nil, judge.Fail(judge.FailSandbox, errors.New("no box"))
	}
	r.well = func(context.Context) error { stop(); return errors.New("disk is full") }
	r.source = twice("s")
	rec := r.deliver(t, t.Context())
	if rec.State != judge.Queued || rec.Attempt.Charged != 1 || calls != 1 || len(r.line.pushed) != 2 {
		t.Errorf("record = %+v after %d attempts, pushed %v, want one attempt and both deliveries back in the line", rec, calls, r.line.pushed)
	}
}

// Faults that come with a submission hold nobody else up: the worker takes the next
// at once, and the submission waits behind the others.
func TestFaultsOfSubmissionsDoNotRestTheWorker(t *testing.T) {
	t.Parallel()
	for _, kind := range []judge.FailureKind{judge.FailToolchain, judge.FailChecker, judge.FailProblem} {
		r := newRoom(t)
		r.submit(t)
		var at []time.Time
		r.judge = func(context.Context, engine.Job) (*engine.Outcome, error) {
			at = append(at, time.Now())
			return nil, judge.Fail(kind, errors.New("not here"))
		}
		r.source = twice("s")
		r.deliver(t, t.Context())
		if len(at) != 2 || at[1].Sub(at[0]) >= worker.FirstRest {
			t.Errorf("%s: attempts at %v, want two without a rest between them", kind, at)
		}
		if len(r.line.front) != 2 || r.line.front[0] || r.line.front[1] {
			t.Errorf("%s: pushed to the front %v, want to the back twice", kind, r.line.front)
		}
	}
}
