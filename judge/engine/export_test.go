package engine

import "runtime"

// Free tells how many slots nobody has.
func Free(s *Slots) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.free
}

// AwaitSubmission returns when a submission waits.
func AwaitSubmission(s *Slots) {
	for {
		s.mu.Lock()
		n := len(s.submissions)
		s.mu.Unlock()
		if n > 0 {
			return
		}
		runtime.Gosched()
	}
}

// HardProblems is the bound of what is remembered.
const HardProblems = hardProblems

// Remembered tells how much is.
func Remembered(e *Engine) (problems, cases int) {
	e.hard.mu.Lock()
	defer e.hard.mu.Unlock()
	return len(e.hard.problems), e.hard.cases
}
