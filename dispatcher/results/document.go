package results

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"judgefarm/judge"
)

// The types of an Event.
const (
	EventState = "state" // Data is a StateEvent
	EventCase  = "case"  // Data is a CaseEvent
	EventFinal = "final" // Data is the judge.Judgement; no event follows
)

// eventsPerRead bounds what one call of Events returns.
const eventsPerRead = 256

// StateEvent is the data of an event of type state: queued or judging. Final
// states come as the final event. When an attempt begins the events of earlier
// attempts are dropped, so sequence numbers rise but may have gaps; whoever shows
// cases starts afresh at each judging event.
type StateEvent struct {
	State   judge.State `json:"state"`
	Attempt int         `json:"attempt"` // attempts charged
	Worker  string      `json:"worker,omitempty"`
}

// CaseEvent is the data of an event of type case: one finished run. Index counts
// from 0; cases may finish out of order.
type CaseEvent struct {
	Index int `json:"index"`
	Total int `json:"total"`
	judge.Run
}

// caseEvents returns the data of the events of finished runs.
func caseEvents(a judge.Attempt, runs []CaseEvent) ([][]byte, error) {
	events := make([][]byte, len(runs))
	for i, run := range runs {
		var err error
		if events[i], err = json.Marshal(run); err != nil {
			return nil, fmt.Errorf("encode case %d of %s: %w", run.Index, a.Submission, err)
		}
	}
	return events, nil
}

// facts is what a store holds of a submission, from which records are assembled
// in one place for all stores.
type facts struct {
	record   []byte // the Record as created
	state    judge.State
	worker   string
	charged  int
	fence    int64
	cancel   bool
	final    []byte // the judgement of Finish; nil when it ended otherwise
	why      []byte // the judge.Failed of a submission whose attempts are used up
	judgedAt time.Time
	cases    [][]byte // the CaseEvents of the newest attempt
	number   int      // of the judgement; 0 is 1
}

func (f facts) numberNow() int { return max(f.number, 1) }

// assemble returns the record with its judgement as far as it is known.
func (f facts) assemble() (Record, error) {
	var r Record
	if err := json.Unmarshal(f.record, &r); err != nil {
		return Record{}, fmt.Errorf("decode record: %w", err)
	}
	r.State, r.Cancel = f.state, f.cancel
	r.Attempt = judge.Attempt{Submission: r.ID, Worker: f.worker, Charged: f.charged, Fence: f.fence}
	r.Number = f.numberNow()
	if f.final != nil {
		labels := r.Judgement.Labels
		r.Judgement = judge.Judgement{}
		if err := json.Unmarshal(f.final, &r.Judgement); err != nil {
			return Record{}, fmt.Errorf("decode judgement: %w", err)
		}
		if f.number > 1 { // it was made under another id
			r.Judgement.ID, r.Judgement.CreatedAt, r.Judgement.Labels = r.ID, r.CreatedAt, labels
			r.Judgement.Number = f.number
		}
		return r, nil
	}
	j := &r.Judgement
	j.State, j.Attempt = f.state, f.charged
	if f.state == judge.Queued {
		return r, nil
	}
	j.Worker = f.worker
	var err error
	if j.Cases, err = knownCases(f.cases); err != nil {
		return Record{}, err
	}
	if f.state.Final() {
		at := f.judgedAt.UTC()
		j.JudgedAt = &at
	}
	if f.why != nil {
		j.Failed = &judge.Failed{}
		if err := json.Unmarshal(f.why, j.Failed); err != nil {
			return Record{}, fmt.Errorf("decode failure: %w", err)
		}
		j.Retryable = j.Failed.Retryable
	}
	return r, nil
}

// knownCases orders the finished runs by index; of a run told twice the later counts.
func knownCases(events [][]byte) ([]judge.Run, error) {
	byIndex := make(map[int]judge.Run, len(events))
	for _, data := range events {
		var e CaseEvent
		if err := json.Unmarshal(data, &e); err != nil {
			return nil, fmt.Errorf("decode case event: %w", err)
		}
		byIndex[e.Index] = e.Run
	}
	runs := make([]judge.Run, 0, len(byIndex))
	for _, index := range slices.Sorted(maps.Keys(byIndex)) {
		runs = append(runs, byIndex[index])
	}
	return runs, nil
}

// newRecord returns the record as it is stored by Create.
func newRecord(r Record, now time.Time) ([]byte, error) {
	if r.ID == "" {
		return nil, errors.New("create submission: the id is empty")
	}
	if r.CreatedAt.IsZero() {
		r.CreatedAt = now
	}
	r.CreatedAt = r.CreatedAt.UTC()
	r.State, r.Cancel, r.Attempt = judge.Queued, false, judge.Attempt{}
	j := &r.Judgement
	j.ID, j.State, j.CreatedAt = r.ID, judge.Queued, r.CreatedAt
	if j.Cases == nil {
		j.Cases = []judge.Run{}
	}
	if j.Tamper == nil {
		j.Tamper = []string{}
	}
	data, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encode record %s: %w", r.ID, err)
	}
	return data, nil
}

// finalJudgement returns the judgement of Finish as it is stored.
func finalJudgement(a judge.Attempt, j judge.Judgement, now time.Time) ([]byte, error) {
	if !j.State.Final() {
		return nil, fmt.Errorf("finish %s: state must be judged, failed or cancelled, is %q", a.Submission, j.State)
	}
	if j.JudgedAt == nil {
		at := now.UTC()
		j.JudgedAt = &at
	}
	data, err := json.Marshal(j)
	if err != nil {
		return nil, fmt.Errorf("encode judgement %s: %w", a.Submission, err)
	}
	return data, nil
}

// lastFailure returns why a submission failed whose attempts are used up.
func lastFailure(why *judge.Failed, attempts int) ([]byte, error) {
	if why == nil {
		why = &judge.Failed{
			Kind:      judge.FailLost,
			Reason:    fmt.Sprintf("the worker was lost in each of %d attempts", attempts),
			Retryable: true,
		}
	}
	data, err := json.Marshal(why)
	if err != nil {
		return nil, fmt.Errorf("encode failure: %w", err)
	}
	return data, nil
}
