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
	Points     *Points      // nil for problems without points, and where nothing ran
}

// Points are those of a judgement, exactly: its document has the nearest doubles.
type Points struct {
	Total  Scored
	Groups map[string]Scored
	Cases  map[string]judge.Score // a skipped one has what a refused one has
}

// Scored is what was given and what can be reached.
type Scored struct{ Score, Most judge.Score }

// CaseOutput is what one run printed, cut at its limits and Stdout at
// Config.KeepOutput.
type CaseOutput struct {
	Case           string
	Verdict        judge.Verdict
	Stdout, Stderr []byte
	StdoutTotal    int64  // bytes of Stdout before that cut
	Dialogue       []byte // with the interactor, where Config.Dialogue asks for it
	Jury           string // what the checker told the jury; it may quote the answer
}

// Judge is what a worker and the command line need of the engine.
type Judge interface {
	// Judge compiles once and runs every case in a box of its own. A non-nil error
	// is a *judge.BadRequest, a *judge.Failed, or ctx's cause.
	Judge(ctx context.Context, job Job, watch Watcher) (*Outcome, error)
}
