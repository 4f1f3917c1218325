package resultstest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"judgefarm/dispatcher/results"
	"judgefarm/judge"
)

// on makes a queued submission to a problem.
func on(t *testing.T, s results.Store, id, problem, rejudge string) {
	t.Helper()
	r := results.Record{ID: id, Request: "intents/20260101/" + id, Priority: "batch", Rejudge: rejudge, Judgement: judge.NewJudgement(id, time.Now())}
	r.Judgement.Problem = &judge.ProblemRef{ID: problem, Digest: "sha256:1"}
	r.Judgement.Labels = map[string]string{"of": id}
	if err := s.Create(t.Context(), r); err != nil {
		t.Fatalf("Create %s: %v", id, err)
	}
}

// verdict gives a submission its judgement.
func verdict(t *testing.T, s results.Store, id string, v judge.Verdict) {
	t.Helper()
	a := lease(t, s, id)
	j := judgement(id, judge.Judged)
	j.Verdict, j.Worker = &v, "w-"+id
	if err := s.Finish(t.Context(), a, j); err != nil {
		t.Fatalf("Finish %s: %v", id, err)
	}
}

// again makes an open rejudge of the submissions, with records named new-ID.
func again(t *testing.T, s results.Store, id string, submissions ...string) results.Rejudge {
	t.Helper()
	r := results.Rejudge{ID: id, Problem: "p", CreatedAt: time.Now().UTC()}
	for _, sub := range submissions {
		rec := get(t, s, sub)
		m := results.Rejudged{Submission: sub, Judgement: id + "-" + sub, Number: rec.Number, Was: judge.SideOf(rec.Judgement)}
		r.Members = append(r.Members, m)
	}
	if err := s.CreateRejudge(t.Context(), r); err != nil {
		t.Fatalf("CreateRejudge: %v", err)
	}
	for _, m := range r.Members {
		on(t, s, m.Judgement, "p", id)
	}
	return r
}

func wantVerdict(t *testing.T, s results.Store, id string, v judge.Verdict, number int) {
	t.Helper()
	r := get(t, s, id)
	j := r.Judgement
	if j.State != judge.Judged || j.Verdict == nil || *j.Verdict != v || r.Number != number || j.ID != id || j.Labels["of"] != id && number > 1 {
		t.Errorf("%s: got %s %v, number %d, id %s, labels %v, want %s, number %d", id, j.State, j.Verdict, r.Number, j.ID, j.Labels, v, number)
	}
}

func rejudges(t *testing.T, open New) {
	s := open(t, results.Config{})
	for _, id := range []string{"b", "a"} {
		on(t, s, id, "p", "")
		verdict(t, s, id, judge.Accepted)
	}
	on(t, s, "c", "p=2", "")
	created := get(t, s, "a").CreatedAt
	r := again(t, s, "r1", "a", "b")
	if ids, err := s.SubmissionsOf(t.Context(), "p", "", 10); err != nil || !slices.Equal(ids, []string{"a", "b"}) {
		t.Errorf("submissions of p: %v, %v: records of rejudges are none", ids, err)
	}
	if ids, err := s.SubmissionsOf(t.Context(), "p", "", 1); err != nil || len(ids) != 1 {
		t.Errorf("one submission of p: %v, %v", ids, err)
	}
	for after, want := range map[string][]string{"a": {"b"}, "aa": {"b"}, "b": nil} {
		if ids, err := s.SubmissionsOf(t.Context(), "p", after, 10); err != nil || !slices.Equal(ids, want) {
			t.Errorf("submissions of p after %s: %v, %v, want %v", after, ids, err, want)
		}
	}
	got, err := s.GetRejudge(t.Context(), "r1")
	if err != nil || got.State != judge.RejudgeJudging || fmt.Sprint(got.Members) == "" || len(got.Members) != 2 || got.Members[0].Judgement != "r1-a" {
		t.Errorf("GetRejudge: %+v, %v", got, err)
	}
	wantErr(t, "CreateRejudge twice", s.CreateRejudge(t.Context(), r), results.ErrExists)
	_, err = s.GetRejudge(t.Context(), "none")
	wantErr(t, "GetRejudge of none", err, results.ErrNoRejudge)
	_, err = s.ApplyRejudge(t.Context(), "none")
	wantErr(t, "ApplyRejudge of none", err, results.ErrNoRejudge)
	wantErr(t, "DropRejudge of none", s.DropRejudge(t.Context(), "none"), results.ErrNoRejudge)

	verdict(t, s, "r1-a", judge.WrongAnswer)
	_, err = s.ApplyRejudge(t.Context(), "r1")
	wantErr(t, "ApplyRejudge before all are final", err, results.ErrUnfinished)
	wantVerdict(t, s, "a", judge.Accepted, 1)
	verdict(t, s, "r1-b", judge.TimeLimit)
	wantVerdict(t, s, "a", judge.Accepted, 1) // kept apart until it is applied
	if n, err := s.ApplyRejudge(t.Context(), "r1"); err != nil || n != 2 {
		t.Errorf("ApplyRejudge: %d, %v, want 2", n, err)
	}
	wantVerdict(t, s, "a", judge.WrongAnswer, 2)
	wantVerdict(t, s, "b", judge.TimeLimit, 2)
	if j := get(t, s, "a").Judgement; !j.CreatedAt.Equal(created) || j.Worker != "w-r1-a" || j.Number != 2 {
		t.Errorf("a is %+v, want it as the new judgement, created at %v", j, created)
	}
	if n, err := s.ApplyRejudge(t.Context(), "r1"); err != nil || n != 0 {
		t.Errorf("ApplyRejudge again: %d, %v, want 0", n, err)
	}
	wantErr(t, "DropRejudge of one that was applied", s.DropRejudge(t.Context(), "r1"), results.ErrApplied)
	if list, err := s.ListRejudges(t.Context()); err != nil || len(list) != 1 || list[0].State != judge.RejudgeApplied {
		t.Errorf("ListRejudges: %+v, %v", list, err)
	}
}

