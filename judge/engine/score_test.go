package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"judgefarm/judge"
	"judgefarm/testcases"
)

func pts(n int64) *judge.Score { s := judge.ScoreOf(n); return &s }

func part(a, b int64) *judge.Score { s := judge.ShareOf(a, b); return &s }

// set makes a group of n cases called NAME/1 and so on.
func set(name string, n int, a *testcases.Aggregate) testcases.Group {
	g := testcases.Group{Name: name, Sample: name == "sample", Score: a}
	for i := range n {
		g.Cases = append(g.Cases, testcases.Case{Name: fmt.Sprintf("%s/%d", name, i+1)})
	}
	return g
}

// results reads "AC WA AC:1/2 AC=7 SK" as those of NAME/1 and so on.
func results(t *testing.T, into map[string]earned, name, text string) {
	t.Helper()
	for i, word := range strings.Fields(text) {
		e := earned{}
		v, points, absolute := strings.Cut(word, "=")
		v, ratio, shared := strings.Cut(v, ":")
		e.verdict = judge.Verdict(v)
		if absolute {
			s, err := judge.ParseScore(points)
			if err != nil {
				t.Fatal(err)
			}
			e.points = &s
		}
		if shared {
			var a, b int64
			if _, err := fmt.Sscanf(ratio, "%d/%d", &a, &b); err != nil {
				t.Fatal(err)
			}
			e.share = part(a, b)
		}
		if e.verdict != judge.Skipped {
			into[fmt.Sprintf("%s/%d", name, i+1)] = e
		}
	}
}

// Every mode of points and of verdicts, for one group.
func TestModes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		a       testcases.Aggregate
		results string
		verdict judge.Verdict
		score   string
		most    string
	}{
		"sum":                   {testcases.Aggregate{}, "AC WA AC", "WA", "2", "3"},
		"sum of accept":         {testcases.Aggregate{Accept: pts(10)}, "AC AC WA", "WA", "20", "30"},
		"a third each":          {testcases.Aggregate{Accept: part(100, 3)}, "AC AC AC", "AC", "100", "100"},
		"reject costs":          {testcases.Aggregate{Accept: pts(10), Reject: pts(-5)}, "AC WA SK", "WA", "0", "30"},
		"shares":                {testcases.Aggregate{Accept: pts(10)}, "AC:1/2 AC:1/4 AC", "AC", "17.5", "30"},
		"points of the checker": {testcases.Aggregate{}, "AC=12.5 AC=7 WA", "WA", "19.5", "3"},
		"min":                   {testcases.Aggregate{Mode: "min", Accept: pts(50)}, "AC AC AC", "AC", "50", "50"},
		"min fails":             {testcases.Aggregate{Mode: "min", Accept: pts(50)}, "AC TLE AC", "TLE", "0", "50"},
		"min of shares, scaled": {testcases.Aggregate{Mode: "min", Scale: pts(40)}, "AC:1/2 AC:3/4 AC", "AC", "20", "40"},
		"max":                   {testcases.Aggregate{Mode: "max", Accept: pts(5)}, "WA AC:1/5 AC:3/5", "WA", "3", "5"},
		"average":               {testcases.Aggregate{Mode: "average", Accept: pts(30)}, "AC WA AC:1/2", "WA", "15", "30"},
		"product":               {testcases.Aggregate{Mode: "product", Scale: pts(100)}, "AC:1/2 AC:1/2 AC", "AC", "25", "100"},
		"all":                   {testcases.Aggregate{Mode: "all", Scale: pts(30)}, "AC AC AC", "AC", "30", "30"},
		"all fails":             {testcases.Aggregate{Mode: "all", Scale: pts(30)}, "AC AC SK", "SK", "0", "30"},
		"first":                 {testcases.Aggregate{}, "AC WA RTE", "WA", "1", "3"},
		"worst":                 {testcases.Aggregate{Verdict: "worst"}, "WA TLE RTE", "RTE", "0", "3"},
		"worst of ours":         {testcases.Aggregate{Verdict: "worst"}, "PE ILE OLE", "ILE", "0", "3"},
		"always":                {testcases.Aggregate{Verdict: "always"}, "WA WA WA", "AC", "0", "3"},
		"any":                   {testcases.Aggregate{AcceptAny: true, Verdict: "worst"}, "WA AC RTE", "AC", "1", "3"},
		"none of any":           {testcases.Aggregate{AcceptAny: true, Verdict: "worst"}, "WA WA RTE", "RTE", "0", "3"},
		"skipped":               {testcases.Aggregate{}, "SK SK SK", "SK", "0", "3"},
		"the rest skipped":      {testcases.Aggregate{}, "AC WA SK", "WA", "1", "3"},
		"stated most":           {testcases.Aggregate{Max: pts(100)}, "AC=88.37 WA WA", "WA", "88.37", "100"},
	} {
		p := &testcases.Problem{Groups: []testcases.Group{set("secret", 3, &c.a)}, Score: &testcases.Aggregate{Verdict: c.a.Verdict, AcceptAny: c.a.AcceptAny}}
		tl := &tally{results: map[string]earned{}}
		results(t, tl.results, "secret", c.results)
		s, most, err := tl.totalOf(context.Background(), p)
		if err != nil || s.verdict != c.verdict || s.score.String() != c.score || most.String() != c.most {
			t.Errorf("%s: got %s, %v of %v, %v; want %s, %s of %s", name, s.verdict, s.score, most, err, c.verdict, c.score, c.most)
		}
	}
}

