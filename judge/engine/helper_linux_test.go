package engine_test

import (
	"testing"
	"time"

	"judgefarm/judge"
	"judgefarm/judge/checker"
	"judgefarm/judge/compile/compiletest"
	"judgefarm/judge/engine"
	"judgefarm/testcases"
)

// realEngine judges in real boxes, below a folder that their users can reach.
func realEngine(t *testing.T) (e *engine.Engine, dir string) {
	t.Helper()
	return realEngineOf(t, 1)
}

// realEngineOf has so many boxes at one time.
func realEngineOf(t *testing.T, slots int) (e *engine.Engine, dir string) {
	t.Helper()
	const spare = 3
	r := compiletest.New(t, slots, slots+spare)
	maker := checker.Maker{Runner: r.Box, Compiler: r.Compiler, Languages: r.Languages}
	return engine.New(engine.Config{
		Runner: r.Box, Compiler: r.Compiler, Languages: r.Languages, Checkers: maker.For, Talkers: maker.Interactor, Interactors: r.Talkers,
		Spare: spare,
	}), r.Dir
}

// caseOf is a case of texts.
func caseOf(name, in, ans string) testcases.Case {
	return testcases.Case{Name: name, Input: testcases.BytesData([]byte(in)), Answer: testcases.BytesData([]byte(ans))}
}

func script(name, source string, p testcases.Protocol) *testcases.Program {
	return &testcases.Program{Name: name, Protocol: p, Files: []judge.File{{Name: name, Data: []byte(source)}}}
}

// patience is the wall limit of what shall not reach it, however busy the host is.
const patience = 2 * time.Minute

// plenty of CPU time, for programs that are not meant to run into its limit.
const plenty = 10 * time.Second

// soon is the end of programs that are meant to wait.
const soon = 3 * time.Second

func judgePython(t *testing.T, e *engine.Engine, p *testcases.Problem, source string) (*judge.Judgement, error) {
	t.Helper()
	out, err := judgeOutcome(t, e, p, source)
	if err != nil {
		return nil, err
	}
	return &out.Judgement, nil
}

func judgeOutcome(t *testing.T, e *engine.Engine, p *testcases.Problem, source string) (*engine.Outcome, error) {
	t.Helper()
	if err := p.Seal(); err != nil {
		t.Fatal(err)
	}
	return e.Judge(t.Context(), engine.Job{Problem: p, Submission: judge.Submission{
		ID: "s", Language: "python3", Files: []judge.File{{Name: "main.py", Data: []byte(source)}},
	}}, engine.Watcher{})
}

func score(n int64) *judge.Score { s := judge.ScoreOf(n); return &s }
