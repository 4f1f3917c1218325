package testcases_test

import (
	"slices"
	"testing"

	"judgefarm/judge"
	"judgefarm/testcases"
)

func whole() *testcases.Problem {
	small := testcases.Group{Name: "secret/small", Cases: []testcases.Case{
		{Name: "secret/small/1", Input: testcases.BytesData([]byte("1")), Answer: testcases.BytesData([]byte("2"))},
	}}
	large := testcases.Group{Name: "secret/large", Cases: []testcases.Case{
		{Name: "secret/large/1", Input: testcases.BytesData([]byte("3")), Answer: testcases.BytesData([]byte("4"))},
	}}
	return &testcases.Problem{Groups: []testcases.Group{{Name: "secret", Groups: []testcases.Group{small, large}}}}
}

func program() *testcases.Program {
	return &testcases.Program{
		Name: "check", Language: "cpp17", Protocol: testcases.ProtocolTestlib,
		Files: []judge.File{{Name: "check.cpp", Data: []byte("int main() {}")}},
	}
}

func manager() *testcases.Program {
	p := program()
	p.Protocol = testcases.ProtocolCMS
	return p
}

// Every field that can change a verdict or a score changes the digest; what is for
// people or for verification does not.
func TestFeaturesAreInTheDigest(t *testing.T) {
	t.Parallel()
	points := judge.ScoreOf(40)
	inner := func(p *testcases.Problem) *testcases.Group { return &p.Groups[0].Groups[1] }
	change := map[string]func(*testcases.Problem){
		"interactor": func(p *testcases.Problem) { p.Kind, p.Interactor = testcases.Interactive, program() },
		"interactor's argument": func(p *testcases.Problem) {
			p.Kind, p.Interactor = testcases.Interactive, program()
			p.Interactor.Args = []string{"x"}
		},
		"output only":           func(p *testcases.Problem) { p.Kind = testcases.OutputOnly },
		"time factor":           func(p *testcases.Problem) { p.TimeFactors = map[string]judge.Score{"java17": judge.ScoreOf(2)} },
		"passes":                func(p *testcases.Problem) { p.Passes = 2 },
		"input file":            func(p *testcases.Problem) { p.InputFile = "input.txt" },
		"output file":           func(p *testcases.Problem) { p.OutputFile = "input.txt" },
		"code size":             func(p *testcases.Problem) { p.CodeSize = 1024 },
		"languages":             func(p *testcases.Problem) { p.Languages = []string{"c11"} },
		"score":                 func(p *testcases.Problem) { p.Score = &testcases.Aggregate{} },
		"score mode":            func(p *testcases.Problem) { p.Score = &testcases.Aggregate{Mode: testcases.ModeMin} },
		"score's scale":         func(p *testcases.Problem) { p.Score = &testcases.Aggregate{Scale: &points} },
		"group's score":         func(p *testcases.Problem) { inner(p).Score = &testcases.Aggregate{Scale: &points} },
		"group's dependencies":  func(p *testcases.Problem) { inner(p).After = []string{"secret/small"} },
		"group's further cases": func(p *testcases.Problem) { inner(p).Also = []string{"secret/small/1"} },
		"threshold":             func(p *testcases.Problem) { inner(p).Score = &testcases.Aggregate{Threshold: &points} },
		"a rule":                func(p *testcases.Problem) { p.Rules = []testcases.Rule{{Checker: judge.CheckerSpec{Name: "exact"}}} },
		"a rule's program": func(p *testcases.Problem) {
			p.Rules = []testcases.Rule{{Checker: judge.CheckerSpec{Name: testcases.CustomChecker}, Program: program()}}
		},
		"every rule": func(p *testcases.Problem) {
			p.Rules, p.EveryRule = []testcases.Rule{{Checker: judge.CheckerSpec{Name: "exact"}}}, true
		},
		"case's rule": func(p *testcases.Problem) {
			p.Rules = []testcases.Rule{{Checker: judge.CheckerSpec{Name: "exact"}}}
			inner(p).Cases[0].Rule = 1
		},
		"case's limits":     func(p *testcases.Problem) { inner(p).Cases[0].Limits.Output = 10 },
		"group stops":       func(p *testcases.Problem) { inner(p).Stop = true },
		"group is a sample": func(p *testcases.Problem) { inner(p).Sample = true },
		"group moved": func(p *testcases.Problem) {
			p.Groups = append(p.Groups, *inner(p))
			p.Groups[0].Groups = p.Groups[0].Groups[:1]
		},
		"case's points":    func(p *testcases.Problem) { inner(p).Cases[0].Points = &points },
		"case's arguments": func(p *testcases.Problem) { inner(p).Cases[0].Args = []string{"-v"} },
		"checker":          func(p *testcases.Problem) { p.Checker.Name = "kattis" },
		"checker's arguments": func(p *testcases.Problem) {
			p.Checker.Name = "kattis"
			inner(p).Cases[0].CheckerArgs = []string{"case_sensitive"}
		},
		"case's file": func(p *testcases.Problem) {
			inner(p).Cases[0].Files = []testcases.CaseFile{{Name: "a", Data: testcases.BytesData([]byte("x"))}}
		},
		"include": func(p *testcases.Problem) {
			p.Include = map[string]testcases.Include{"c11": {Files: []judge.File{{Name: "lib.h"}}}}
		},
		"include's source": func(p *testcases.Problem) {
			p.Include = map[string]testcases.Include{"c11": {Source: "task.c"}}
		},
		"include's names": func(p *testcases.Problem) {
			p.Include = map[string]testcases.Include{"c11": {Define: []string{"x"}}}
		},
		"output's name": func(p *testcases.Problem) { inner(p).Cases[0].Output = "a.txt" },
		"handed in": func(p *testcases.Problem) {
			inner(p).Cases[0].Output, inner(p).Cases[0].Handed = "a.txt", testcases.HandedOnly
		},
		"manager": func(p *testcases.Problem) { p.Kind, p.Interactor = testcases.Communication, manager() },
		"processes": func(p *testcases.Problem) {
			p.Kind, p.Interactor, p.Processes = testcases.Communication, manager(), 2
		},
		"named pipes": func(p *testcases.Problem) {
			p.Kind, p.Interactor, p.NamedPipes = testcases.Communication, manager(), true
		},
		"text before submissions": func(p *testcases.Problem) {
			p.Include = map[string]testcases.Include{"c11": {Before: "#define X"}}
		},
		"sealed":     func(p *testcases.Problem) { p.Sealed = true },
		"unbuffered": func(p *testcases.Problem) { p.Unbuffered = true },
		"interactor's flags": func(p *testcases.Problem) {
			p.Kind, p.Interactor = testcases.Interactive, program()
			p.Interactor.Flags = []string{"-DX"}
		},
		"interactor's call": func(p *testcases.Problem) {
			p.Kind, p.Interactor = testcases.Interactive, program()
			p.Interactor.Call = []string{"{input_file}"}
		},
		"checker asked on errors": func(p *testcases.Problem) {
			p.Checker.Name, p.CheckerProgram = testcases.CustomChecker, program()
			p.CheckerProgram.Protocol, p.CheckerProgram.OnError = testcases.ProtocolKattis, true
		},
		"protocol": func(p *testcases.Problem) {
			p.Checker.Name, p.CheckerProgram = testcases.CustomChecker, program()
		},
		"another protocol": func(p *testcases.Problem) {
			p.Checker.Name, p.CheckerProgram = testcases.CustomChecker, program()
			p.CheckerProgram.Protocol = testcases.ProtocolCMS
		},
	}
	digest := func(name string, f func(*testcases.Problem)) string {
		p := whole()
		f(p)
		if err := p.Seal(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return p.Digest
	}
	base := digest("base", func(*testcases.Problem) {})
	seen := map[string]string{base: "base"}
	for name, f := range change {
		d := digest(name, f)
		if other, ok := seen[d]; ok {
			t.Errorf("%s: the same digest as %s", name, other)
		}
		seen[d] = name
	}
	for name, f := range map[string]func(*testcases.Problem){
		"name":   func(p *testcases.Problem) { p.Name, p.ID, p.Format = "x", "y", "z" },
		"jury":   func(p *testcases.Problem) { p.Jury.Unused = []string{"a"} },
		"labels": func(p *testcases.Problem) { p.Submissions = []testcases.Labelled{{Path: "a"}} },
		"hint":   func(p *testcases.Problem) { inner(p).Cases[0].Hint = "think" },
		"shown":  func(p *testcases.Problem) { inner(p).Cases[0].Sample = true },
	} {
		if digest(name, f) != base {
			t.Errorf("%s changes the digest", name)
		}
	}
}

func TestValidateFeatures(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*testcases.Problem)
		field  string
	}{
		"kind":            {func(p *testcases.Problem) { p.Kind = "chess" }, "kind"},
		"no interactor":   {func(p *testcases.Problem) { p.Kind = testcases.Interactive }, "interactor"},
		"empty program":   {func(p *testcases.Problem) { p.Interactor = &testcases.Program{} }, "interactor.files"},
		"protocol":        {func(p *testcases.Problem) { p.CheckerProgram = program(); p.CheckerProgram.Protocol = "x" }, "checker.protocol"},
		"custom":          {func(p *testcases.Problem) { p.Checker.Name = testcases.CustomChecker }, "checker.files"},
		"file name":       {func(p *testcases.Problem) { p.InputFile = "../x" }, "input_file"},
		"manager's words": {func(p *testcases.Problem) { p.Kind, p.Interactor = testcases.Communication, program() }, "interactor.protocol"},
		"handed in":       {func(p *testcases.Problem) { p.Groups[0].Groups[0].Cases[0].Handed = testcases.HandedMaybe }, "secret/small/1"},
		"strict": {func(p *testcases.Problem) {
			p.Kind, p.Interactor, p.Limits.Ptrace, p.NamedPipes = testcases.Communication, manager(), true, true
		}, "limits.ptrace"},
		"passes":          {func(p *testcases.Problem) { p.Passes = -1 }, "passes"},
		"processes":       {func(p *testcases.Problem) { p.Processes = 1000 }, "processes"},
		"factor":          {func(p *testcases.Problem) { p.TimeFactors = map[string]judge.Score{"c11": {}} }, "time_factors.c11"},
		"dependency":      {func(p *testcases.Problem) { p.Groups[0].Groups[0].After = []string{"secret/large"} }, "secret/small"},
		"further case":    {func(p *testcases.Problem) { p.Groups[0].Groups[0].Also = []string{"secret/large/1"} }, "secret/small"},
		"case twice":      {func(p *testcases.Problem) { p.Groups[0].Groups[1].Also = []string{"secret/small/1", "secret/small/1"} }, "secret/large"},
		"itself":          {func(p *testcases.Problem) { p.Groups[0].Groups[0].After = []string{"secret/small"} }, "secret/small"},
		"two groups":      {func(p *testcases.Problem) { p.Groups[0].Groups[1].Name = "secret/small" }, "secret/small"},
		"rule":            {func(p *testcases.Problem) { p.Rules = []testcases.Rule{{Checker: judge.CheckerSpec{Name: "x"}}} }, "rules[0].checker.name"},
		"rule's program":  {func(p *testcases.Problem) { p.Rules = []testcases.Rule{{Checker: judge.CheckerSpec{Name: "custom"}}} }, "rules[0].checker.files"},
		"every of one":    {func(p *testcases.Problem) { p.EveryRule = true }, "rules"},
		"case's rule":     {func(p *testcases.Problem) { p.Groups[0].Groups[0].Cases[0].Rule = 1 }, "secret/small/1"},
		"case's limits":   {func(p *testcases.Problem) { p.Groups[0].Groups[0].Cases[0].Limits.CPU = 1 }, "secret/small/1"},
		"no grader":       {func(p *testcases.Problem) { p.Groups[0].Score = &testcases.Aggregate{Mode: testcases.ModeCustom} }, "secret"},
		"case file":       {func(p *testcases.Problem) { p.Groups[0].Groups[0].Cases[0].Files = []testcases.CaseFile{{Name: "/x"}} }, "secret/small/1"},
		"two equal cases": {func(p *testcases.Problem) { p.Groups[0].Groups[0].Cases[0].Name = "secret/large/1" }, "secret/large/1"},
	} {
		p := whole()
		c.change(p)
		if got := faults(t, p.Seal()); !slices.Contains(got, c.field) {
			t.Errorf("%s: got faults of %q, want %s", name, got, c.field)
		}
	}
}

