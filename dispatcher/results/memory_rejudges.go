package results

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"judgefarm/judge"
)

// keptRejudge is a rejudge as Memory keeps it. It is guarded by Memory.mu.
type keptRejudge struct {
	data  []byte
	state judge.RejudgeState
	at    time.Time
}

// SubmissionsOf implements Rejudges.
func (m *Memory) SubmissionsOf(_ context.Context, problem, after string, max int) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var ids []string
	for id, e := range m.entries {
		if e.problem == problem && problem != "" && id > after {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids[:min(max, len(ids))], nil
}

// CreateRejudge implements Rejudges.
func (m *Memory) CreateRejudge(_ context.Context, r Rejudge) error {
	data, err := encodeRejudge(r)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.rejudges[r.ID] != nil {
		return fmt.Errorf("create rejudge %s: %w", r.ID, ErrExists)
	}
	now := m.cfg.Now()
	for id, k := range m.rejudges {
		if now.Sub(k.at) > m.cfg.Retention {
			delete(m.rejudges, id)
		}
	}
	if len(m.rejudges) >= maxRejudges && !m.dropRejudgeLocked() {
		return fmt.Errorf("create rejudge %s: %w", r.ID, ErrRejudgesFull)
	}
	m.rejudges[r.ID] = &keptRejudge{data: data, state: judge.RejudgeJudging, at: now}
	return nil
}

// dropRejudgeLocked makes room by the oldest that is closed, if there is one.
func (m *Memory) dropRejudgeLocked() bool {
	oldest := ""
	for id, k := range m.rejudges {
		if k.state != judge.RejudgeJudging && (oldest == "" || k.at.Before(m.rejudges[oldest].at)) {
			oldest = id
		}
	}
	delete(m.rejudges, oldest)
	return oldest != ""
}

// GetRejudge implements Rejudges.
func (m *Memory) GetRejudge(_ context.Context, id string) (Rejudge, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.rejudgeLocked("get", id)
}

func (m *Memory) rejudgeLocked(verb, id string) (Rejudge, error) {
	k := m.rejudges[id]
	if k == nil || m.cfg.Now().Sub(k.at) > m.cfg.Retention {
		return Rejudge{}, fmt.Errorf("%s rejudge %s: %w", verb, id, ErrNoRejudge)
	}
	return decodeRejudge(k.data, k.state)
}

// ListRejudges implements Rejudges.
func (m *Memory) ListRejudges(context.Context) ([]Rejudge, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []Rejudge
	for id := range m.rejudges {
		if r, err := m.rejudgeLocked("list", id); err == nil {
			all = append(all, r)
		}
	}
	newestRejudges(all)
	return all, nil
}

// ApplyRejudge implements Rejudges.
func (m *Memory) ApplyRejudge(_ context.Context, id string) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.rejudgeLocked("apply", id)
	switch {
	case err != nil:
		return 0, err
	case r.State == judge.RejudgeApplied:
		return 0, nil
	case r.State == judge.RejudgeDropped:
		return 0, fmt.Errorf("apply rejudge %s: %w", id, ErrDropped)
	}
	for _, one := range r.Members {
		old, fresh := m.entries[one.Submission], m.entries[one.Judgement]
		switch {
		case old == nil:
		case old.numberNow() != one.Number || !old.state.Final():
			return 0, fmt.Errorf("apply rejudge %s, submission %s: %w", id, one.Submission, ErrOutdated)
		case fresh == nil:
			return 0, fmt.Errorf("apply rejudge %s, submission %s: %w", id, one.Submission, ErrMissing)
		case !fresh.state.Final():
			return 0, fmt.Errorf("apply rejudge %s, submission %s: %w", id, one.Submission, ErrUnfinished)
		}
	}
	n := 0
	for _, one := range r.Members {
		old, fresh := m.entries[one.Submission], m.entries[one.Judgement]
		if old == nil || fresh.state != judge.Judged {
			continue
		}
		n++
		m.replaceLocked(old, fresh, one.Number+1)
	}
	m.rejudges[id].state = judge.RejudgeApplied
	return n, nil
}

// replaceLocked gives a final submission another judgement.
func (m *Memory) replaceLocked(old, fresh *entry, number int) {
	old.state, old.facts.final, old.why, old.number = judge.Judged, fresh.facts.final, nil, number
	old.judgedAt = m.cfg.Now()
	m.final.MoveToBack(old.place)
	old.events = nil
	old.addEventLocked(EventFinal, nil)
}

// DropRejudge implements Rejudges.
func (m *Memory) DropRejudge(_ context.Context, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.rejudgeLocked("drop", id)
	if err != nil {
		return err
	}
	if r.State == judge.RejudgeApplied {
		return fmt.Errorf("drop rejudge %s: %w", id, ErrApplied)
	}
	m.rejudges[id].state = judge.RejudgeDropped
	return nil
}

func newestRejudges(all []Rejudge) {
	slices.SortFunc(all, func(a, b Rejudge) int {
		if c := b.CreatedAt.Compare(a.CreatedAt); c != 0 {
			return c
		}
		return strings.Compare(b.ID, a.ID)
	})
}
