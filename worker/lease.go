package worker

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"judgefarm/dispatcher/results"
	"judgefarm/judge"
)

// hold keeps the attempt's lease, which was asked for at the given time, while the
// returned context lives. The context ends, with its cause, when the submission is
// cancelled, the lease is lost, or work ends. end stops the heartbeat and waits for it.
func (w *Worker) hold(work context.Context, a judge.Attempt, asked time.Time, log *slog.Logger) (ctx context.Context, end func()) {
	// Work's own end must read as a drain, so it is handed on by hand.
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(work))
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		w.beat(ctx, work, a, asked, cancel, log)
	}()
	return ctx, func() {
		cancel(nil)
		<-stopped
	}
}

// beat renews until ctx ends. A store that does not answer is asked again until
// the lease must have run out: then another worker may have it. A lease counts from
// when it was asked for: nobody knows when the store gave it.
func (w *Worker) beat(ctx, work context.Context, a judge.Attempt, renewed time.Time, cancel context.CancelCauseFunc, log *slog.Logger) {
	tick := time.NewTicker(w.Heartbeat)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-work.Done():
			cancel(errDrained)
			return
		case <-tick.C:
		}
		asked := time.Now()
		call, done := context.WithDeadline(ctx, renewed.Add(w.Lease))
		wanted, err := w.Results.Renew(call, a, w.Lease)
		done()
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, results.ErrFenced), errors.Is(err, results.ErrNotFound):
			cancel(errLost)
			return
		case err != nil && time.Since(renewed) >= w.Lease:
			log.Warn("lease ran out while the results store did not answer", "error", err)
			cancel(errLost)
			return
		case err != nil:
			log.Warn("renew lease", "error", err)
		case wanted:
			cancel(errCancelled)
			return
		default:
			renewed = asked
		}
	}
}