// A rejudge is applied to what it was made for, or not at all.
func rejudgesFenced(t *testing.T, open New) {
	s := open(t, results.Config{})
	for _, id := range []string{"a", "b"} {
		on(t, s, id, "p", "")
		verdict(t, s, id, judge.Accepted)
	}
	again(t, s, "r1", "a", "b")
	again(t, s, "r2", "b")
	for _, id := range []string{"r1-a", "r1-b", "r2-b"} {
		verdict(t, s, id, judge.WrongAnswer)
	}
	if n, err := s.ApplyRejudge(t.Context(), "r2"); err != nil || n != 1 {
		t.Fatalf("ApplyRejudge: %d, %v", n, err)
	}
	_, err := s.ApplyRejudge(t.Context(), "r1")
	wantErr(t, "ApplyRejudge to another judgement than it was made for", err, results.ErrOutdated)
	wantVerdict(t, s, "a", judge.Accepted, 1)
	again(t, s, "r3", "a", "b")
	wantErr(t, "DropRejudge", s.DropRejudge(t.Context(), "r3"), nil)
	wantErr(t, "DropRejudge again", s.DropRejudge(t.Context(), "r3"), nil)
	_, err = s.ApplyRejudge(t.Context(), "r3")
	wantErr(t, "ApplyRejudge of one that was dropped", err, results.ErrDropped)
	again(t, s, "r4", "b")
	verdict(t, s, "r4-b", judge.Accepted)
	if n, err := s.ApplyRejudge(t.Context(), "r4"); err != nil || n != 1 {
		t.Errorf("ApplyRejudge of the third judgement: %d, %v", n, err)
	}
	wantVerdict(t, s, "b", judge.Accepted, 3)

	// The worker of an earlier attempt changes nothing.
	wantErr(t, "Finish after a rejudge", s.Finish(t.Context(), judge.Attempt{Submission: "b", Fence: 1}, judgement("b", judge.Judged)), results.ErrFenced)
}

