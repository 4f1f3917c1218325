package resultstest

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"judgefarm/dispatcher/results"
	"judgefarm/judge"
)

// reap: leases end by the clock, renewal moves their end, the last attempt fails.
func reap(t *testing.T, open New) {
	s := open(t, results.Config{MaxAttempts: 2})
	create(t, s, "s1")
	create(t, s, "idle")
	reap := func(in time.Duration) []results.Record {
		t.Helper()
		records, err := s.Reap(t.Context(), time.Now().Add(in), 10)
		if err != nil {
			t.Fatalf("Reap: %v", err)
		}
		return records
	}
	a := lease(t, s, "s1")
	if got := reap(ttl / 2); len(got) != 0 {
		t.Errorf("reaped before the lease ran out: %+v", got)
	}
	if cancel, err := s.Renew(t.Context(), a, 3*ttl); cancel || err != nil {
		t.Errorf("Renew: got %v, %v", cancel, err)
	}
	if got := reap(2 * ttl); len(got) != 0 {
		t.Errorf("reaped although renewed: %+v", got)
	}
	got := reap(4 * ttl)
	if len(got) != 1 || got[0].ID != "s1" || got[0].State != judge.Queued || got[0].Attempt.Charged != 1 || got[0].Attempt.Worker != "worker-1" || got[0].Priority != "train" {
		t.Fatalf("first Reap: got %+v, want s1 of worker-1 queued with one attempt charged", got)
	}
	if got := reap(4 * ttl); len(got) != 0 {
		t.Errorf("reaped twice: %+v", got)
	}
	if _, err := s.Renew(t.Context(), a, ttl); err == nil {
		t.Errorf("Renew of a reaped attempt succeeded")
	}
	lease(t, s, "s1")
	got = reap(2 * ttl)
	if len(got) != 1 || got[0].State != judge.FailedState || got[0].Judgement.Failed == nil ||
		got[0].Judgement.Failed.Kind != judge.FailLost || !got[0].Judgement.Retryable {
		t.Fatalf("last Reap: got %+v, want s1 failed as lost", got)
	}

	create(t, s, "s2")
	b := lease(t, s, "s2")
	if state, err := s.Cancel(t.Context(), "s2"); state != judge.Judging || err != nil {
		t.Errorf("Cancel while judging: got %q, %v", state, err)
	}
	if cancel, err := s.Renew(t.Context(), b, ttl); !cancel || err != nil {
		t.Errorf("Renew after Cancel: got %v, %v; want true", cancel, err)
	}
	if got = reap(2 * ttl); len(got) != 1 || got[0].State != judge.Cancelled {
		t.Errorf("Reap after Cancel: got %+v, want s2 cancelled", got)
	}
}

// reapConcurrently: several dispatchers reap at once and each lease ends once.
func reapConcurrently(t *testing.T, open New) {
	s := open(t, results.Config{})
	for i := range 20 {
		id := fmt.Sprintf("s%d", i)
		create(t, s, id)
		lease(t, s, id)
	}
	var mu sync.Mutex
	var ids []string
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 4 {
				records, err := s.Reap(t.Context(), time.Now().Add(2*ttl), 5)
				if err != nil || len(records) > 5 {
					t.Errorf("Reap: got %d records, %v; want at most 5", len(records), err)
				}
				mu.Lock()
				for _, r := range records {
					ids = append(ids, r.ID)
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	slices.Sort(ids)
	if len(ids) != 20 || len(slices.Compact(ids)) != 20 {
		t.Errorf("reaped: got %v, want each of 20 once", ids)
	}
}

// waiting: the oldest first, each offered again only after others had their turn.
func waiting(t *testing.T, open New) {
	s := open(t, results.Config{})
	for _, id := range []string{"s1", "s2", "s3", "s4"} {
		create(t, s, id)
	}
	lease(t, s, "s2")
	sweep := func(before time.Time, most int) (ids []string) {
		t.Helper()
		records, err := s.Waiting(t.Context(), before, most)
		if err != nil {
			t.Fatalf("Waiting: %v", err)
		}
		for _, r := range records {
			if r.State != judge.Queued || r.FairKey != "acme/run-7" {
				t.Errorf("Waiting returned %+v", r)
			}
			ids = append(ids, r.ID)
		}
		return ids
	}
	if got := sweep(time.Now().Add(-time.Minute), 10); len(got) != 0 {
		t.Errorf("Waiting since a minute: got %v, want none", got)
	}
	later := func() time.Time { return time.Now().Add(time.Minute) }
	if got := sweep(later(), 2); len(got) != 2 || slices.Contains(got, "s2") {
		t.Errorf("first sweep: got %v, want two of s1, s3, s4", got)
	} else if rest := sweep(later(), 1); len(rest) != 1 || slices.Contains(got, rest[0]) {
		t.Errorf("second sweep: got %v after %v, want the third", rest, got)
	}
	if got := sweep(later(), 10); len(got) != 3 {
		t.Errorf("third sweep: got %v, want s1, s3, s4", got)
	}
}

// retention: final records go when their time is over, others stay.
func retention(t *testing.T, open New) {
	s := open(t, results.Config{Retention: time.Hour})
	create(t, s, "old")
	create(t, s, "waits")
	finish(t, s, lease(t, s, "old"), judge.Judged)
	for _, step := range []struct {
		in   time.Duration
		want error
	}{{59 * time.Minute, nil}, {61 * time.Minute, results.ErrNotFound}} {
		if _, err := s.Reap(t.Context(), time.Now().Add(step.in), 10); err != nil {
			t.Fatalf("Reap: %v", err)
		}
		_, err := s.Get(t.Context(), "old")
		wantErr(t, fmt.Sprintf("Get after %v", step.in), err, step.want)
		_, err = s.Get(t.Context(), "waits")
		wantErr(t, "Get of a waiting one", err, nil)
	}
	_, err := s.Events(t.Context(), "old", 0)
	wantErr(t, "Events", err, results.ErrNotFound)
	_, err = s.Wait(t.Context(), "old")
	wantErr(t, "Wait", err, results.ErrNotFound)
	create(t, s, "old") // the id is free again and nothing of the old one is left
	if got, err := s.Events(t.Context(), "old", 0); len(got) != 1 || err != nil {
		t.Errorf("events of the new submission: got %v, %v; want one", got, err)
	}
}

// keep: no more final records than the bound, the oldest go first.
func keep(t *testing.T, open New) {
	s := open(t, results.Config{Keep: 2})
	for _, id := range []string{"s1", "s2", "s3"} {
		create(t, s, id)
		finish(t, s, lease(t, s, id), judge.Judged)
		// A store may apply the bound when it sweeps.
		if _, err := s.Reap(t.Context(), time.Now(), 10); err != nil {
			t.Fatalf("Reap: %v", err)
		}
	}
	_, err := s.Get(t.Context(), "s1")
	wantErr(t, "Get of the oldest", err, results.ErrNotFound)
	for _, id := range []string{"s2", "s3"} {
		_, err = s.Get(t.Context(), id)
		wantErr(t, "Get of "+id, err, nil)
	}
}
