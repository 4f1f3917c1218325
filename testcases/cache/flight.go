package cache

import (
	"context"
	"errors"
	"fmt"
)

// flight is one fetch that several may wait for. It goes on while one of them does.
type flight struct {
	cancel context.CancelCauseFunc
	done   chan struct{} // closed when entry or err is set

	// Guarded by Cache.mu until done is closed, constant afterwards.
	waiters int
	entry   *entry // pinned once for each waiter
	result  string // for the metric
	err     error
}

var errUnwanted = errors.New("nobody waits for this problem any more")

// join waits for the fetch of a digest, starting it where none runs, and returns
// the entry pinned for the caller, and how it went for the metric.
func (c *Cache) join(ctx context.Context, digest string) (*entry, string, error) {
	c.mu.Lock()
	if c.ctx.Err() != nil {
		c.mu.Unlock()
		return nil, resultFailed, context.Cause(c.ctx)
	}
	if e := c.entries[digest]; e != nil && e.problem != nil { // came while the caller looked
		c.pinLocked(e, 1)
		c.mu.Unlock()
		return e, resultHit, nil
	}
	f := c.flights[digest]
	if f == nil {
		// The fetch is for everybody who waits, so it ends with none of them alone.
		flightCtx, cancel := context.WithCancelCause(c.ctx)
		f = &flight{cancel: cancel, done: make(chan struct{})}
		c.flights[digest] = f
		c.running.Go(func() { c.fly(flightCtx, digest, f) })
	}
	f.waiters++
	c.mu.Unlock()

	select {
	case <-f.done:
		return f.entry, f.result, f.err
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-f.done: // landed meanwhile: give the pin back
		if f.entry != nil {
			c.unpinLocked(f.entry)
		}
	default:
		f.waiters--
		if f.waiters == 0 {
			f.cancel(errUnwanted)
			delete(c.flights, digest) // who comes now starts a new one
		}
	}
	return nil, resultFailed, context.Cause(ctx)
}

// fly gets the entry and hands it to all who wait.
func (c *Cache) fly(ctx context.Context, digest string, f *flight) {
	defer f.cancel(nil)
	e, result, err := c.get(ctx, digest)
	c.mu.Lock()
	defer c.mu.Unlock()
	defer close(f.done)
	if c.flights[digest] == f {
		delete(c.flights, digest)
	}
	f.result = result
	if err != nil {
		f.err = err
		return
	}
	if f.waiters == 0 || c.entries[digest] != nil {
		// Everybody left just now, or after they left another flight landed first.
		e.dropped = true
		if f.waiters == 0 {
			c.removeLocked(e)
			return
		}
	} else {
		c.entries[digest] = e
	}
	c.pinLocked(e, f.waiters)
	c.cfg.Metrics.size(c.used, len(c.entries))
	f.entry = e
}

// get takes over what an earlier process left of the problem, else fetches it, and
// makes room for it. Two problems are on their way at one time, room included.
func (c *Cache) get(ctx context.Context, digest string) (*entry, string, error) {
	select {
	case c.fetch <- struct{}{}:
		defer func() { <-c.fetch }()
	case <-ctx.Done():
		return nil, resultFailed, context.Cause(ctx)
	}
	result := resultHit
	e := c.inherit(ctx, digest)
	if e == nil {
		result = resultFetched
		var err error
		if e, err = c.obtain(ctx, digest); err != nil {
			return nil, resultFailed, err
		}
	}
	if err := c.makeRoom(ctx, e); err != nil {
		return nil, resultFailed, err
	}
	return e, result, nil
}

// makeRoom counts the new entry in, after removing what was used longest ago. While
// all that is left is in use it waits.
func (c *Cache) makeRoom(ctx context.Context, e *entry) error {
	if e.size > int64(c.cfg.MaxBytes) {
		return errors.Join(stored("problem takes %d bytes, the cache may hold %d: raise its bound", e.size, c.cfg.MaxBytes), e.remove())
	}
	for {
		c.mu.Lock()
		for c.used+e.size > int64(c.cfg.MaxBytes) {
			oldest := c.oldestLocked()
			if oldest == nil {
				break
			}
			c.dropLocked(oldest)
		}
		if c.used+e.size <= int64(c.cfg.MaxBytes) {
			c.used += e.size
			c.mu.Unlock()
			return nil
		}
		freed := c.freed
		c.mu.Unlock()
		select {
		case <-freed:
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("wait for room in the problem cache: %w", context.Cause(ctx)), e.remove())
		}
	}
}

func (c *Cache) oldestLocked() *entry {
	var oldest *entry
	for _, e := range c.entries {
		if e.users == 0 && (oldest == nil || e.lastUse < oldest.lastUse) {
			oldest = e
		}
	}
	return oldest
}
