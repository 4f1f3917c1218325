package dispatcher

import (
	"context"
	"errors"
	"path"
	"strings"
	"time"

	"judgefarm/dispatcher/queue"
	"judgefarm/dispatcher/results"
	"judgefarm/judge"
)

// The rhythm and the bounds of Maintain.
const (
	reapEvery   = time.Second
	reapMost    = 500             // attempts ended by one reap
	sweepAge    = 3 * time.Second // queued longer than this: make sure that it is in the line
	sweepMost   = 200             // records looked at by one sweep; results.Waiting takes turns
	pruneEvery  = 10 * time.Minute
	pruneMost   = 2000 // intents looked at by one round of pruning
	prunePage   = 200
	maintainMax = 30 * time.Second // of one round
)

// Maintain keeps the promise that what was accepted reaches a final state, until
// ctx ends, and returns nil then. Every second it ends attempts whose worker went
// silent and puts their submissions to the front of the line, and puts queued
// submissions back that the line lost. Every ten minutes it deletes admitted
// submissions that are final and older than Config.IntentRetention, and every six
// hours packages that none of those left can ask for. At first it
// restores the names of problems that results has forgotten. Several dispatchers may
// run it at once.
func (s *Service) Maintain(ctx context.Context) error {
	tick := time.NewTicker(reapEvery)
	defer tick.Stop()
	tidied := make(chan struct{})
	go func() {
		defer close(tidied)
		s.tidy(ctx)
	}()
	defer func() { <-tidied }()
	for {
		s.reap(ctx)
		s.sweep(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// tidy does what may take minutes, since it reads all that is stored, beside what must
// be done each second.
func (s *Service) tidy(ctx context.Context) {
	tick := time.NewTicker(reapEvery)
	defer tick.Stop()
	s.recallAll(ctx)
	var pruned, collected time.Time
	after := ""
	for {
		if now := s.cfg.Now(); now.Sub(pruned) >= pruneEvery {
			after, pruned = s.prune(ctx, after), now
		}
		if now := s.cfg.Now(); now.Sub(collected) >= collectEvery {
			collected = now
			if err := s.collect(ctx); err != nil {
				s.complain(ctx, "remove packages", err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// reap ends attempts of lost workers. Several rounds until none is left: a whole
// rack may be gone.
func (s *Service) reap(ctx context.Context) {
	ctx, cancel := context.WithTimeoutCause(ctx, maintainMax, errSlow)
	defer cancel()
	for {
		records, err := s.cfg.Results.Reap(ctx, s.cfg.Now(), reapMost)
		for _, r := range records {
			if r.State != judge.Queued {
				s.log.Warn("gave submission up", "submission", r.ID, "state", r.State, "attempt", r.Attempt.Charged)
				continue
			}
			s.log.Info("took submission back from lost worker",
				"submission", r.ID, "worker", r.Attempt.Worker, "attempt", r.Attempt.Charged)
			s.putBack(ctx, r, true)
		}
		if err != nil {
			s.complain(ctx, "reap", err)
		}
		if err != nil || len(records) < reapMost {
			return
		}
	}
}

// sweep makes sure that what has been queued for a while is in the line. Push
// leaves a job that waits where it is.
func (s *Service) sweep(ctx context.Context) {
	ctx, cancel := context.WithTimeoutCause(ctx, maintainMax, errSlow)
	defer cancel()
	records, err := s.cfg.Results.Waiting(ctx, s.cfg.Now().Add(-sweepAge), sweepMost)
	if err != nil {
		s.complain(ctx, "sweep", err)
	}
	for _, r := range records {
		// An attempt before means that its worker gave it back: it has had its turn in line.
		if !s.putBack(ctx, r, r.Attempt.Fence > 0) {
			return
		}
	}
}

// putBack reports whether more can be put back now.
func (s *Service) putBack(ctx context.Context, r results.Record, front bool) bool {
	err := s.cfg.Line.Push(ctx, job(r, s.cfg.Now()), front)
	if err == nil || errors.Is(err, queue.ErrFull) { // the next sweep tries again
		return err == nil
	}
	s.complain(ctx, "put back", err)
	return false
}

// complain logs one line a round; what failed is tried again in the next.
func (s *Service) complain(ctx context.Context, what string, err error) {
	if ctx.Err() == nil || errors.Is(context.Cause(ctx), errSlow) {
		s.log.Error("maintain dispatcher", "step", what, "error", err)
	}
}

// prune deletes old intents, a bounded number from the key after on, and returns
// the key to go on from. Days are parts of the keys: the oldest come first.
func (s *Service) prune(ctx context.Context, after string) string {
	ctx, cancel := context.WithTimeoutCause(ctx, maintainMax, errSlow)
	defer cancel()
	last := s.cfg.Now().UTC().Add(-s.cfg.IntentRetention).Format(intentDay)
	for range pruneMost / prunePage {
		keys, err := s.cfg.Blobs.List(ctx, intentPrefix, after, prunePage)
		if err != nil {
			s.complain(ctx, "prune", err)
			return ""
		}
		for _, key := range keys {
			day, name, _ := strings.Cut(strings.TrimPrefix(key, intentPrefix), "/")
			if day >= last {
				return ""
			}
			if s.wanted(ctx, name) {
				after = key
				continue
			}
			if err := s.cfg.Blobs.Delete(ctx, key); err != nil {
				s.complain(ctx, "prune", err)
				return ""
			}
			after = key
		}
		if len(keys) < prunePage {
			return ""
		}
	}
	return after
}

// wanted reports whether an old intent is still to be judged.
func (s *Service) wanted(ctx context.Context, name string) bool {
	id, _, _ := strings.Cut(path.Base(name), ".")
	rec, err := s.cfg.Results.Get(ctx, id)
	if errors.Is(err, results.ErrNotFound) {
		return false
	}
	return err != nil || !rec.State.Final()
}
