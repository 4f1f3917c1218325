package results

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"judgefarm/judge"
)

// The errors of Rejudges that callers tell apart.
var (
	ErrNoRejudge    = errors.New("rejudge not found")
	ErrUnfinished   = errors.New("not every new judgement is final")
	ErrMissing      = errors.New("a new judgement is not there: the rejudge is still being made, or that was broken off")
	ErrOutdated     = errors.New("a submission got another judgement since the rejudge was made")
	ErrDropped      = errors.New("the rejudge was dropped")
	ErrApplied      = errors.New("the rejudge was applied")
	ErrRejudgesFull = errors.New("there are as many rejudges as are allowed")
)

// Bounds of rejudges.
const (
	MaxRejudged = 2000 // submissions of one: applying them is one script
	maxRejudges = 200  // that are kept; the oldest closed one goes first
)

// Rejudge is a set of submissions that are judged again. Each new judgement is that
// of a record of its own, whose Record.Rejudge names this set; the submission stays
// as it is until the rejudge is applied.
type Rejudge struct {
	ID        string             `json:"id"`
	Problem   string             `json:"problem,omitempty"`
	CreatedAt time.Time          `json:"created_at"`
	State     judge.RejudgeState `json:"state"` // judging while it is open; results does not look further
	Skipped   int                `json:"skipped,omitempty"`
	Next      string             `json:"next,omitempty"` // the last submission that was looked at, where the problem has more
	Members   []Rejudged         `json:"members"`
}

// Rejudged is one submission of a rejudge.
type Rejudged struct {
	Submission string            `json:"submission"`
	Judgement  string            `json:"judgement"` // id of the record with the new judgement
	Number     int               `json:"number"`    // of the judgement that it would replace
	Was        judge.RejudgeSide `json:"was"`
}

// Rejudges is the part of a Store that keeps sets of new judgements apart from their
// submissions.
type Rejudges interface {
	// SubmissionsOf returns up to max ids of submissions to a problem after the id after,
	// in byte order.
	SubmissionsOf(ctx context.Context, problem, after string, max int) ([]string, error)
	// CreateRejudge stores an open rejudge. Its records are created by themselves.
	// ErrRejudgesFull when there are too many that are open.
	CreateRejudge(ctx context.Context, r Rejudge) error
	// GetRejudge: ErrNoRejudge when there is none, or it is no longer kept.
	GetRejudge(ctx context.Context, id string) (Rejudge, error)
	// ListRejudges returns those that are kept, the newest first.
	ListRejudges(ctx context.Context) ([]Rejudge, error)
	// ApplyRejudge puts every new judgement in the place of its submission's: all of
	// them or, with an error, none. A submission that is gone, or whose new judgement is
	// not State judged, stays as it is. It publishes a final event for each and
	// reports how many there were; again, it reports 0. ErrNoRejudge, ErrUnfinished,
	// ErrMissing, ErrOutdated or ErrDropped.
	ApplyRejudge(ctx context.Context, id string) (int, error)
	// DropRejudge closes it without a change. ErrNoRejudge or ErrApplied.
	DropRejudge(ctx context.Context, id string) error
}

func encodeRejudge(r Rejudge) ([]byte, error) {
	if r.ID == "" || len(r.Members) == 0 || len(r.Members) > MaxRejudged {
		return nil, fmt.Errorf("create rejudge %q: it must have 1 to %d submissions, has %d", r.ID, MaxRejudged, len(r.Members))
	}
	r.State = judge.RejudgeJudging
	data, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encode rejudge %s: %w", r.ID, err)
	}
	return data, nil
}

func decodeRejudge(data []byte, state judge.RejudgeState) (Rejudge, error) {
	var r Rejudge
	if err := json.Unmarshal(data, &r); err != nil {
		return r, fmt.Errorf("decode rejudge: %w", err)
	}
	r.State = state
	return r, nil
}

// problemOf is what a submission is listed under by SubmissionsOf; "" is nothing.
func problemOf(r Record) string {
	if r.Judgement.Problem == nil || r.Rejudge != "" {
		return ""
	}
	return r.Judgement.Problem.ID
}