// A problem whose data is still to be made has a digest that its recipes decide.
func TestPending(t *testing.T) {
	t.Parallel()
	pending := func(change func(*testcases.Recipe)) *testcases.Problem {
		p := whole()
		c := &p.Groups[0].Groups[0].Cases[0]
		r := &testcases.Recipe{Program: program(), Args: []string{"1", "2"}, Stdin: &testcases.Recipe{Program: program()}}
		change(r)
		c.Input, c.InputFrom = nil, r
		return p
	}
	digest := func(p *testcases.Problem) string {
		if err := p.Seal(); err != nil {
			t.Fatal(err)
		}
		return p.Digest
	}
	p := pending(func(*testcases.Recipe) {})
	base := digest(p)
	if !p.Pending() {
		t.Error("a problem without an input is not pending")
	}
	if got := digest(pending(func(*testcases.Recipe) {})); got != base {
		t.Errorf("got digests %s and %s of equal recipes", got, base)
	}
	for name, change := range map[string]func(*testcases.Recipe){
		"arguments":      func(r *testcases.Recipe) { r.Args = []string{"1 2"} },
		"program":        func(r *testcases.Recipe) { r.Program.Files[0].Data = []byte("other") },
		"standard input": func(r *testcases.Recipe) { r.Stdin = nil },
		"output":         func(r *testcases.Recipe) { r.Output = "x" },
		"standard error": func(r *testcases.Recipe) { r.Output = testcases.Stderr },
		"text":           func(r *testcases.Recipe) { r.Text = true },
		"input":          func(r *testcases.Recipe) { r.Input = testcases.BytesData([]byte("1")) },
		"empty input":    func(r *testcases.Recipe) { r.Input = testcases.BytesData(nil) },
		"limits":         func(r *testcases.Recipe) { r.Program.Limits.Tasks = 7 },
	} {
		if digest(pending(change)) == base {
			t.Errorf("other %s of a recipe give the same digest", name)
		}
	}
	for what, change := range map[string]func(*testcases.Recipe){
		"program": func(r *testcases.Recipe) { r.Program = nil },
		"files":   func(r *testcases.Recipe) { r.Program.Files = nil },
		"output":  func(r *testcases.Recipe) { r.Output = "../x" },
		"stdin":   func(r *testcases.Recipe) { r.Stdin.Program = nil },
	} {
		if got := faults(t, pending(change).Seal()); !slices.Contains(got, "secret/small/1") {
			t.Errorf("a recipe with a bad %s: got faults of %q", what, got)
		}
	}
	p.Groups[0].Groups[0].Cases[0].Input = testcases.BytesData(nil)
	if made := digest(p); p.Pending() || made == base {
		t.Error("a problem whose data was made has the digest of its recipes")
	}
	own := whole()
	own.Groups[0].Groups[0].Cases[0].Input = testcases.BytesData(nil)
	if digest(own) != p.Digest {
		t.Error("made data and the package's own give different digests")
	}
}
