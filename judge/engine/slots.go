package engine

import (
	"context"
	"slices"
	"sync"
)

// Slots are the places for boxes of a host, as many as its runner has. A submission
// holds one while it is compiled and judged; those that nobody holds are lent to its
// further cases, one case at a time. Who waits with a submission comes before all
// who wait with a case, so that idle slots alone run cases side by side: a submission
// waits for the end of one case at most. It is safe for concurrent use.
type Slots struct {
	mu          sync.Mutex
	free        int
	submissions []chan struct{} // who waits, in order; closed when it has a slot
	cases       []chan struct{}
}

// NewSlots returns n free slots, at least 1.
func NewSlots(n int) *Slots { return &Slots{free: max(n, 1)} }

// take waits for a slot of a submission; the error is ctx's cause.
func (s *Slots) take(ctx context.Context) error { return s.wait(ctx, &s.submissions) }

// borrow waits for a slot that no submission wants.
func (s *Slots) borrow(ctx context.Context) error { return s.wait(ctx, &s.cases) }

func (s *Slots) wait(ctx context.Context, line *[]chan struct{}) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	s.mu.Lock()
	if s.free > 0 { // then nobody waits
		s.free--
		s.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	*line = append(*line, turn)
	s.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	i := slices.Index(*line, turn)
	if i >= 0 {
		*line = slices.Delete(*line, i, i+1)
	}
	s.mu.Unlock()
	if i < 0 { // it was our turn at the same moment
		s.give()
	}
	return context.Cause(ctx)
}

// give hands a slot to the next who waits.
func (s *Slots) give() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, line := range []*[]chan struct{}{&s.submissions, &s.cases} {
		if len(*line) > 0 {
			close((*line)[0])
			*line = slices.Delete(*line, 0, 1)
			return
		}
	}
	s.free++
}
