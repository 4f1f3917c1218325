package judge

import "time"

// RejudgeRequest says what is to be judged again: the body of POST /v1/rejudges. It
// has either submissions or a problem.
type RejudgeRequest struct {
	Submissions []string `json:"submissions,omitempty" doc:"ids of final submissions" maxItems:"2000"`
	Problem     string   `json:"problem,omitempty" doc:"id of a problem, for all its submissions that are final and still kept" maxLength:"128"`
	After       string   `json:"after,omitempty" doc:"with problem: only submissions after this one, which was next of the part before" maxLength:"64"`
	SameVersion bool     `json:"same_version,omitempty" doc:"judge against the version of the problem that each was judged against; by default the current one, where the problem is still there"`
}

// RejudgeState says where a rejudge stands.
type RejudgeState string

// The states of a rejudge; applied and dropped are final.
const (
	RejudgeJudging RejudgeState = "judging" // some new judgements are not final
	RejudgeReady   RejudgeState = "ready"   // all are: it can be applied
	RejudgeApplied RejudgeState = "applied" // the new judgements are those of the submissions
	RejudgeDropped RejudgeState = "dropped" // the submissions stay as they were
)

// Rejudge is a set of submissions with the judgements that they would have.
type Rejudge struct {
	ID          string              `json:"id"`
	State       RejudgeState        `json:"state" enum:"judging,ready,applied,dropped"`
	Problem     string              `json:"problem,omitempty" doc:"where a whole problem is rejudged"`
	CreatedAt   time.Time           `json:"created_at"`
	Total       int                 `json:"total" doc:"submissions in it"`
	Final       int                 `json:"final" doc:"of them, those whose new judgement is final"`
	Changed     int                 `json:"changed" doc:"of those, those with another verdict or score"`
	Failed      int                 `json:"failed" doc:"of those, those that we could not judge: they keep their judgement when it is applied"`
	Skipped     int                 `json:"skipped,omitempty" doc:"submissions of the problem that are not final, were cancelled, or are not kept any more"`
	Next        string              `json:"next,omitempty" doc:"where the problem has more than 2000 submissions: after of the request for the next part"`
	Submissions []RejudgeSubmission `json:"submissions,omitempty" doc:"in the order asked for, or of the ids; absent in lists"`
}

// RejudgeSubmission is one submission of a rejudge.
type RejudgeSubmission struct {
	Submission string      `json:"submission"`
	Judgement  string      `json:"judgement" doc:"GET /v1/submissions/{id} of it shows the new judgement"`
	Old        RejudgeSide `json:"old"`
	New        RejudgeSide `json:"new"`
	Changed    bool        `json:"changed" doc:"the new one is final and has another verdict or score"`
	Difference *Difference `json:"difference,omitempty" doc:"why, while the old judgement is there"`
}

// RejudgeSide is what a judgement comes to.
type RejudgeSide struct {
	State   State    `json:"state" enum:"queued,judging,judged,failed,cancelled"`
	Verdict *Verdict `json:"verdict"`
	Score   *float64 `json:"score"`
	Version int      `json:"version,omitempty" doc:"of the problem"`
}

// SideOf is the judgement in short.
func SideOf(j Judgement) RejudgeSide {
	side := RejudgeSide{State: j.State, Verdict: j.Verdict, Score: j.Score}
	if j.Problem != nil {
		side.Version = j.Problem.Version
	}
	return side
}
