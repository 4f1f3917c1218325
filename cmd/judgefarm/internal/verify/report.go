package verify

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"judgefarm/judge"
)

// Report is what was found of one problem.
type Report struct {
	Package     string     `json:"package"` // as it was named
	Name        string     `json:"name,omitempty"`
	Format      string     `json:"format,omitempty"`
	Digest      string     `json:"digest,omitempty"`
	Cases       int        `json:"cases"`
	Samples     int        `json:"samples"`
	Faults      int        `json:"faults"`
	Warnings    int        `json:"warnings"`
	Failed      int        `json:"failed"`   // what we could not do
	Complete    bool       `json:"complete"` // nothing failed, and every submission was judged that its label wants judged
	Time        *TimeLimit `json:"time_limit,omitempty"`
	Checked     Checked    `json:"checked"`
	Submissions []Row      `json:"submissions"`
	Unfailed    []string   `json:"unfailed"` // cases that no wrong submission fails
	Findings    []Finding  `json:"findings"`
	// Toolchains are those of the submissions, by language.
	Toolchains map[string]judge.LanguageRef `json:"toolchains,omitempty"`
	Checker    string                       `json:"checker,omitempty"`
	Since      *time.Time                   `json:"since,omitempty"`   // of a stored problem: when it was last verified
	Changed    []string                     `json:"changed,omitempty"` // and what is not as it was then
	Took       judge.Millis                 `json:"took_ms"`
}

// Checked counts what was looked at beside the submissions.
type Checked struct {
	Inputs        int `json:"inputs"` // runs of input validators
	InvalidInputs int `json:"invalid_inputs"`
	Answers       int `json:"answers"`
	Outputs       int `json:"outputs"` // that the checker must accept or refuse
}

// Row is one labelled submission.
type Row struct {
	Path     string        `json:"path"`
	Language string        `json:"language,omitempty"`
	Expected string        `json:"expected"` // for people
	Verdict  judge.Verdict `json:"verdict,omitempty"`
	Score    *float64      `json:"score,omitempty"`
	Slowest  judge.Millis  `json:"slowest_ms"`           // most CPU time of any case
	OfLimit  float64       `json:"of_limit"`             // that as a share of the limit in its language
	Beyond   float64       `json:"beyond,omitempty"`     // still too slow at so many times the limit
	Memory   judge.Bytes   `json:"memory_bytes"`         // most of any case
	Alone    bool          `json:"alone"`                // judged with nothing beside it
	Rounds   int           `json:"rounds"`               // how often it was judged
	Missing  string        `json:"missing,omitempty"`    // why it was not judged
	Unmet    []string      `json:"unmet,omitempty"`      // what its label promises and does not hold
	Fails    []string      `json:"fails_on,omitempty"`   // cases that it fails
	Compile  judge.Millis  `json:"compile_ms,omitempty"` // CPU time of the compiler

	promised bool // it was not judged, and its label says so
}

// Severity says what a finding means for the package.
type Severity string

// The severities. A fault makes the package wrong, a failure says that we could not
// look.
const (
	Fault   Severity = "fault"
	Failure Severity = "failed"
	Warning Severity = "warning"
	Note    Severity = "note"
)

// Finding is one thing that was found.
type Finding struct {
	Severity Severity `json:"severity"`
	Check    string   `json:"check"` // what was looked at: docs/verify.md lists them
	File     string   `json:"file,omitempty"`
	Line     int      `json:"line,omitempty"`
	Text     string   `json:"text"`
}

// Where is "file:line" as far as it is known.
func (f Finding) Where() string {
	if f.Line > 0 {
		return f.File + ":" + strconv.Itoa(f.Line)
	}
	return f.File
}

func (f Finding) String() string {
	if f.File == "" {
		return f.Text
	}
	return f.Where() + ": " + f.Text
}

// The checks.
const (
	checkStructure    = "structure"
	checkInput        = "input"
	checkInvalidInput = "invalid_input"
	checkAnswer       = "answer"
	checkOutput       = "output"
	checkChecker      = "checker"
	checkSubmission   = "submission"
	checkTime         = "time_limit"
	checkFlaky        = "flaky"
	checkCoverage     = "coverage"
	checkUnused       = "unused"
	checkDuplicate    = "duplicate"
	checkText         = "text"
	checkReader       = "reader"
)

// add keeps a finding once.
func (r *Report) add(f Finding) {
	f.Text = tidy(f.Text)
	if !slices.Contains(r.Findings, f) {
		r.Findings = append(r.Findings, f)
	}
}

// maxText bounds what a finding quotes of programs.
const maxText = 600

func tidy(s string) string {
	s = strings.TrimSpace(s)
	if len(s) > maxText {
		s = strings.ToValidUTF8(s[:maxText], "") + "..."
	}
	return s
}

// finish sorts and counts: faults first, then by file.
func (r *Report) finish() {
	order := []Severity{Fault, Failure, Warning, Note}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.Severity), slices.Index(order, b.Severity)),
			cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	r.Faults, r.Warnings, r.Failed = 0, 0, 0
	for _, f := range r.Findings {
		switch f.Severity {
		case Fault:
			r.Faults++
		case Warning:
			r.Warnings++
		case Failure:
			r.Failed++
		}
	}
	r.Complete = r.Failed == 0
	for _, row := range r.Submissions {
		r.Complete = r.Complete && (row.Missing == "" || row.promised)
	}
}

// Refused is the report of a package that its reader refuses, or whose data could not
// be made for reasons of its own; is tells whether err says that.
func Refused(name string, err error) (r *Report, is bool) {
	var bad *judge.BadRequest
	reason, printed, packages := packageFault(err)
	if !packages {
		return nil, false
	}
	r = &Report{Package: name, Submissions: []Row{}, Unfailed: []string{}, Findings: []Finding{}}
	if errors.As(err, &bad) {
		for _, f := range bad.Faults {
			file, line, text := placed(f.Field, f.Reason)
			r.add(Finding{Fault, checkStructure, file, line, text})
		}
	} else {
		r.add(Finding{Fault, checkStructure, "", 0, reason + quoted(printed)})
	}
	r.finish()
	return r, true
}

// lineAhead is how readers tell the line of a file: "line 3: ...".
var lineAhead = regexp.MustCompile(`^line (\d+): `)

// placed takes the line out of a reader's words, or of "FILE:LINE".
func placed(file, text string) (string, int, string) {
	if m := lineAhead.FindStringSubmatch(text); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			return file, n, text[len(m[0]):]
		}
	}
	if at := strings.LastIndexByte(file, ':'); at > 0 {
		if n, err := strconv.Atoi(file[at+1:]); err == nil && n > 0 {
			return file[:at], n, text
		}
	}
	return file, 0, text
}

// lineIn finds the line that a validator or checker speaks of.
var lineIn = regexp.MustCompile(`(?i)\bline[ :=#]*(\d+)`)

func lineOf(text string) int {
	m := lineIn.FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		return 0
	}
	return n
}

func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
