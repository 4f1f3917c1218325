package engine

import (
	"testing"

	"judgefarm/judge"
	"judgefarm/testcases"
)

// A case that counts in several groups: it is run once, its result goes into each, and
// it is left out only where none of them has a use for it.
func TestCasesOfSeveralGroups(t *testing.T) {
	t.Parallel()
	points := judge.ScoreOf(40)
	min := func() *testcases.Aggregate { return &testcases.Aggregate{Mode: testcases.ModeMin, Scale: &points} }
	one := func(name string) testcases.Case { return testcases.Case{Name: name} }
	p := &testcases.Problem{Score: &testcases.Aggregate{}, Groups: []testcases.Group{
		{Name: "a", Score: min(), Cases: []testcases.Case{one("a1"), one("a2")}},
		{Name: "b", Score: min(), Also: []string{"a2"}, Cases: []testcases.Case{one("b1"), one("b2")}},
		{Name: "c", Score: min(), Also: []string{"a1", "b1"}, Cases: []testcases.Case{one("c1")}},
	}}
	const ac, wa = judge.Accepted, judge.WrongAnswer
	for name, c := range map[string]struct {
		fails   map[string]bool
		skipped string // what is not run
		score   int64
	}{
		"all right": {nil, "", 120},
		"a1":        {map[string]bool{"a1": true}, "c1", 40}, // a2 is b's too
		"a2":        {map[string]bool{"a2": true}, "b2", 40}, // b1 is c's too
		"b1":        {map[string]bool{"b1": true}, "b2c1", 40},
		"b2":        {map[string]bool{"b2": true}, "", 80},
		"a1 and a2": {map[string]bool{"a1": true, "a2": true}, "b1b2c1", 0},
	} {
		plan, results, skipped := newPlan(p, ""), map[string]earned{}, ""
		for i, one := range p.Cases() {
			if plan.skips(i) {
				plan.told(i, earned{verdict: judge.Skipped})
				skipped += one.Name
				continue
			}
			v := ac
			if c.fails[one.Name] {
				v = wa
			}
			results[one.Name] = earned{verdict: v}
			plan.told(i, results[one.Name])
		}
		got, most, err := (&tally{results: results}).totalOf(t.Context(), p)
		if err != nil || skipped != c.skipped || got.score.Cmp(judge.ScoreOf(c.score)) != 0 || most.Cmp(judge.ScoreOf(120)) != 0 {
			t.Errorf("%s: skipped %q, %v of %v points, %v; want %q, %d", name, skipped, got.score, most, err, c.skipped, c.score)
		}
	}
}

// A measure is accepted up to the threshold of each group that it is in.
func TestThresholds(t *testing.T) {
	t.Parallel()
	score := func(n int64) *judge.Score { s := judge.ScoreOf(n); return &s }
	group := func(name string, points, most int64, also ...string) testcases.Group {
		return testcases.Group{Name: name, Also: also, Score: &testcases.Aggregate{Mode: testcases.ModeAll, Scale: score(points), Threshold: score(most)}}
	}
	p := &testcases.Problem{Score: &testcases.Aggregate{}, Groups: []testcases.Group{group("small", 30, 10), group("large", 70, 20, "1")}}
	p.Groups[0].Cases, p.Groups[1].Cases = []testcases.Case{{Name: "1"}}, []testcases.Case{{Name: "2"}}
	most := thresholds(p)
	if most["1"].Cmp(*score(20)) != 0 || most["2"].Cmp(*score(20)) != 0 || len(most) != 2 {
		t.Errorf("thresholds %v", most)
	}
	for _, c := range []struct{ one, two, want int64 }{
		{10, 20, 100}, {11, 20, 70}, {10, 21, 30}, {20, 20, 70}, {21, 20, 0}, {1, 1, 100},
	} {
		results := map[string]earned{"1": {judge.Accepted, score(c.one), nil}, "2": {judge.Accepted, score(c.two), nil}}
		got, _, err := (&tally{results: results}).totalOf(t.Context(), p)
		if err != nil || got.score.Cmp(*score(c.want)) != 0 || (c.want == 100) != (got.verdict == judge.Accepted) {
			t.Errorf("%d and %d: %v points, %s, %v; want %d", c.one, c.two, got.score, got.verdict, err, c.want)
		}
	}
	results := map[string]earned{"1": {judge.Accepted, nil, nil}, "2": {judge.WrongAnswer, nil, nil}}
	if got, _, err := (&tally{results: results}).totalOf(t.Context(), p); err != nil || got.score.Cmp(*score(30)) != 0 {
		t.Errorf("all and nothing: %v points, %v", got.score, err)
	}
	// Beyond the thresholds of all its groups a case is WA before it comes here.
	results["1"] = earned{judge.WrongAnswer, score(511), nil}
	one := &tally{results: results}
	if got, _, err := one.totalOf(t.Context(), p); err != nil || got.score.Sign() != 0 || one.exact.Cases["1"].Sign() != 0 {
		t.Errorf("far beyond: %v points, %v of case 1, %v", got.score, one.exact.Cases["1"], err)
	}
}
