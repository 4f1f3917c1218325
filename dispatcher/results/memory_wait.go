package results

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"judgefarm/judge"
)

// Reap implements Store. It also drops final records older than the retention.
func (m *Memory) Reap(_ context.Context, now time.Time, max int) ([]Record, error) {
	last, err := lastFailure(nil, m.cfg.MaxAttempts)
	if err != nil {
		return nil, err
	}
	var ended []facts
	m.mu.Lock()
	for _, e := range m.judging {
		if len(ended) == max {
			break
		}
		if e.lease.Before(now) {
			m.releaseLocked(e, true, last)
			ended = append(ended, e.factsLocked())
		}
	}
	for front := m.final.Front(); front != nil; front = m.final.Front() {
		if front.Value.(*entry).judgedAt.Add(m.cfg.Retention).After(now) {
			break
		}
		m.dropLocked(front)
	}
	m.mu.Unlock()
	return assembleAll(ended)
}

// Waiting implements Store.
func (m *Memory) Waiting(_ context.Context, before time.Time, max int) ([]Record, error) {
	var found []facts
	m.mu.Lock()
	now := m.cfg.Now()
	for len(found) < max && len(found) < m.waiting.Len() {
		front := m.waiting.Front()
		e := front.Value.(*entry)
		if !e.since.Before(before) {
			break
		}
		e.since = now
		m.waiting.MoveToBack(front)
		found = append(found, e.factsLocked())
	}
	m.mu.Unlock()
	return assembleAll(found)
}

func assembleAll(all []facts) ([]Record, error) {
	records := make([]Record, 0, len(all))
	for _, f := range all {
		r, err := f.assemble()
		if err != nil {
			return records, err
		}
		records = append(records, r)
	}
	return records, nil
}

// Events implements Store.
func (m *Memory) Events(ctx context.Context, id string, after int64) ([]Event, error) {
	for {
		events, f, changed, err := m.eventsNow(id, after)
		if err != nil {
			return nil, err
		}
		if len(events) > 0 {
			return fillFinal(events, f)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// eventsNow returns the events after the number, or a channel that is closed at
// the next change.
func (m *Memory) eventsNow(id string, after int64) ([]Event, facts, <-chan struct{}, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entries[id]
	if e == nil {
		return nil, facts{}, nil, fmt.Errorf("read events of %s: %w", id, ErrNotFound)
	}
	if after >= e.seq && e.state.Final() {
		return nil, facts{}, nil, io.EOF
	}
	first := e.seq - int64(len(e.events)) + 1
	from := max(0, after+1-first)
	if from >= int64(len(e.events)) {
		return nil, facts{}, e.changed, nil
	}
	events := e.events[from:]
	events = append([]Event(nil), events[:min(len(events), eventsPerRead)]...)
	return events, e.factsLocked(), nil, nil
}

// fillFinal puts the judgement into the final event: it is stored once, with the record.
func fillFinal(events []Event, f facts) ([]Event, error) {
	last := &events[len(events)-1]
	if last.Type != EventFinal {
		return events, nil
	}
	if last.Data = f.final; last.Data != nil && f.number <= 1 {
		return events, nil
	}
	r, err := f.assemble()
	if err != nil {
		return nil, err
	}
	if last.Data, err = json.Marshal(r.Judgement); err != nil {
		return nil, fmt.Errorf("encode judgement %s: %w", r.ID, err)
	}
	return events, nil
}

// Wait implements Store.
func (m *Memory) Wait(ctx context.Context, id string) (Record, error) {
	for {
		m.mu.Lock()
		e := m.entries[id]
		if e == nil {
			m.mu.Unlock()
			return Record{}, fmt.Errorf("wait for %s: %w", id, ErrNotFound)
		}
		final, changed := e.state.Final(), e.changed
		f := e.facts
		if final || ctx.Err() != nil {
			f = e.factsLocked()
		}
		m.mu.Unlock()
		if final || ctx.Err() != nil {
			return f.assemble()
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

func (e *entry) stateEventLocked() {
	event := StateEvent{State: e.state, Attempt: e.charged}
	if e.state == judge.Judging {
		event.Worker = e.worker
	}
	data, _ := json.Marshal(event) // strings and an int always encode
	e.addEventLocked(EventState, data)
}

func (e *entry) addEventLocked(kind string, data []byte) {
	e.seq++
	e.events = append(e.events, Event{Seq: e.seq, Type: kind, Data: data})
	close(e.changed)
	e.changed = make(chan struct{})
}
