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
	lookAgain = time.Second // between looks at a host that is not well
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

// left is how long the rest still takes, and whether the last attempt failed.
func (r *rest) left() (left time.Duration, ill bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Until(r.until), r.next > 0
}

// waitWell returns when the rest is over and this host can judge again, as far as
// Config.Well tells, or at the end of take.
func (w *Worker) waitWell(take context.Context) {
	var told string
	for left, ill := w.rest.left(); ill && take.Err() == nil; _, ill = w.rest.left() {
		select {
		case <-take.Done():
		case <-time.After(left):
		}
		err := w.Well(take)
		if err == nil {
			return
		}
		if text := err.Error(); text != told && take.Err() == nil {
			w.Log.Error("take no work: this host cannot judge", "error", err)
			told = text
		}
		left = lookAgain
	}
}
