package kattis

import (
	"judgefarm/judge"
	"judgefarm/testcases"
)

// defaultMax is what can be reached in 2025-09 where nothing is stated.
const defaultMax = 100

// drafts of 2025-09 and everything before compute scores by graders.
func (r *reader) graded(own config) bool {
	return r.version != v2025 || own.accept != nil || len(own.graderFlags) > 0
}

// score says how the group's points come about.
func (r *reader) score(g *testcases.Group, own config) {
	if r.dialect {
		g.Score = r.domjudgeScore(g, own)
		return
	}
	if r.graded(own) {
		g.Score = r.grader(own)
		g.Stop = own.onReject != "continue"
		return
	}
	if g.Sample {
		return
	}
	r.aggregate(g, own)
}

// rootScore is how sample and secret become the score of a submission.
func (r *reader) rootScore(own config) *testcases.Aggregate {
	if r.version != v2025 {
		root := r.grader(own)
		if r.dialect {
			root.IgnoreSample, root.Verdict = true, testcases.VerdictFirst
		}
		return root
	}
	root := &testcases.Aggregate{IgnoreSample: true}
	for _, g := range r.p.Groups {
		if g.Name == "secret" && g.Score != nil {
			root.Max = g.Score.Max
		}
	}
	return root
}

// grader is the default grader with its flags, or the package's own.
func (r *reader) grader(own config) *testcases.Aggregate {
	a := &testcases.Aggregate{
		Verdict: testcases.VerdictWorst, Accept: own.accept, Reject: own.reject, Min: own.least, Max: own.most,
	}
	if own.custom {
		a.Mode, a.GraderArgs = testcases.ModeCustom, own.graderFlags
		all := r.programs("graders")
		if len(all) != 1 {
			r.Refuse("graders", "must hold the one grader that grading: custom asks for, holds %d", len(all))
			return a
		}
		a.Grader = r.program(all[0], nil)
		a.Grader.Protocol = testcases.ProtocolPlain
		return a
	}
	for _, flag := range own.graderFlags {
		switch flag {
		case "worst_error":
			a.Verdict = testcases.VerdictWorst
		case "first_error":
			a.Verdict = testcases.VerdictFirst
		case "always_accept":
			a.Verdict = testcases.VerdictAlways
		case "sum":
			a.Mode = testcases.ModeSum
		case "avg":
			a.Mode = testcases.ModeAverage
		case "min":
			a.Mode = testcases.ModeMin
		case "max":
			a.Mode = testcases.ModeMax
		case "ignore_sample":
			a.IgnoreSample = true
		case "accept_if_any_accepted":
			a.AcceptAny = true
		default:
			r.Refuse(dataFolder, "grader flag %.64q is not known", flag)
		}
	}
	return a
}

// aggregate is the rule of 2025-09, "Scoring test data groups".
func (r *reader) aggregate(g *testcases.Group, own config) {
	a := &testcases.Aggregate{Verdict: testcases.VerdictFirst}
	aggregation := r.aggregated(g, own)
	if own.max != nil {
		a.Max = own.max
	} else if g.Name == "secret" && !own.unbounded {
		a.Max = points(defaultMax)
	}
	switch aggregation {
	case "pass-fail":
		a.Mode, a.Scale = testcases.ModeAll, a.Max
		if a.Max == nil {
			r.Refuse(dataFolder+"/"+g.Name, "has the aggregation pass-fail and so must state max_score")
		}
	case "min":
		a.Mode, a.Accept = testcases.ModeMin, a.Max
	case "sum":
		a.Accept = r.share(g, a.Max, own)
	}
	if a.Max == nil && aggregation != "pass-fail" {
		zero := judge.Score{}
		a.Accept = &zero // an accepted case brings its score with it
	}
	g.Score, g.After = a, own.after
}

// aggregated is the rule that a group states, or has.
func (r *reader) aggregated(g *testcases.Group, own config) string {
	switch {
	case own.aggregation != "":
		return own.aggregation
	case g.Name == "secret":
		return "sum"
	}
	return "pass-fail"
}

// share is what one of a group's cases is worth, once the static one has its points.
func (r *reader) share(g *testcases.Group, most *judge.Score, own config) *judge.Score {
	n, left := int64(len(g.Cases)), most
	if c := own.static; n > 0 && g.Cases[0].Static {
		n--
		if c.score != nil && most != nil {
			rest := most.Sub(*c.score)
			left = &rest
			if rest.Sign() < 0 {
				c.d.Refuse(c.at, "static_validation_score must be at most max_score, which is %v", *most)
			}
		}
	}
	if left == nil || n < 1 {
		return nil
	}
	share := left.Div(n)
	return &share
}

// domjudgeScore: a group of cases is worth its accept_score when all of them are
// accepted, unless its validator gives scores, and its verdict is the first that is not
// accepted; see the class SubmissionService of DOMjudge.
func (r *reader) domjudgeScore(g *testcases.Group, own config) *testcases.Aggregate {
	a := r.grader(own)
	a.Accept, a.Reject, a.Verdict = nil, nil, testcases.VerdictFirst
	switch {
	case g.Sample || len(g.Groups) > 0:
	case own.accept != nil:
		a.Mode, a.Scale = testcases.ModeAll, own.accept
	default:
		zero := judge.Score{}
		a.Accept = &zero
	}
	return a
}
