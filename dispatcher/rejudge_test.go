package dispatcher_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"judgefarm/dispatcher"
	"judgefarm/dispatcher/dispatchertest"
	"judgefarm/dispatcher/queue"
	"judgefarm/dispatcher/results"
	"judgefarm/internal/blob"
	"judgefarm/internal/testenv"
	"judgefarm/judge"
)

// judgedOn submits to a problem and gives the verdict.
func judgedOn(t *testing.T, f *dispatchertest.Farm, problem string, v judge.Verdict) string {
	t.Helper()
	r := good()
	r.Tests, r.Problem = nil, problem
	j := submit(t, f, r)
	f.Finish(t, f.Start(t, j.ID), v)
	return j.ID
}

func verdictOf(t *testing.T, f *dispatchertest.Farm, id string) string {
	t.Helper()
	j, err := f.Service.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if j.Verdict == nil {
		return string(j.State)
	}
	return string(*j.Verdict)
}

// A whole problem is judged again against its next version, with a look at the
// difference before anything changes.
func TestRejudgeProblem(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(*testing.T) *dispatchertest.Farm{
		"memory": func(t *testing.T) *dispatchertest.Farm { return dispatchertest.New(t, nil) },
		"redis":  func(t *testing.T) *dispatchertest.Farm { return onRedis(t, testenv.Redis(t), blob.NewMemory(0)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := open(t)
			push(t, f, "p", "1")
			push(t, f, "other", "1")
			first, second := judgedOn(t, f, "p", judge.Accepted), judgedOn(t, f, "p", judge.Accepted)
			judgedOn(t, f, "other", judge.Accepted)
			on(t, f, "p") // not final: it is left out
			push(t, f, "p", "2")

			r, err := f.Service.Rejudge(t.Context(), judge.RejudgeRequest{Problem: "p"})
			if err != nil || r.Total != 2 || r.Skipped != 1 || r.State != judge.RejudgeJudging {
				t.Fatalf("Rejudge: %+v, %v", r, err)
			}
			if r.Submissions[0].Submission != first || r.Submissions[0].New.State != judge.Queued || r.Submissions[0].New.Version != 2 {
				t.Errorf("the first of it is %+v", r.Submissions[0])
			}
			if depth, err := f.Service.Depth(t.Context()); err != nil || depth[queue.Batch] != 2 {
				t.Errorf("the line has %v, %v, want two of the lowest priority", depth, err)
			}
			rec, err := f.Results.Get(t.Context(), r.Submissions[1].Judgement)
			if err != nil || rec.Rejudge != r.ID || rec.Judgement.Problem.Version != 2 {
				t.Errorf("the record is %+v, %v", rec, err)
			}
			f.Finish(t, f.Start(t, r.Submissions[0].Judgement), judge.WrongAnswer)
			if _, err := f.Service.ApplyRejudge(t.Context(), r.ID); !errors.Is(err, dispatcher.ErrUnfinished) {
				t.Errorf("applied too early: %v", err)
			}
			f.Finish(t, f.Start(t, r.Submissions[1].Judgement), judge.Accepted)

			r, err = f.Service.GetRejudge(t.Context(), r.ID)
			if err != nil || r.State != judge.RejudgeReady || r.Final != 2 || r.Changed != 1 || r.Failed != 0 {
				t.Errorf("GetRejudge: %+v, %v", r, err)
			}
			if one := r.Submissions[0]; !one.Changed || one.Difference == nil || r.Submissions[1].Changed {
				t.Errorf("got %+v and %+v, want the first changed", one, r.Submissions[1])
			}
			if got := verdictOf(t, f, first); got != "AC" {
				t.Errorf("before it is applied the verdict is %s", got)
			}
			r, err = f.Service.ApplyRejudge(t.Context(), r.ID)
			if err != nil || r.State != judge.RejudgeApplied || r.Changed != 1 || *r.Submissions[0].Old.Verdict != judge.Accepted {
				t.Errorf("ApplyRejudge: %+v, %v", r, err)
			}
			if a, b := verdictOf(t, f, first), verdictOf(t, f, second); a != "WA" || b != "AC" {
				t.Errorf("after it is applied the verdicts are %s and %s", a, b)
			}
			if list, err := f.Service.Rejudges(t.Context()); err != nil || len(list) != 1 || list[0].Total != 2 || list[0].Submissions != nil {
				t.Errorf("Rejudges: %+v, %v", list, err)
			}
		})
	}
}

