package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"judgefarm/judge"
)

// DefaultQuarantine is Config.Quarantine where it is not stated.
const DefaultQuarantine = 5

// maxStreaks bounds the packages whose failures are counted at one time.
const maxStreaks = 1000

// errQuarantined marks the failure of a submission that was not judged.
var errQuarantined = errors.New("the problem is in quarantine")

// streaks counts, for each package, the submissions in a row of which this worker's
// attempts ended in a failing checker or interactor. Attempts of one submission count
// once: a program that makes a checker crash must not take the problem from everybody.
type streaks struct {
	mu   sync.Mutex
	subs map[string]map[string]bool // submissions by package
}

// failed adds a submission and returns how many there are in a row.
func (s *streaks) failed(pkg, submission string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.subs[pkg] == nil {
		if len(s.subs) >= maxStreaks {
			clear(s.subs) // they are counted anew: later, never wrongly
		}
		if s.subs == nil {
			s.subs = map[string]map[string]bool{}
		}
		s.subs[pkg] = map[string]bool{}
	}
	s.subs[pkg][submission] = true
	return len(s.subs[pkg])
}

// worked ends the row: the checker has ruled on an output.
func (s *streaks) worked(pkg string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.subs, pkg)
}

// checkQuarantine is the failure of a submission whose problem is in quarantine. It is
// final: nothing is run, and the reason is told at once.
func (w *Worker) checkQuarantine(ctx context.Context, a *judge.Admitted) error {
	if a.Package == "" {
		return nil
	}
	q, err := w.Results.Quarantined(ctx, a.Package)
	if err != nil {
		return judge.Fail(judge.FailStorage, err)
	}
	if q == nil {
		return nil
	}
	return &judge.Failed{Kind: judge.FailChecker, Err: errQuarantined, Reason: fmt.Sprintf(
		"version %d of problem %s is in quarantine since %s: %s", a.Problem.Version, a.Problem.ID, q.At.Format(time.RFC3339), q.Reason)}
}

// watchChecker looks at how an attempt ended, and takes a package into quarantine when
// its checker failed for too many submissions in a row.
func (w *Worker) watchChecker(ctx context.Context, log *slog.Logger, t *try) {
	var failed *judge.Failed
	switch {
	case w.Quarantine < 0 || t.pkg == "":
	case t.err == nil && ruled(t.out.Judgement):
		w.streaks.worked(t.pkg)
	case errors.As(t.err, &failed) && failed.Kind == judge.FailChecker && !errors.Is(t.err, errQuarantined):
		n := w.streaks.failed(t.pkg, t.a.Submission)
		if n < w.Quarantine {
			return
		}
		q := judge.Quarantine{Failures: n, Worker: w.Name, At: time.Now().UTC(), Reason: fmt.Sprintf(
			"its checker or interactor failed for %d submissions in a row, at last: %s", n, failed.Reason)}
		added, err := w.Results.Quarantine(ctx, t.pkg, q)
		if err != nil {
			log.Warn("quarantine problem", "package", t.pkg, "error", err) // the next failure tries again
			return
		}
		w.streaks.worked(t.pkg)
		if added {
			w.Metrics.quarantines.Inc()
			log.Error("problem taken into quarantine: push a version that is mended, or let it out by judgefarm problems release",
				"package", t.pkg, "failures", n, "reason", failed.Reason)
		}
	}
}

// ruled reports whether the checker has ruled on an output of it.
func ruled(j judge.Judgement) bool {
	for _, run := range j.Cases {
		switch run.Verdict {
		case judge.Accepted, judge.WrongAnswer, judge.PresentationError:
			return true
		}
	}
	return false
}
