package dispatcher

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"judgefarm/dispatcher/results"
	"judgefarm/internal/blob"
	"judgefarm/judge"
)

// The errors callers tell apart, beside *judge.BadRequest and results.ErrNotFound.
var (
	// ErrFull is wrapped by *FullError: the backlog is at its bound, nothing was accepted.
	ErrFull = errors.New("queue is full")
	// ErrUnavailable is wrapped when the queue, the results or the blobs do not
	// work now. Its text may name hosts and is not for callers.
	ErrUnavailable = errors.New("a store is unavailable")
	// ErrNoProblem is wrapped for an id under which there is no problem, ErrNoVersion
	// for a version that it does not have, ErrProblemsFull where one more is too many.
	ErrNoProblem    = results.ErrNoProblem
	ErrNoVersion    = results.ErrNoVersion
	ErrProblemsFull = results.ErrProblemsFull
	// Of rejudges: there is none, not all is judged, a new judgement is not there, a submission got another judgement
	// meanwhile, it was dropped or applied, one more is too many.
	ErrNoRejudge    = results.ErrNoRejudge
	ErrUnfinished   = results.ErrUnfinished
	ErrMissing      = results.ErrMissing
	ErrOutdated     = results.ErrOutdated
	ErrDropped      = results.ErrDropped
	ErrApplied      = results.ErrApplied
	ErrRejudgesFull = results.ErrRejudgesFull
)

// FullError says that nothing was accepted and when to try again, at least a second.
type FullError struct{ RetryAfter time.Duration }

// Error implements error.
func (e *FullError) Error() string {
	return fmt.Sprintf("%v: try again in %v", ErrFull, e.RetryAfter.Round(time.Second))
}

// Unwrap returns ErrFull.
func (e *FullError) Unwrap() error { return ErrFull }

// storeError adds what was tried, and marks every error as ErrUnavailable that is
// not one of the answers a store gives about a submission.
func storeError(verb string, err error) error {
	for _, known := range []error{
		results.ErrNotFound, results.ErrExists, results.ErrNotOpen, blob.ErrNotFound, io.EOF, ErrUnavailable,
		ErrNoProblem, ErrNoVersion, ErrProblemsFull,
		ErrNoRejudge, ErrUnfinished, ErrMissing, ErrOutdated, ErrDropped, ErrApplied, ErrRejudgesFull,
	} {
		if errors.Is(err, known) {
			return fmt.Errorf("%s: %w", verb, err)
		}
	}
	if judge.IsBadRequest(err) {
		return err
	}
	return fmt.Errorf("%s: %w: %w", verb, ErrUnavailable, err)
}

// gate remembers a refusal for a moment: while the line is full, each refused
// submission would leave a cancelled record and a deleted blob behind.
type gate struct {
	mu    sync.Mutex
	until time.Time
	retry time.Duration
}

// refused returns when to try again, or 0 when the line may have room.
func (g *gate) refused(now time.Time) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	if now.Before(g.until) {
		return g.retry
	}
	return 0
}

func (g *gate) shut(now time.Time, retry time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.retry, g.until = retry, now.Add(min(retry, maxFullPause))
}
