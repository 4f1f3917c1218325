package engine

import (
	"context"
	"fmt"
	"slices"

	"judgefarm/judge"
	"judgefarm/testcases"
)

// earned is what one case gave: its verdict, and what its checker said of points. A
// case that nobody ran is SK.
type earned struct {
	verdict judge.Verdict
	share   *judge.Score // of what the case is worth; nil is all or nothing
	points  *judge.Score // absolute, instead of a share
}

// grader runs a problem's own grader: results in, one result out.
type grader func(ctx context.Context, a *testcases.Aggregate, items []scored) (scored, error)

// scored is the result of a group, or of a case on its way into one.
type scored struct {
	verdict judge.Verdict
	score   judge.Score
}

// tally puts the results of all cases together.
type tally struct {
	results map[string]earned // by case name; absent is skipped
	grade   grader
	groups  []judge.GroupResult // in the order of the problem, outer groups first
	exact   Points              // of what was put together so far
}

// totalOf is the result of a scoring problem.
func (t *tally) totalOf(ctx context.Context, p *testcases.Problem) (scored, judge.Score, error) {
	t.exact = Points{Groups: map[string]Scored{}, Cases: map[string]judge.Score{}}
	groups := p.Groups
	if p.Score.IgnoreSample {
		groups = slices.DeleteFunc(slices.Clone(groups), func(g testcases.Group) bool { return g.Sample })
		for _, g := range p.Groups { // they are shown all the same
			if g.Sample {
				if _, err := t.group(ctx, g); err != nil {
					return scored{}, judge.Score{}, err
				}
			}
		}
	}
	whole := testcases.Group{Name: "the problem", Groups: groups, Score: p.Score}
	s, err := t.combine(ctx, whole)
	return s, reachable(whole), err
}

// group adds a group's result to those that are shown, those of the groups in it after.
func (t *tally) group(ctx context.Context, g testcases.Group) (scored, error) {
	at := len(t.groups)
	t.groups = append(t.groups, judge.GroupResult{Name: g.Name})
	s, err := t.combine(ctx, g)
	most := reachable(g)
	t.exact.Groups[g.Name] = Scored{s.score, most}
	t.groups[at].Verdict, t.groups[at].Score, t.groups[at].Max = s.verdict, s.score.Float(), most.Float()
	return s, err
}

// combine is the rule of a group over its cases and groups.
func (t *tally) combine(ctx context.Context, g testcases.Group) (scored, error) {
	a := g.Score
	if a == nil {
		a = &testcases.Aggregate{}
	}
	var items []scored
	for _, name := range g.Also {
		items = append(items, t.ofCase(testcases.Case{Name: name}, a))
	}
	for _, c := range g.Cases {
		one := t.ofCase(c, a)
		items, t.exact.Cases[c.Name] = append(items, one), one.score
	}
	for _, below := range g.Groups {
		s, err := t.group(ctx, below)
		if err != nil {
			return scored{}, err
		}
		items = append(items, s)
	}
	if a.Mode == testcases.ModeCustom {
		return t.grade(ctx, a, items)
	}
	s := scored{verdict: verdictOf(a, items), score: scoreOf(a, items)}
	if a.Max != nil && s.score.Cmp(*a.Max) > 0 || a.Min != nil && s.score.Cmp(*a.Min) < 0 {
		return s, &judge.Failed{Kind: judge.FailProblem,
			Reason: fmt.Sprintf("the problem gave %v points to group %s, which is beyond what it says is possible", s.score, g.Name)}
	}
	return s, nil
}

func (t *tally) ofCase(c testcases.Case, a *testcases.Aggregate) scored {
	e, ok := t.results[c.Name]
	if !ok {
		e.verdict = judge.Skipped
	}
	if a.Threshold != nil { // the share is a measure and gives nothing by itself
		if e.verdict == judge.Accepted && measured(e.share).Cmp(*a.Threshold) > 0 {
			e.verdict = judge.WrongAnswer
		}
		e.share = nil
	}
	s := scored{verdict: e.verdict}
	switch {
	case e.points != nil:
		s.score = *e.points
	case e.share != nil:
		s.score = worth(c, a).Mul(*e.share)
	case e.verdict == judge.Accepted:
		s.score = worth(c, a)
	case a.Reject != nil:
		s.score = *a.Reject
	}
	return s
}

