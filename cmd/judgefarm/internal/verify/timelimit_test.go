package verify

import (
	"testing"
	"time"

	"judgefarm/judge"
	"judgefarm/languages"
	"judgefarm/testcases"
)

// Which submissions bound the limit, from below and from above; Kattis format,
// 2025-09, "Determining the time limit".
func TestBounds(t *testing.T) {
	t.Parallel()
	ac, wa := judge.Accepted, judge.WrongAnswer
	slow := []judge.Verdict{judge.TimeLimit, judge.WallTimeLimit, judge.IdleLimit, judge.OutputLimit}
	list := func(v ...judge.Verdict) []judge.Verdict { return v }
	of := func(e ...testcases.Expectation) testcases.Labelled {
		return testcases.Labelled{Allowed: append(list(ac, wa), slow...), Expect: e}
	}
	for name, c := range map[string]struct {
		sub          testcases.Labelled
		lower, upper int
	}{
		"accepted":                {testcases.Labelled{Label: "accepted", Allowed: list(ac)}, 1, 0},
		"slow accepted":           {testcases.Labelled{Label: "slow_accepted", Allowed: append(list(ac), slow...)}, 0, 0},
		"wrong":                   {testcases.Labelled{Allowed: list(wa)}, 0, 0},
		"too slow":                {testcases.Labelled{Allowed: slow}, 0, 1},
		"too slow or wrong":       {testcases.Labelled{Allowed: append(list(wa), slow...)}, 0, 0},
		"anything":                {testcases.Labelled{}, 0, 0},
		"points besides":          {testcases.Labelled{Allowed: list(ac), Expect: []testcases.Expectation{{Partial: true}}}, 1, 0},
		"permitted without TLE":   {of(testcases.Expectation{Permitted: list(ac, wa)}), 1, 0},
		"permitted with TLE":      {of(testcases.Expectation{Permitted: append(list(ac), slow...)}), 0, 0},
		"required TLE":            {of(testcases.Expectation{Permitted: append(list(ac), slow...), Required: slow}), 0, 1},
		"required TLE or RTE":     {of(testcases.Expectation{Required: append(list(judge.RuntimeError), slow...)}), 0, 0},
		"both, by group":          {of(testcases.Expectation{Cases: "secret/a", Permitted: list(ac)}, testcases.Expectation{Cases: "secret/b", Required: slow}), 1, 1},
		"opted out":               {of(testcases.Expectation{Permitted: list(ac), Time: testcases.TimeUnused}), 0, 0},
		"opted in":                {of(testcases.Expectation{Time: testcases.TimeLower}, testcases.Expectation{Time: testcases.TimeUpper}), 1, 1},
		"opted out of a folder's": {testcases.Labelled{Allowed: list(ac), Expect: []testcases.Expectation{{Time: testcases.TimeUnused}}}, 0, 0},
	} {
		if lower, upper := bounds("kattis 2025-09", c.sub); len(lower) != c.lower || len(upper) != c.upper {
			t.Errorf("%s: got %d and %d, want %d and %d", name, len(lower), len(upper), c.lower, c.upper)
		}
	}
	crash := of(testcases.Expectation{Permitted: list(judge.RuntimeError)})
	for format, want := range map[string]int{"kattis 2025-09": 1, "polygon": 0} {
		if lower, _ := bounds(format, crash); len(lower) != want {
			t.Errorf("%s: permitted is RTE alone: got %d bounds, want %d", format, len(lower), want)
		}
	}
}

func TestDerive(t *testing.T) {
	t.Parallel()
	one := judge.ScoreOf(1)
	for _, c := range []struct {
		rule testcases.TimeRule
		most time.Duration // the ratio is in it
		want time.Duration
	}{
		{testcases.TimeRule{Resolution: one, AtLeast: one}, 300 * time.Millisecond, time.Second},
		{testcases.TimeRule{Resolution: one, AtLeast: one}, time.Second, time.Second},
		{testcases.TimeRule{Resolution: one, AtLeast: one}, time.Second + 1, 2 * time.Second},
		{testcases.TimeRule{Resolution: judge.ShareOf(1, 10)}, 301 * time.Millisecond, 400 * time.Millisecond},
		{testcases.TimeRule{}, 301 * time.Millisecond, 301 * time.Millisecond},
		{testcases.TimeRule{AtLeast: judge.ShareOf(1, 2)}, 1, time.Second / 2},
	} {
		if got := derive(c.rule, c.most); got != c.want {
			t.Errorf("derive(%+v, %v) = %v, want %v", c.rule, c.most, got, c.want)
		}
	}
	if got := scaled(time.Second, judge.ShareOf(1, 3)); got != 333333334 {
		t.Errorf("a third of a second, rounded up, is %d ns", got)
	}
}

