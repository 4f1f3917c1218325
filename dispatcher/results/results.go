// Package results keeps what is known of every submission: its state, its
// attempts and leases, its judgement and the events on the way, in Redis or in
// memory; and to which version each problem's name points. Payloads (sources, tests,
// packages) are blobs; lines of waiting work are dispatcher/queue.
//
//	Create          Lease               Finish
//	-------> queued -------> judging ---------> judged | failed
//	           ^  |             |  |
//	           |  | Cancel      |  | Release (drain: not charged; our failure: charged)
//	           |  v             |  v
//	           | cancelled      | queued, or failed when the attempts are used up
//	           +----------------+
//	             Reap: the lease ran out (charged)
package results

import (
	"context"
	"errors"
	"time"

	"judgefarm/judge"
)

// The errors callers tell apart.
var (
	ErrNotFound = errors.New("submission not found")
	ErrExists   = errors.New("submission exists")
	ErrFenced   = errors.New("stale attempt: another attempt or a final state took its place")
	ErrNotOpen  = errors.New("submission is not waiting to be judged")
)

// Record is what is stored of one submission.
type Record struct {
	ID        string          `json:"id"`
	Request   string          `json:"request"`  // blob key of the submission as admitted
	Priority  string          `json:"priority"` // interactive, train or batch
	Tenant    string          `json:"tenant"`
	FairKey   string          `json:"fair_key"`
	CreatedAt time.Time       `json:"created_at"`
	State     judge.State     `json:"state"`
	Attempt   judge.Attempt   `json:"attempt"`           // the newest
	Cancel    bool            `json:"cancel"`            // asked for while judging
	Judgement judge.Judgement `json:"judgement"`         // as far as it is known
	Number    int             `json:"-"`                 // of the judgement: 1, and one more for each rejudge that was applied
	Rejudge   string          `json:"rejudge,omitempty"` // what the judgement is kept apart for; "" for a submission
}

// Event is one step of a submission, in order of Seq from 1.
type Event struct {
	Seq  int64  `json:"seq"`
	Type string `json:"type"` // state, case, final
	Data []byte `json:"data"` // JSON: a StateEvent, a CaseEvent or the judge.Judgement; read only
}

// Store is the seam; Memory and Redis implement it and pass resultstest. Every
// write by a worker carries its attempt's fencing number and gives ErrFenced when
// the number is not the newest or the state is final.
type Store interface {
	// Create stores a new submission as queued, whatever State r has. ErrExists when the id is taken.
	Create(ctx context.Context, r Record) error
	// Get returns the record; while it is judging, with the runs of the newest attempt so far.
	Get(ctx context.Context, id string) (Record, error)

	// Lease starts the next attempt: queued -> judging. Charged rises by one and
	// so does Fence. ErrNotOpen when the submission is not queued.
	Lease(ctx context.Context, id, worker string, ttl time.Duration) (judge.Attempt, error)
	// Renew extends the lease and reports whether cancellation was asked for.
	Renew(ctx context.Context, a judge.Attempt, ttl time.Duration) (cancel bool, err error)
	// Progress publishes finished runs, in the order given: all of them or none. Runs
	// past Config.MaxEvents of one attempt are not published and show in the final
	// judgement only.
	Progress(ctx context.Context, a judge.Attempt, runs ...CaseEvent) error
	// Finish records the final judgement: State judged, failed or cancelled. Exactly
	// one judgement of a submission is accepted; the attempt that gave it may give the
	// very same again, when it did not learn the answer.
	Finish(ctx context.Context, a judge.Attempt, j judge.Judgement) error
	// Release ends the attempt without a judgement. With charge false (a drain) the
	// attempt is not counted. It reports the state: queued, or failed when the
	// attempts are used up (then why is recorded), or cancelled when that was asked for.
	Release(ctx context.Context, a judge.Attempt, charge bool, why *judge.Failed) (judge.State, error)
	// Cancel ends a queued submission at once and asks for the end of a judging one,
	// whose worker learns it from Renew. A final one stays as it is. It reports the state.
	Cancel(ctx context.Context, id string) (judge.State, error)

	// Reap ends attempts whose lease ran out before now, as Release with charge,
	// and returns the records that are queued again, to be put into the line, and
	// those that became final: failed, or cancelled when that was asked for. It also
	// drops final records past their retention. Several may reap at once: each ended
	// attempt is returned to one of them.
	Reap(ctx context.Context, now time.Time, max int) ([]Record, error)
	// Waiting returns records that have been queued, or were last returned by Waiting,
	// before the time, oldest first: the sweep that puts back what the line lost. A
	// long line is so offered in turns, max at a time.
	Waiting(ctx context.Context, before time.Time, max int) ([]Record, error)

	// Events returns events after the sequence number, some hundred at most; it waits
	// for one until ctx ends, then it returns the cause of that. After the final event it returns io.EOF.
	Events(ctx context.Context, id string, after int64) ([]Event, error)
	// Wait returns the record once its state is final, or as it is when ctx ends.
	Wait(ctx context.Context, id string) (Record, error)
	// Ready says whether the store can be used now, with the fix where it cannot.
	Ready(ctx context.Context) error

	Problems
	Rejudges
	Quarantines
}
