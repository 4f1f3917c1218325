package judge

import (
	"errors"
	"strings"
)

// FieldError says what is wrong with one field of a request or file. Its text is
// safe to show to whoever sent it, names the field and says what would be right.
type FieldError struct {
	Field  string `json:"field"`  // "limits.wall_ms", "files[0].name", "data/secret/2.in"
	Reason string `json:"reason"` // "must be at least the CPU limit of 1s, is 500ms"
}

// Error implements error.
func (e *FieldError) Error() string {
	if e.Field == "" {
		return e.Reason
	}
	return e.Field + ": " + e.Reason
}

// BadRequest is the caller's mistake: every fault found, each naming its field.
// It is never retried and its text is safe to show.
type BadRequest struct{ Faults []*FieldError }

// Error implements error.
func (e *BadRequest) Error() string {
	lines := make([]string, len(e.Faults))
	for i, f := range e.Faults {
		lines[i] = f.Error()
	}
	return strings.Join(lines, "; ")
}

// Refuse returns nil for no faults, else a *BadRequest.
func Refuse(faults ...*FieldError) error {
	if len(faults) == 0 {
		return nil
	}
	return &BadRequest{Faults: faults}
}

// IsBadRequest reports whether the error is the caller's. A failure of ours is not,
// though what failed may have been a request that we made, to the sandbox say.
func IsBadRequest(err error) bool {
	var bad *BadRequest
	var ours *Failed
	return errors.As(err, &bad) && !errors.As(err, &ours)
}

// FailureKind says what of ours broke.
type FailureKind string

// The kinds of failure, bounded so that they may label a metric.
const (
	FailSandbox   FailureKind = "sandbox"   // the box could not be made or measured
	FailChecker   FailureKind = "checker"   // the checker crashed, ran out of limits or answered nonsense
	FailProblem   FailureKind = "problem"   // the problem's data is missing or broken
	FailToolchain FailureKind = "toolchain" // the language is not there or does not work on this host
	FailStorage   FailureKind = "storage"   // blobs or results could not be read or written
	FailLost      FailureKind = "lost"      // the worker died or lost its lease, as often as allowed
	FailInternal  FailureKind = "internal"  // anything else
)

// Failed is the error "we could not judge": never a verdict. Retryable says whether
// another attempt on another worker may help. Reason is shown to the submitter and so
// holds no path or address of ours; Err, for the log, may.
type Failed struct {
	Kind      FailureKind `json:"kind"`
	Reason    string      `json:"reason"`
	Retryable bool        `json:"retryable"`
	Err       error       `json:"-"`
}

// Error implements error. It is for us: what the submitter sees is Reason.
func (f *Failed) Error() string {
	if f.Err != nil {
		return string(f.Kind) + ": " + f.Err.Error()
	}
	return string(f.Kind) + ": " + f.Reason
}

// Unwrap returns the cause, if it is known here.
func (f *Failed) Unwrap() error { return f.Err }

// reasons is what submitters are told of failures whose text is ours alone.
var reasons = map[FailureKind]string{
	FailSandbox:   "the sandbox failed",
	FailChecker:   "the problem's checker failed",
	FailProblem:   "the problem's data could not be used",
	FailToolchain: "the language's toolchain failed",
	FailStorage:   "submissions, problems or results could not be read or stored",
	FailLost:      "the worker was lost",
	FailInternal:  "an internal error",
}

// Fail wraps err as a retryable failure of the kind; its text goes to the log, not
// into Reason. It keeps a *Failed that is already in the chain.
func Fail(kind FailureKind, err error) *Failed {
	var f *Failed
	if errors.As(err, &f) {
		return f
	}
	return &Failed{Kind: kind, Reason: reasons[kind] + "; the judge's log tells more", Retryable: true, Err: err}
}
