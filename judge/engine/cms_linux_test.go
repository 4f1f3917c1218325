package engine_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"judgefarm/judge"
	"judgefarm/judge/engine"
	"judgefarm/testcases"
	"judgefarm/testcases/format"
)

// earns is what a solution of a task gets.
type earns struct {
	verdict judge.Verdict
	score   float64
}

// The tasks of testcases/testdata/cms have every feature of the format that is
// supported between them. Each of their solutions is judged with real compilers, in
// real boxes, earns what CMS would give it, and does what its own text promises.
func TestTasksOfCMS(t *testing.T) {
	t.Parallel()
	const ac, wa, rte, tle = judge.Accepted, judge.WrongAnswer, judge.RuntimeError, judge.TimeLimit
	all := map[string]map[string]earns{
		"stairs": { // standard streams, subtasks of gen/GEN, EVAL, CMS's comparison
			"solution.cpp": {ac, 100}, "solution.pas": {ac, 100}, "oneline.py": {wa, 0}, "slow.cpp": {tle, 40}, "narrow.c": {wa, 40},
		},
		"shout": { // files, graders and headers, a checker that gives parts
			"solution.c": {ac, 100}, "solution.cpp": {ac, 100}, "solution.py": {ac, 100}, "solution.java": {ac, 100},
			"solution.pas": {ac, 100}, "first.py": {ac, 25}, "silent.py": {wa, 0},
		},
		"relay": { // two processes with stubs and named pipes, a manager that is a script
			"solution.cpp": {ac, 100}, "solution.py": {ac, 100}, "small.py": {wa, 50}, "memory.cpp": {wa, 0}, "crash.cpp": {rte, 0},
		},
		"search": { // a process without a stub, thresholds, a case of two subtasks
			"solution.py": {ac, 100}, "linear.cpp": {wa, 40}, "guess.py": {wa, 0},
		},
		"bridge": { // exported by TPS: subtasks that share cases
			"all.cpp": {ac, 100}, "all.py": {ac, 100}, "int.cpp": {wa, 35}, "minus.py": {wa, 0}, "count.cpp": {tle, 35},
		},
		"square": { // outputs beside a program
			"both": {ac, 100}, "outputs": {wa, 50}, "program.cpp": {wa, 25},
		},
		"paint": { // outputs, products
			"two": {ac, 100}, "three": {ac, 55}, "some": {wa, 40},
		},
	}
	e, _ := realEngine(t)
	for name, solutions := range all {
		p, err := format.Open(filepath.Join("../../testcases/testdata/cms", name))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !strings.HasPrefix(p.Format, "cms ") || len(p.Submissions) != len(solutions) || len(p.Jury.Notes) > 0 {
			t.Errorf("%s: %s, %d solutions, want %d; notes %+v", name, p.Format, len(p.Submissions), len(solutions), p.Jury.Notes)
		}
		for _, s := range p.Submissions {
			out, err := e.Judge(t.Context(), engine.Job{Problem: p, Submission: judge.Submission{
				ID: "s", Language: s.Language, Files: s.Files, Main: s.Main, Stop: judge.StopNever,
				Limits: judge.Limits{Wall: time.Minute}, // a machine under load makes nothing WTL
			}}, engine.Watcher{})
			if err != nil {
				t.Errorf("%s: %s: %v", name, s.Path, err)
				continue
			}
			j := out.Judgement
			want, ok := solutions[filepath.Base(s.Path)]
			if !ok || *j.Verdict != want.verdict || *j.Score != want.score || *j.MaxScore != 100 {
				t.Errorf("%s: %s: got %s, %v of %v points, want %+v: %+v, %+v", name, s.Path, *j.Verdict, *j.Score, *j.MaxScore, want, j.Cases, j.Compile)
			}
			promised(t, s, j)
		}
	}
}

// promised looks whether a judgement is what a solution's label and text say.
func promised(t *testing.T, s testcases.Labelled, j judge.Judgement) {
	t.Helper()
	if s.Allowed != nil && !slices.Contains(s.Allowed, *j.Verdict) {
		t.Errorf("%s: got %s, allowed %s", s.Path, *j.Verdict, s.Allowed)
	}
	for _, e := range s.Expect {
		some := e.Required == nil
		for _, r := range j.Cases {
			if !e.Matches(r.Name) {
				continue
			}
			some = some || slices.Contains(e.Required, r.Verdict)
			if e.Permitted != nil && !slices.Contains(e.Permitted, r.Verdict) {
				t.Errorf("%s: case %s is %s, permitted %s", s.Path, r.Name, r.Verdict, e.Permitted)
			}
		}
		if !some {
			t.Errorf("%s: no case of %s is one of %s", s.Path, e.Cases, e.Required)
		}
	}
}
