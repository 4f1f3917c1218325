package daemon

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

func TestContexts(t *testing.T) {
	t.Parallel()
	const drain = time.Minute
	tests := []struct {
		name       string
		drain      time.Duration
		signals    int
		wait       time.Duration
		take, work error
	}{
		{"running", drain, 0, time.Hour, nil, nil},
		{"first signal", drain, 1, drain - 1, ErrDraining, nil},
		{"deadline", drain, 1, drain, ErrDraining, ErrDrainDeadline},
		{"second signal", drain, 2, 0, ErrDraining, ErrHurried},
		{"nothing to drain", 0, 1, 0, ErrDraining, ErrDraining},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				signals := make(chan os.Signal)
				released := false
				take, work, stop := contexts(t.Context(), tt.drain, slog.New(slog.DiscardHandler), signals, func() { released = true })
				for range tt.signals {
					signals <- syscall.SIGTERM
				}
				time.Sleep(tt.wait) // on the bubble's clock
				synctest.Wait()
				if got := context.Cause(take); !errors.Is(got, tt.take) {
					t.Errorf("take ended by %v, want %v", got, tt.take)
				}
				if got := context.Cause(work); !errors.Is(got, tt.work) {
					t.Errorf("work ended by %v, want %v", got, tt.work)
				}
				if ended := tt.work != nil; released != ended {
					t.Errorf("signals given back: %v, want %v", released, ended)
				}
				stop()
				if take.Err() == nil || work.Err() == nil || !released {
					t.Errorf("after stop: take %v, work %v, given back %v", take.Err(), work.Err(), released)
				}
			})
		})
	}
}

// Not parallel: it sends this process a signal.
func TestContextsHearsSIGTERM(t *testing.T) {
	take, work, stop := Contexts(t.Context(), time.Hour, slog.New(slog.DiscardHandler))
	defer stop()
	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-take.Done()
	if work.Err() != nil {
		t.Error("work ended with the first signal")
	}
}
