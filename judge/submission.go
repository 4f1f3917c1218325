package judge

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// File is one source file: a relative path of at most 255 bytes and its bytes.
type File struct {
	Name string
	Data []byte
}

// Stop says when the remaining cases of a submission are skipped.
type Stop string

// The stop policies.
const (
	StopNever     Stop = "never"      // run every case
	StopFirstFail Stop = "first_fail" // after the first case that is not accepted the rest are SK
	// StopHardest is StopFirstFail with the cases in the order in which a failure is found
	// soonest, as far as the worker knows: AC is what it is with any policy, and any case
	// that fails gives the verdict else. For a problem with points it is StopGroup.
	StopHardest Stop = "hardest_first"
	StopGroup   Stop = "group" // cases that cannot change the points of their group any more are SK
)

// Submission is what someone sent, ready to judge: its language is an id of a
// languages.Language, its problem travels beside it (a testcases.Problem).
type Submission struct {
	ID       string
	Language string // an id or alias
	Files    []File
	Main     string       // the name of the main file; "" leaves it to the language's rules
	Limits   Limits       // what the request states, zero fields unstated
	Stop     Stop         // "" is StopFirstFail, for a problem with points StopGroup
	Checker  *CheckerSpec // overrides the problem's; nil keeps it
	Labels   map[string]string
}

// CheckerSpec names a checker and its arguments.
type CheckerSpec struct {
	Name string   `json:"name" yaml:"name" doc:"tokens, exact, lines, floats, or custom for the problem's own program"`
	Args []string `json:"args,omitempty" yaml:"args,omitempty" doc:"arguments of the checker, such as abs=1e-6"`
}

// CheckFileName refuses names that could lead out of a work directory: absolute
// paths, "..", empty parts, NUL, control characters, more than 255 bytes.
func CheckFileName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("must not be empty")
	case len(name) > 255:
		return fmt.Errorf("must be at most 255 bytes, is %d", len(name))
	case strings.HasPrefix(name, "/"):
		return fmt.Errorf("must be a relative path")
	case !utf8.ValidString(name):
		return fmt.Errorf("must be UTF-8")
	case strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\\' }):
		return fmt.Errorf("must not have control characters or a backslash")
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part == "." || part == ".." {
			return fmt.Errorf("must have no empty, \".\" or \"..\" part")
		}
	}
	return nil
}
