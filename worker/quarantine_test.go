package worker_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"judgefarm/dispatcher/queue"
	"judgefarm/dispatcher/results"
	"judgefarm/judge"
	"judgefarm/judge/engine"
	"judgefarm/testcases"
	"judgefarm/worker"
)

// ward is a room whose submissions are to uploaded problems.
type ward struct {
	*room
	judged []string // submissions that reached the engine
	count  int
}

func (w *ward) Get(_ context.Context, pkg string) (*testcases.Problem, func(), error) {
	return &testcases.Problem{Digest: "sha256:d" + pkg}, func() {}, nil
}

// several delivers one job after another.
type several []string

func (ids several) Take(_, work context.Context, _ int, h queue.Handler) error {
	for _, id := range ids {
		h(work, queue.Job{ID: id})
	}
	return nil
}

func newWard(t *testing.T) *ward {
	w := &ward{room: newRoom(t)}
	w.store = results.NewMemory(results.Config{MaxAttempts: 2})
	return w
}

// submitTo records a submission to a package.
func (w *ward) submitTo(t *testing.T, pkg string) string {
	t.Helper()
	w.count++
	id := fmt.Sprintf("s%d", w.count)
	ref := &judge.ProblemRef{ID: "p", Version: 2, Digest: "sha256:d" + pkg}
	doc, err := json.Marshal(judge.Admitted{
		ID: id, Language: "c", Stop: judge.StopNever, Files: []judge.FileJSON{{Name: "a.c"}}, Problem: ref, Package: pkg,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.blobs.Put(t.Context(), "intents/"+id, bytes.NewReader(doc), int64(len(doc)), ""); err != nil {
		t.Fatal(err)
	}
	j := judge.NewJudgement(id, time.Now())
	j.Problem = ref
	if err := w.store.Create(t.Context(), results.Record{ID: id, Request: "intents/" + id, CreatedAt: time.Now(), Judgement: j}); err != nil {
		t.Fatal(err)
	}
	return id
}

// work delivers the ids to one worker, which takes a problem into quarantine after
// three submissions. failing says whose checker fails; verdicts are else AC.
func (w *ward) work(t *testing.T, failing func(id string) bool, ids ...string) {
	t.Helper()
	w.judge = func(_ context.Context, job engine.Job) (*engine.Outcome, error) {
		id := job.Submission.ID
		w.judged = append(w.judged, id)
		if failing(id) {
			return nil, judge.Fail(judge.FailChecker, fmt.Errorf("checker crashed"))
		}
		out := accepted()
		out.Judgement.ID = id
		out.Judgement.Cases = []judge.Run{{Name: "1", Verdict: judge.Accepted}}
		return out, nil
	}
	one, err := worker.New(worker.Config{
		Name: "w", Slots: 1, Source: several(ids), Line: w.line, Results: w.store, Blobs: w.blobs, Problems: w, Judge: w.room,
		Artifacts: w.room, Quarantine: 3, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := one.Run(t.Context(), t.Context()); err != nil {
		t.Fatal(err)
	}
}

func always(string) bool { return true }

func (w *ward) quarantined(t *testing.T, pkg string) *judge.Quarantine {
	t.Helper()
	q, err := w.store.Quarantined(t.Context(), pkg)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// A checker that fails for three submissions in a row takes its problem out of work;
// those that follow fail at once, with the reason and without a verdict, and other
// problems are judged on.
func TestQuarantine(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	a, b, c, d := w.submitTo(t, "sha256:x"), w.submitTo(t, "sha256:x"), w.submitTo(t, "sha256:x"), w.submitTo(t, "sha256:x")
	other := w.submitTo(t, "sha256:y")
	w.work(t, func(id string) bool { return id != other }, a, b, c, d, other)
	q := w.quarantined(t, "sha256:x")
	if q == nil || q.Failures != 3 || q.Worker != "w" || !strings.Contains(q.Reason, "3 submissions in a row") {
		t.Fatalf("got %+v, want a quarantine after 3", q)
	}
	if got := strings.Join(w.judged, " "); got != strings.Join([]string{a, b, c, other}, " ") {
		t.Errorf("judged were %s: the fourth must not be", got)
	}
	rec, err := w.store.Get(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	j := rec.Judgement
	if j.State != judge.FailedState || j.Verdict != nil || j.Failed == nil || j.Failed.Kind != judge.FailChecker || j.Retryable ||
		!strings.Contains(j.Failed.Reason, "version 2 of problem p is in quarantine since") {
		t.Errorf("the fourth is %+v, failed %+v", j, j.Failed)
	}
	if rec, err := w.store.Get(t.Context(), other); err != nil || rec.State != judge.Judged {
		t.Errorf("another problem's submission is %s, %v", rec.State, err)
	}
	if w.quarantined(t, "sha256:y") != nil {
		t.Error("another problem is in quarantine too")
	}

	// Let out by hand it is judged again, and counted anew.
	if _, err := w.store.Unquarantine(t.Context(), "sha256:x"); err != nil {
		t.Fatal(err)
	}
	e := w.submitTo(t, "sha256:x")
	w.work(t, func(string) bool { return false }, e)
	if rec, err := w.store.Get(t.Context(), e); err != nil || rec.State != judge.Judged {
		t.Errorf("after its release a submission is %s, %v", rec.State, err)
	}
}

// One submission alone takes no problem away, however often it is tried; nor do failures with
// rulings between them. Compile errors are no rulings.
func TestQuarantineNeedsSeveralInARow(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	w.store = results.NewMemory(results.Config{MaxAttempts: 9})
	hostile := w.submitTo(t, "sha256:x")
	w.work(t, always, hostile, hostile, hostile, hostile)
	if q := w.quarantined(t, "sha256:x"); q != nil || len(w.judged) != 4 {
		t.Errorf("one submission, tried %d times, made %+v", len(w.judged), q)
	}
	var ids []string
	for range 9 {
		ids = append(ids, w.submitTo(t, "sha256:z"))
	}
	third := func(id string) bool { return id != ids[2] && id != ids[5] && id != ids[8] }
	w.work(t, third, ids...)
	if q := w.quarantined(t, "sha256:z"); q != nil {
		t.Errorf("two failures between rulings made %+v", q)
	}
}