// Groups in groups, samples that count for nothing, and what documents show.
func TestGroups(t *testing.T) {
	t.Parallel()
	secret := testcases.Group{Name: "secret", Groups: []testcases.Group{
		set("secret/a", 2, &testcases.Aggregate{Mode: "min", Accept: pts(30)}), set("secret/b", 3, &testcases.Aggregate{Accept: part(70, 3)}),
	}}
	p := &testcases.Problem{Groups: []testcases.Group{set("sample", 1, nil), secret}, Score: &testcases.Aggregate{IgnoreSample: true}}
	tl := &tally{results: map[string]earned{}}
	results(t, tl.results, "sample", "WA")
	results(t, tl.results, "secret/a", "AC AC")
	results(t, tl.results, "secret/b", "AC AC AC")
	s, most, err := tl.totalOf(context.Background(), p)
	if err != nil || s.verdict != judge.Accepted || s.score.Cmp(judge.ScoreOf(100)) != 0 || most.Cmp(judge.ScoreOf(100)) != 0 {
		t.Errorf("got %+v of %v, %v", s, most, err)
	}
	var names []string
	for _, g := range tl.groups {
		names = append(names, fmt.Sprintf("%s %s %g/%g", g.Name, g.Verdict, g.Score, g.Max))
	}
	if want := []string{"sample WA 0/1", "secret AC 100/100", "secret/a AC 30/30", "secret/b AC 70/70"}; !slices.Equal(names, want) {
		t.Errorf("groups %q, want %q", names, want)
	}
	exact := tl.exact
	if a := exact.Groups["secret/a"]; a.Score.Cmp(judge.ScoreOf(30)) != 0 || a.Most.Cmp(judge.ScoreOf(30)) != 0 ||
		exact.Cases["secret/b/1"].Cmp(judge.ShareOf(70, 3)) != 0 || len(exact.Groups) != 4 || len(exact.Cases) != 6 {
		t.Errorf("exact points %+v", exact)
	}
}

// More points than a problem says are possible are its fault, and no verdict.
func TestBeyondBounds(t *testing.T) {
	t.Parallel()
	p := &testcases.Problem{Groups: []testcases.Group{set("secret", 1, &testcases.Aggregate{Max: pts(5)})}, Score: &testcases.Aggregate{}}
	tl := &tally{results: map[string]earned{}}
	results(t, tl.results, "secret", "AC=6")
	_, _, err := tl.totalOf(context.Background(), p)
	var failed *judge.Failed
	if !errors.As(err, &failed) || failed.Kind != judge.FailProblem {
		t.Errorf("got %v", err)
	}
}

