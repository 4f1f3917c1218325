package engine

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"judgefarm/judge"
	"judgefarm/testcases"
)

// Bounds of what is remembered of cases: over them, problems that nobody judged for the
// longest time are forgotten.
const (
	hardProblems = 1024
	hardCases    = 200_000
	hardRuns     = 1000 // of a case; then all counts are halved, so that new ones tell
)

// hardness remembers how the cases of problems, by digest, went here: how often each was
// not accepted, and how long it took. It knows what this engine saw and nothing else.
type hardness struct {
	mu       sync.Mutex
	problems map[string]*seen
	cases    int
	clock    int64 // counts uses
}

// seen is what is known of one problem's cases, in its order.
type seen struct {
	used  int64
	cases []seenCase
}

type seenCase struct {
	runs, failed int
	wall         time.Duration // of all runs
}

// order is that in which the cases of a problem are worth a run when any failure will
// do: those first that are likely to fail for the time that they take. What was never
// run has the time of an average case. Without any knowledge it is the problem's.
func (h *hardness) order(digest string, n int) []int {
	h.mu.Lock()
	defer h.mu.Unlock()
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	p := h.problems[digest]
	if p == nil || len(p.cases) != n {
		return order
	}
	h.clock++
	p.used = h.clock
	var runs int
	var wall time.Duration
	for _, c := range p.cases {
		runs, wall = runs+c.runs, wall+c.wall
	}
	worth := make([]float64, n) // failures for a second
	for i, c := range p.cases {
		took := wall / time.Duration(max(runs, 1))
		if c.runs > 0 {
			took = c.wall / time.Duration(c.runs)
		}
		worth[i] = float64(c.failed+1) / float64(c.runs+2) / max(took, time.Millisecond).Seconds()
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(worth[b], worth[a]) })
	return order
}

// learn takes in the runs of a judgement, in the problem's order.
func (h *hardness) learn(digest string, runs []judge.Run) {
	if len(runs) < 2 || len(runs) > hardCases {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.problems[digest]
	if p == nil || len(p.cases) != len(runs) {
		h.forget(digest)
		p = &seen{cases: make([]seenCase, len(runs))}
		h.problems[digest] = p
		h.cases += len(runs)
	}
	h.clock++
	p.used = h.clock
	for i, r := range runs {
		p.cases[i].learn(r)
	}
	for len(h.problems) > hardProblems || h.cases > hardCases {
		oldest, used := "", h.clock
		for name, q := range h.problems {
			if q.used < used {
				oldest, used = name, q.used
			}
		}
		h.forget(oldest)
	}
}

func (c *seenCase) learn(r judge.Run) {
	if r.Verdict == judge.Skipped {
		return
	}
	if c.runs >= hardRuns {
		c.runs, c.failed, c.wall = c.runs/2, c.failed/2, c.wall/2
	}
	c.runs++
	c.wall += r.Usage.Wall.Duration()
	if r.Verdict != judge.Accepted {
		c.failed++
	}
}

func (h *hardness) forget(digest string) {
	if p := h.problems[digest]; p != nil {
		h.cases -= len(p.cases)
		delete(h.problems, digest)
	}
}

// order is that in which the submission's cases run. Only where it asks for it, and in
// problems without points alone, is it another than the problem's: points depend on
// which cases of a group were skipped.
func (s *session) order(cases []testcases.Case) []int {
	if s.job.Submission.Stop == judge.StopHardest && !s.job.Problem.Scores() {
		return s.hard.order(s.job.Problem.Digest, len(cases))
	}
	order := make([]int, len(cases))
	for i := range order {
		order[i] = i
	}
	return order
}
