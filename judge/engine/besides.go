package engine

import (
	"slices"
	"strings"

	"judgefarm/judge"
	"judgefarm/judge/sandbox"
	"judgefarm/languages"
	"judgefarm/testcases"
)

// besides are the files that a submission finds in its work directory too. In a
// language that is run from its sources they are all of several, whose parts may name
// each other from there; in others what the problem adds that is no source. Problem
// package format, "Working directory". None lies in the way of a file of the problem's.
func (s *session) besides(files []judge.File, inc testcases.Include) []sandbox.File {
	p := s.job.Problem
	scripted := fromSource(s.lang)
	if scripted && len(files) < 2 {
		return nil
	}
	var all []sandbox.File
	for _, f := range files {
		data := slices.ContainsFunc(inc.Files, func(own judge.File) bool { return own.Name == f.Name }) && !tells(s.lang, f.Name)
		if (scripted || data) && !clash(f.Name, p.InputFile) && !clash(f.Name, p.OutputFile) {
			all = append(all, sandbox.File{Name: f.Name, Data: f.Data})
		}
	}
	return all
}

// clash reports whether two files cannot lie in one folder: they have one name, or one
// is where the other has a folder. An empty name is no file.
func clash(a, b string) bool {
	return a == b || a != "" && strings.HasPrefix(b, a+"/") || b != "" && strings.HasPrefix(a, b+"/")
}

// fromSource reports whether what is run is the submission's sources: what is called
// its compiler only looks at them, as PHP's and Perl's do.
func fromSource(l *languages.Language) bool {
	return l.Compile == nil || slices.ContainsFunc(l.Run.Args, func(a string) bool { return strings.Contains(a, "{source}") })
}

// tells reports whether a file's name tells the language.
func tells(l *languages.Language, name string) bool {
	return slices.ContainsFunc(l.Suffix, func(suffix string) bool { return strings.HasSuffix(name, suffix) })
}
