package engine

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"judgefarm/judge"
	"judgefarm/languages"
	"judgefarm/testcases"
)

// allowed refuses what the problem does not let a submission be.
func allowed(sub judge.Submission, p *testcases.Problem, lang *languages.Language) error {
	var faults []*judge.FieldError
	refuse := func(field, format string, args ...any) {
		faults = append(faults, &judge.FieldError{Field: field, Reason: fmt.Sprintf(format, args...)})
	}
	program := !hands(p, lang)
	if p.Languages != nil && program && !slices.Contains(p.Languages, lang.ID) {
		refuse("language", "must be one of %s for this problem, is %s", strings.Join(p.Languages, ", "), lang.ID)
	}
	size := 0
	for _, f := range sub.Files {
		size += len(f.Data)
	}
	if p.CodeSize != 0 && program && judge.Bytes(size) > p.CodeSize {
		refuse("files", "must be at most %d bytes together for this problem, are %d", p.CodeSize, size)
	}
	if why := p.Jury.Time.Elsewhere; why != "" && program {
		if p.Limits.CPU == 0 && sub.Limits.CPU == 0 {
			refuse("limits.cpu_ms", "must be stated: %s", why)
		}
		if p.Limits.Memory == 0 && sub.Limits.Memory == 0 {
			refuse("limits.memory_kib", "must be stated: %s", why)
		}
	}
	if program && p.Limits.CPU == 0 && sub.Limits.CPU == 0 && p.Jury.Time.AcToLimit.Sign() > 0 {
		refuse("limits.cpu_ms", "must be stated: the problem has no time limit of its own (judgefarm verify derives one)")
	}
	return judge.Refuse(faults...)
}

// stretch multiplies the time limits by the problem's factor for the language; 0 is
// none.
func stretch(l judge.Limits, factor judge.Score) judge.Limits {
	if factor.Sign() == 0 {
		return l
	}
	times := func(d time.Duration) time.Duration {
		return time.Duration(math.Round(factor.Mul(judge.ScoreOf(int64(d))).Float()))
	}
	l.CPU, l.Wall = times(l.CPU), times(l.Wall)
	return l.Capped()
}

// included adds the problem's own files to a submission's, in place of files of the
// same name, and names the main file where either does.
func included(program []judge.File, named string, inc testcases.Include) (files []judge.File, main string) {
	files, main = slices.Clone(program), named
	if len(files) == 1 && inc.Source != "" {
		files[0].Name, main = inc.Source, ""
	}
	files = slices.DeleteFunc(files, func(f judge.File) bool {
		return slices.ContainsFunc(inc.Files, func(own judge.File) bool { return own.Name == f.Name })
	})
	return append(files, inc.Files...), cmp.Or(inc.Main, main)
}

// includeOf is what the problem adds in a language.
func includeOf(p *testcases.Problem, language string) testcases.Include {
	if inc, ok := p.Include[language]; ok {
		return inc
	}
	return p.Include[""]
}

// defines are the flags by which a language's compiler defines names; none where it has
// no way to.
func defines(l *languages.Language, names []string) (flags []string) {
	if l.Compile == nil || l.Define == "" {
		return nil
	}
	for _, name := range names {
		flags = append(flags, l.Define+name)
	}
	return flags
}

// prefaced puts the problem's text before the files that are the submission's own and
// of its language.
func prefaced(files []judge.File, inc testcases.Include, language *languages.Language) []judge.File {
	if inc.Before == "" {
		return files
	}
	files = slices.Clone(files)
	for i, f := range files {
		ours := slices.ContainsFunc(inc.Files, func(own judge.File) bool { return own.Name == f.Name })
		if !ours && tells(language, f.Name) {
			files[i].Data = slices.Concat([]byte(inc.Before), f.Data)
		}
	}
	return files
}
