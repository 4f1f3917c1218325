package results

import (
	"bytes"
	"container/list"
	"context"
	"fmt"
	"sync"
	"time"

	"judgefarm/judge"
)

// Memory keeps everything in this process: for judgefarm serve without Redis and
// for tests. What it holds is gone when the process ends. Its bounds are those of
// Config; waiting submissions are bounded by the queue.
type Memory struct {
	cfg Config

	mu      sync.Mutex
	entries map[string]*entry
	judging map[string]*entry
	waiting *list.List // queued *entry, oldest since first
	final   *list.List // final *entry, oldest first

	names map[string]*problemNames
	gone  map[string]time.Time // when names were deleted

	rejudges   map[string]*keptRejudge
	quarantine map[string]judge.Quarantine // by package
}

var _ Store = (*Memory)(nil)

// entry is one submission. It is guarded by Memory.mu.
type entry struct {
	id      string
	problem string // named; "" for inline tests and rejudges
	facts
	lease time.Time     // end of the lease, while judging
	since time.Time     // when it was queued or last returned by Waiting
	place *list.Element // in Memory.waiting or Memory.final

	seq     int64   // of the newest event
	events  []Event // contiguous, the last has seq
	changed chan struct{}
}

// NewMemory returns an empty store.
func NewMemory(cfg Config) *Memory {
	return &Memory{
		cfg:     cfg.withDefaults(),
		entries: map[string]*entry{}, judging: map[string]*entry{},
		waiting: list.New(), final: list.New(),
		names: map[string]*problemNames{}, gone: map[string]time.Time{},
		rejudges: map[string]*keptRejudge{}, quarantine: map[string]judge.Quarantine{},
	}
}

// Create implements Store.
func (m *Memory) Create(_ context.Context, r Record) error {
	data, err := newRecord(r, m.cfg.Now())
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.entries[r.ID] != nil {
		return fmt.Errorf("create %s: %w", r.ID, ErrExists)
	}
	e := &entry{id: r.ID, problem: problemOf(r), facts: facts{record: data}, changed: make(chan struct{})}
	m.entries[r.ID] = e
	m.queueLocked(e)
	return nil
}

// Get implements Store.
func (m *Memory) Get(_ context.Context, id string) (Record, error) {
	f, err := m.facts(id)
	if err != nil {
		return Record{}, err
	}
	return f.assemble()
}

// facts copies what assemble needs, so that decoding happens outside the lock.
func (m *Memory) facts(id string) (facts, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entries[id]
	if e == nil {
		return facts{}, fmt.Errorf("get %s: %w", id, ErrNotFound)
	}
	return e.factsLocked(), nil
}

func (e *entry) factsLocked() facts {
	f := e.facts
	if f.final == nil {
		for _, ev := range e.events {
			if ev.Type == EventCase {
				f.cases = append(f.cases, ev.Data)
			}
		}
	}
	return f
}

// Lease implements Store.
func (m *Memory) Lease(_ context.Context, id, worker string, ttl time.Duration) (judge.Attempt, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entries[id]
	switch {
	case e == nil:
		return judge.Attempt{}, fmt.Errorf("lease %s: %w", id, ErrNotFound)
	case e.state != judge.Queued:
		return judge.Attempt{}, fmt.Errorf("lease %s: %w", id, ErrNotOpen)
	}
	m.waiting.Remove(e.place)
	e.place = nil
	m.judging[id] = e
	e.state, e.worker, e.lease = judge.Judging, worker, m.cfg.Now().Add(ttl)
	e.charged++
	e.fence++
	e.events = nil
	e.stateEventLocked()
	return judge.Attempt{Submission: id, Worker: worker, Charged: e.charged, Fence: e.fence}, nil
}

// Renew implements Store.
func (m *Memory) Renew(_ context.Context, a judge.Attempt, ttl time.Duration) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, err := m.heldLocked("renew", a)
	if err != nil {
		return false, err
	}
	e.lease = m.cfg.Now().Add(ttl)
	return e.cancel, nil
}

