package verify

import (
	"strings"
	"testing"

	"judgefarm/judge"
	"judgefarm/judge/engine"
	"judgefarm/testcases"
)

func score(t *testing.T, text string) judge.Score {
	t.Helper()
	s, err := judge.ParseScore(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func best(t *testing.T, text string) *judge.Score {
	s := score(t, text)
	return &s
}

func pair(t *testing.T, low, high string) *[2]judge.Score {
	t.Helper()
	return &[2]judge.Score{score(t, low), score(t, high)}
}

// judged is a judgement of runs "a/1=AC".
func judged(verdict string, runs ...string) Judged {
	v := judge.Verdict(verdict)
	doc := &judge.Judgement{Verdict: &v}
	for _, r := range runs {
		name, got, _ := strings.Cut(r, "=")
		doc.Cases = append(doc.Cases, judge.Run{Name: name, Verdict: judge.Verdict(got)})
	}
	return Judged{Doc: doc, Jury: map[string]string{}}
}

// Every field of a label and of its expectations, met and not.
func TestUnmet(t *testing.T) {
	t.Parallel()
	wa, tle, ac := judge.WrongAnswer, judge.TimeLimit, judge.Accepted
	mixed := judged("WA", "sample/1=AC", "secret/a/1=WA", "secret/b/1=TLE", "secret/b/2=SK")
	mixed.Jury["secret/a/1"] = "token 3 is off by one"
	mixed.Points = &engine.Points{
		Total: engine.Scored{Score: score(t, "33.335"), Most: score(t, "100")},
		Groups: map[string]engine.Scored{
			"secret": {Score: score(t, "33.335"), Most: score(t, "100")}, "secret/a": {Score: score(t, "10"), Most: score(t, "40")},
		},
		Cases: map[string]judge.Score{"secret/a/1": score(t, "0.1")},
	}
	whole := judged("AC", "secret/a/1=AC")
	whole.Points = &engine.Points{Total: engine.Scored{Score: score(t, "7"), Most: score(t, "7")}}
	expect := func(e testcases.Expectation) testcases.Labelled {
		return testcases.Labelled{Expect: []testcases.Expectation{e}}
	}
	for name, c := range map[string]struct {
		sub  testcases.Labelled
		got  Judged
		want string // a part of what is unmet; "" is nothing
	}{
		"allowed":                   {testcases.Labelled{Allowed: []judge.Verdict{ac, wa}}, mixed, ""},
		"not allowed":               {testcases.Labelled{Allowed: []judge.Verdict{ac}}, mixed, "expected AC, got WA on case secret/a/1"},
		"anything is allowed":       {testcases.Labelled{}, mixed, ""},
		"not judged":                {testcases.Labelled{}, Judged{Doc: &judge.Judgement{}}, "it was not judged"},
		"permitted":                 {expect(testcases.Expectation{Permitted: []judge.Verdict{ac, wa, tle}}), mixed, ""},
		"permitted, not all":        {expect(testcases.Expectation{Permitted: []judge.Verdict{ac, wa}, Origin: "s.yaml:3"}), mixed, "permitted is AC or WA, got TLE on case secret/b/1 (s.yaml:3)"},
		"permitted of a group":      {expect(testcases.Expectation{Cases: "secret/a", Permitted: []judge.Verdict{wa}}), mixed, ""},
		"permitted of other group":  {expect(testcases.Expectation{Cases: "secret/b", Permitted: []judge.Verdict{wa}}), mixed, "permitted for secret/b is WA, got TLE"},
		"permitted, uncompiled":     {expect(testcases.Expectation{Permitted: []judge.Verdict{ac}}), judged("CE"), "got CE on case every case"},
		"required":                  {expect(testcases.Expectation{Required: []judge.Verdict{tle}}), mixed, ""},
		"required, nowhere":         {expect(testcases.Expectation{Required: []judge.Verdict{judge.RuntimeError}}), mixed, "required is RTE on at least one case, got AC or WA or TLE"},
		"required of a group":       {expect(testcases.Expectation{Cases: "s*/a", Required: []judge.Verdict{tle}}), mixed, "required for s*/a is TLE on at least one case, got WA"},
		"required, not run":         {expect(testcases.Expectation{Cases: "secret/c", Required: []judge.Verdict{tle}}), mixed, "got no run"},
		"message":                   {expect(testcases.Expectation{Message: "off by one"}), mixed, ""},
		"message of other cases":    {expect(testcases.Expectation{Cases: "secret/b", Message: "off by one"}), mixed, "no case for secret/b has a judge message"},
		"message nobody knows":      {expect(testcases.Expectation{Message: "x"}), Judged{Doc: mixed.Doc}, ""},
		"score":                     {expect(testcases.Expectation{Score: pair(t, "33.335", "33.335")}), mixed, ""},
		"score off by a little":     {expect(testcases.Expectation{Score: pair(t, "33.34", "33.34")}), mixed, "the score should be 33.34, is 33.335"},
		"score rounded":             {expect(testcases.Expectation{Score: pair(t, "33.34", "33.34"), Round: true}), mixed, ""},
		"score rounded otherwise":   {expect(testcases.Expectation{Score: pair(t, "33.35", "33.35"), Round: true}), mixed, "the score should be 33.35"},
		"range":                     {expect(testcases.Expectation{Score: pair(t, "30", "40")}), mixed, ""},
		"beyond the range":          {expect(testcases.Expectation{Score: pair(t, "40", "100")}), mixed, "the score should be 40 to 100"},
		"score of a group":          {expect(testcases.Expectation{Cases: "secret/a", Score: pair(t, "10", "10")}), mixed, ""},
		"score of a group, wrong":   {expect(testcases.Expectation{Cases: "secret/a", Score: pair(t, "40", "40")}), mixed, "the score of secret/a should be 40, is 10"},
		"score of no group":         {expect(testcases.Expectation{Cases: "secret/z", Score: pair(t, "1", "1")}), mixed, `no group of points is called "secret/z"`},
		"partial":                   {expect(testcases.Expectation{Partial: true}), mixed, ""},
		"partial with all":          {expect(testcases.Expectation{Partial: true}), whole, "should be less than all, is 7 of 7"},
		"above the best":            {expect(testcases.Expectation{Above: best(t, "2.3333")}), mixed, ""},
		"the best itself":           {expect(testcases.Expectation{Above: best(t, "7")}), whole, "should be more than 7, the best there is, is 7"},
		"fraction":                  {expect(testcases.Expectation{Cases: "secret/a", Fraction: pair(t, "0.25", "0.25")}), mixed, ""},
		"fraction, wrong":           {expect(testcases.Expectation{Fraction: pair(t, "0.5", "1")}), mixed, "should be 0.5 to 1 of what can be reached, is 0.33335"},
		"points of a case":          {expect(testcases.Expectation{Points: map[string]judge.Score{"secret/a/1": score(t, "0.1")}}), mixed, ""},
		"points of a case, wrong":   {expect(testcases.Expectation{Points: map[string]judge.Score{"secret/a/1": score(t, "0.2")}}), mixed, "case secret/a/1 should give 0.2 points, gave 0.1"},
		"points where nothing ran":  {expect(testcases.Expectation{Score: pair(t, "1", "1")}), judged("CE"), "the score should be 1, is 0"},
		"points that nobody knows":  {expect(testcases.Expectation{Score: pair(t, "1", "1")}), Judged{Doc: mixed.Doc}, ""},
		"each is said once, though": {testcases.Labelled{Expect: []testcases.Expectation{{Permitted: []judge.Verdict{ac}}, {Permitted: []judge.Verdict{ac}}}}, mixed, "permitted"},
	} {
		got := Unmet(c.sub, c.got)
		if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || !strings.Contains(got[0], c.want)) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// Findings name the line that a program of the package fails at.
func TestProgram(t *testing.T) {
	t.Parallel()
	files := []judge.File{{Name: "main.py"}, {Name: "lib/util.py"}}
	one := []judge.File{{Name: "check.cpp"}}
	trace := "Traceback (most recent call last):\n  File \"/exe/main.py\", line 9, in <module>\n  File \"/exe/main.py\", line 4, in f\n"
	for name, c := range map[string]struct {
		at      string
		sources []judge.File
		text    string
		file    string
		line    int
	}{
		"compiler":       {"validators/check.cpp", one, "check.cpp: In function main:\ncheck.cpp:12:5: error: x", "validators/check.cpp", 12},
		"quoted log":     {"validators/check.cpp", one, `it said "check.cpp:3:1: y"`, "validators/check.cpp", 3},
		"traceback":      {"submissions/accepted/a", files, trace, "submissions/accepted/a/main.py", 4},
		"quoted trace":   {"submissions/accepted/a", files, strings.ReplaceAll(trace, `"`, `\"`), "submissions/accepted/a/main.py", 4},
		"second file":    {"s", files, "util.py:7", "s/lib/util.py", 7},
		"another's name": {"s", files, "domain.py:7", "s/main.py", 0},
		"Java":           {"s", []judge.File{{Name: "Main.java"}}, "at Main.main(Main.java:5)", "s/Main.java", 5},
		"nothing":        {"validators/check.cpp", one, "", "validators/check.cpp", 0},
	} {
		if file, line := program(c.at, c.sources, c.text); file != c.file || line != c.line {
			t.Errorf("%s: got %s:%d, want %s:%d", name, file, line, c.file, c.line)
		}
	}
}

func TestPlaced(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file, text, wantFile, wantText string
		line                           int
	}{
		{"problem.yaml", "line 3: unknown key", "problem.yaml", "unknown key", 3},
		{"problem.yaml:7", "is odd", "problem.yaml", "is odd", 7},
		{"data/a.in", "has no answer", "data/a.in", "has no answer", 0},
		{"a:b", "x", "a:b", "x", 0},
	} {
		if file, line, text := placed(c.file, c.text); file != c.wantFile || line != c.line || text != c.wantText {
			t.Errorf("placed(%q, %q) = %q, %d, %q", c.file, c.text, file, line, text)
		}
	}
}

// A program that had no core says nothing about its package.
func TestDisturbed(t *testing.T) {
	t.Parallel()
	of := func(verdict judge.Verdict, wall, delay judge.Millis) *judge.Judgement {
		return &judge.Judgement{Verdict: &verdict, Cases: []judge.Run{{
			Name: "1", Verdict: verdict, Usage: judge.UsageJSON{Wall: wall}, Noise: &judge.Noise{RunDelay: &delay},
		}}}
	}
	e := &entry{}
	for _, c := range []struct {
		doc  *judge.Judgement
		want Severity
	}{
		{of(judge.WallTimeLimit, 3000, 2000), Failure},
		{of(judge.IdleLimit, 3000, 750), Failure},
		{of(judge.IdleLimit, 3000, 700), Fault},
		{of(judge.TimeLimit, 3000, 2000), Fault},
		{of(judge.WrongAnswer, 3000, 2000), Fault},
		{&judge.Judgement{Cases: []judge.Run{{Verdict: judge.WallTimeLimit}}}, Fault},
	} {
		if got := e.blame(&Judged{Doc: c.doc}, "expected AC"); got.Severity != c.want {
			t.Errorf("%+v: got %v, want %s", c.doc.Cases, got, c.want)
		}
	}
}