// A limit is found on the cases that count, in the language's own time.
func TestNeeds(t *testing.T) {
	t.Parallel()
	doc := &judge.Judgement{}
	for name, cpu := range map[string]judge.Millis{"secret/a/1": 300, "secret/b/1": 700} {
		doc.Cases = append(doc.Cases, judge.Run{Name: name, Verdict: judge.Accepted, Usage: judge.UsageJSON{CPU: cpu}})
	}
	doc.Cases = append(doc.Cases, judge.Run{Name: "secret/c", Verdict: judge.Skipped, Usage: judge.UsageJSON{CPU: 9000}})
	all, a := []testcases.Expectation{{}}, []testcases.Expectation{{Cases: "secret/a"}}
	plain := stretchOf(&languages.Language{}, judge.Score{})
	lazy := stretchOf(&languages.Language{Allowance: languages.Allowance{TimeFactor: 2, Time: 100 * time.Millisecond}}, judge.Score{})
	twice := stretchOf(&languages.Language{}, judge.ScoreOf(2))
	for _, c := range []struct {
		what  string
		cases []testcases.Expectation
		s     stretch
		times judge.Score
		want  time.Duration
	}{
		{"all", all, plain, judge.Score{}, 700 * time.Millisecond},
		{"group", a, plain, judge.Score{}, 300 * time.Millisecond},
		{"ratio", all, plain, judge.ScoreOf(5), 3500 * time.Millisecond},
		{"allowance", all, lazy, judge.Score{}, 300 * time.Millisecond},
		{"allowance of more than it took", a, stretch{factor: 1, extra: time.Second}, judge.Score{}, 0},
		{"problem's factor", all, twice, judge.Score{}, 350 * time.Millisecond},
	} {
		if got := needs(c.cases, doc, c.s, c.times); got != c.want {
			t.Errorf("%s: got %v, want %v", c.what, got, c.want)
		}
		if d := c.s.stretched(c.s.unstretched(5 * time.Second)); d != 5*time.Second {
			t.Errorf("%s: there and back is %v", c.what, d)
		}
	}
}

// What is judged again alone: more than half of a limit, and whatever a limit ended,
// that of a case too.
func TestNear(t *testing.T) {
	t.Parallel()
	limits := judge.Limits{CPU: time.Second, Wall: 10 * time.Second}.JSON()
	for _, c := range []struct {
		verdict   judge.Verdict
		cpu, wall judge.Millis
		want      bool
	}{
		{judge.Accepted, 500, 5000, false},
		{judge.Accepted, 501, 600, true},
		{judge.WrongAnswer, 10, 5001, true},
		{judge.WallTimeLimit, 10, 2000, true}, // of a case that has less
		{judge.IdleLimit, 0, 2000, true},
		{judge.TimeLimit, 1001, 1010, true},
		{judge.Skipped, 0, 0, false},
	} {
		doc := &judge.Judgement{Limits: &limits, Cases: []judge.Run{
			{Verdict: judge.Accepted}, {Verdict: c.verdict, Usage: judge.UsageJSON{CPU: c.cpu, Wall: c.wall}},
		}}
		if got := near(doc); got != c.want {
			t.Errorf("%s after %v ms of CPU, %v ms of wall: got %v, want %v", c.verdict, c.cpu, c.wall, got, c.want)
		}
	}
	late := judge.CompileTimeLimit
	if !near(&judge.Judgement{Verdict: &late}) {
		t.Errorf("a compiler that ran out of time is not near")
	}
}
