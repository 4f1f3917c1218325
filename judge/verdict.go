package judge

// Verdict is what a run or a judgement earned. The values are the identifiers
// of the ICPC Contest API plus SK. A verdict is about the program alone: a fault
// of ours is never one, see Failed.
type Verdict string

// The verdicts. Every run has exactly one.
const (
	Accepted          Verdict = "AC"  // right output within all limits
	WrongAnswer       Verdict = "WA"  // the checker refused the output
	PresentationError Verdict = "PE"  // right values in a layout the checker refuses
	TimeLimit         Verdict = "TLE" // CPU time of the whole box over the limit
	WallTimeLimit     Verdict = "WTL" // wall clock over the limit
	IdleLimit         Verdict = "ILE" // wall clock over the limit, under 5 % of it used as CPU
	MemoryLimit       Verdict = "MLE" // the box reached its memory limit and was ended for it
	OutputLimit       Verdict = "OLE" // more output, or a larger file, than allowed
	RuntimeError      Verdict = "RTE" // non-zero exit status or a signal
	SecurityViolation Verdict = "SV"  // a forbidden system call ended the run
	CompileError      Verdict = "CE"  // the compiler refused the source
	CompileTimeLimit  Verdict = "CTL" // the compiler ran out of time
	Skipped           Verdict = "SK"  // not run, by policy
)

// Verdicts lists every verdict in the order documents show them.
func Verdicts() []Verdict {
	return []Verdict{
		Accepted, WrongAnswer, PresentationError, TimeLimit, WallTimeLimit, IdleLimit, MemoryLimit,
		OutputLimit, RuntimeError, SecurityViolation, CompileError, CompileTimeLimit, Skipped,
	}
}

// State is where a submission stands. Judged, FailedState and Cancelled are final.
type State string

// The states: Queued -> Judging -> Judged, or -> Failed after the last attempt,
// or -> Cancelled. A drained or lost worker takes Judging back to Queued.
const (
	Queued      State = "queued"
	Judging     State = "judging"
	Judged      State = "judged"
	FailedState State = "failed"
	Cancelled   State = "cancelled"
)

// Final reports whether no later state can follow.
func (s State) Final() bool { return s == Judged || s == FailedState || s == Cancelled }
