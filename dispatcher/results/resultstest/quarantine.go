package resultstest

import (
	"testing"
	"time"

	"judgefarm/dispatcher/results"
	"judgefarm/judge"
)

func quarantine(t *testing.T, open New) {
	s := open(t, results.Config{})
	q := judge.Quarantine{Reason: "it crashed <&> é", Failures: 5, Worker: "w1", At: time.Unix(1_700_000_000, 0).UTC()}
	in := func(want int) {
		t.Helper()
		if n, err := s.CountQuarantined(t.Context()); err != nil || n != want {
			t.Errorf("%d packages in quarantine, %v, want %d", n, err, want)
		}
	}
	if got, err := s.Quarantined(t.Context(), "sha256:a"); err != nil || got != nil {
		t.Errorf("a package nobody knows: %+v, %v", got, err)
	}
	in(0)
	if added, err := s.Quarantine(t.Context(), "sha256:a", q); err != nil || !added {
		t.Errorf("Quarantine: %v, %v", added, err)
	}
	later := q
	later.Reason = "later"
	if added, err := s.Quarantine(t.Context(), "sha256:a", later); err != nil || added {
		t.Errorf("Quarantine again: %v, %v: the first reason stays", added, err)
	}
	if got, err := s.Quarantined(t.Context(), "sha256:a"); err != nil || got == nil || *got != q {
		t.Errorf("Quarantined: %+v, %v, want %+v", got, err, q)
	}
	if got, err := s.Quarantined(t.Context(), "sha256:b"); err != nil || got != nil {
		t.Errorf("another package: %+v, %v", got, err)
	}
	in(1)
	for _, was := range []bool{true, false} {
		if out, err := s.Unquarantine(t.Context(), "sha256:a"); err != nil || out != was {
			t.Errorf("Unquarantine: %v, %v, want %v", out, err, was)
		}
	}
	in(0)
}
