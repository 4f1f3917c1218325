package verify_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"judgefarm/cmd/judgefarm/internal/verify"
	"judgefarm/judge"
	"judgefarm/judge/checker"
	"judgefarm/judge/compile"
	"judgefarm/judge/engine"
	"judgefarm/languages"
	"judgefarm/testcases"
)

// scripted is an engine whose programs take a stated CPU time, the same on each case.
type scripted struct {
	cpu    map[string]time.Duration // by submission; of a wrong one negative
	slower map[string]float64       // how much more the first time, as if disturbed; absent is not
	errs   map[string]error
	meet   chan struct{} // where set, each call waits for another one

	mu      sync.Mutex
	running int
	calls   []string // "PATH limit beside/alone"
	flip    map[string]int
}

func (s *scripted) Judge(_ context.Context, job engine.Job, _ engine.Watcher) (*engine.Outcome, error) {
	sub := job.Submission
	if s.meet != nil {
		select {
		case s.meet <- struct{}{}:
		case <-s.meet:
		}
	}
	if job.Problem.Languages != nil {
		return nil, errors.New("the list of languages was not taken away")
	}
	lim, err := engine.Limits(sub.Limits, job.Problem.Limits)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.running++
	how := " alone"
	if s.running > 1 {
		how = " beside"
	}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.running--
	}()
	if err := s.errs[sub.ID]; err != nil {
		return nil, err
	}
	cpu := s.cpu[sub.ID]
	v := judge.Accepted
	if cpu < 0 {
		cpu, v = -cpu, judge.WrongAnswer
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if n, ok := s.slower[sub.ID]; ok {
		delete(s.slower, sub.ID)
		cpu = time.Duration(float64(cpu) * n)
	}
	s.calls = append(s.calls, sub.ID+" "+lim.CPU.String()+how)
	if n, ok := s.flip[sub.ID]; ok {
		if s.flip[sub.ID]++; n%2 == 1 {
			v = judge.WrongAnswer
		}
	}
	if cpu > lim.CPU {
		cpu, v = lim.CPU+1, judge.TimeLimit
	}
	return outcome(job.Problem, lim, cpu, v), nil
}

func outcome(p *testcases.Problem, lim judge.Limits, cpu time.Duration, v judge.Verdict) *engine.Outcome {
	limits := lim.JSON()
	out := &engine.Outcome{Judgement: judge.Judgement{State: judge.Judged, Verdict: &v, Limits: &limits}}
	for _, c := range p.Cases() {
		out.Judgement.Cases = append(out.Judgement.Cases, judge.Run{Name: c.Name, Verdict: v, Usage: judge.Usage{CPU: cpu, Wall: cpu}.JSON()})
	}
	return out
}

// toolchains has every language.
type toolchains struct{}

func (toolchains) Compile(context.Context, compile.Request) (*compile.Result, error) {
	return nil, errors.New("nothing is compiled here")
}

func (toolchains) Check(context.Context, compile.Request) (*compile.Result, error) {
	return nil, errors.New("nothing is checked here")
}

func (toolchains) Inspect(_ context.Context, l *languages.Language) (judge.LanguageRef, error) {
	return judge.LanguageRef{ID: l.ID}, nil
}

// problemOf has two cases and the labelled submissions "LABEL/NAME".
func problemOf(t *testing.T, rule testcases.TimeRule, submissions ...string) *testcases.Problem {
	t.Helper()
	one := func(name, text string) testcases.Case {
		return testcases.Case{Name: name, Input: testcases.BytesData([]byte(text)), Answer: testcases.BytesData([]byte(text))}
	}
	p := &testcases.Problem{
		ID: "p", Format: "kattis legacy", Groups: []testcases.Group{{Name: "secret", Cases: []testcases.Case{one("secret/1", "1\n"), one("secret/2", "2\n")}}},
		Jury: testcases.Jury{Time: rule},
	}
	allowed := map[string][]judge.Verdict{"accepted": {judge.Accepted}, "wrong_answer": {judge.WrongAnswer}, "time_limit": {judge.TimeLimit}}
	for _, at := range submissions {
		label, _, _ := strings.Cut(at, "/")
		p.Submissions = append(p.Submissions, testcases.Labelled{
			Path: at, Label: label, Allowed: allowed[label], Files: []judge.File{{Name: "a.c", Data: []byte(at)}},
		})
	}
	if err := p.Seal(); err != nil {
		t.Fatal(err)
	}
	return p
}