// measured is what a checker gave, where nothing is everything.
func measured(share *judge.Score) judge.Score {
	if share == nil {
		return judge.ScoreOf(1)
	}
	return *share
}

// worth is what an accepted case gives.
func worth(c testcases.Case, a *testcases.Aggregate) judge.Score {
	switch {
	case c.Points != nil:
		return *c.Points
	case a.Accept != nil:
		return *a.Accept
	}
	return judge.ScoreOf(1)
}

// scoreOf puts points together.
func scoreOf(a *testcases.Aggregate, items []scored) judge.Score {
	scale := judge.ScoreOf(1)
	if a.Scale != nil {
		scale = *a.Scale
	}
	if a.Mode == testcases.ModeAll {
		for _, i := range items {
			if i.verdict != judge.Accepted {
				return judge.Score{}
			}
		}
		return scale
	}
	if len(items) == 0 {
		return judge.Score{}
	}
	total := items[0].score
	for _, i := range items[1:] {
		switch a.Mode {
		case testcases.ModeMin:
			if i.score.Cmp(total) < 0 {
				total = i.score
			}
		case testcases.ModeMax:
			if i.score.Cmp(total) > 0 {
				total = i.score
			}
		case testcases.ModeProduct:
			total = total.Mul(i.score)
		default:
			total = total.Add(i.score)
		}
	}
	if a.Mode == testcases.ModeAverage {
		total = total.Div(int64(len(items)))
	}
	return total.Mul(scale)
}

// severity is the order of the Kattis format, legacy, "Default grader
// specification": RTE, MLE, TLE, OLE, WA; ours that it does not have stand beside
// those that they are read as. What was skipped is no error.
var severity = []judge.Verdict{
	judge.RuntimeError, judge.SecurityViolation, judge.MemoryLimit, judge.TimeLimit, judge.WallTimeLimit, judge.IdleLimit,
	judge.OutputLimit, judge.WrongAnswer, judge.PresentationError,
}

// verdictOf puts verdicts together. A group of which nothing was run is SK; one
// that was left after accepted cases only is not accepted either, and so SK too.
func verdictOf(a *testcases.Aggregate, items []scored) judge.Verdict {
	if a.Verdict == testcases.VerdictAlways {
		return judge.Accepted
	}
	first, skipped, accepted := judge.Verdict(""), false, false
	for _, i := range items {
		switch i.verdict {
		case judge.Accepted:
			accepted = true
		case judge.Skipped:
			skipped = true
		default:
			if first == "" {
				first = i.verdict
			}
		}
	}
	switch {
	case a.AcceptAny && accepted:
		return judge.Accepted
	case first == "" && skipped:
		return judge.Skipped
	case first == "":
		return judge.Accepted
	case a.Verdict == testcases.VerdictWorst:
		for _, v := range severity {
			if slices.ContainsFunc(items, func(i scored) bool { return i.verdict == v }) {
				return v
			}
		}
	}
	return first
}

// reachable is what a group gives when everything in it is accepted: as stated, else
// by its own rule. Checkers that give more are not known before.
func reachable(g testcases.Group) judge.Score {
	a := g.Score
	if a == nil {
		a = &testcases.Aggregate{}
	}
	if a.Max != nil {
		return *a.Max
	}
	var items []scored
	for range g.Also {
		items = append(items, scored{judge.Accepted, worth(testcases.Case{}, a)})
	}
	for _, c := range g.Cases {
		items = append(items, scored{judge.Accepted, worth(c, a)})
	}
	for _, below := range g.Groups {
		items = append(items, scored{judge.Accepted, reachable(below)})
	}
	return scoreOf(a, items)
}
