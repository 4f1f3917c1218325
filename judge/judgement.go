package judge

import "time"

// Run is one execution of a submission on one case, as documents show it.
type Run struct {
	Name    string    `json:"name"`
	Verdict Verdict   `json:"verdict"`
	Usage   UsageJSON `json:"usage"`
	Message string    `json:"message" doc:"what the checker or the judge says to the submitter; never hidden data"`
	Exit    *int      `json:"exit,omitempty" doc:"exit status of the program, where it exited"`
	Signal  string    `json:"signal,omitempty" doc:"signal that ended the program, such as SIGSEGV"`
	Cause   string    `json:"cause,omitempty" doc:"which limit or event ended the run, see docs/verdicts.md"`
	Noise   *Noise    `json:"noise,omitempty" doc:"what disturbed the run; no verdict depends on it"`
	Syscall string    `json:"syscall,omitempty" doc:"strict mode: the forbidden system call that ended the run; with its arguments for inline tests and samples, else its name"`
	Sample  bool      `json:"sample,omitempty"`
	Stdout  *Text     `json:"stdout,omitempty" doc:"for inline tests and samples, cut to 64 KiB"`
	Stderr  *Text     `json:"stderr,omitempty" doc:"for inline tests and samples, cut to 64 KiB"`
}

// GroupResult is what a group of cases gave, for problems with points.
type GroupResult struct {
	Name    string  `json:"name"`
	Verdict Verdict `json:"verdict"`
	Score   float64 `json:"score"`
	Max     float64 `json:"max_score" doc:"what can be reached"`
}

// Compile is what the compiler did; nil for languages without a compile step.
type Compile struct {
	Verdict Verdict   `json:"verdict,omitempty" doc:"CE or CTL; absent when it compiled"`
	Usage   UsageJSON `json:"usage"`
	Log     *Text     `json:"log,omitempty"`
	Cached  bool      `json:"cached" doc:"the executable came from the cache; usage is of the compile that made it"`
}

// Timing tells where the time between submission and judgement went.
type Timing struct {
	Queue    Millis `json:"queue_ms" doc:"from acceptance to the start of this attempt"`
	Compile  Millis `json:"compile_ms"`
	Run      Millis `json:"run_ms" doc:"wall time of the program over all cases"`
	Overhead Millis `json:"overhead_ms" doc:"from the start of this attempt to the end, less compile_ms and run_ms"`
}

// ProblemRef names the problem that was judged against.
type ProblemRef struct {
	ID      string `json:"id,omitempty" doc:"absent for inline tests"`
	Version int    `json:"version,omitempty" doc:"of an uploaded problem"`
	Digest  string `json:"digest"`
}

// LanguageRef names the toolchain that ran the submission.
type LanguageRef struct {
	ID        string `json:"id"`
	Version   string `json:"version"`
	Toolchain string `json:"toolchain" doc:"sha256 over compiler or interpreter, packages and flags"`
}

// Enforcement says how a limit was held: Exact, Sampled or None.
type Enforcement string

// The degrees of enforcement.
const (
	Exact   Enforcement = "exact"
	Sampled Enforcement = "sampled"
	None    Enforcement = "none"
)

// Enforced names the isolation level, how each limit was held, and how what the
// program had no business with was kept away from it.
type Enforced struct {
	Isolation string      `json:"isolation" doc:"full, or a lower level that the operator chose: userns or ptrace"`
	CPU       Enforcement `json:"cpu" doc:"exact, sampled or none, as all of these; docs/limits.md says how far sampled may be off"`
	Wall      Enforcement `json:"wall"`
	Memory    Enforcement `json:"memory"`
	Output    Enforcement `json:"output"`
	Tasks     Enforcement `json:"tasks"`
	Disk      Enforcement `json:"disk" doc:"bytes and number of the files that the program writes"`
	Files     Enforcement `json:"files" doc:"files of the host that are none of its business stay unread"`
	Network   Enforcement `json:"network" doc:"nothing is sent anywhere"`
	Processes Enforcement `json:"processes" doc:"processes outside the box are neither seen nor signalled"`
}

// Judgement is one act of judging one submission: the document that the API,
// judgefarm judge --json and judgement.json show. Before it is final it shows
// what is known so far.
type Judgement struct {
	ID        string            `json:"id"`
	State     State             `json:"state" enum:"queued,judging,judged,failed,cancelled"`
	Verdict   *Verdict          `json:"verdict" doc:"null until judged"`
	Score     *float64          `json:"score" doc:"share of the cases accepted, 0 to 1; for problems with points the points"`
	MaxScore  *float64          `json:"max_score,omitempty" doc:"what can be reached, for problems with points"`
	Groups    []GroupResult     `json:"groups,omitempty" doc:"points by group, for problems with points"`
	Compile   *Compile          `json:"compile"`
	Cases     []Run             `json:"cases"`
	Timing    Timing            `json:"timing"`
	Failed    *Failed           `json:"failed" doc:"why we could not judge, in state failed"`
	Problem   *ProblemRef       `json:"problem"`
	Language  *LanguageRef      `json:"language"`
	Checker   string            `json:"checker" doc:"name@version; of a custom one its language and toolchain too"`
	Limits    *LimitsJSON       `json:"limits" doc:"as applied: with the language's allowances of time, memory and tasks"`
	Enforced  *Enforced         `json:"enforced"`
	Worker    string            `json:"worker"`
	Attempt   int               `json:"attempt" doc:"attempts charged, this one included"`
	Number    int               `json:"number,omitempty" doc:"2 after the first rejudge that was applied, then one more each time; absent before"`
	Cached    bool              `json:"cached"`
	Reward    *float64          `json:"reward"`
	Retryable bool              `json:"retryable" doc:"in state failed: sending it again may help"`
	Tamper    []string          `json:"tamper"`
	Labels    map[string]string `json:"labels,omitempty"`
	CreatedAt time.Time         `json:"created_at"`
	JudgedAt  *time.Time        `json:"judged_at,omitempty"`
}

// NewJudgement is the document of a submission that was just accepted.
func NewJudgement(id string, now time.Time) Judgement {
	return Judgement{ID: id, State: Queued, Cases: []Run{}, Tamper: []string{}, CreatedAt: now.UTC()}
}

// Attempt is one worker's try at a judgement. Fence rises with every lease, a
// drain's too; Charged counts crashes and failures of ours only.
type Attempt struct {
	Submission string `json:"submission"`
	Worker     string `json:"worker"`
	Charged    int    `json:"charged"` // attempts charged so far, this one included, 1 for the first
	Fence      int64  `json:"fence"`
}