// follow goes by a plan: verdicts are those that each case would earn.
func follow(p *testcases.Problem, stop judge.Stop, would map[string]earned) string {
	n := newPlan(p, stop)
	var ran []string
	for i, c := range p.Cases() {
		if n.skips(i) {
			n.told(i, earned{verdict: judge.Skipped})
			continue
		}
		ran = append(ran, c.Name)
		n.told(i, would[c.Name])
	}
	return strings.Join(ran, " ")
}

func TestPlan(t *testing.T) {
	t.Parallel()
	a := set("a", 3, &testcases.Aggregate{Mode: "min"})
	b := set("b", 2, nil)
	c := set("c", 2, &testcases.Aggregate{Mode: "all"})
	b.After, c.After = []string{"a"}, []string{"b"}
	p := &testcases.Problem{Groups: []testcases.Group{a, b, c}, Score: &testcases.Aggregate{}}
	plain := &testcases.Problem{Groups: []testcases.Group{set("a", 3, nil), set("b", 2, nil)}}
	would := func(a, b, c string) map[string]earned {
		m := map[string]earned{}
		results(t, m, "a", a)
		results(t, m, "b", b)
		results(t, m, "c", c)
		return m
	}
	for name, c := range map[string]struct {
		p     *testcases.Problem
		stop  judge.Stop
		would map[string]earned
		want  string
	}{
		"first failure":       {plain, "", would("AC WA AC", "AC AC", ""), "a/1 a/2"},
		"never":               {plain, judge.StopNever, would("AC WA AC", "AC AC", ""), "a/1 a/2 a/3 b/1 b/2"},
		"settled, dependency": {p, "", would("AC WA AC", "AC AC", "AC AC"), "a/1 a/2"},
		"all goes well":       {p, "", would("AC AC AC", "AC AC", "AC AC"), "a/1 a/2 a/3 b/1 b/2 c/1 c/2"},
		"a sum goes on":       {p, "", would("AC AC AC", "WA AC", "AC AC"), "a/1 a/2 a/3 b/1 b/2"},
		"never, dependencies": {p, judge.StopNever, would("AC WA AC", "AC AC", "AC AC"), "a/1 a/2 a/3"},
		"all or nothing":      {p, judge.StopGroup, would("AC AC AC", "AC AC", "WA AC"), "a/1 a/2 a/3 b/1 b/2 c/1"},
		"first failure asked": {p, judge.StopFirstFail, would("AC AC AC", "WA AC", "AC AC"), "a/1 a/2 a/3 b/1"},
	} {
		if got := follow(c.p, c.stop, c.would); got != c.want {
			t.Errorf("%s: ran %q, want %q", name, got, c.want)
		}
	}
}

// Skipping never changes points or verdict: what is skipped is what cannot matter.
func TestPlanChangesNothing(t *testing.T) {
	t.Parallel()
	words := []string{"AC", "WA", "TLE"}
	for _, mode := range []testcases.ScoreMode{"", "min", "product", "all", "max", "average"} {
		a := set("a", 3, &testcases.Aggregate{Mode: mode, Accept: pts(10)})
		b := set("b", 2, &testcases.Aggregate{Mode: mode, Accept: pts(7)})
		p := &testcases.Problem{Groups: []testcases.Group{a, b}, Score: &testcases.Aggregate{}}
		for i := range 243 {
			would := map[string]earned{}
			n := i
			for _, c := range p.Cases() {
				would[c.Name] = earned{verdict: judge.Verdict(words[n%3])}
				n /= 3
			}
			ran := map[string]earned{}
			for name := range strings.FieldsSeq(follow(p, "", would)) {
				ran[name] = would[name]
			}
			full, _, err1 := (&tally{results: would}).totalOf(context.Background(), p)
			less, _, err2 := (&tally{results: ran}).totalOf(context.Background(), p)
			if err := errors.Join(err1, err2); err != nil || full.verdict != less.verdict || full.score.Cmp(less.score) != 0 {
				t.Fatalf("mode %q, %v: all cases give %s %v, those that were run %s %v, %v", mode, would, full.verdict, full.score, less.verdict, less.score, err)
			}
		}
	}
}

