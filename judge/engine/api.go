package engine

import (
	"context"

	"judgefarm/judge"
	"judgefarm/testcases"
)

// Job is one submission and the problem to judge it against.
type Job struct {
	Submission judge.Submission
	Problem    *testcases.Problem
}

// Watcher hears of progress; its calls come in order from one goroutine. Nil
// fields are skipped.
type Watcher struct {
	Compiled func(*judge.Compile)
	Case     func(index, total int, run judge.Run)
}

// Outcome is the judgement with what may be kept as artifacts.
type Outcome struct {
	Judgement  judge.Judgement
	CompileLog []byte
	Outputs    []CaseOutput // in order, of the cases that ran
}

// CaseOutput is what one run printed, cut at its limits.
type CaseOutput struct {
	Case           string
	Verdict        judge.Verdict
	Stdout, Stderr []byte
}

// Judge is what a worker and the command line need of the engine.
type Judge interface {
	// Judge compiles once and runs every case in a box of its own. A non-nil error
	// is a *judge.BadRequest, a *judge.Failed, or ctx's cause.
	Judge(ctx context.Context, job Job, watch Watcher) (*Outcome, error)
}
