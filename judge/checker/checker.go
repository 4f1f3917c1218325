// Package checker rules on the output of one run. It never learns who wrote it
// and never decides on limits: judge/engine combines its ruling with the report.
package checker

import (
	"context"
	"io"
	"time"

	"judgefarm/judge"
	"judgefarm/judge/sandbox"
	"judgefarm/languages"
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
	Args   []string // of this case, after the checker's own
	// Passes says that the checker may ask for another pass; Feedback is what it left
	// in the pass before.
	Passes   bool
	Feedback []sandbox.File
	// Measure says that a share is compared with a threshold and so may be above 1.
	Measure bool
	// Facts are of the run, for protocols that hand them to the program.
	Facts Facts
	// Reveal says that answer data may be quoted in Message: samples and inline tests.
	Reveal bool
}

// Facts are what a package's own checker may be told of the submission and its run.
// Only ProtocolDMOJ and ProtocolKattisStatic do.
type Facts struct {
	Problem  string
	Language *languages.Language
	Source   []byte       // of the main file
	Files    []judge.File // of ProtocolKattisStatic: those that are compiled
	Entry    string       // likewise: the main file, or the class that starts the program
	CPU      time.Duration
	Wall     time.Duration
	Memory   judge.Bytes
	Verdict  judge.Verdict // of a run that ended wrongly; "" else
}

// OnError reports whether c is asked about outputs of runs that ended wrongly too: for
// the points that it gives, the verdict is that of the run.
func OnError(c Checker) bool {
	asked, ok := c.(interface{ OnError() bool })
	return ok && asked.OnError()
}

// Ruling is what a checker says.
type Ruling struct {
	Verdict judge.Verdict // AC, WA or PE
	Message string        // to the submitter: the first difference; quotes answer data only when Reveal is set
	Jury    string        // to the jury
	// Share of what the case is worth, or Points, which count instead of it; both nil
	// is all for AC and nothing else. An accepted output may have less than all, and
	// one that is refused something.
	Share, Points *judge.Score
	// Next is the input of another pass, which an accepted output may lead to; nil is
	// none. Feedback is what the checker gets back then.
	Next     []byte
	Feedback []sandbox.File
}
