package cms

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"judgefarm/judge"
	"judgefarm/testcases"
)

// Verdicts that stand for one of task-maker's.
var (
	wrong   = []judge.Verdict{judge.WrongAnswer, judge.PresentationError}
	slow    = []judge.Verdict{judge.TimeLimit, judge.WallTimeLimit, judge.IdleLimit}
	waiting = []judge.Verdict{judge.WallTimeLimit, judge.IdleLimit}
	memory  = []judge.Verdict{judge.MemoryLimit}
	crashes = []judge.Verdict{judge.RuntimeError, judge.SecurityViolation, judge.OutputLimit}
)

// outcomes are what a line "@check-WORD: subtask..." in a solution may ask for: that
// one of the subtask's cases has one of the verdicts.
var outcomes = map[string][]judge.Verdict{
	"wrong-answer": wrong, "time-limit-exceeded": slow, "wall-time-limit-exceeded": waiting,
	"memory-limit-exceeded": memory, "runtime-error": crashes,
	"zero": slices.Concat(wrong, slow, memory, crashes),
}

// check finds task-maker's lines.
var check = regexp.MustCompile(`@check-([a-z-]+):([^\n]*)`)

// readSolutions reads the sources in sol/. The official ones must get everything;
// what the others must get is in their text, or nowhere.
func (r *reader) readSolutions() {
	files, folders := r.Children(solFolder)
	for _, name := range files {
		at := solFolder + "/" + name
		stem := strings.TrimSuffix(name, path.Ext(name))
		l, ok := languageOf(name)
		switch {
		case !ok || stem == "grader" || stem == "stub" || strings.HasPrefix(stem, "template") || strings.HasSuffix(name, "lib.pas"):
			continue
		case r.Size(at) > maxSource:
			r.Note(at, "is not read: it has more than %d bytes", maxSource)
			continue
		}
		b, _ := r.read(at, maxSource)
		s := testcases.Labelled{Path: at, Label: "solution", Language: l.ids[0], Files: []judge.File{{Name: name, Data: b}}}
		if stem == "solution" || stem == "soluzione" {
			s.Label, s.Allowed = "official", []judge.Verdict{judge.Accepted}
			s.Expect = []testcases.Expectation{{Fraction: &[2]judge.Score{judge.ScoreOf(1), judge.ScoreOf(1)}}}
		}
		r.expect(&s, b)
		r.p.Submissions = append(r.p.Submissions, s)
	}
	if r.p.Kind == testcases.OutputOnly || r.p.Mixed() {
		r.answersOf(folders)
	}
}

// answersOf reads folders of sol/ that hold outputs, and a program in a task that takes
// both.
func (r *reader) answersOf(folders []string) {
	for _, folder := range folders {
		s := testcases.Labelled{Path: solFolder + "/" + folder, Label: "solution", Language: "text"}
		names, _ := r.Children(s.Path)
		for _, name := range names {
			l, program := languageOf(name)
			if !program && !strings.HasPrefix(name, "output") {
				continue
			}
			b, ok := r.read(s.Path+"/"+name, maxBinary)
			if !ok {
				continue
			}
			s.Files = append(s.Files, judge.File{Name: name, Data: b})
			if program {
				s.Language = l.ids[0]
			}
		}
		if len(s.Files) > 0 {
			r.p.Submissions = append(r.p.Submissions, s)
		}
	}
}

// expect reads task-maker's lines.
func (r *reader) expect(s *testcases.Labelled, source []byte) {
	for _, m := range check.FindAllSubmatch(source, -1) {
		word, list := string(m[1]), strings.TrimSuffix(strings.TrimSpace(string(m[2])), "*/")
		for pattern := range strings.FieldsSeq(list) {
			e, ok := expectation(word)
			if !ok {
				r.Note(s.Path, "@check-%s is not known", word)
				break
			}
			if e.Cases = r.casesOf(pattern); e.Cases == "" {
				r.Note(s.Path, "@check-%s: no subtask is called %.64q", word, pattern)
				continue
			}
			s.Expect = append(s.Expect, e)
		}
	}
}

func expectation(word string) (testcases.Expectation, bool) {
	accepted := []judge.Verdict{judge.Accepted}
	switch word {
	case "accepted":
		return testcases.Expectation{Permitted: accepted}, true
	case "partial-score":
		return testcases.Expectation{Permitted: accepted, Partial: true}, true
	}
	required, ok := outcomes[word]
	return testcases.Expectation{Required: required}, ok
}

// casesOf writes the cases of all subtasks that a pattern with * names.
func (r *reader) casesOf(pattern string) string {
	var all []string
	for _, g := range r.p.Groups {
		if ok, err := path.Match(pattern, g.Name); err == nil && ok {
			all = append(append(all, g.Name), g.Also...)
		}
	}
	if len(all) > 1 {
		return "{" + strings.Join(all, ",") + "}"
	}
	return strings.Join(all, "")
}
