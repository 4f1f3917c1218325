package results

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"judgefarm/judge"
)

// problemNames is what a name points to. It is guarded by Memory.mu.
type problemNames struct {
	current, last int
	revision      int64
	versions      map[int]judge.ProblemInfo
}

// PutProblem implements Problems.
func (m *Memory) PutProblem(_ context.Context, info judge.ProblemInfo) (judge.ProblemInfo, error) {
	if _, err := encodeVersion(info); err != nil {
		return judge.ProblemInfo{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.names[info.ID]
	switch {
	case p == nil && len(m.names) >= m.cfg.MaxProblems:
		return judge.ProblemInfo{}, fmt.Errorf("store problem %s: %w", info.ID, ErrProblemsFull)
	case p == nil:
		p = &problemNames{versions: map[int]judge.ProblemInfo{}}
		m.names[info.ID] = p
		delete(m.gone, info.ID)
	case sameVersion(p.versions[p.current]) == sameVersion(info):
		return p.versions[p.current], nil
	}
	p.last++
	p.revision++
	p.current, info.Version = p.last, p.last
	p.versions[p.last] = info
	for len(p.versions) > m.cfg.MaxVersions {
		delete(p.versions, slices.Min(slices.Collect(maps.Keys(p.versions))))
	}
	return info, nil
}

// GetProblem implements Problems.
func (m *Memory) GetProblem(_ context.Context, id string, version int) (judge.ProblemInfo, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, info, err := m.versionLocked("get", id, version)
	return info, err
}

// versionLocked finds a version; 0 is the current one.
func (m *Memory) versionLocked(verb, id string, version int) (*problemNames, judge.ProblemInfo, error) {
	p := m.names[id]
	if p == nil {
		return nil, judge.ProblemInfo{}, fmt.Errorf("%s problem %s: %w", verb, id, ErrNoProblem)
	}
	if version == 0 {
		version = p.current
	}
	info, ok := p.versions[version]
	if !ok {
		return nil, info, fmt.Errorf("%s problem %s, version %d: %w", verb, id, version, ErrNoVersion)
	}
	return p, info, nil
}

// ProblemVersions implements Problems.
func (m *Memory) ProblemVersions(_ context.Context, id string) (judge.ProblemVersions, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.names[id]
	if p == nil {
		return judge.ProblemVersions{}, fmt.Errorf("get versions of problem %s: %w", id, ErrNoProblem)
	}
	v := judge.ProblemVersions{ID: id, Current: p.current, Revision: p.revision}
	v.Versions = slices.Collect(maps.Values(p.versions))
	newestFirst(v.Versions)
	return v, nil
}

// ListProblems implements Problems.
func (m *Memory) ListProblems(_ context.Context, after string, max int) ([]judge.ProblemInfo, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []judge.ProblemInfo
	for _, id := range slices.Sorted(maps.Keys(m.names)) {
		if id > after && len(all) < max {
			p := m.names[id]
			all = append(all, p.versions[p.current])
		}
	}
	return all, nil
}

// PointProblem implements Problems.
func (m *Memory) PointProblem(_ context.Context, id string, version int) (judge.ProblemInfo, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p := m.names[id]; p != nil && version == 0 {
		for n := range p.versions {
			if n < p.current {
				version = max(version, n)
			}
		}
		if version == 0 {
			return judge.ProblemInfo{}, fmt.Errorf("roll problem %s back: %w before %d", id, ErrNoVersion, p.current)
		}
	}
	p, info, err := m.versionLocked("roll back", id, version)
	if err == nil && p.current != version {
		p.current = version
		p.revision++
	}
	return info, err
}

// DeleteProblem implements Problems.
func (m *Memory) DeleteProblem(_ context.Context, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.names[id] == nil {
		return fmt.Errorf("delete problem %s: %w", id, ErrNoProblem)
	}
	delete(m.names, id)
	now := m.cfg.Now()
	m.gone[id] = now
	maps.DeleteFunc(m.gone, func(_ string, at time.Time) bool { return now.Sub(at) > goneFor })
	return nil
}

// RestoreProblem implements Problems.
func (m *Memory) RestoreProblem(_ context.Context, v judge.ProblemVersions) (bool, error) {
	if err := checkVersions(v); err != nil {
		return false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if at, deleted := m.gone[v.ID]; m.names[v.ID] != nil || deleted && m.cfg.Now().Sub(at) <= goneFor {
		return false, nil
	}
	p := &problemNames{current: v.Current, revision: v.Revision, versions: map[int]judge.ProblemInfo{}}
	for _, info := range v.Versions {
		info.ID = v.ID
		p.versions[info.Version] = info
		p.last = max(p.last, info.Version)
	}
	m.names[v.ID] = p
	return true, nil
}