// The same of groups in groups, whatever their rules, and of refused outputs that have
// a share.
func TestPlanOfNestedGroupsChangesNothing(t *testing.T) {
	t.Parallel()
	half := judge.ShareOf(1, 2)
	earnings := []earned{{verdict: judge.Accepted}, {verdict: judge.WrongAnswer}, {verdict: judge.WrongAnswer, share: &half}, {verdict: judge.TimeLimit}}
	var rules []*testcases.Aggregate
	for _, mode := range []testcases.ScoreMode{"", "min", "product", "all", "max"} {
		for _, verdict := range []testcases.VerdictMode{"", "worst", "always"} {
			rules = append(rules, &testcases.Aggregate{Mode: mode, Verdict: verdict, Scale: pts(3)})
		}
		rules = append(rules, &testcases.Aggregate{Mode: mode, AcceptAny: true})
	}
	rules = append(rules, nil, &testcases.Aggregate{Mode: "min", Reject: pts(2)})
	for _, outer := range rules {
		for _, inner := range rules {
			a, b := set("a", 2, inner), set("b", 1, inner)
			p := &testcases.Problem{Groups: []testcases.Group{{Name: "secret", Score: outer, Groups: []testcases.Group{a, b}}}, Score: &testcases.Aggregate{}}
			for i := range 64 {
				would := map[string]earned{}
				for n, c := i, p.Cases(); len(c) > 0; n, c = n/4, c[1:] {
					would[c[0].Name] = earnings[n%4]
				}
				ran := map[string]earned{}
				for name := range strings.FieldsSeq(follow(p, "", would)) {
					ran[name] = would[name]
				}
				full, _, err1 := (&tally{results: would}).totalOf(context.Background(), p)
				less, _, err2 := (&tally{results: ran}).totalOf(context.Background(), p)
				if err := errors.Join(err1, err2); err != nil || full.verdict != less.verdict || full.score.Cmp(less.score) != 0 {
					t.Fatalf("%+v of %+v, %v: all cases give %s %v, those that were run (%v) %s %v, %v", outer, inner, would, full.verdict, full.score, ran, less.verdict, less.score, err)
				}
			}
		}
	}
}

// Whatever the order in which results come, what is skipped in the end is the same.
func TestPlanInAnyOrder(t *testing.T) {
	t.Parallel()
	a := set("a", 2, &testcases.Aggregate{Mode: "min"})
	b := set("b", 3, &testcases.Aggregate{Mode: "all"})
	c := set("c", 1, nil)
	c.After = []string{"a"}
	for _, p := range []*testcases.Problem{
		{Groups: []testcases.Group{a, b, c}}, {Groups: []testcases.Group{a, b, c}, Score: &testcases.Aggregate{}},
	} {
		all := p.Cases()
		for bits := range 1 << len(all) {
			would := map[string]earned{}
			for i, one := range all {
				would[one.Name] = earned{verdict: judge.Accepted}
				if bits>>i&1 == 1 {
					would[one.Name] = earned{verdict: judge.WrongAnswer}
				}
			}
			// All run at once and tell from last to first, then it is asked in order.
			n := newPlan(p, "")
			for i := len(all) - 1; i >= 0; i-- {
				n.told(i, would[all[i].Name])
			}
			var kept []string
			for i := range all {
				if n.skips(i) {
					n.told(i, earned{verdict: judge.Skipped})
				} else {
					kept = append(kept, all[i].Name)
				}
			}
			if got, want := strings.Join(kept, " "), follow(p, "", would); got != want {
				t.Fatalf("scores %v, failing %b: kept %q, in order %q", p.Scores(), bits, got, want)
			}
		}
	}
}
