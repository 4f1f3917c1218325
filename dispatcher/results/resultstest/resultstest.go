// Package resultstest is the conformance suite of results.Store: every
// implementation passes it. It is test support and never part of the product.
package resultstest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"judgefarm/dispatcher/results"
	"judgefarm/judge"
)

// New returns an empty store for one test. It must honour MaxAttempts, Retention,
// Keep and MaxEvents of the configuration.
type New func(t *testing.T, cfg results.Config) results.Store

// Run checks the whole contract of results.Store.
func Run(t *testing.T, open New) {
	t.Helper()
	t.Run("states", func(t *testing.T) { t.Parallel(); states(t, open) })
	t.Run("record", func(t *testing.T) { t.Parallel(); record(t, open) })
	t.Run("judgement so far", func(t *testing.T) { t.Parallel(); soFar(t, open) })
	t.Run("attempts", func(t *testing.T) { t.Parallel(); attempts(t, open) })
	t.Run("finish once", func(t *testing.T) { t.Parallel(); finishOnce(t, open) })
	t.Run("finish again", func(t *testing.T) { t.Parallel(); finishAgain(t, open) })
	t.Run("lease once", func(t *testing.T) { t.Parallel(); leaseOnce(t, open) })
	t.Run("reap", func(t *testing.T) { t.Parallel(); reap(t, open) })
	t.Run("reap concurrently", func(t *testing.T) { t.Parallel(); reapConcurrently(t, open) })
	t.Run("waiting", func(t *testing.T) { t.Parallel(); waiting(t, open) })
	t.Run("retention", func(t *testing.T) { t.Parallel(); retention(t, open) })
	t.Run("keep", func(t *testing.T) { t.Parallel(); keep(t, open) })
	t.Run("events", func(t *testing.T) { t.Parallel(); events(t, open) })
	t.Run("events of a new attempt", func(t *testing.T) { t.Parallel(); eventsOfNewAttempt(t, open) })
	t.Run("events bound", func(t *testing.T) { t.Parallel(); eventsBound(t, open) })
	t.Run("events together", func(t *testing.T) { t.Parallel(); eventsTogether(t, open) })
	t.Run("events wake", func(t *testing.T) { t.Parallel(); eventsWake(t, open) })
	t.Run("events end", func(t *testing.T) { t.Parallel(); eventsEnd(t, open) })
	t.Run("wait", func(t *testing.T) { t.Parallel(); wait(t, open) })
	t.Run("problems", func(t *testing.T) { t.Parallel(); problems(t, open) })
	t.Run("problems back", func(t *testing.T) { t.Parallel(); problemsBack(t, open) })
	t.Run("problems delete", func(t *testing.T) { t.Parallel(); problemsDelete(t, open) })
	t.Run("problems list", func(t *testing.T) { t.Parallel(); problemsList(t, open) })
	t.Run("problems at once", func(t *testing.T) { t.Parallel(); problemsAtOnce(t, open) })
	t.Run("rejudges", func(t *testing.T) { t.Parallel(); rejudges(t, open) })
	t.Run("rejudges fenced", func(t *testing.T) { t.Parallel(); rejudgesFenced(t, open) })
	t.Run("rejudges without records", func(t *testing.T) { t.Parallel(); rejudgesMissing(t, open) })
	t.Run("rejudges failed", func(t *testing.T) { t.Parallel(); rejudgesFailed(t, open) })
	t.Run("rejudges events", func(t *testing.T) { t.Parallel(); rejudgesEvents(t, open) })
	t.Run("rejudges at once", func(t *testing.T) { t.Parallel(); rejudgesAtOnce(t, open) })
	t.Run("rejudges bound", func(t *testing.T) { t.Parallel(); rejudgesBound(t, open) })
	t.Run("rejudges forget", func(t *testing.T) { t.Parallel(); rejudgesForget(t, open) })
	t.Run("quarantine", func(t *testing.T) { t.Parallel(); quarantine(t, open) })
	t.Run("ready", func(t *testing.T) {
		t.Parallel()
		if err := open(t, results.Config{}).Ready(t.Context()); err != nil {
			t.Errorf("Ready: %v", err)
		}
	})
}

const ttl = time.Minute

// create makes a queued submission.
func create(t *testing.T, s results.Store, id string) {
	t.Helper()
	r := results.Record{
		ID: id, Request: "intents/20260101/" + id, Priority: "train", Tenant: "acme", FairKey: "acme/run-7",
		Judgement: judge.NewJudgement(id, time.Now()),
	}
	r.Judgement.Labels = map[string]string{"step": "12"}
	if err := s.Create(t.Context(), r); err != nil {
		t.Fatalf("Create %s: %v", id, err)
	}
}

func lease(t *testing.T, s results.Store, id string) judge.Attempt {
	t.Helper()
	a, err := s.Lease(t.Context(), id, "worker-1", ttl)
	if err != nil {
		t.Fatalf("Lease %s: %v", id, err)
	}
	return a
}

func get(t *testing.T, s results.Store, id string) results.Record {
	t.Helper()
	r, err := s.Get(t.Context(), id)
	if err != nil {
		t.Fatalf("Get %s: %v", id, err)
	}
	return r
}

func finish(t *testing.T, s results.Store, a judge.Attempt, state judge.State) {
	t.Helper()
	if err := s.Finish(t.Context(), a, judgement(a.Submission, state)); err != nil {
		t.Fatalf("Finish %s: %v", a.Submission, err)
	}
}

func judgement(id string, state judge.State) judge.Judgement {
	j := judge.NewJudgement(id, time.Now())
	j.State = state
	switch state {
	case judge.Judged:
		v, score := judge.WrongAnswer, 0.5
		j.Verdict, j.Score = &v, &score
		j.Cases = []judge.Run{run(0), run(1)}
	case judge.FailedState:
		j.Failed = &judge.Failed{Kind: judge.FailProblem, Reason: "answer 2.ans is missing"}
	}
	return j
}

func run(index int) judge.Run {
	return judge.Run{
		Name: fmt.Sprintf("case-%d", index), Verdict: judge.Accepted,
		Usage: judge.UsageJSON{CPU: 1.5, Wall: 2.25, Memory: 900}, Message: "ok \u2028 <&> é",
	}
}

func progress(t *testing.T, s results.Store, a judge.Attempt, index, total int) {
	t.Helper()
	if err := s.Progress(t.Context(), a, results.CaseEvent{Index: index, Total: total, Run: run(index)}); err != nil {
		t.Fatalf("Progress %s case %d: %v", a.Submission, index, err)
	}
}

// wantErr compares with errors.Is; nil wants no error.
func wantErr(t *testing.T, what string, got, want error) {
	t.Helper()
	if (want == nil && got != nil) || (want != nil && !errors.Is(got, want)) {
		t.Errorf("%s: got error %v, want %v", what, got, want)
	}
}
