package worker

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"judgefarm/dispatcher/queue"
	"judgefarm/dispatcher/results"
	"judgefarm/judge"
	"judgefarm/judge/engine"
)

// settle ends the attempt: one final write, or the way back into the queue.
func (w *Worker) settle(ctx context.Context, log *slog.Logger, a judge.Attempt, out *engine.Outcome, err error) {
	var failed *judge.Failed
	switch {
	case err == nil:
		w.rest.worked()
		w.finish(ctx, log, a, out.Judgement)
	case errors.Is(err, errLost):
		w.Metrics.lost.Inc()
		log.Warn("lease lost, result dropped")
	case errors.Is(err, errDrained):
		w.giveBack(ctx, log, a, nil, front)
	case errors.Is(err, errCancelled):
		w.finish(ctx, log, a, w.ended(ctx, a, judge.Cancelled, nil))
	case judge.IsBadRequest(err):
		// Admission should have refused it; judging it again would say the same.
		failed = &judge.Failed{Kind: judge.FailProblem, Reason: err.Error()}
		w.finish(ctx, log, a, w.ended(ctx, a, judge.FailedState, failed))
	default:
		failed = judge.Fail(judge.FailInternal, err)
		w.Metrics.failures.WithLabelValues(string(failed.Kind)).Inc()
		log.Error("attempt failed", "kind", failed.Kind, "retryable", failed.Retryable, "error", err)
		if !failed.Retryable {
			w.finish(ctx, log, a, w.ended(ctx, a, judge.FailedState, failed))
			return
		}
		if !ofHost(failed.Kind) {
			// Others of the submission's kind may fail as well, for ever: those behind
			// it must not wait for its next attempts.
			w.giveBack(ctx, log, a, failed, back)
			return
		}
		w.rest.failed() // before another slot can take it
		w.giveBack(ctx, log, a, failed, front)
	}
}

// ofHost tells faults of this host or of what it stands on from those that come with
// the submission: a language that is not here, a problem whose checker crashes.
func ofHost(kind judge.FailureKind) bool {
	switch kind {
	case judge.FailToolchain, judge.FailChecker, judge.FailProblem:
		return false
	}
	return true
}

// Where a submission goes back into the line.
const (
	front = true  // it was under way: next
	back  = false // behind those that wait
)

// finish writes the final record, again and again while the store does not answer:
// until the deadline of ctx, after which the lease is long lost and the reaper has it.
func (w *Worker) finish(ctx context.Context, log *slog.Logger, a judge.Attempt, j judge.Judgement) {
	err := persist(ctx, func() error { return w.Results.Finish(ctx, a, j) })
	switch {
	case errors.Is(err, results.ErrFenced), errors.Is(err, results.ErrNotFound):
		w.Metrics.lost.Inc()
		log.Warn("stale result refused", "cause", err)
	case err != nil:
		log.Error("record judgement", "error", err)
	default:
		w.Metrics.judged(&j)
		log.Info("judged", "state", j.State, "verdict", verdictOf(j), "cases", len(j.Cases))
	}
}

// giveBack puts the submission back into the line, or fails it when its attempts
// are used up. A nil why is a drain, which costs no attempt.
func (w *Worker) giveBack(ctx context.Context, log *slog.Logger, a judge.Attempt, why *judge.Failed, place bool) {
	charge := why != nil
	var state judge.State
	err := persist(ctx, func() (err error) {
		state, err = w.Results.Release(ctx, a, charge, why)
		return err
	})
	if err != nil {
		// The lease runs out by itself and the reaper does the same.
		log.Warn("release attempt", "error", err)
		return
	}
	log.Info("attempt ended", "state", state, "charged", charge)
	if state != judge.Queued {
		return
	}
	rec, err := w.Results.Get(ctx, a.Submission)
	if err != nil {
		log.Warn("put submission back", "error", err) // as in putBack
		return
	}
	w.putBack(ctx, log, queue.Job{ID: rec.ID, Priority: rec.Priority, FairKey: rec.FairKey, Enqueued: rec.CreatedAt}, place)
}

func (w *Worker) putBack(ctx context.Context, log *slog.Logger, job queue.Job, place bool) {
	if err := w.Line.Push(ctx, job, place); err != nil {
		// The line may be full. The dispatcher's sweep of waiting records puts it back.
		log.Warn("put submission back", "error", err)
	}
}

// ended is the final document of an attempt without a judgement.
func (w *Worker) ended(ctx context.Context, a judge.Attempt, state judge.State, failed *judge.Failed) judge.Judgement {
	j := judge.NewJudgement(a.Submission, time.Now())
	if rec, err := w.Results.Get(ctx, a.Submission); err == nil {
		j = rec.Judgement
	}
	now := time.Now().UTC()
	j.State, j.Failed, j.JudgedAt = state, failed, &now
	j.Worker, j.Attempt = w.Name, a.Charged
	if failed != nil {
		j.Retryable = failed.Retryable
	}
	return j
}

// persist repeats a write that the store did not answer. Refusals are final.
func persist(ctx context.Context, write func() error) error {
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		err := write()
		if err == nil || errors.Is(err, results.ErrFenced) || errors.Is(err, results.ErrNotFound) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait):
		}
	}
}

func verdictOf(j judge.Judgement) judge.Verdict {
	if j.Verdict == nil {
		return ""
	}
	return *j.Verdict
}
