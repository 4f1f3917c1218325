package engine

import (
	"math"

	"judgefarm/judge"
	"judgefarm/testcases"
)

// plan says which cases, by their place in the problem, are still worth a run. What
// it is told may come in any order: only what was told of earlier cases counts for
// one, and a case that is skipped is as one that was not accepted. So the answer for
// a case may change from no to yes and never back.
type plan struct {
	stop   judge.Stop
	in     [][]path       // the ways to a case: its own, and those of groups that count it too
	failed int            // the first case that was not accepted
	broken map[string]int // the same, by group
}

// path is a group with those that it is in, outermost first.
type path []*testcases.Group

// none is the place of no case.
const none = math.MaxInt

func newPlan(p *testcases.Problem, stop judge.Stop) *plan {
	n := &plan{stop: stop, failed: none, broken: map[string]int{}}
	switch {
	case p.Scores() && (stop == "" || stop == judge.StopHardest):
		n.stop = judge.StopGroup
	case stop == judge.StopHardest: // the cases are in no order of groups
		n.stop, n.in = judge.StopFirstFail, make([][]path, len(p.Cases()))
		for i := range n.in {
			n.in[i] = []path{nil}
		}
		return n
	case stop == "":
		n.stop = judge.StopFirstFail
	}
	at := map[string]int{} // places of cases
	var walk func(groups []testcases.Group, above path)
	walk = func(groups []testcases.Group, above path) {
		for i := range groups {
			g := &groups[i]
			way := append(above[:len(above):len(above)], g)
			n.broken[g.Name] = none
			for _, name := range g.Also {
				n.in[at[name]] = append(n.in[at[name]], way)
			}
			for _, c := range g.Cases {
				at[c.Name] = len(n.in)
				n.in = append(n.in, []path{way})
			}
			walk(g.Groups, way)
		}
	}
	walk(p.Groups, nil)
	return n
}

// skips reports whether case i need not be run.
func (n *plan) skips(i int) bool {
	if n.failed < i && n.stop == judge.StopFirstFail {
		return true
	}
	for _, way := range n.in[i] {
		if !n.closed(way, i) {
			return false
		}
	}
	return true
}

// closed reports whether nothing can be earned on a way any more.
func (n *plan) closed(way path, i int) bool {
	for _, g := range way {
		for _, before := range g.After {
			if n.broken[before] < i {
				return true
			}
		}
		if n.broken[g.Name] < i && n.stop != judge.StopNever && (g.Stop || settled(g.Score)) {
			return true
		}
	}
	return false
}

// settled reports whether one rejected case fixes the points of a group: all or
// nothing, or the least of shares, of which none is less than nothing.
func settled(a *testcases.Aggregate) bool {
	if a == nil || a.AcceptAny || a.Verdict == testcases.VerdictWorst {
		return false // the verdict may still change
	}
	nothing := a.Reject == nil || a.Reject.Sign() == 0
	return a.Mode == testcases.ModeAll || nothing && (a.Mode == testcases.ModeMin || a.Mode == testcases.ModeProduct)
}

// told takes the verdict of a case; SK for one that was skipped.
func (n *plan) told(i int, v judge.Verdict) {
	if v == judge.Accepted {
		return
	}
	n.failed = min(n.failed, i)
	for _, way := range n.in[i] {
		for _, g := range way {
			n.broken[g.Name] = min(n.broken[g.Name], i)
		}
	}
}
