package engine

import (
	"math"
	"slices"

	"judgefarm/judge"
	"judgefarm/testcases"
)

// plan says which cases, by their place in the problem, are still worth a run. What
// it is told may come in any order: only what was told of earlier cases counts for
// one, and a case that is skipped is as one that was not accepted and gave nothing. So
// the answer for a case may change from no to yes and never back.
type plan struct {
	stop    judge.Stop
	in      [][]path       // the ways to a case: its own, and those of groups that count it too
	failed  int            // the first case that was not accepted
	broken  map[string]int // the same, by group
	settled map[string]int // the first case that fixed the points and the verdict of a group
}

// path is a group with those that it is in, outermost first.
type path []*testcases.Group

// none is the place of no case.
const none = math.MaxInt

func newPlan(p *testcases.Problem, stop judge.Stop) *plan {
	n := &plan{stop: stop, failed: none, broken: map[string]int{}, settled: map[string]int{}}
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
			n.broken[g.Name], n.settled[g.Name] = none, none
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
		if n.stop != judge.StopNever && (g.Stop && n.broken[g.Name] < i || n.settled[g.Name] < i) {
			return true
		}
	}
	return false
}

// told takes what came of a case; SK for one that was skipped.
func (n *plan) told(i int, e earned) {
	if e.verdict == judge.Accepted {
		return
	}
	n.failed = min(n.failed, i)
	for _, way := range n.in[i] {
		p := known{refused: true, final: true, nothing: !e.something()}
		for k, g := range slices.Backward(way) {
			n.broken[g.Name] = min(n.broken[g.Name], i)
			if k == len(way)-1 && g.Score != nil && g.Score.Reject != nil && g.Score.Reject.Sign() != 0 {
				p.nothing = false
			}
			var fixed bool
			if fixed, p = p.into(g.Score); fixed {
				n.settled[g.Name] = min(n.settled[g.Name], i)
			}
		}
	}
}

// something reports whether points come with a verdict that is not AC: a checker may
// give a share to what it refuses.
func (e earned) something() bool {
	return e.points != nil && e.points.Sign() != 0 || e.share != nil && e.share.Sign() != 0
}

// known is what is for good of a case or group, whatever the cases bring that are left:
// that it is not accepted, and with which verdict, and that it gives no points.
type known struct{ refused, final, nothing bool }

// into is what a group comes to that has such a part, and whether no other part of it
// changes its points or verdict: all or nothing, or the least or product of shares, of
// which none is less than nothing.
func (p known) into(a *testcases.Aggregate) (fixed bool, whole known) {
	if a == nil {
		return false, known{refused: p.refused, final: p.final}
	}
	always, first := a.Verdict == testcases.VerdictAlways, a.Verdict == testcases.VerdictFirst
	whole.refused = p.refused && !always && !a.AcceptAny && a.Mode != testcases.ModeCustom
	whole.final = whole.refused && first && p.final
	whole.nothing = p.refused && a.Mode == testcases.ModeAll ||
		p.nothing && (a.Mode == testcases.ModeMin || a.Mode == testcases.ModeProduct)
	return whole.nothing && (always || whole.final), whole
}
