package daemon

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Group runs the components of a daemon and waits for all of them. Components
// started by Go do the work; those started by Under carry it (an embedded Redis,
// the server of /metrics): their context ends only when all of Go have returned.
// The first error ends every context with it as the cause and is what Wait returns.
type Group struct {
	take, work   context.Context
	under        context.Context
	fail         context.CancelCauseFunc // ends take and work
	endUnder     context.CancelCauseFunc
	upper, lower sync.WaitGroup

	mu    sync.Mutex
	first error
}

// NewGroup returns a group under the contexts of Contexts.
func NewGroup(take, work context.Context) *Group {
	g := &Group{}
	var failTake, failWork context.CancelCauseFunc
	g.take, failTake = context.WithCancelCause(take)
	g.work, failWork = context.WithCancelCause(work)
	g.under, g.endUnder = context.WithCancelCause(context.WithoutCancel(work))
	g.fail = func(cause error) { failTake(cause); failWork(cause) }
	return g
}

// Go starts a component. It must return once its context has ended: take when it
// draws work, work when it finishes work. Returning nil ends nobody else.
func (g *Group) Go(name string, component func(take, work context.Context) error) {
	g.upper.Go(func() { g.ended(name, component(g.take, g.work)) })
}

// Under starts a component that the others stand on. It must not return before its context ends.
func (g *Group) Under(name string, component func(ctx context.Context) error) {
	g.lower.Go(func() { g.ended(name, component(g.under)) })
}

// Wait returns when every component has returned: nil, or the first error with the
// component's name. The end of a context that a component hands back is no error.
// Start everything before calling Wait.
func (g *Group) Wait() error {
	g.upper.Wait()
	g.endUnder(errors.New("everything above has stopped"))
	g.lower.Wait()
	g.fail(context.Canceled) // frees the contexts
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.first
}

func (g *Group) ended(name string, err error) {
	if err == nil {
		return
	}
	if stopping := g.take.Err() != nil || g.under.Err() != nil; stopping && isContextEnd(err) {
		return
	}
	g.mu.Lock()
	if g.first == nil {
		g.first = fmt.Errorf("run %s: %w", name, err)
	}
	cause := g.first
	g.mu.Unlock()
	g.fail(cause)
}

func isContextEnd(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, ErrDraining) ||
		errors.Is(err, ErrHurried) || errors.Is(err, ErrDrainDeadline)
}
