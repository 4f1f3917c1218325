package languages

import (
	"slices"
	"strings"

	"judgefarm/judge"
)

// PreparedDir is where a box sees what Prepare made.
const PreparedDir = "/prepared"

// Prepare is a command that saves later ones their start-up costs: a precompiled
// header, an archive of loaded classes. It runs once for each toolchain in a box of
// its own, with the self-test's files in the work directory; what Output names is
// kept beside the executables and shown read-only at PreparedDir. No submission has
// a part in it. It must not change what a program means. See docs/decisions/0010.
type Prepare struct {
	Step `yaml:",inline"`
	When *Pattern `yaml:"when" json:"when,omitempty"` // only for programs with a source that it matches; nil: for all
}

// Wants reports whether something is prepared for these sources.
func (l *Language) Wants(files []judge.File) bool {
	return l.Prepare != nil && (l.Prepare.When == nil || slices.ContainsFunc(files, func(f judge.File) bool {
		return l.Prepare.When.Match(f.Data)
	}))
}

// preparedWord stands for PreparedDir.
const preparedWord = "{prepared}"

// RunUsesPrepared reports whether a run is shown what was prepared, and not the
// compiler alone.
func (l *Language) RunUsesPrepared() bool {
	return slices.ContainsFunc(slices.Concat(l.Run.Args, l.Run.Env), func(a string) bool { return strings.Contains(a, preparedWord) })
}

// Prepared replaces {prepared} in arguments or variables; without anything
// prepared what has the word is left out.
func Prepared(args []string, there bool) []string {
	var out []string
	for _, a := range args {
		if there || !strings.Contains(a, preparedWord) {
			out = append(out, strings.ReplaceAll(a, preparedWord, PreparedDir))
		}
	}
	return out
}

// validatePrepare returns the faults of prepare and of the words that use it.
func (l *Language) validatePrepare() []fault {
	used := func(s *Step) bool {
		return s != nil && strings.Contains(strings.Join(slices.Concat(s.Args, s.Env), " "), preparedWord)
	}
	switch {
	case l.Prepare == nil && (used(l.Compile) || used(&l.Run)):
		return []fault{{"prepare", "must be set where {prepared} is used"}}
	case l.Prepare == nil:
		return nil
	case !used(l.Compile) && !used(&l.Run):
		return []fault{{"prepare", "is of no use: neither compile nor run has {prepared}"}}
	case l.Prepare.Output == "" || used(&l.Prepare.Step):
		return []fault{{"prepare", "output must be set, and {prepared} is not known here"}}
	}
	return l.Prepare.validate("prepare", without(sourceWords, "exe"))
}
