package resultstest

import (
	"errors"
	"testing"
	"time"

	"judgefarm/dispatcher/results"
	"judgefarm/judge"
)

// A situation is a submission brought to a state, with the attempt a worker holds
// there: current, or stale where the state has none.
type situation struct {
	name  string
	state judge.State // "" for a submission that does not exist
	held  bool        // the attempt is the newest and still judging
	asked bool        // cancellation was asked for
	bring func(t *testing.T, s results.Store, id string) judge.Attempt
}

func situations() []situation {
	stale := func(a judge.Attempt) judge.Attempt { a.Fence--; return a }
	return []situation{
		{"missing", "", false, false, func(*testing.T, results.Store, string) judge.Attempt {
			return judge.Attempt{Submission: "missing", Fence: 1}
		}},
		{"queued", judge.Queued, false, false, func(t *testing.T, s results.Store, id string) judge.Attempt {
			create(t, s, id)
			return judge.Attempt{Submission: id}
		}},
		{"judging", judge.Judging, true, false, func(t *testing.T, s results.Store, id string) judge.Attempt {
			create(t, s, id)
			return lease(t, s, id)
		}},
		{"judging, stale number", judge.Judging, false, false, func(t *testing.T, s results.Store, id string) judge.Attempt {
			create(t, s, id)
			return stale(lease(t, s, id))
		}},
		{"judging again after a drain, first attempt", judge.Judging, false, false, func(t *testing.T, s results.Store, id string) judge.Attempt {
			create(t, s, id)
			first := lease(t, s, id)
			_, err := s.Release(t.Context(), first, false, nil)
			wantErr(t, "Release", err, nil)
			lease(t, s, id)
			return first
		}},
		{"judging, cancel asked", judge.Judging, true, true, func(t *testing.T, s results.Store, id string) judge.Attempt {
			create(t, s, id)
			a := lease(t, s, id)
			_, err := s.Cancel(t.Context(), id)
			wantErr(t, "Cancel", err, nil)
			return a
		}},
		{"queued after a drain", judge.Queued, false, false, func(t *testing.T, s results.Store, id string) judge.Attempt {
			create(t, s, id)
			a := lease(t, s, id)
			_, err := s.Release(t.Context(), a, false, nil)
			wantErr(t, "Release", err, nil)
			return a
		}},
		{"queued after its lease ran out", judge.Queued, false, false, func(t *testing.T, s results.Store, id string) judge.Attempt {
			create(t, s, id)
			a := lease(t, s, id)
			_, err := s.Reap(t.Context(), time.Now().Add(2*ttl), 10)
			wantErr(t, "Reap", err, nil)
			return a
		}},
		{"judged", judge.Judged, false, false, func(t *testing.T, s results.Store, id string) judge.Attempt {
			create(t, s, id)
			a := lease(t, s, id)
			finish(t, s, a, judge.Judged)
			return a
		}},
		{"failed", judge.FailedState, false, false, func(t *testing.T, s results.Store, id string) judge.Attempt {
			create(t, s, id)
			a := lease(t, s, id)
			finish(t, s, a, judge.FailedState)
			return a
		}},
		{"cancelled", judge.Cancelled, false, false, func(t *testing.T, s results.Store, id string) judge.Attempt {
			create(t, s, id)
			_, err := s.Cancel(t.Context(), id)
			wantErr(t, "Cancel", err, nil)
			return judge.Attempt{Submission: id}
		}},
	}
}

// An operation has one outcome in each situation: an error and the state after it.
type operation struct {
	name string
	do   func(t *testing.T, s results.Store, id string, a judge.Attempt) error
	want func(sit situation) (judge.State, error) // the state "" where there is no submission
}

