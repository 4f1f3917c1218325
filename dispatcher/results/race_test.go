package results

import (
	"testing"
	"time"

	"judgefarm/internal/testenv"
	"judgefarm/judge"
)

// Between the list of leases that ran out and the end of one of them its worker may
// renew it, and a queued submission may be leased: then it is left alone.
func TestSweepsLookAgain(t *testing.T) {
	t.Parallel()
	s, err := NewRedis(Config{URL: "redis://" + testenv.Redis(t)})
	if err != nil {
		t.Fatalf("NewRedis: %v", err)
	}
	defer s.Close()
	ctx, listed := t.Context(), []string{"s1"} // by a sweep an instant ago
	if err := s.Create(ctx, Record{ID: "s1"}); err != nil {
		t.Fatalf("Create: %v", err)
	}
	if _, err := s.Lease(ctx, "s1", "w", time.Hour); err != nil {
		t.Fatalf("Lease: %v", err)
	}
	last, err := lastFailure(nil, 3)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.take(ctx, "reap", s.run.reap, listed, 0, 3, last); len(got) != 0 || err != nil {
		t.Errorf("reap of a renewed lease: got %v, %v; want nothing", got, err)
	}
	if got, err := s.take(ctx, "offer", s.run.offer, listed, time.Hour.Milliseconds()); len(got) != 0 || err != nil {
		t.Errorf("offer of a leased submission: got %v, %v; want nothing", got, err)
	}
	if r, err := s.Get(ctx, "s1"); err != nil || r.State != judge.Judging {
		t.Errorf("state: got %q, %v; want judging", r.State, err)
	}
}
