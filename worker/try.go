package worker

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"judgefarm/dispatcher/results"
	"judgefarm/judge"
	"judgefarm/judge/engine"
)

// try is an attempt between its judging, in a slot, and its conclusion beside it.
type try struct {
	a     judge.Attempt
	log   *slog.Logger
	began time.Time
	pkg   string          // the problem's package; "" for inline tests, or before it is loaded
	tell  *progress       // nil when nothing was to be told
	out   *engine.Outcome // nil when err is set
	err   error
}

// attempt loads and judges.
func (w *Worker) attempt(ctx context.Context, log *slog.Logger, a judge.Attempt) *try {
	t := &try{a: a, log: log, began: time.Now()}
	var (
		job     engine.Job
		rec     results.Record
		release func()
	)
	t.err = w.patient(ctx, log, func() (err error) {
		job, rec, t.pkg, release, err = w.load(ctx, a.Submission)
		return err
	})
	if t.err != nil {
		return t
	}
	defer release()
	waited := max(0, t.began.Sub(rec.CreatedAt))
	w.Metrics.queueWait.WithLabelValues(rec.Priority).Observe(waited.Seconds())
	t.tell = w.tellProgress(ctx, a, log)
	if t.out, t.err = w.Judge.Judge(ctx, job, engine.Watcher{Case: t.tell.finished}); t.err != nil {
		return t
	}
	j := &t.out.Judgement
	j.Worker, j.Attempt, j.CreatedAt = w.Name, a.Charged, rec.CreatedAt
	j.Timing.Queue = judge.MillisOf(waited)
	if ref := rec.Judgement.Problem; ref != nil && j.Problem != nil {
		j.Problem.Version = ref.Version // the package does not know it
	}
	return t
}

// conclude stores what the judgement names, then the judgement; or settles an
// attempt that has none. The context of the attempt, under its lease, is ctx.
func (w *Worker) conclude(ctx, work context.Context, t *try) {
	if t.err == nil {
		t.err = w.keep(ctx, t)
	}
	if t.tell != nil {
		t.tell.flush()
	}
	if cause := context.Cause(ctx); cause != nil {
		t.err = cause
	}
	settle, cancel := context.WithTimeout(context.WithoutCancel(work), settleTime)
	defer cancel()
	w.settle(settle, t.log.With("attempt", t.a.Charged, "took", time.Since(t.began).Round(time.Millisecond)), t.a, t.out, t.err)
}

// keep stores everything but the final record.
func (w *Worker) keep(ctx context.Context, t *try) error {
	return w.patient(ctx, t.log, func() error {
		if err := w.Artifacts.Keep(ctx, t.a, &t.out.Judgement, kept(t.out)); err != nil {
			return judge.Fail(judge.FailStorage, fmt.Errorf("keep artifacts: %w", err))
		}
		return nil
	})
}

// recovered logs a panic, as queue does for what runs in a slot.
func (t *try) recovered() {
	if cause := recover(); cause != nil {
		t.log.Error("conclusion panicked", "cause", cause, "stack", string(debug.Stack()))
	}
}
