package engine

import (
	"context"
	"errors"
	"runtime"
	"testing"
)

// taker waits in line until the test lets it go on, and tells when it has a slot.
func taker(t *testing.T, s *Slots, wait func(context.Context) error, name string, got chan<- string, line *[]chan struct{}) {
	t.Helper()
	before := len(*line)
	go func() {
		if err := wait(t.Context()); err == nil {
			got <- name
		}
	}()
	for ; ; runtime.Gosched() { // until it stands in line
		s.mu.Lock()
		n := len(*line)
		s.mu.Unlock()
		if n > before {
			return
		}
	}
}

func TestSubmissionsComeBeforeCases(t *testing.T) {
	t.Parallel()
	s := NewSlots(1)
	if err := s.take(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := make(chan string)
	taker(t, s, s.borrow, "case 1", got, &s.cases)
	taker(t, s, s.borrow, "case 2", got, &s.cases)
	taker(t, s, s.take, "submission 1", got, &s.submissions)
	taker(t, s, s.take, "submission 2", got, &s.submissions)
	for _, want := range []string{"submission 1", "submission 2", "case 1", "case 2"} {
		s.give()
		if name := <-got; name != want {
			t.Fatalf("the slot went to %s, want %s", name, want)
		}
	}
	s.give()
	if s.free != 1 || len(s.cases)+len(s.submissions) != 0 {
		t.Errorf("%d slots free, %d wait, want the one and nobody", s.free, len(s.cases)+len(s.submissions))
	}
}

// Whoever gives up leaves the line, and a slot that came to it at that moment goes on.
func TestGivingUpLosesNoSlot(t *testing.T) {
	t.Parallel()
	gone := errors.New("gone")
	for range 200 {
		s := NewSlots(1)
		if err := s.take(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		ended := make(chan error)
		go func() { ended <- s.borrow(ctx) }()
		go cancel(gone)
		s.give()
		switch err := <-ended; {
		case err == nil:
			s.give()
		case !errors.Is(err, gone):
			t.Fatalf("borrow = %v, want %v", err, gone)
		}
		if s.free != 1 || len(s.cases) != 0 {
			t.Fatalf("%d slots free, %d wait, want one and nobody", s.free, len(s.cases))
		}
	}
}
