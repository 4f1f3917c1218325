package worker

import (
	"context"
	"sync"
	"time"
)

// The first rest after a fault of ours and the longest; each is twice the one
// before until an attempt succeeds. No rest is longer than what a slow program takes.
const (
	firstRest = 500 * time.Millisecond
	maxRest   = 5 * time.Second
)

// rest holds a worker back after faults of ours. A host that cannot judge fails
// faster than others judge: without a rest it would take the whole line, and each
// submission again until its attempts are used up.
type rest struct {
	mu    sync.Mutex
	next  time.Duration
	until time.Time
}

// failed begins a rest of all slots.
func (r *rest) failed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next = min(max(2*r.next, firstRest), maxRest)
	r.until = time.Now().Add(r.next)
}

// worked says that an attempt succeeded: the host is well.
func (r *rest) worked() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next, r.until = 0, time.Time{}
}

// wait returns when the rest is over, or at the end of take.
func (r *rest) wait(take context.Context) {
	r.mu.Lock()
	left := time.Until(r.until)
	r.mu.Unlock()
	if left <= 0 {
		return
	}
	select {
	case <-take.Done():
	case <-time.After(left):
	}
}