// A rejudge whose making was broken off is not one that is to be waited for.
func rejudgesMissing(t *testing.T, open New) {
	s := open(t, results.Config{})
	on(t, s, "a", "p", "")
	verdict(t, s, "a", judge.Accepted)
	r := results.Rejudge{ID: "r", CreatedAt: time.Now().UTC(), Members: []results.Rejudged{{Submission: "a", Judgement: "r-a", Number: 1}}}
	if err := s.CreateRejudge(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	_, err := s.ApplyRejudge(t.Context(), "r")
	wantErr(t, "ApplyRejudge without a record of a new judgement", err, results.ErrMissing)
	wantVerdict(t, s, "a", judge.Accepted, 1)
}

// What we could not judge keeps its verdict; a submission that failed gets one.
func rejudgesFailed(t *testing.T, open New) {
	s := open(t, results.Config{MaxAttempts: 1})
	for _, id := range []string{"a", "b"} {
		on(t, s, id, "p", "")
	}
	verdict(t, s, "a", judge.Accepted)
	if state, err := s.Release(t.Context(), lease(t, s, "b"), true, &judge.Failed{Kind: judge.FailChecker, Reason: "it crashed"}); err != nil || state != judge.FailedState {
		t.Fatalf("Release: %v, %v", state, err)
	}
	again(t, s, "r", "a", "b")
	finish(t, s, lease(t, s, "r-a"), judge.FailedState)
	verdict(t, s, "r-b", judge.WrongAnswer)
	if n, err := s.ApplyRejudge(t.Context(), "r"); err != nil || n != 1 {
		t.Errorf("ApplyRejudge: %d, %v, want 1", n, err)
	}
	wantVerdict(t, s, "a", judge.Accepted, 1)
	wantVerdict(t, s, "b", judge.WrongAnswer, 2)
	if j := get(t, s, "b").Judgement; j.Failed != nil || j.Retryable {
		t.Errorf("b has a verdict and failed with %+v", j.Failed)
	}
}

// Who follows a submission hears of nothing until the rejudge is applied.
func rejudgesEvents(t *testing.T, open New) {
	s := open(t, results.Config{})
	on(t, s, "a", "p", "")
	verdict(t, s, "a", judge.Accepted)
	last := func() (seq int64, v judge.Verdict) {
		t.Helper()
		events, err := s.Events(t.Context(), "a", 0)
		if err != nil || len(events) == 0 || events[len(events)-1].Type != results.EventFinal {
			t.Fatalf("Events: %+v, %v", events, err)
		}
		var j judge.Judgement
		e := events[len(events)-1]
		if err := json.Unmarshal(e.Data, &j); err != nil || j.Verdict == nil || j.ID != "a" {
			t.Fatalf("final event %s: %v", e.Data, err)
		}
		return e.Seq, *j.Verdict
	}
	before, _ := last()
	again(t, s, "r", "a")
	verdict(t, s, "r-a", judge.WrongAnswer)
	if seq, v := last(); seq != before || v != judge.Accepted {
		t.Errorf("before it is applied: event %d, %s, want %d, AC", seq, v, before)
	}
	if _, err := s.ApplyRejudge(t.Context(), "r"); err != nil {
		t.Fatal(err)
	}
	if seq, v := last(); seq <= before || v != judge.WrongAnswer {
		t.Errorf("after it is applied: event %d, %s, want one after %d, WA", seq, v, before)
	}
	events, err := s.Events(t.Context(), "a", before)
	if err != nil || len(events) != 1 {
		t.Errorf("events after the first judgement: %+v, %v, want the final one", events, err)
	}
}

// Of several that apply at once one does it.
func rejudgesAtOnce(t *testing.T, open New) {
	s := open(t, results.Config{})
	var ids []string
	for i := range 20 {
		ids = append(ids, fmt.Sprintf("s%02d", i))
		on(t, s, ids[i], "p", "")
		verdict(t, s, ids[i], judge.Accepted)
	}
	again(t, s, "r", ids...)
	for _, id := range ids {
		verdict(t, s, "r-"+id, judge.WrongAnswer)
	}
	var (
		wg     sync.WaitGroup
		counts = make([]int, 8)
	)
	for i := range counts {
		wg.Go(func() {
			n, err := s.ApplyRejudge(t.Context(), "r")
			if err != nil {
				t.Errorf("ApplyRejudge: %v", err)
			}
			counts[i] = n
		})
	}
	wg.Wait()
	slices.Sort(counts)
	if counts[7] != 20 || counts[6] != 0 {
		t.Errorf("replaced %v, want all 20 by one", counts)
	}
	for _, id := range ids {
		wantVerdict(t, s, id, judge.WrongAnswer, 2)
	}
}

func rejudgesBound(t *testing.T, open New) {
	s := open(t, results.Config{})
	make := func(id string) error {
		members := []results.Rejudged{{Submission: "s", Judgement: "n", Number: 1}}
		return s.CreateRejudge(context.WithoutCancel(t.Context()), results.Rejudge{ID: id, CreatedAt: time.Now(), Members: members})
	}
	if err := s.CreateRejudge(t.Context(), results.Rejudge{ID: "empty"}); err == nil {
		t.Error("a rejudge of nothing was made")
	}
	var err error
	n := 0
	for ; err == nil && n < 1000; n++ {
		err = make(fmt.Sprint("r", n))
	}
	if !errors.Is(err, results.ErrRejudgesFull) {
		t.Fatalf("after %d rejudges: %v", n, err)
	}
	wantErr(t, "DropRejudge", s.DropRejudge(t.Context(), "r7"), nil)
	wantErr(t, "CreateRejudge in place of a closed one", make("more"), nil)
	_, err = s.GetRejudge(t.Context(), "r7")
	wantErr(t, "GetRejudge of the closed one", err, results.ErrNoRejudge)
	wantErr(t, "CreateRejudge of one too many", make("another"), results.ErrRejudgesFull)
}

// A submission that is no longer kept is no submission of its problem.
func rejudgesForget(t *testing.T, open New) {
	s := open(t, results.Config{Keep: 2})
	for _, id := range []string{"a", "b", "c"} {
		on(t, s, id, "p", "")
		verdict(t, s, id, judge.Accepted)
	}
	if _, err := s.Reap(t.Context(), time.Now(), 10); err != nil {
		t.Fatal(err)
	}
	if ids, err := s.SubmissionsOf(t.Context(), "p", "", 10); err != nil || !slices.Equal(ids, []string{"b", "c"}) {
		t.Errorf("submissions of p: %v, %v, want those that are kept", ids, err)
	}
}
