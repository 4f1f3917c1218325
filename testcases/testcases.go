// Package testcases says what a problem is: limits, a checker, an interactor and
// groups of cases with their scores. Reading packages is testcases/format; ruling
// on outputs is judge/checker.
package testcases

import (
	"cmp"
	"io"
	"slices"

	"judgefarm/judge"
)

// Problem is what submissions are judged against. It is immutable once sealed and
// may be shared between goroutines. Every format of packages is read into this one
// form; a field that a format does not know stays at its zero value, which always
// means what most problems want.
type Problem struct {
	ID     string // "" for inline tests
	Name   string
	Format string // what the package was read as: "plain", "kattis legacy", ...; "" for inline tests
	Digest string // sha256 over everything that can change a verdict
	// MadeFrom is the digest that the problem had while it was Pending, before
	// testcases/build made its data; "" where nothing was made.
	MadeFrom string

	Kind   Kind
	Limits judge.Limits // zero fields unstated
	// TimeFactors multiply the CPU and the wall limit for a language, by its id.
	TimeFactors map[string]judge.Score
	Passes      int    // most passes of one case, where the checker may ask for another; 0 is 1
	InputFile   string // the program reads this file in its work directory; "" is standard input
	OutputFile  string // the program writes this file; "" is standard output
	// Sealed keeps the program from making and changing files in its work directory, but
	// for OutputFile, which it finds there, empty.
	Sealed     bool
	Unbuffered bool        // what the program prints leaves it at once, where its runtime can be told so
	CodeSize   judge.Bytes // most bytes of a submission's files together; 0 unstated
	// CompileLimits are those of compiling a submission; zero fields are the language's.
	CompileLimits judge.Limits
	Languages     []string // ids that a submission may be in; nil is any
	// Include are files that are added to a submission before it is compiled, by
	// language id, "" for all that are not named: a format whose languages have what
	// all have too says it for each, see Include.Over. They replace files of the same name.
	Include map[string]Include

	Checker        judge.CheckerSpec
	CheckerProgram *Program // of Checker.Name "custom"
	// Rules are checkers beside that one. With EveryRule each of them rules on every case
	// too, in order, as long as it is accepted, and points are those of the last that gives
	// any; else each is for the cases that name it.
	Rules      []Rule
	EveryRule  bool
	Interactor *Program // of Kind Interactive and Communication
	Processes  int      // of Kind Communication: programs at one time; 0 is 1
	// NamedPipes, of Kind Communication, hands each program the names of the pipes that
	// it reads and writes, as arguments; else they are its standard input and output.
	// With several Processes the number of the program, from 0, comes last.
	NamedPipes bool

	Groups []Group
	Score  *Aggregate // over Groups; nil: no points, the score is the share of cases accepted
	Inline bool       // tests came with the request: their data may be shown to the submitter

	// Submissions are the labelled submissions of the package, for verification.
	Submissions []Labelled
	Jury        Jury // what else verification looks at
}

// Kind says how a run is made.
type Kind string

// The kinds of problems.
const (
	Batch       Kind = ""            // input in, output out; the checker rules
	Interactive Kind = "interactive" // the interactor talks to the program while it runs, and rules
	OutputOnly  Kind = "output_only" // nothing is run: the submission's files are the outputs, see Outputs
	// Communication is the interactor, called a manager, with Processes copies of the
	// program, each joined to it by two named pipes.
	Communication Kind = "communication"
)

// Include is what a problem adds to submissions in one language.
type Include struct {
	Files []judge.File
	Main  string // the file that is compiled as the main one; "" leaves it to the submission
	// Source is what a submission of a single file is called, so that Files can name it;
	// "" keeps its name.
	Source string
	// Define are names that the compiler defines, where the language has a way to.
	Define []string
	// Before is put before the text of each of the submission's own files whose names
	// tell the language.
	Before string
}

