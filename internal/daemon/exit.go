package daemon

import (
	"errors"
	"fmt"

	"judgefarm/judge"
)

// The exit codes of every subcommand.
const (
	ExitOK          = 0 // done; of a judging command: accepted
	ExitNotAccepted = 1 // judged, with another verdict than accepted, or a check did not hold
	ExitUsage       = 2 // bad usage or configuration: the caller has to change something
	ExitFailed      = 3 // we failed: nothing is known about the program
)

// ErrNotAccepted makes the exit code 1 and prints nothing: the command has shown
// the verdict already.
var ErrNotAccepted = errors.New("not accepted")

// Silent is an error whose command has said all there is to say.
type Silent struct{ Code int }

// Error implements error.
func (s Silent) Error() string { return fmt.Sprintf("ended with %d", s.Code) }

// UsageError is the caller's mistake in flags, files or configuration.
type UsageError struct{ err error }

// Usage formats a UsageError; it wraps with %w as fmt.Errorf does.
func Usage(format string, args ...any) error {
	return &UsageError{err: fmt.Errorf(format, args...)}
}

// Error implements error.
func (u *UsageError) Error() string { return u.err.Error() }

// Unwrap returns the cause.
func (u *UsageError) Unwrap() error { return u.err }

// ExitCode tells the exit code for what a command returned: a *judge.Failed in the
// chain is always 3, a *judge.BadRequest or UsageError is 2, ErrNotAccepted is 1,
// any other error is ours and so 3.
func ExitCode(err error) int {
	var (
		failed *judge.Failed
		usage  *UsageError
	)
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &failed):
		return ExitFailed
	case judge.IsBadRequest(err), errors.As(err, &usage):
		return ExitUsage
	case errors.Is(err, ErrNotAccepted):
		return ExitNotAccepted
	}
	return ExitFailed
}
