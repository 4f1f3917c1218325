// Package testcases says what a problem is: limits, a checker and groups of
// cases. Reading packages is testcases/format; ruling on outputs is
// judge/checker.
package testcases

import (
	"io"

	"judgefarm/judge"
)

// Problem is what submissions are judged against. It is immutable once built and
// may be shared between goroutines.
type Problem struct {
	ID      string // "" for inline tests
	Name    string
	Digest  string       // sha256 over everything that can change a verdict
	Limits  judge.Limits // zero fields unstated
	Checker judge.CheckerSpec
	// CheckerFiles are the sources of the problem's own checker program
	// (Checker.Name "custom"), CheckerLanguage its language.
	CheckerFiles    []judge.File
	CheckerLanguage string
	Groups          []Group
	Inline          bool // tests came with the request: their data may be shown to the submitter

	// Submissions are the labelled submissions of the package, for verification.
	Submissions []Labelled
}

// Group is a set of cases, in order. The plain format has "sample" and "secret".
type Group struct {
	Name  string
	Cases []Case
}

// Case is one input and its answer.
type Case struct {
	Name   string // unique in the problem: "sample/1", "secret/03-big"
	Sample bool   // data may be shown to the submitter
	Input  Data
	Answer Data // never enters the box that runs the submission
}

// Data is bytes at rest: a file or memory, see FileData and BytesData. It may be
// opened more than once, also at the same time, and gives the same bytes each time.
type Data interface {
	Open() (io.ReadCloser, error)
	Size() int64
}

// Labelled is a submission of a package with the verdicts its label allows.
type Labelled struct {
	Path     string // submissions/accepted/a.py: a file, or a folder of files
	Label    string // accepted, wrong_answer, time_limit, ...
	Allowed  []judge.Verdict
	Language string // an id or alias that the package states; "" is told by the first file's name
	Files    []judge.File
}

// Cases returns all cases in order.
func (p *Problem) Cases() []Case {
	var all []Case
	for _, g := range p.Groups {
		all = append(all, g.Cases...)
	}
	return all
}