func operations() []operation {
	// worker gives the outcome of a write that needs the newest attempt.
	worker := func(after func(situation) judge.State) func(situation) (judge.State, error) {
		return func(sit situation) (judge.State, error) {
			switch {
			case sit.state == "":
				return "", results.ErrNotFound
			case !sit.held:
				return sit.state, results.ErrFenced
			}
			return after(sit), nil
		}
	}
	same := func(sit situation) judge.State { return sit.state }
	always := func(s judge.State) func(situation) judge.State { return func(situation) judge.State { return s } }
	released := func(sit situation) judge.State {
		if sit.asked {
			return judge.Cancelled
		}
		return judge.Queued
	}
	release := func(charge bool) func(t *testing.T, s results.Store, id string, a judge.Attempt) error {
		return func(t *testing.T, s results.Store, _ string, a judge.Attempt) error {
			_, err := s.Release(t.Context(), a, charge, &judge.Failed{Kind: judge.FailSandbox, Reason: "no box"})
			return err
		}
	}
	return []operation{
		{"create", func(t *testing.T, s results.Store, id string, _ judge.Attempt) error {
			return s.Create(t.Context(), results.Record{ID: id})
		}, func(sit situation) (judge.State, error) {
			if sit.state == "" {
				return judge.Queued, nil
			}
			return sit.state, results.ErrExists
		}},
		{"lease", func(t *testing.T, s results.Store, id string, _ judge.Attempt) error {
			_, err := s.Lease(t.Context(), id, "worker-2", ttl)
			return err
		}, func(sit situation) (judge.State, error) {
			switch sit.state {
			case "":
				return "", results.ErrNotFound
			case judge.Queued:
				return judge.Judging, nil
			}
			return sit.state, results.ErrNotOpen
		}},
		{"renew", func(t *testing.T, s results.Store, _ string, a judge.Attempt) error {
			_, err := s.Renew(t.Context(), a, ttl)
			return err
		}, worker(same)},
		{"progress", func(t *testing.T, s results.Store, _ string, a judge.Attempt) error {
			return s.Progress(t.Context(), a, results.CaseEvent{Total: 2, Run: run(0)})
		}, worker(same)},
		{"finish judged", func(t *testing.T, s results.Store, id string, a judge.Attempt) error {
			return s.Finish(t.Context(), a, judgement(id, judge.Judged))
		}, worker(always(judge.Judged))},
		{"finish failed", func(t *testing.T, s results.Store, id string, a judge.Attempt) error {
			return s.Finish(t.Context(), a, judgement(id, judge.FailedState))
		}, worker(always(judge.FailedState))},
		{"finish cancelled", func(t *testing.T, s results.Store, id string, a judge.Attempt) error {
			return s.Finish(t.Context(), a, judgement(id, judge.Cancelled))
		}, worker(always(judge.Cancelled))},
		{"release for a drain", release(false), worker(released)},
		{"release charged", release(true), worker(released)},
		{"cancel", func(t *testing.T, s results.Store, id string, _ judge.Attempt) error {
			_, err := s.Cancel(t.Context(), id)
			return err
		}, func(sit situation) (judge.State, error) {
			switch sit.state {
			case "":
				return "", results.ErrNotFound
			case judge.Queued:
				return judge.Cancelled, nil
			}
			return sit.state, nil
		}},
		{"reap", func(t *testing.T, s results.Store, _ string, _ judge.Attempt) error {
			_, err := s.Reap(t.Context(), time.Now().Add(2*ttl), 10)
			return err
		}, func(sit situation) (judge.State, error) {
			if sit.state == judge.Judging {
				return released(sit), nil
			}
			return sit.state, nil
		}},
	}
}

// states tries every operation in every situation.
func states(t *testing.T, open New) {
	for _, sit := range situations() {
		for _, op := range operations() {
			t.Run(sit.name+"/"+op.name, func(t *testing.T) {
				s := open(t, results.Config{MaxAttempts: 5})
				a := sit.bring(t, s, "s1")
				a.Submission = "s1"
				wantState, wantError := op.want(sit)
				wantErr(t, op.name, op.do(t, s, "s1", a), wantError)

				r, err := s.Get(t.Context(), "s1")
				if wantState == "" {
					wantErr(t, "Get", err, results.ErrNotFound)
					return
				}
				if err != nil || r.State != wantState || r.Judgement.State != wantState {
					t.Errorf("state after %s: got %q, in the judgement %q, error %v; want %q",
						op.name, r.State, r.Judgement.State, err, wantState)
				}
			})
		}
	}
	t.Run("finish needs a final state", func(t *testing.T) {
		s := open(t, results.Config{})
		create(t, s, "s1")
		a := lease(t, s, "s1")
		err := s.Finish(t.Context(), a, judgement("s1", judge.Judging))
		if err == nil || errors.Is(err, results.ErrFenced) {
			t.Errorf("Finish with state judging: got %v, want an error of its own", err)
		}
	})
}
