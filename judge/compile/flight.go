package compile

import (
	"context"
	"errors"
	"sync"
)

// errClosed is the cause of what Close stops.
var errClosed = errors.New("compiler is closed")

// outcome is what one compile gave. The entry is nil when it was not kept.
type outcome struct {
	meta  meta
	entry *entry
}

// flights lets callers who want the same at the same time share one compile. A
// compile goes on while one of them waits, whoever started it, and is stopped
// when the last has gone.
type flights struct {
	mu     sync.Mutex
	open   map[string]*flight
	closed bool
	wg     sync.WaitGroup
}

type flight struct {
	key     string
	waiters int // guarded by flights.mu
	stop    context.CancelCauseFunc
	done    chan struct{} // closed when out and err are set
	out     outcome       // its entry is pinned for the flight
	err     error
}

// join starts build, or joins it when it is under way under that key. Every
// successful join needs one leave.
func (fs *flights) join(ctx context.Context, key string, build func(context.Context) (outcome, error)) (f *flight, first bool, err error) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.closed {
		return nil, false, errClosed
	}
	if f := fs.open[key]; f != nil {
		f.waiters++
		return f, false, nil
	}
	ctx, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	f = &flight{key: key, waiters: 1, stop: stop, done: make(chan struct{})}
	if fs.open == nil {
		fs.open = map[string]*flight{}
	}
	fs.open[key] = f
	fs.wg.Go(func() {
		f.out, f.err = build(ctx)
		close(f.done)
		fs.mu.Lock()
		defer fs.mu.Unlock()
		fs.removeLocked(f)
	})
	return f, true, nil
}

// leave gives up a joined flight. The last to leave stops it, or has its outcome
// dropped when it is done.
func (fs *flights) leave(f *flight, drop func(outcome)) {
	fs.mu.Lock()
	f.waiters--
	last := f.waiters == 0
	if last {
		fs.removeLocked(f)
		f.stop(context.Canceled)
	}
	fs.mu.Unlock()
	if !last {
		return
	}
	// The stopped box ends within moments; its outcome must not stay pinned.
	<-f.done
	drop(f.out)
}

func (fs *flights) removeLocked(f *flight) {
	if fs.open[f.key] == f {
		delete(fs.open, f.key)
	}
}

// close stops every flight and waits.
func (fs *flights) close() {
	fs.mu.Lock()
	fs.closed = true
	for _, f := range fs.open {
		f.stop(errClosed)
	}
	fs.mu.Unlock()
	fs.wg.Wait()
}
