package api

import (
	"context"
	"sync"
)

// memory bounds the bytes of JSON bodies that are in memory at one time. Each body
// claims what it holds as it arrives: what a request announces costs its sender
// nothing. So that bodies which are half there do not wait for each other for ever,
// there is a reserve as large as the largest body besides: one that gets no more of
// the memory for all takes it, and waits for nobody from then on.
type memory struct {
	mu      sync.Mutex
	free    int64         // of the memory for all
	reserve bool          // somebody has the reserve
	back    chan struct{} // closed, and replaced, when a claim gave something back
}

// newMemory returns memory of all bytes, of which largest are the reserve.
func newMemory(all, largest int64) *memory {
	return &memory{free: max(all-largest, 0), back: make(chan struct{})}
}

// claim is what one body has taken. It is not for use by several goroutines.
type claim struct {
	from    *memory
	size    int64
	taken   int64 // of the memory for all
	reserve bool  // what goes beyond taken is of the reserve
}

// grow takes n bytes more, or returns the cause of ctx's end.
func (c *claim) grow(ctx context.Context, n int64) error {
	for {
		back := c.tryGrow(n)
		if back == nil {
			return nil
		}
		select {
		case <-back:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// tryGrow returns what to wait for where it could not take n bytes.
func (c *claim) tryGrow(n int64) <-chan struct{} {
	m := c.from
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case c.reserve:
	case m.free >= n:
		m.free -= n
		c.taken += n
	case !m.reserve:
		m.reserve, c.reserve = true, true
	default:
		return m.back
	}
	c.size += n
	return nil
}

// release gives all of it back. It may be called again.
func (c *claim) release() {
	m := c.from
	m.mu.Lock()
	defer m.mu.Unlock()
	m.free += c.taken
	m.reserve = m.reserve && !c.reserve
	c.size, c.taken, c.reserve = 0, 0, false
	close(m.back)
	m.back = make(chan struct{})
}
