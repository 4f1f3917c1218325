package daemon

import (
	"context"
	"errors"
	"testing"
)

func TestGroupStopsInOrder(t *testing.T) {
	t.Parallel()
	take, endTake := context.WithCancelCause(t.Context())
	g := NewGroup(take, t.Context())
	order := make(chan string, 2)
	finish := make(chan struct{})
	g.Under("metrics", func(ctx context.Context) error {
		<-ctx.Done()
		order <- "under"
		return ctx.Err()
	})
	g.Go("worker", func(take, work context.Context) error {
		<-take.Done()
		<-finish // a drain takes its time
		if work.Err() != nil {
			t.Error("work ended with take")
		}
		order <- "worker"
		return context.Cause(take)
	})
	endTake(ErrDraining)
	close(finish)
	if err := g.Wait(); err != nil {
		t.Errorf("Wait() = %v, want nil: a drain is no error", err)
	}
	if first, second := <-order, <-order; first != "worker" || second != "under" {
		t.Errorf("stopped %s, then %s; want worker, then under", first, second)
	}
}

func TestGroupFirstErrorStopsAll(t *testing.T) {
	t.Parallel()
	broken, later := errors.New("broken"), errors.New("later")
	for _, where := range []string{"go", "under"} {
		g := NewGroup(t.Context(), t.Context())
		fails := func(context.Context) error { return broken }
		if where == "under" {
			g.Under("redis", fails)
		} else {
			g.Go("redis", func(_, work context.Context) error { return fails(work) })
		}
		g.Go("worker", func(take, work context.Context) error {
			<-work.Done()
			if take.Err() == nil {
				t.Error("work ended before take")
			}
			if !errors.Is(context.Cause(work), broken) {
				t.Errorf("work ended by %v, want the first error", context.Cause(work))
			}
			return later
		})
		err := g.Wait()
		if !errors.Is(err, broken) || err.Error() != "run redis: broken" {
			t.Errorf("%s: Wait() = %v, want run redis: broken", where, err)
		}
	}
}

func TestGroupCancelledWithoutStopIsAnError(t *testing.T) {
	t.Parallel()
	g := NewGroup(t.Context(), t.Context())
	g.Go("worker", func(_, _ context.Context) error { return context.Canceled })
	if err := g.Wait(); !errors.Is(err, context.Canceled) {
		t.Errorf("Wait() = %v, want the cancellation nobody asked for", err)
	}
}