func run(t *testing.T, s *scripted, p *testcases.Problem, o verify.Options) *verify.Report {
	t.Helper()
	set, err := languages.Load(languages.Config{})
	if err != nil {
		t.Fatal(err)
	}
	maker := checker.Maker{Languages: set}
	r, err := verify.Config{Judge: s, Compiler: toolchains{}, Languages: set, Checkers: maker.For, Slots: 2}.Package(t.Context(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func texts(r *verify.Report, s verify.Severity) []string {
	var all []string
	for _, f := range r.Findings {
		if f.Severity == s {
			all = append(all, f.String())
		}
	}
	return all
}

var second = testcases.TimeRule{AcToLimit: judge.ScoreOf(5), LimitToTLE: judge.ScoreOf(2), Resolution: judge.ScoreOf(1), AtLeast: judge.ScoreOf(1)}

// What came near the limit, and what is to be too slow, is judged alone: the report
// says what it would say on an idle machine.
func TestNearOnesAreJudgedAlone(t *testing.T) {
	t.Parallel()
	p := problemOf(t, testcases.TimeRule{}, "accepted/far", "accepted/near", "wrong_answer/far", "time_limit/slow")
	p.Limits.CPU = time.Second
	s := &scripted{cpu: map[string]time.Duration{
		"accepted/far": 10 * time.Millisecond, "accepted/near": 600 * time.Millisecond, "wrong_answer/far": -time.Millisecond, "time_limit/slow": 3 * time.Second,
	}}
	r := run(t, s, p, verify.Options{})
	if f := texts(r, verify.Fault); len(f) > 0 {
		t.Errorf("faults %q", f)
	}
	times := map[string]int{}
	for _, c := range s.calls {
		name, _, _ := strings.Cut(c, " ")
		times[name]++
	}
	if times["accepted/far"] != 1 || times["wrong_answer/far"] != 1 || times["accepted/near"] != 2 || times["time_limit/slow"] != 1 {
		t.Errorf("calls %q", s.calls)
	}
	if last := s.calls[len(s.calls)-2:]; !slices.ContainsFunc(last, func(c string) bool { return c == "accepted/near 1s alone" }) ||
		!slices.ContainsFunc(last, func(c string) bool { return c == "time_limit/slow 1s alone" }) {
		t.Errorf("the last calls are %q", last)
	}
	for _, row := range r.Submissions {
		if want := row.Path == "accepted/near" || row.Path == "time_limit/slow"; row.Alone != want {
			t.Errorf("%s: alone is %v", row.Path, row.Alone)
		}
	}
}

// A time is told as slower, or remembered, only where it is so with nothing beside it
// too: what a busy machine adds is no change of the program.
func TestTimesAreMeasuredAgainBeforeTheyAreNews(t *testing.T) {
	t.Parallel()
	since := &verify.Record{Submissions: []verify.Remembered{
		{Path: "accepted/same", Verdict: judge.Accepted, Slowest: 100}, {Path: "accepted/slower", Verdict: judge.Accepted, Slowest: 100},
		{Path: "accepted/faster", Verdict: judge.Accepted, Slowest: 300},
	}}
	p := problemOf(t, testcases.TimeRule{}, "accepted/same", "accepted/slower", "accepted/faster", "accepted/new")
	p.Limits.CPU = 10 * time.Second
	s := &scripted{
		cpu: map[string]time.Duration{
			"accepted/same": 100 * time.Millisecond, "accepted/slower": 300 * time.Millisecond, "accepted/faster": 100 * time.Millisecond, "accepted/new": 100 * time.Millisecond,
		},
		slower: map[string]float64{"accepted/same": 3, "accepted/new": 3},
	}
	r := run(t, s, p, verify.Options{Since: since})
	slowest, times := map[string]judge.Millis{}, map[string]int{}
	for _, row := range r.Submissions {
		slowest[row.Path] = row.Slowest
	}
	for _, c := range s.calls {
		name, _, _ := strings.Cut(c, " ")
		times[name]++
	}
	if want := map[string]judge.Millis{"accepted/same": 100, "accepted/slower": 300, "accepted/faster": 100, "accepted/new": 100}; !maps.Equal(slowest, want) {
		t.Errorf("times %v, want %v", slowest, want)
	}
	if want := map[string]int{"accepted/same": 2, "accepted/slower": 4, "accepted/faster": 1, "accepted/new": 2}; !maps.Equal(times, want) {
		t.Errorf("judged %v times, want %v", times, want)
	}
	for _, c := range s.calls[4:] {
		if !strings.HasSuffix(c, " alone") {
			t.Errorf("%s: want it alone", c)
		}
	}
}

// A limit is derived from what accepted submissions take alone; everything is judged
// with it; too slow ones must be so at the longer limit too.
func TestDerivedLimit(t *testing.T) {
	t.Parallel()
	p := problemOf(t, second, "accepted/fast", "accepted/slow", "wrong_answer/w", "time_limit/little", "time_limit/much")
	s := &scripted{slower: map[string]float64{"accepted/fast": 1.9, "accepted/slow": 1.1}, cpu: map[string]time.Duration{
		"accepted/fast": 100 * time.Millisecond, "accepted/slow": 410 * time.Millisecond, "wrong_answer/w": -time.Millisecond,
		"time_limit/little": 4 * time.Second, "time_limit/much": 9 * time.Second,
	}}
	r := run(t, s, p, verify.Options{})
	if f := texts(r, verify.Fault); len(f) > 0 {
		t.Errorf("faults %q", f)
	}
	if tl := r.Time; !tl.Derived || tl.Limit != 3000 || tl.Slowest != "accepted/slow" || tl.Needs != 410 || !strings.Contains(tl.Write, ".timelimit that holds 3,") {
		t.Errorf("time limit %+v", tl)
	}
	if w := texts(r, verify.Warning); !slices.ContainsFunc(w, func(s string) bool {
		return strings.HasPrefix(s, "time_limit/little: is too slow for the limit of 3s, yet not for 2 times as much")
	}) {
		t.Errorf("warnings %q", w)
	}
	for _, row := range r.Submissions {
		if want := 2.0; row.Path == "time_limit/much" && row.Beyond != want {
			t.Errorf("%s is too slow at %v times the limit, want %v", row.Path, row.Beyond, want)
		}
	}
	for _, c := range s.calls {
		if strings.HasPrefix(c, "wrong_answer") && !strings.Contains(c, " 3s ") {
			t.Errorf("call %q, want the derived limit", c)
		}
	}
}

// Without a submission to derive a limit from there is none.
func TestNoLimit(t *testing.T) {
	t.Parallel()
	r := run(t, &scripted{cpu: map[string]time.Duration{"wrong_answer/w": -1}}, problemOf(t, second, "wrong_answer/w"), verify.Options{})
	if f := texts(r, verify.Fault); len(f) != 1 || !strings.HasPrefix(f[0], "problem.yaml: there is no time limit") {
		t.Errorf("faults %q", f)
	}
	s := &scripted{cpu: map[string]time.Duration{"accepted/a": 300 * time.Millisecond, "wrong_answer/w": -1}}
	r = run(t, s, problemOf(t, second, "accepted/a", "wrong_answer/w"), verify.Options{Submissions: "wrong*"})
	if f := texts(r, verify.Fault); len(f) > 0 || r.Time.Limit != 2000 || len(r.Submissions) != 1 {
		t.Errorf("derived from what was not asked for: faults %q, %+v, %+v", f, r.Time, r.Submissions)
	}
	r = run(t, &scripted{}, problemOf(t, second, "accepted/a"), verify.Options{CPU: 2 * time.Second})
	if f := texts(r, verify.Fault); len(f) > 0 || r.Time.Derived || r.Time.Limit != 2000 {
		t.Errorf("a stated limit: faults %q, %+v", f, r.Time)
	}
}

func TestRepeatFindsFlakyOnes(t *testing.T) {
	t.Parallel()
	p := problemOf(t, testcases.TimeRule{}, "accepted/steady", "accepted/dice")
	r := run(t, &scripted{flip: map[string]int{"accepted/dice": 0}}, p, verify.Options{Repeat: 3})
	var flaky []verify.Finding
	for _, f := range r.Findings {
		if f.Check == "flaky" {
			flaky = append(flaky, f)
		}
	}
	if len(flaky) == 0 || flaky[0].File != "accepted/dice" || !strings.Contains(flaky[0].Text, "got AC in round 1 and WA in round 2") {
		t.Errorf("flaky %v", flaky)
	}
	for _, row := range r.Submissions {
		if row.Rounds != 3 {
			t.Errorf("%s was judged %d times", row.Path, row.Rounds)
		}
	}
}

// Faults of the package, faults of ours and missing toolchains are three things.
func TestWhoIsToBlame(t *testing.T) {
	t.Parallel()
	p := problemOf(t, testcases.TimeRule{}, "accepted/refused", "accepted/box", "accepted/good", "accepted/checker")
	s := &scripted{errs: map[string]error{
		"accepted/refused": judge.Refuse(&judge.FieldError{Field: "files", Reason: "are too large"}),
		"accepted/box":     &judge.Failed{Kind: judge.FailSandbox, Reason: "no box"},
		"accepted/checker": &judge.Failed{Kind: judge.FailChecker, Reason: "the checker exited with status 1"},
	}}
	r := run(t, s, p, verify.Options{})
	if f := texts(r, verify.Fault); len(f) != 2 || f[0] != "the checker exited with status 1" || f[1] != "accepted/refused: is refused: files: are too large" {
		t.Errorf("faults %q", f)
	}
	if f := texts(r, verify.Failure); len(f) != 1 || !strings.HasPrefix(f[0], "accepted/box: ") || r.Complete || r.Failed != 1 {
		t.Errorf("failures %q, %+v", f, r)
	}
}

// Of a submission whose label promises nothing, a refusal is as good as a verdict.
func TestRefusedWithoutAPromise(t *testing.T) {
	t.Parallel()
	p := problemOf(t, testcases.TimeRule{}, "accepted/good", "check_manually/large")
	p.Submissions[1].Allowed, p.Submissions[1].Expect = nil, nil
	s := &scripted{errs: map[string]error{"check_manually/large": judge.Refuse(&judge.FieldError{Field: "files", Reason: "are too large"})}}
	r := run(t, s, p, verify.Options{})
	if f := texts(r, verify.Fault); len(f) > 0 {
		t.Errorf("faults %q", f)
	}
	if f := texts(r, verify.Note); !slices.Contains(f, "check_manually/large: is refused: files: are too large") {
		t.Errorf("notes %q", f)
	}
	if row := r.Submissions[1]; row.Missing != "it is refused, and its label promises nothing" {
		t.Errorf("row %+v", row)
	}
}

// Which cases find mistakes.
func TestCoverage(t *testing.T) {
	t.Parallel()
	p := problemOf(t, testcases.TimeRule{}, "accepted/a", "wrong_answer/w")
	s := &scripted{cpu: map[string]time.Duration{"wrong_answer/w": -1}}
	if r := run(t, s, p, verify.Options{}); len(r.Unfailed) > 0 {
		t.Errorf("unfailed %q", r.Unfailed)
	}
	r := run(t, &scripted{}, p, verify.Options{})
	if !slices.Equal(r.Unfailed, []string{"secret/1", "secret/2"}) || len(texts(r, verify.Note)) != 1 {
		t.Errorf("unfailed %q, notes %q", r.Unfailed, texts(r, verify.Note))
	}
	if r := run(t, s, p, verify.Options{Submissions: "wrong_answer"}); len(r.Submissions) != 1 || len(r.Unfailed) > 0 {
		t.Errorf("of a pattern: %+v", r)
	}
}

// The end of ctx ends everything and is the error.
func TestCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	set, err := languages.Load(languages.Config{})
	if err != nil {
		t.Fatal(err)
	}
	maker := checker.Maker{Languages: set}
	cfg := verify.Config{Judge: &scripted{}, Compiler: toolchains{}, Languages: set, Checkers: maker.For, Slots: 2}
	if _, err := cfg.Package(ctx, problemOf(t, testcases.TimeRule{}, "accepted/a"), verify.Options{}); !errors.Is(err, why) {
		t.Errorf("got %v, want the cause", err)
	}
}

// The list of languages is for submitters: others are told and judged all the same.
func TestLanguagesOfTheJury(t *testing.T) {
	t.Parallel()
	p := problemOf(t, testcases.TimeRule{}, "accepted/a")
	p.Languages = []string{"python3", "go"}
	r := run(t, &scripted{}, p, verify.Options{})
	if r.Faults > 0 || r.Submissions[0].Verdict != judge.Accepted || !slices.ContainsFunc(texts(r, verify.Warning), func(w string) bool {
		return w == "accepted/a: is in c, which the problem does not allow: its languages are python3, go"
	}) {
		t.Errorf("got %+v, %q", r.Submissions, texts(r, verify.Warning))
	}
}

// Submissions far from their limits are judged side by side: here each waits for another.
func TestSideBySide(t *testing.T) {
	t.Parallel()
	p := problemOf(t, testcases.TimeRule{}, "accepted/a", "accepted/b", "wrong_answer/c", "wrong_answer/d")
	s := &scripted{meet: make(chan struct{}), cpu: map[string]time.Duration{"wrong_answer/c": -1, "wrong_answer/d": -1}}
	if r := run(t, s, p, verify.Options{}); r.Faults > 0 || len(s.calls) != 4 {
		t.Errorf("faults %q, calls %q", texts(r, verify.Fault), s.calls)
	}
}

// A package that cannot be opened, or whose data its programs do not make, is at
// fault; an error of ours is none of the package's.
func TestRefused(t *testing.T) {
	t.Parallel()
	generator := &judge.Failed{Kind: judge.FailProblem, Reason: "gen 5 exited with status 1 for the input of case 2", Err: errors.New("gen.py:3: boom")}
	for _, c := range []struct {
		err  error
		want string // "" is an error of ours
	}{
		{judge.Refuse(&judge.FieldError{Field: "init.yml", Reason: "line 4: unknown key"}), "init.yml:4: unknown key"},
		{generator, "gen 5 exited with status 1 for the input of case 2: gen.py:3: boom"},
		{&judge.Failed{Kind: judge.FailSandbox, Reason: "no box"}, ""},
		{errors.New("disk"), ""}, {nil, ""},
	} {
		r, is := verify.Refused("p", c.err)
		if is != (c.want != "") || is && (r.Faults != 1 || r.Findings[0].String() != c.want) {
			t.Errorf("%v: got %+v, %v", c.err, r, is)
		}
	}
}

// Where no submission that would give the limit could be judged here, nobody knows
// whether the package is to blame, and what is to be too slow is not judged.
func TestNoLimitHere(t *testing.T) {
	t.Parallel()
	s := &scripted{
		errs: map[string]error{"accepted/a": &judge.Failed{Kind: judge.FailSandbox, Reason: "no box"}},
		cpu:  map[string]time.Duration{"wrong_answer/w": -1, "time_limit/t": time.Second},
	}
	r := run(t, s, problemOf(t, second, "accepted/a", "wrong_answer/w", "time_limit/t"), verify.Options{})
	if f := texts(r, verify.Fault); len(f) > 0 || r.Complete || r.Time != nil {
		t.Errorf("faults %q, complete %v, time limit %+v", f, r.Complete, r.Time)
	}
	if f := texts(r, verify.Failure); len(f) != 2 || !strings.HasPrefix(f[1], "problem.yaml: there is no time limit, and no submission from which one is derived could be judged") {
		t.Errorf("failures %q", f)
	}
	if row := r.Submissions[2]; row.Missing != "there is no time limit that it could exceed" {
		t.Errorf("row %+v", row)
	}
}

// An invalid input may be refused by the very validator that this machine cannot run.
func TestInvalidInputWithoutAValidator(t *testing.T) {
	t.Parallel()
	p := problemOf(t, testcases.TimeRule{}, "accepted/a")
	script := testcases.Program{Name: "all.ctd", Protocol: testcases.ProtocolChecktestdata, Files: []judge.File{{Name: "all.ctd", Data: []byte("INT(0, 9) NEWLINE\n")}}}
	p.Jury.Validators = []testcases.Validator{{Program: script}}
	p.Jury.InvalidInputs = []testcases.Sample{{Name: "invalid_input/5", Input: testcases.BytesData([]byte("5\n"))}}
	if f := texts(run(t, &scripted{}, p, verify.Options{}), verify.Fault); len(f) != 1 || !strings.HasSuffix(f[0], "every input validator accepts it") {
		t.Errorf("with all validators: faults %q", f)
	}
	program := testcases.Program{Name: "strict.c", Files: []judge.File{{Name: "strict.c"}}} // toolchains compiles nothing
	p.Jury.Validators = append(p.Jury.Validators, testcases.Validator{Program: program})
	r := run(t, &scripted{}, p, verify.Options{})
	if f := texts(r, verify.Fault); len(f) > 0 || r.Failed != 1 || r.Checked.InvalidInputs != 0 {
		t.Errorf("without one: faults %q, %d failed, %+v", f, r.Failed, r.Checked)
	}
}

// What a program reads besides its input makes cases different.
func TestDuplicates(t *testing.T) {
	t.Parallel()
	p := problemOf(t, testcases.TimeRule{}, "accepted/a")
	same := func(name, beside string) testcases.Case {
		return testcases.Case{
			Name: name, Input: testcases.BytesData([]byte("3\n")), Answer: testcases.BytesData([]byte("1\n")),
			Files: []testcases.CaseFile{{Name: "graph.txt", Data: testcases.BytesData([]byte(beside))}},
		}
	}
	p.Groups[0].Cases = []testcases.Case{same("secret/1", "1 2\n"), same("secret/2", "2 3\n"), same("secret/3", "1 2\n")}
	var told []string
	for _, f := range run(t, &scripted{}, p, verify.Options{}).Findings {
		if f.Check == "duplicate" {
			told = append(told, f.String())
		}
	}
	if !slices.Equal(told, []string{"data/secret/3.in: is the same input as data/secret/1.in"}) {
		t.Errorf("told %q", told)
	}
}

// A submission that must not be judged is complete without a verdict, where the package
// is why; a failure of ours is no proof.
func TestBrokenOnPurpose(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		well bool
	}{
		{&judge.Failed{Kind: judge.FailChecker, Reason: "the checker printed no number"}, true},
		{judge.Refuse(&judge.FieldError{Field: "files", Reason: "are too large"}), true},
		{&judge.Failed{Kind: judge.FailSandbox, Reason: "no box"}, false},
	} {
		p := problemOf(t, testcases.TimeRule{}, "accepted/good", "broken/b")
		p.Submissions[1].Broken = true
		r := run(t, &scripted{errs: map[string]error{"broken/b": c.err}}, p, verify.Options{})
		if r.Complete != c.well || r.Failed == 0 != c.well || r.Faults > 0 {
			t.Errorf("%v: complete %v, %d failed, faults %q", c.err, r.Complete, r.Failed, texts(r, verify.Fault))
		}
	}
}
