package cms

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"judgefarm/judge"
	"judgefarm/testcases"
)

// tpsCases are the pairs in tests/, by name.
func (r *reader) tpsCases() (all []oneCase) {
	files, _ := r.Children(tpsTests)
	for _, name := range files {
		codename, ok := strings.CutSuffix(name, ".in")
		if !ok {
			continue
		}
		c := oneCase{codename: codename}
		if reason := testcases.CheckName(codename); reason != "" {
			r.Refuse(tpsTests+"/"+name, "bad name of a case: %s", reason)
		}
		if c.Input = r.data(tpsTests + "/" + name); r.p.Kind == testcases.OutputOnly {
			c.Output = "output_" + codename + ".txt"
		}
		if !r.Has(tpsTests + "/" + codename + ".out") {
			r.Refuse(tpsTests+"/"+name, "has no answer: %s.out is missing", codename)
			continue
		}
		c.Answer = r.data(tpsTests + "/" + codename + ".out")
		all = append(all, c)
	}
	if len(all) == 0 || len(all) > maxCases {
		r.Refuse(tpsTests, "must have 1 to %d cases, has %d", maxCases, len(all))
		return nil
	}
	return all
}

// tpsScore reads subtasks/NN-NAME.json: the least outcome of the cases that each names,
// as GroupMin. Without any the cases are worth 100 together.
func (r *reader) tpsScore(cases []oneCase) {
	r.p.Score = &testcases.Aggregate{}
	files, _ := r.Children(tpsSubtasks)
	if cases == nil {
		return
	}
	if len(files) == 0 {
		r.sum(cases, judge.ScoreOf(100).Div(int64(len(cases))))
		return
	}
	r.conf.scoreType = "GroupMin"
	var all []scorePart
	for _, name := range files {
		var subtask struct {
			Score json.Number `json:"score"`
			Cases []string    `json:"testcases"`
		}
		at := tpsSubtasks + "/" + name
		if !r.json(at, &subtask) {
			continue
		}
		max, err := judge.ParseScore(subtask.Score.String())
		if err != nil || max.Sign() < 0 {
			r.Refuse(at, "score must be points, is %.64q", subtask.Score)
		}
		p := scorePart{max: max, name: tpsGroup(name)}
		for _, codename := range subtask.Cases {
			i := slices.IndexFunc(cases, func(c oneCase) bool { return c.codename == codename })
			if i < 0 || slices.Contains(p.indices, i) {
				r.Refuse(at, "testcases: %.64q is no case of tests/, or is there twice", codename)
				continue
			}
			p.indices = append(p.indices, i)
		}
		if len(p.indices) == 0 {
			r.Refuse(at, "must name at least one case")
		}
		all = append(all, p)
	}
	r.scoreGroups(cases, all)
}

// tpsGroup is the name of a subtask: that of its file without number, where it can be a
// group's.
func tpsGroup(file string) string {
	_, name, ok := strings.Cut(strings.TrimSuffix(file, ".json"), "-")
	if !ok || testcases.CheckName(name) != "" || strings.Contains(name, "/") {
		return ""
	}
	return name
}

// tpsLabels are TPS's verdicts of solutions.
func tpsLabels() map[string][]judge.Verdict {
	accepted := []judge.Verdict{judge.Accepted}
	return map[string][]judge.Verdict{
		"model_solution": accepted, "correct": accepted, "time_limit": slow, "memory_limit": memory, "incorrect": wrong,
		"runtime_error": crashes, "failed": outcomes["zero"], "time_limit_and_runtime_error": slices.Concat(slow, crashes, memory),
	}
}

// tpsSolutions reads solutions/VERDICT/FILE. A solution that is right in part has no
// verdict of its own.
func (r *reader) tpsSolutions() {
	labels := tpsLabels()
	_, folders := r.Children(tpsSolutions)
	for _, label := range folders {
		files, _ := r.Children(tpsSolutions + "/" + label)
		for _, name := range files {
			at := path.Join(tpsSolutions, label, name)
			l, ok := languageOf(name)
			if !ok {
				r.Note(at, "no language is told by its name: not taken for a solution")
				continue
			}
			b, _ := r.read(at, maxSource)
			s := testcases.Labelled{Path: at, Label: label, Language: l.ids[0], Files: []judge.File{{Name: name, Data: b}}, Allowed: labels[label]}
			switch label {
			case "model_solution":
				s.Expect = []testcases.Expectation{{Fraction: &[2]judge.Score{judge.ScoreOf(1), judge.ScoreOf(1)}}}
			case "partially_correct":
				s.Expect = []testcases.Expectation{{Partial: true}}
			default:
				if s.Allowed == nil {
					r.Note(at, "%s", fmt.Sprintf("the verdict %.64q is not known: what it must earn is not looked at", label))
				}
			}
			r.p.Submissions = append(r.p.Submissions, s)
		}
	}
}
