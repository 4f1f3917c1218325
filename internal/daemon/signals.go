package daemon

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// The causes that context.Cause gives for the contexts of Contexts.
var (
	ErrDraining      = errors.New("draining: asked to stop")
	ErrHurried       = errors.New("stopped: asked to stop twice")
	ErrDrainDeadline = errors.New("stopped: the drain deadline passed")
)

// Contexts turns SIGINT and SIGTERM into the two contexts of a daemon. The first
// signal ends take: draw no more work. A second one, or the drain deadline after
// the first, ends work: what still runs goes back. A third signal kills the process
// as if nobody listened, so that a stuck stop can be ended by hand. With drain 0
// both end at the first signal. stop ends both and gives the signals back.
//
//	running --1st signal--> draining --2nd signal or deadline--> stopped
func Contexts(parent context.Context, drain time.Duration, log *slog.Logger) (take, work context.Context, stop func()) {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	return contexts(parent, drain, log, signals, func() { signal.Stop(signals) })
}

func contexts(parent context.Context, drain time.Duration, log *slog.Logger,
	signals <-chan os.Signal, release func()) (take, work context.Context, stop func()) {
	work, endWork := context.WithCancelCause(parent)
	take, endTake := context.WithCancelCause(work)
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer release()
		select {
		case <-work.Done():
			return
		case sig := <-signals:
			log.Info("draining", "signal", sig.String(), "deadline", drain)
			endTake(ErrDraining)
		}
		if drain <= 0 {
			endWork(ErrDraining)
			return
		}
		deadline := time.NewTimer(drain)
		defer deadline.Stop()
		select {
		case <-work.Done():
		case sig := <-signals:
			log.Warn("stopping at once", "signal", sig.String())
			endWork(ErrHurried)
		case <-deadline.C:
			log.Warn("drain deadline passed", "deadline", drain)
			endWork(ErrDrainDeadline)
		}
	}()
	return take, work, func() {
		endWork(context.Canceled)
		<-done
	}
}
