package checker

import (
	"path"
	"strings"

	"judgefarm/judge"
	"judgefarm/judge/sandbox"
	"judgefarm/testcases"
)

// static is how a validator of a submission's text is called: with language, entry point
// and feedback folder, in a folder that holds the files; problem package format 2025-09,
// "Static validator".
func static() protocol { return protocol{static: true, feedback: true, ruling: kattisRuling} }

// staticArgs are what it is told of the submission.
func staticArgs(in Input) []string {
	language := ""
	if l := in.Facts.Language; l != nil {
		language = l.ID
		if names := l.IDs["kattis"]; len(names) > 0 {
			language = names[0]
		}
	}
	return []string{language, in.Facts.Entry, feedbackArg}
}

// Plants reports whether a file of a submission would lie in the folder for feedback:
// no static validator is then asked, since what it finds there are its scores.
func Plants(files []judge.File) bool {
	for _, f := range files {
		if first, _, _ := strings.Cut(path.Clean(f.Name), "/"); first == strings.TrimSuffix(feedback, "/") {
			return true
		}
	}
	return false
}

func sources(in Input) []sandbox.File {
	var all []sandbox.File
	for _, f := range in.Facts.Files {
		all = append(all, sandbox.File{Name: f.Name, Data: f.Data})
	}
	return all
}

// isStatic reports whether a rule looks at the submission and at no output.
func isStatic(r testcases.Rule) bool {
	return r.Program != nil && r.Program.Protocol == testcases.ProtocolKattisStatic
}
