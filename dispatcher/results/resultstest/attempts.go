package resultstest

import (
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"judgefarm/dispatcher/results"
	"judgefarm/judge"
)

// record: what Create was given comes back, and the judgement of Finish whole.
func record(t *testing.T, open New) {
	s := open(t, results.Config{})
	create(t, s, "s1")
	r := get(t, s, "s1")
	if r.ID != "s1" || r.Request != "intents/20260101/s1" || r.Priority != "train" || r.Tenant != "acme" ||
		r.FairKey != "acme/run-7" || r.CreatedAt.IsZero() || r.Cancel || r.Attempt.Charged != 0 {
		t.Errorf("queued record: got %+v", r)
	}
	if r.Judgement.ID != "s1" || r.Judgement.Cases == nil || r.Judgement.Labels["step"] != "12" {
		t.Errorf("queued judgement: got %+v", r.Judgement)
	}
	a := lease(t, s, "s1")
	j := judgement("s1", judge.Judged)
	at := time.Now().UTC().Round(0)
	j.JudgedAt = &at
	if err := s.Finish(t.Context(), a, j); err != nil {
		t.Fatalf("Finish: %v", err)
	}
	got := get(t, s, "s1").Judgement
	got.CreatedAt, j.CreatedAt = time.Time{}, time.Time{}
	if !reflect.DeepEqual(got, j) {
		t.Errorf("judgement: got %+v, want %+v", got, j)
	}
}

// soFar: while judging, Get shows the runs of the newest attempt in order of index.
func soFar(t *testing.T, open New) {
	s := open(t, results.Config{})
	create(t, s, "s1")
	names := func() (names []string) {
		for _, run := range get(t, s, "s1").Judgement.Cases {
			names = append(names, run.Name)
		}
		return names
	}
	a := lease(t, s, "s1")
	for _, index := range []int{2, 0, 0, 11} {
		progress(t, s, a, index, 12)
	}
	if got, want := names(), []string{"case-0", "case-2", "case-11"}; !reflect.DeepEqual(got, want) {
		t.Errorf("runs while judging: got %v, want %v", got, want)
	}
	if _, err := s.Release(t.Context(), a, true, nil); err != nil {
		t.Fatalf("Release: %v", err)
	}
	if got := names(); len(got) != 0 {
		t.Errorf("runs when queued again: got %v, want none", got)
	}
	b := lease(t, s, "s1")
	progress(t, s, b, 1, 12)
	r := get(t, s, "s1")
	if got, want := names(), []string{"case-1"}; !reflect.DeepEqual(got, want) {
		t.Errorf("runs of the second attempt: got %v, want %v", got, want)
	}
	if r.Judgement.Worker != "worker-1" || r.Judgement.Attempt != 2 {
		t.Errorf("judgement while judging: got worker %q attempt %d, want worker-1 and 2", r.Judgement.Worker, r.Judgement.Attempt)
	}
}

// attempts: a drain costs none, a failure costs one, the last one ends it.
func attempts(t *testing.T, open New) {
	s := open(t, results.Config{MaxAttempts: 3})
	create(t, s, "s1")
	why := &judge.Failed{Kind: judge.FailSandbox, Reason: "no cgroup", Retryable: true}
	steps := []struct {
		charge  bool
		charged int // of the lease before
		state   judge.State
	}{
		{true, 1, judge.Queued},
		{false, 2, judge.Queued},
		{false, 2, judge.Queued},
		{true, 2, judge.Queued},
		{false, 3, judge.Queued},
		{true, 3, judge.FailedState},
	}
	for i, step := range steps {
		a := lease(t, s, "s1")
		if a.Charged != step.charged || a.Fence != int64(i+1) || a.Submission != "s1" || a.Worker != "worker-1" {
			t.Errorf("step %d: lease gave %+v, want charged %d and fence %d", i, a, step.charged, i+1)
		}
		state, err := s.Release(t.Context(), a, step.charge, why)
		if err != nil || state != step.state {
			t.Fatalf("step %d: Release gave %q, %v; want %q", i, state, err, step.state)
		}
	}
	j := get(t, s, "s1").Judgement
	if j.State != judge.FailedState || j.Verdict != nil || j.JudgedAt == nil || !j.Retryable || j.Attempt != 3 ||
		j.Failed == nil || j.Failed.Kind != judge.FailSandbox || j.Failed.Reason != "no cgroup" {
		t.Errorf("judgement after the last attempt: got %+v, failed %+v", j, j.Failed)
	}
}

// finishOnce: of many concurrent Finish exactly one succeeds, and its judgement stays.
func finishOnce(t *testing.T, open New) {
	s := open(t, results.Config{})
	create(t, s, "s1")
	a := lease(t, s, "s1")
	errs := make([]error, 16)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() {
			j := judgement("s1", judge.Judged)
			j.Worker = fmt.Sprintf("writer-%d", i)
			errs[i] = s.Finish(t.Context(), a, j)
		})
	}
	all.Wait()
	winner := ""
	for i, err := range errs {
		switch {
		case err == nil && winner != "":
			t.Errorf("a second Finish succeeded: writer-%d after %s", i, winner)
		case err == nil:
			winner = fmt.Sprintf("writer-%d", i)
		default:
			wantErr(t, "Finish", err, results.ErrFenced)
		}
	}
	if got := get(t, s, "s1").Judgement.Worker; got != winner || winner == "" {
		t.Errorf("judgement kept: got that of %q, want %q", got, winner)
	}
}

// finishAgain: whoever lost the answer may tell the very same again, and only that.
func finishAgain(t *testing.T, open New) {
	s := open(t, results.Config{})
	create(t, s, "s1")
	a := lease(t, s, "s1")
	j := judgement("s1", judge.Judged)
	at := time.Now().UTC()
	j.JudgedAt = &at
	stale, other := a, j
	stale.Fence--
	other.Worker = "another"
	for _, step := range []struct {
		name    string
		attempt judge.Attempt
		j       judge.Judgement
		want    error
	}{
		{"first", a, j, nil}, {"same", a, j, nil},
		{"same of a stale attempt", stale, j, results.ErrFenced}, {"another", a, other, results.ErrFenced},
	} {
		wantErr(t, step.name, s.Finish(t.Context(), step.attempt, step.j), step.want)
	}
	lines, _ := readAll(t.Context(), t, s, "s1", 2)
	wantLines(t, "events", lines, "final s1 judged cases 2")
}

// leaseOnce: a job delivered many times is leased once.
func leaseOnce(t *testing.T, open New) {
	s := open(t, results.Config{})
	create(t, s, "s1")
	errs := make(chan error, 16)
	for range cap(errs) {
		go func() {
			_, err := s.Lease(t.Context(), "s1", "w", ttl)
			errs <- err
		}()
	}
	won := 0
	for range cap(errs) {
		if err := <-errs; err == nil {
			won++
		} else if !errors.Is(err, results.ErrNotOpen) {
			t.Errorf("Lease: got %v, want ErrNotOpen", err)
		}
	}
	if won != 1 {
		t.Errorf("leases: got %d, want 1", won)
	}
}
