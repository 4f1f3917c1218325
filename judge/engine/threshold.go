package engine

import (
	"fmt"

	"judgefarm/judge"
	"judgefarm/judge/checker"
	"judgefarm/testcases"
)

// thresholds are the largest of each case's groups, by case name. A case that is in a
// group without one is not among them; nil is a problem that has none.
func thresholds(p *testcases.Problem) map[string]judge.Score {
	most, free := map[string]judge.Score{}, map[string]bool{}
	var walk func(groups []testcases.Group)
	walk = func(groups []testcases.Group) {
		for _, g := range groups {
			names := g.Also[:len(g.Also):len(g.Also)]
			for _, c := range g.Cases {
				names = append(names, c.Name)
			}
			for _, name := range names {
				switch have, ok := most[name]; {
				case g.Score == nil || g.Score.Threshold == nil:
					free[name] = true
				case !ok || g.Score.Threshold.Cmp(have) > 0:
					most[name] = *g.Score.Threshold
				}
			}
			walk(g.Groups)
		}
	}
	walk(p.Groups)
	if len(most) == 0 {
		return nil
	}
	for name := range free {
		delete(most, name)
	}
	return most
}

// compare makes a case WA that measures more than any of its groups allows.
func (s *session) compare(run *judge.Run, ruling checker.Ruling) {
	limit, ok := s.most[run.Name]
	if ok && run.Verdict == judge.Accepted && measured(ruling.Share).Cmp(limit) > 0 {
		run.Verdict, run.Message = judge.WrongAnswer, fmt.Sprintf("measured %v, which is over %v", measured(ruling.Share), limit)
	}
}