// Progress implements Store.
func (m *Memory) Progress(_ context.Context, a judge.Attempt, runs ...CaseEvent) error {
	events, err := caseEvents(a, runs)
	if err != nil || len(events) == 0 {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	e, err := m.heldLocked("report progress of", a)
	if err != nil {
		return err
	}
	for _, data := range events {
		if len(e.events) <= m.cfg.MaxEvents { // one of them is the state event
			e.addEventLocked(EventCase, data)
		}
	}
	return nil
}

// Finish implements Store.
func (m *Memory) Finish(_ context.Context, a judge.Attempt, j judge.Judgement) error {
	data, err := finalJudgement(a, j, m.cfg.Now())
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	e, err := m.heldLocked("finish", a)
	if err != nil {
		if e := m.entries[a.Submission]; e != nil && e.fence == a.Fence && bytes.Equal(e.facts.final, data) {
			return nil // told before
		}
		return err
	}
	e.facts.final = data
	m.endLocked(e, j.State)
	return nil
}

// Release implements Store.
func (m *Memory) Release(_ context.Context, a judge.Attempt, charge bool, why *judge.Failed) (judge.State, error) {
	last, err := lastFailure(why, m.cfg.MaxAttempts)
	if err != nil {
		return "", err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	e, err := m.heldLocked("release", a)
	if err != nil {
		return "", err
	}
	m.releaseLocked(e, charge, last)
	return e.state, nil
}

// Cancel implements Store.
func (m *Memory) Cancel(_ context.Context, id string) (judge.State, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entries[id]
	if e == nil {
		return "", fmt.Errorf("cancel %s: %w", id, ErrNotFound)
	}
	switch e.state {
	case judge.Queued:
		e.cancel = true
		m.endLocked(e, judge.Cancelled)
	case judge.Judging:
		e.cancel = true
	}
	return e.state, nil
}

// Ready implements Store: memory always is.
func (m *Memory) Ready(context.Context) error { return nil }

// heldLocked returns the entry when the attempt is its newest and still judging.
func (m *Memory) heldLocked(verb string, a judge.Attempt) (*entry, error) {
	e := m.entries[a.Submission]
	switch {
	case e == nil:
		return nil, fmt.Errorf("%s %s: %w", verb, a.Submission, ErrNotFound)
	case e.state != judge.Judging || e.fence != a.Fence:
		return nil, fmt.Errorf("%s %s: %w", verb, a.Submission, ErrFenced)
	}
	return e, nil
}

func (m *Memory) releaseLocked(e *entry, charge bool, last []byte) {
	if !charge {
		e.charged--
	}
	switch {
	case e.cancel:
		m.endLocked(e, judge.Cancelled)
	case charge && e.charged >= m.cfg.MaxAttempts:
		e.why = last
		m.endLocked(e, judge.FailedState)
	default:
		delete(m.judging, e.id)
		m.queueLocked(e)
	}
}

func (m *Memory) queueLocked(e *entry) {
	e.state, e.since = judge.Queued, m.cfg.Now()
	e.place = m.waiting.PushBack(e)
	e.stateEventLocked()
}

// endLocked makes the state final and drops the oldest final record over the bound.
func (m *Memory) endLocked(e *entry, s judge.State) {
	if e.place != nil {
		m.waiting.Remove(e.place)
	}
	delete(m.judging, e.id)
	e.state, e.judgedAt = s, m.cfg.Now()
	e.place = m.final.PushBack(e)
	e.addEventLocked(EventFinal, nil)
	if m.final.Len() > m.cfg.Keep {
		m.dropLocked(m.final.Front())
	}
}

func (m *Memory) dropLocked(place *list.Element) {
	e := m.final.Remove(place).(*entry)
	delete(m.entries, e.id)
}
