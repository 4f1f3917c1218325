package engine

import (
	"context"
	"slices"
	"sync"
)

// spare counts boxes that no slot stands for: a problem with several processes needs
// more than one at one time. A case takes all that it needs at once, or two cases could
// wait for each other. Who came first is served first.
type spare struct {
	mu   sync.Mutex
	free int
	line []*wanting
}

type wanting struct {
	n    int
	turn chan struct{} // closed when it has them
}

// take waits for n boxes, of which there must be so many at all; the error is ctx's
// cause.
func (s *spare) take(ctx context.Context, n int) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if n == 0 {
		return nil
	}
	s.mu.Lock()
	w := &wanting{n, make(chan struct{})}
	s.line = append(s.line, w)
	s.serveLocked()
	s.mu.Unlock()
	select {
	case <-w.turn:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.line, w); i >= 0 {
		s.line = slices.Delete(s.line, i, i+1)
	} else { // it was our turn at the same moment
		s.free += n
	}
	s.serveLocked()
	return context.Cause(ctx)
}

// give brings n boxes back.
func (s *spare) give(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free += n
	s.serveLocked()
}

func (s *spare) serveLocked() {
	for len(s.line) > 0 && s.line[0].n <= s.free {
		s.free -= s.line[0].n
		close(s.line[0].turn)
		s.line = s.line[1:]
	}
}
