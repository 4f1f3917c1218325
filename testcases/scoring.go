package testcases

import "judgefarm/judge"

// Aggregate says how the results of cases and groups become one of a group or of
// the problem. The zero value is the sum of points and the first verdict that is
// not accepted.
type Aggregate struct {
	Mode    ScoreMode
	Verdict VerdictMode
	// Accept and Reject are the points of a case that states none: nil is 1 and 0.
	// A checker that gives points, or a share of them, is heard before.
	Accept, Reject *judge.Score
	Scale          *judge.Score // the result is multiplied by it; nil is 1
	// Max and Min bound what the result may be; a result beyond is a fault of the
	// problem, and nil is no bound. Max is shown as what can be reached.
	Max, Min *judge.Score
	// Threshold, where set, makes the share that a checker gives a measure of its own,
	// which may be above 1: a case is accepted here when it is at most this.
	Threshold    *judge.Score
	AcceptAny    bool     // the verdict is accepted if any is, else as Verdict says
	IgnoreSample bool     // of the problem's: sample groups count for nothing, the verdict included
	Grader       *Program // ModeCustom: reads "VERDICT SCORE" lines, writes one
	GraderArgs   []string
}

// ScoreMode says how points are put together.
type ScoreMode string

// The modes of points. An absent result, of a skipped case, counts as rejected.
const (
	ModeSum     ScoreMode = ""
	ModeMin     ScoreMode = "min"
	ModeMax     ScoreMode = "max"
	ModeAverage ScoreMode = "average"
	ModeProduct ScoreMode = "product"
	// ModeAll gives Scale (1 when nil) when every case is accepted, else 0.
	ModeAll    ScoreMode = "all"
	ModeCustom ScoreMode = "custom"
)

// VerdictMode says how verdicts are put together.
type VerdictMode string

// The modes of verdicts.
const (
	VerdictFirst  VerdictMode = ""       // the first, in order, that is not accepted
	VerdictWorst  VerdictMode = "worst"  // the worst by the order of the Kattis format: RTE MLE TLE OLE WA
	VerdictAlways VerdictMode = "always" // accepted, whatever the cases earned
)

// Scores reports whether the problem gives points rather than a verdict alone.
func (p *Problem) Scores() bool { return p.Score != nil }