// Over is inc with the files of one for all languages too, but for those of which it has
// its own by the same name.
func (inc Include) Over(all Include) Include {
	for _, f := range all.Files {
		if !slices.ContainsFunc(inc.Files, func(own judge.File) bool { return own.Name == f.Name }) {
			inc.Files = append(slices.Clip(inc.Files), f)
		}
	}
	inc.Main = cmp.Or(inc.Main, all.Main)
	return inc
}

// Group is a set of cases, in order, or of groups; of both, the cases come first.
type Group struct {
	Name   string // unique in the problem: "sample", "secret", "secret/small"
	Sample bool   // its data may be shown; its cases count for no points
	// Also are cases of groups before, by name, whose results count here too; they come
	// before the group's own and are worth what Score says.
	Also   []string
	Cases  []Case
	Groups []Group
	Score  *Aggregate // nil: as Sum of what its cases give
	// After are groups of which every case must be accepted, else this one is
	// skipped and has no points. They come earlier in the problem.
	After []string
	Stop  bool // after a case that is not accepted the rest of the group is skipped
}

// Case is one input and its answer.
type Case struct {
	Name   string // unique in the problem: "sample/1", "secret/03-big"
	Sample bool   // data may be shown to the submitter
	Input  Data
	Answer Data // never enters the box that runs the submission
	// InputFrom and AnswerFrom make what the package does not hold; testcases/build
	// runs them and sets Input and Answer.
	InputFrom, AnswerFrom *Recipe

	Args        []string     // command line of the program
	Files       []CaseFile   // put into its work directory
	CheckerArgs []string     // after those of the problem's checker or interactor
	Rule        int          // which of Problem.Rules is the checker, from 1; 0 is the problem's
	Limits      judge.Limits // Wall and Output in place of the problem's, where they are not zero
	Points      *judge.Score // what the case is worth; nil: see Aggregate.Accept
	Static      bool         // nothing is run: its checker looks at the submission's files, see ProtocolKattisStatic
	Output      string       // the file with its output, where outputs are handed in; "" is told by the case's name, see Outputs
	Handed      Handing      // of Kind Batch: whether the output may come with the program, see Split
	Hint        string       // shown with a failed case whose data may be shown
}

// Handing says whether a case's output comes with the submission.
type Handing string

// The ways of a case in a problem that takes programs and outputs.
const (
	HandedNever Handing = ""
	HandedMaybe Handing = "maybe" // the program is not run where an output came with it
	HandedOnly  Handing = "only"  // the program is never run
)

// CaseFile is a file that the program finds in its work directory.
type CaseFile struct {
	Name string // relative, see judge.CheckFileName
	Data Data
}

// Data is bytes at rest: a file or memory, see FileData and BytesData. It may be
// opened more than once, also at the same time, and gives the same bytes each time.
type Data interface {
	Open() (io.ReadCloser, error)
	Size() int64
}

// Cases returns all cases in the order in which they are judged.
func (p *Problem) Cases() []Case {
	var all []Case
	p.Walk(func(_ *Group, c *Case) { all = append(all, *c) })
	return all
}

// Walk calls f for every case in the order in which they are judged, with the
// innermost group that it is in.
func (p *Problem) Walk(f func(*Group, *Case)) {
	var walk func(groups []Group)
	walk = func(groups []Group) {
		for i := range groups {
			g := &groups[i]
			for j := range g.Cases {
				f(g, &g.Cases[j])
			}
			walk(g.Groups)
		}
	}
	walk(p.Groups)
}

// Named is the digest by which the package is known: the one of before any data was
// made, which is the same wherever it is read.
func (p *Problem) Named() string {
	if p.MadeFrom != "" {
		return p.MadeFrom
	}
	return p.Digest
}

// Pending reports whether inputs or answers are still to be made by their recipes.
func (p *Problem) Pending() bool {
	pending := false
	p.Walk(func(_ *Group, c *Case) { pending = pending || c.Input == nil || c.Answer == nil })
	return pending
}
