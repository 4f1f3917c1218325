package testcases

import "judgefarm/judge"

// Labelled is a submission of a package with what its label promises.
type Labelled struct {
	Path     string // submissions/accepted/a.py: a file, or a folder of files
	Label    string // accepted, wrong_answer, time_limit, ...
	Language string // an id or alias that the package states; "" is told by the first file's name
	Main     string // the main file, where the package states it
	Files    []judge.File
	Limits   judge.Limits // of its run in place of the problem's; zero fields are the problem's
	// Broken says that it must not be judged: the package is broken on purpose, so that
	// the judgement fails or the request is refused.
	Broken bool
	// Allowed are the verdicts that the whole judgement may have; nil is any.
	Allowed []judge.Verdict
	Expect  []Expectation // what must hold besides
}

// Expectation is what a package promises of one submission on some of its cases.
type Expectation struct {
	Cases     string                 // pattern of groups or cases below data/, with * and {a,b}; "" is all of them
	Permitted []judge.Verdict        // every case has one of them; nil is any
	Required  []judge.Verdict        // at least one case has one of them; nil asks for none
	Score     *[2]judge.Score        // least and most points, of the group or the submission
	Round     bool                   // Score was rounded to as many places as it has
	Partial   bool                   // it scores less than can be reached
	Above     *judge.Score           // it scores more than this: the best, where less is better
	Fraction  *[2]judge.Score        // the same as shares of what can be reached
	Message   string                 // is part of what the checker told the jury for at least one case
	Time      TimeUse                // whether it bounds the time limit
	Points    map[string]judge.Score // by case name, exactly
	Origin    string                 // file and line that say so, "FILE:LINE"; "" where none does
}

// TimeUse says what a submission says about the time limit.
type TimeUse string

// The uses.
const (
	TimeUnstated TimeUse = ""      // as its verdicts say
	TimeLower    TimeUse = "lower" // the limit must leave it room
	TimeUpper    TimeUse = "upper" // the limit must be too short for it
	TimeUnused   TimeUse = "none"
)

// Jury is what of a package only verification looks at. Nothing of it changes a
// verdict, so nothing of it is part of the digest.
type Jury struct {
	Validators []Validator // of inputs; every one must accept every input
	// ValidatorArgs are those of one case, by its name, of all validators.
	ValidatorArgs map[string][]string
	InvalidInputs []Sample // at least one validator must refuse each
	ValidOutputs  []Sample // the checker must accept Output
	InvalidOutput []Sample // the checker must refuse Output
	Time          TimeRule
	Unused        []string  // files that nothing refers to
	Notes         []Finding // what the reader found odd and could go on with
}

// Validator is an input validator, with the arguments that it alone gets.
type Validator struct {
	Program Program
	Args    map[string][]string // by case name
}

// Sample is test data for a package's own programs.
type Sample struct {
	Name                  string
	Input, Answer, Output Data // those that there are
	Args                  []string
}

// TimeRule is how a format derives or examines the time limit.
type TimeRule struct {
	Stated     bool        // the package states the limit; else it is derived
	Origin     string      // file, and line, that states it
	Elsewhere  string      // why the format keeps CPU and memory limits outside the package, and what to do; "" is no such format
	AcToLimit  judge.Score // least ratio of the limit to the slowest accepted submission; 0 is no rule
	LimitToTLE judge.Score // least ratio of the fastest too slow one to the limit; 0 is no rule
	Resolution judge.Score // in seconds; the limit is a multiple of it; 0 is any
	AtLeast    judge.Score // in seconds; a derived limit is not less
}

// Finding is something about a package that is worth telling.
type Finding struct {
	File string // of the package, with ":LINE" where there is one
	Text string
}
