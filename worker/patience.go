package worker

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"judgefarm/judge"
)

// patient calls until storage works. A store that is away is no fault of one
// submission: while Blobs.Ready fails too, the attempt waits under its lease, however
// long that takes, and an outage costs no attempts. Where the store says that it is
// well and the call fails for Config.Patience all the same, the error is the answer.
// So it is when ctx ends.
func (w *Worker) patient(ctx context.Context, log *slog.Logger, call func() error) error {
	var well time.Time // since when the store says so, call after call
	for wait, n := 100*time.Millisecond, 1; ; wait, n = min(2*wait, 2*time.Second), n+1 {
		err := call()
		if !mayPass(err) || ctx.Err() != nil {
			return err
		}
		switch {
		case w.Blobs.Ready(ctx) != nil:
			well = time.Time{}
		case well.IsZero():
			well = time.Now()
		case time.Since(well) >= w.Patience:
			return err
		}
		if n == 1 {
			log.Warn("storage fails, trying on", "error", err)
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait):
		}
	}
}

// mayPass tells a failure of storage that may be gone at the next try.
func mayPass(err error) bool {
	var failed *judge.Failed
	return errors.As(err, &failed) && failed.Kind == judge.FailStorage && failed.Retryable
}
