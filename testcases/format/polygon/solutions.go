package polygon

import (
	"fmt"
	"slices"

	"judgefarm/judge"
	"judgefarm/testcases"
)

// The verdicts that stand for one of Polygon's: its idleness and our wall clock are
// among what is too slow, and so is a program that prints without end, which is cut
// there.
var (
	accepted = []judge.Verdict{judge.Accepted}
	wrong    = []judge.Verdict{judge.WrongAnswer}
	layout   = []judge.Verdict{judge.PresentationError}
	slow     = []judge.Verdict{judge.TimeLimit, judge.WallTimeLimit, judge.IdleLimit, judge.OutputLimit}
	memory   = []judge.Verdict{judge.MemoryLimit}
	crash    = []judge.Verdict{judge.RuntimeError, judge.SecurityViolation}
	refused  = slices.Concat(wrong, layout, slow, memory, crash, []judge.Verdict{judge.CompileError, judge.CompileTimeLimit})
)

// tag is what a solution is said to do: its verdicts beside AC, and whether it may be
// accepted on all tests.
type tag struct {
	verdicts []judge.Verdict
	passes   bool
}

func tags() map[string]tag {
	return map[string]tag{
		"main": {nil, true}, "accepted": {nil, true},
		"wrong-answer": {wrong, false}, "presentation-error": {layout, false}, "time-limit-exceeded": {slow, false},
		"memory-limit-exceeded": {memory, false}, "failed": {crash, false}, "rejected": {refused, false}, "incorrect": {refused, false},
		"time-limit-exceeded-or-accepted":              {slow, true},
		"time-limit-exceeded-or-memory-limit-exceeded": {slices.Concat(slow, memory), false},
	}
}

// notRun is the tag of solutions that nobody is to judge.
const notRun = "do-not-run"

// readSolutions reads the solutions with what their tags promise. The main one makes
// the answers that the package does not hold.
func (r *reader) readSolutions() {
	for _, n := range r.root.at("assets", "solutions").all("solution") {
		s, name := n.at("source"), n.attr("tag")
		if s == nil {
			r.refuse(n, "<solution> needs a <source>")
			continue
		}
		if name == notRun {
			r.used[s.attr("path")] = true
			continue
		}
		if !r.Has(s.attr("path")) {
			r.note(s, "names %.200s, which is not there", s.attr("path"))
			continue
		}
		f, ok := r.source(s, s.attr("path"))
		if !ok {
			continue
		}
		t, known := tags()[name]
		if !known {
			r.note(n, "tag %.64q of a solution is not known: it may earn any verdict", name)
		}
		l := testcases.Labelled{Path: s.attr("path"), Label: name, Language: languageOf(s.attr("type")), Files: []judge.File{f}}
		if known {
			l.Allowed, l.Expect = t.promise("")
		}
		for _, extra := range n.at("extra-tags").all("extra-tag") {
			l.Expect = append(l.Expect, r.extra(extra)...)
		}
		r.p.Submissions = append(r.p.Submissions, l)
		if name == "main" {
			r.mainSource = s
		}
	}
}

// mainSolution is the main one as the program that makes answers.
func (r *reader) mainSolution() *testcases.Program {
	const name = "the main solution"
	if _, known := r.programs[name]; !known {
		p := r.program(r.mainSource, testcases.ProtocolPlain, true)
		r.programs[name] = p
		if p != nil {
			r.include(p)
		}
	}
	return r.programs[name]
}

// include adds to a solution what is added to submissions.
func (r *reader) include(p *testcases.Program) {
	inc, ok := r.p.Include[p.Language]
	if !ok {
		inc = r.p.Include[""]
	}
	for _, f := range inc.Files {
		switch {
		case slices.ContainsFunc(p.Files, func(own judge.File) bool { return own.Name == f.Name }):
		case f.Name == inc.Main:
			p.Files = slices.Insert(p.Files, 0, f)
		default:
			p.Files = append(p.Files, f)
		}
	}
}

// promise is what a tag says of the whole judgement and of each case: every verdict
// is AC or one of the tag's, and one of those occurs.
func (t tag) promise(cases string) ([]judge.Verdict, []testcases.Expectation) {
	allowed := slices.Clone(t.verdicts)
	e := testcases.Expectation{Cases: cases, Permitted: slices.Concat(accepted, t.verdicts)}
	if t.passes {
		allowed = slices.Concat(accepted, t.verdicts)
	} else {
		e.Required = t.verdicts
	}
	return allowed, []testcases.Expectation{e}
}

// extra is the tag of a solution on one group.
func (r *reader) extra(n *node) []testcases.Expectation {
	t, known := tags()[n.attr("tag")]
	switch {
	case !known:
		r.note(n, "extra-tag %.64q is not known", n.attr("tag"))
	case n.attr("group") == "":
		r.note(n, "extra-tag %s is not examined: it is of no group", describe(n))
	default:
		_, e := t.promise(r.groupOf(n.attr("group")))
		return e
	}
	return nil
}

func describe(n *node) string {
	if set := n.attr("testset"); set != "" {
		return fmt.Sprintf("%.64q of testset %.64q", n.attr("tag"), set)
	}
	return fmt.Sprintf("%.64q", n.attr("tag"))
}
