package languages

import (
	"slices"
	"strings"
	"time"
)

// Check is a command that reads the sources of a program and runs it not, of a
// language that has no compiler. It is asked only about a program that ended with a
// status other than 0, so no check, however wrong, refuses one that works. A status
// other than 0 says that the sources are not of the language; 0, a signal or a limit
// that it reached say nothing.
type Check struct {
	Step `yaml:",inline"`
	// When, where set, is what the interpreter must have printed on its error stream for
	// the check to be asked: most programs that end wrongly have no syntax error.
	When *Pattern `yaml:"when" json:"when,omitempty"`
	// Says is for a check that runs code of the program, as BEGIN blocks and macros: how a
	// place in the sources and its fault are printed. The check's word counts only if the
	// groups of one match in what it printed are those of a match in what the run printed,
	// and the check of a program in strict mode is in strict mode too.
	Says *Pattern `yaml:"says" json:"says,omitempty"`
}

// Confirms reports whether what a check printed bears out what the run left on stderr.
func (c *Check) Confirms(log, stderr []byte) bool {
	if c.Says == nil {
		return true
	}
	said := c.Says.groups(stderr)
	return slices.ContainsFunc(c.Says.groups(log), func(line string) bool { return slices.Contains(said, line) })
}

// DefaultCheckLimits bound a check whose definition states nothing else. A compiler's would
// let a program that fails hold its slot for ten seconds more; the slowest check takes half a second.
func DefaultCheckLimits() StepLimits {
	lim := DefaultStepLimits()
	lim.CPU, lim.Wall = 3*time.Second, 10*time.Second
	return lim
}

// Suspects reports whether a program that ended with a status other than 0 is to be
// checked; stderr is what it left.
func (l *Language) Suspects(stderr []byte) bool {
	return l.Check != nil && (l.Check.When == nil || l.Check.When.Match(stderr))
}

// validateCheck returns the faults of check.
func (l *Language) validateCheck() []fault {
	c := l.Check
	switch {
	case c == nil:
		return nil
	case l.Compile != nil:
		return []fault{{"check", "is for languages without compile, which tells syntax errors itself"}}
	case c.Output != "":
		return []fault{{"check", "has no output: nothing of it is kept"}}
	case strings.Contains(strings.Join(slices.Concat(c.Args, c.Env), " "), preparedWord):
		return []fault{{"check", "{prepared} is not known here"}}
	}
	whole := c.Step
	whole.Limits = c.Limits.or(DefaultCheckLimits())
	return whole.validate("check", without(sourceWords, "exe"))
}