func TestRejudgeSubmissions(t *testing.T) {
	t.Parallel()
	f := dispatchertest.New(t, nil)
	one := push(t, f, "p", "1")
	named := judgedOn(t, f, "p", judge.Accepted)
	inline := submit(t, f, good()).ID
	f.Finish(t, f.Start(t, inline), judge.RuntimeError)
	open := submit(t, f, good()).ID
	push(t, f, "p", "2")

	r, err := f.Service.Rejudge(t.Context(), judge.RejudgeRequest{Submissions: []string{inline, named}, SameVersion: true})
	if err != nil || r.Total != 2 || r.Submissions[0].Submission != inline {
		t.Fatalf("Rejudge: %+v, %v", r, err)
	}
	rec, err := f.Results.Get(t.Context(), r.Submissions[1].Judgement)
	if err != nil || *rec.Judgement.Problem != ref(one) {
		t.Errorf("judged against %+v, %v, want the version of then", rec.Judgement.Problem, err)
	}
	for name, c := range map[string]struct {
		req  judge.RejudgeRequest
		want string
	}{
		"nothing":      {judge.RejudgeRequest{}, "submissions: must name at least one"},
		"both":         {judge.RejudgeRequest{Submissions: []string{named}, Problem: "p"}, "must be absent"},
		"unknown":      {judge.RejudgeRequest{Submissions: []string{named, "x"}}, "submissions[1]: is not known"},
		"not final":    {judge.RejudgeRequest{Submissions: []string{open}}, "is not final yet: it is queued"},
		"twice":        {judge.RejudgeRequest{Submissions: []string{named, named}}, "submissions[1]: is named twice"},
		"of a rejudge": {judge.RejudgeRequest{Submissions: []string{r.Submissions[0].Judgement}}, "is itself the judgement of a rejudge"},
		"too many":     {judge.RejudgeRequest{Submissions: make([]string, 2001)}, "must be at most 2000, are 2001"},
		"no problem":   {judge.RejudgeRequest{Problem: "q"}, "has no submission"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := f.Service.Rejudge(t.Context(), c.req); !judge.IsBadRequest(err) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}

	// A deleted problem's submissions are judged against the package that they had.
	if err := f.Service.DeleteProblem(t.Context(), "p"); err != nil {
		t.Fatal(err)
	}
	again, err := f.Service.Rejudge(t.Context(), judge.RejudgeRequest{Submissions: []string{named}})
	if err != nil || again.Submissions[0].New.Version != 1 {
		t.Errorf("Rejudge of a deleted problem: %+v, %v", again, err)
	}
}

// Dropping a rejudge ends what is still to be judged and changes nothing.
func TestDropRejudge(t *testing.T) {
	t.Parallel()
	f := dispatchertest.New(t, nil)
	push(t, f, "p", "1")
	first, second := judgedOn(t, f, "p", judge.Accepted), judgedOn(t, f, "p", judge.WrongAnswer)
	r, err := f.Service.Rejudge(t.Context(), judge.RejudgeRequest{Submissions: []string{first, second}})
	if err != nil {
		t.Fatal(err)
	}
	f.Finish(t, f.Start(t, r.Submissions[0].Judgement), judge.WrongAnswer)
	if err := f.Service.DropRejudge(t.Context(), r.ID); err != nil {
		t.Fatal(err)
	}
	if jobs := f.Line.Jobs(); len(jobs) != 0 {
		t.Errorf("the line has %v", jobs)
	}
	if _, err := f.Service.ApplyRejudge(t.Context(), r.ID); !errors.Is(err, dispatcher.ErrDropped) {
		t.Errorf("applied after it was dropped: %v", err)
	}
	if a, b := verdictOf(t, f, first), verdictOf(t, f, second); a != "AC" || b != "WA" {
		t.Errorf("the verdicts are %s and %s", a, b)
	}
	if err := f.Service.DropRejudge(t.Context(), "x"); !errors.Is(err, dispatcher.ErrNoRejudge) {
		t.Errorf("dropped what was not there: %v", err)
	}
}

// A rejudge that cannot be finished leaves nothing to judge, and the submissions alone.
func TestRejudgeIsTakenBack(t *testing.T) {
	t.Parallel()
	fails := &failing{}
	f := dispatchertest.New(t, func(c *dispatcher.Config) { fails.Store = c.Results; c.Results = fails })
	var ids []string
	for range 20 {
		j := submit(t, f, good())
		f.Finish(t, f.Start(t, j.ID), judge.Accepted)
		ids = append(ids, j.ID)
	}
	fails.after = 10
	if _, err := f.Service.Rejudge(t.Context(), judge.RejudgeRequest{Submissions: ids}); !errors.Is(err, dispatcher.ErrUnavailable) {
		t.Fatalf("got %v, want unavailable", err)
	}
	list, err := f.Service.Rejudges(t.Context())
	if err != nil || len(list) != 1 || list[0].State != judge.RejudgeDropped {
		t.Errorf("Rejudges: %+v, %v, want one that was dropped", list, err)
	}
	if jobs := f.Line.Jobs(); len(jobs) != 0 {
		t.Errorf("the line has %d jobs", len(jobs))
	}
}

// A rejudge whose making was broken off does not stay queued for ever.
func TestRejudgeThatIsNeverMade(t *testing.T) {
	t.Parallel()
	f, c := timed(t)
	j := submit(t, f, good())
	f.Finish(t, f.Start(t, j.ID), judge.Accepted)
	r := results.Rejudge{ID: "r", CreatedAt: c.Now(), Members: []results.Rejudged{{Submission: j.ID, Judgement: "lost", Number: 1}}}
	if err := f.Results.CreateRejudge(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		later time.Duration
		state judge.RejudgeState
		fresh judge.State
	}{{0, judge.RejudgeJudging, judge.Queued}, {16 * time.Minute, judge.RejudgeReady, judge.FailedState}} {
		c.Add(tt.later)
		got, err := f.Service.GetRejudge(t.Context(), "r")
		if err != nil || got.State != tt.state || got.Submissions[0].New.State != tt.fresh {
			t.Errorf("after %v: %+v, %v, want %s with a judgement %s", tt.later, got, err, tt.state, tt.fresh)
		}
	}
	if _, err := f.Service.ApplyRejudge(t.Context(), "r"); !errors.Is(err, dispatcher.ErrMissing) {
		t.Errorf("ApplyRejudge: %v, want what is missing told", err)
	}
}

// A full line refuses live submissions, and a rejudge waits for the sweep.
func TestRejudgeWaitsForRoom(t *testing.T) {
	t.Parallel()
	f, c := timed(t)
	j := submit(t, f, good())
	f.Finish(t, f.Start(t, j.ID), judge.Accepted)
	f.Line.Bound = 0
	r, err := f.Service.Rejudge(t.Context(), judge.RejudgeRequest{Submissions: []string{j.ID}})
	if err != nil || len(f.Line.Jobs()) != 0 {
		t.Fatalf("Rejudge: %v, line %v", err, f.Line.Jobs())
	}
	f.Line.Bound = 1
	c.Add(time.Minute)
	maintain(t, f)
	awaitLine(t, f, r.Submissions[0].Judgement)
}

func TestRejudgeNotesWhatFailed(t *testing.T) {
	t.Parallel()
	f := dispatchertest.New(t, nil)
	j := submit(t, f, good())
	f.Finish(t, f.Start(t, j.ID), judge.Accepted)
	r, err := f.Service.Rejudge(t.Context(), judge.RejudgeRequest{Submissions: []string{j.ID}})
	if err != nil {
		t.Fatal(err)
	}
	a := f.Start(t, r.Submissions[0].Judgement)
	failed := judge.NewJudgement(a.Submission, time.Now())
	failed.State, failed.Failed = judge.FailedState, &judge.Failed{Kind: judge.FailChecker, Reason: "it crashed"}
	if err := f.Results.Finish(t.Context(), a, failed); err != nil {
		t.Fatal(err)
	}
	r, err = f.Service.ApplyRejudge(t.Context(), r.ID)
	if err != nil || r.Failed != 1 || r.Changed != 0 || verdictOf(t, f, j.ID) != "AC" {
		t.Errorf("got %+v, %v, verdict %s", r, err, verdictOf(t, f, j.ID))
	}
	if d := r.Submissions[0].Difference; d == nil || !strings.Contains(d.Cause, "it crashed") {
		t.Errorf("got difference %+v", d)
	}
}

// failing refuses to create records after some.
type failing struct {
	results.Store
	mu    sync.Mutex
	after int // 0: never
	made  int
}

func (f *failing) Create(ctx context.Context, r results.Record) error {
	f.mu.Lock()
	f.made++
	full := f.after > 0 && f.made > 20+f.after
	f.mu.Unlock()
	if full {
		return fmt.Errorf("connection refused")
	}
	return f.Store.Create(ctx, r)
}

// A problem with more submissions than one rejudge has is judged again in parts, each of
// them whole; what is not final is left out wherever it lies.
func TestRejudgeInParts(t *testing.T) {
	t.Parallel()
	f := dispatchertest.New(t, func(cfg *dispatcher.Config) {
		cfg.Line = &dispatchertest.Line{Bound: 100_000}
	})
	named := ref(push(t, f, "p", "1"))
	const all, open = results.MaxRejudged + 500, 100
	first := judgedOn(t, f, "p", judge.Accepted)
	rec, err := f.Results.Get(t.Context(), first)
	if err != nil {
		t.Fatal(err)
	}
	for i := range all + open { // they share an intent; those that are not final come last
		one := rec
		one.Judgement.Problem = &named
		one.ID = fmt.Sprintf("%s-%05d", first, i)
		if err := f.Results.Create(t.Context(), one); err != nil {
			t.Fatal(err)
		}
		if i < all {
			f.Finish(t, f.Start(t, one.ID), judge.Accepted)
		}
	}
	req, seen := judge.RejudgeRequest{Problem: "p"}, map[string]bool{}
	for n := 0; ; n++ {
		r, err := f.Service.Rejudge(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range r.Submissions {
			if seen[one.Submission] {
				t.Errorf("%s is in two parts", one.Submission)
			}
			seen[one.Submission] = true
		}
		if got, err := f.Service.GetRejudge(t.Context(), r.ID); err != nil || got.Next != r.Next || got.Total != r.Total {
			t.Errorf("kept as %d submissions, next %q, %v; made with %d, %q", got.Total, got.Next, err, r.Total, r.Next)
		}
		if r.Next == "" || n == 3 {
			break
		}
		req.After = r.Next
	}
	if len(seen) != all+1 {
		t.Errorf("%d submissions are in a part, want %d", len(seen), all+1)
	}
	last := fmt.Sprintf("%s-%05d", first, all-1)
	if _, err := f.Service.Rejudge(t.Context(), judge.RejudgeRequest{Problem: "p", After: last}); !judge.IsBadRequest(err) || !strings.Contains(err.Error(), "after: has no submission behind it") {
		t.Errorf("nothing is left: got %v", err)
	}
	if _, err := f.Service.Rejudge(t.Context(), judge.RejudgeRequest{Submissions: []string{last}, After: last}); !judge.IsBadRequest(err) {
		t.Errorf("after beside submissions: got %v", err)
	}
}
