// Package checker rules on the output of one run. It never learns who wrote it
// and never decides on limits: judge/engine combines its ruling with the report.
package checker

import (
	"context"
	"io"

	"judgefarm/judge"
)

// Checker rules on one output. Implementations are safe for concurrent use and
// pass checkertest. A non-nil error is a fault of the checker or of ours, never
// of the submission.
type Checker interface {
	// ID is "name@version"; the version rises when any ruling may change. What
	// else a ruling depends on follows a "+".
	ID() string
	Check(ctx context.Context, in Input) (Ruling, error)
}

// Input is what a checker may look at. Each Open function may be called more
// than once.
type Input struct {
	Case   string
	Input  func() (io.ReadCloser, error)
	Answer func() (io.ReadCloser, error)
	Output func() (io.ReadCloser, error)
	// Reveal says that answer data may be quoted in Message: samples and inline tests.
	Reveal bool
}

// Ruling is what a checker says.
type Ruling struct {
	Verdict judge.Verdict // AC, WA or PE
	Message string        // to the submitter: the first difference; quotes answer data only when Reveal is set
	Jury    string        // to the jury
}
