package results

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"judgefarm/judge"
)

// maxQuarantines bounds the packages in quarantine; more are not taken in.
const maxQuarantines = 10_000

// Quarantines is the part of a Store that knows which packages are not judged with
// for now, since their checker or interactor fails again and again.
type Quarantines interface {
	// Quarantine takes a package in and reports whether it was not there before. Where
	// there are too many it does nothing.
	Quarantine(ctx context.Context, pkg string, q judge.Quarantine) (bool, error)
	// Quarantined tells why a package is in quarantine; nil when it is not.
	Quarantined(ctx context.Context, pkg string) (*judge.Quarantine, error)
	// Unquarantine lets a package out and reports whether it was in.
	Unquarantine(ctx context.Context, pkg string) (bool, error)
	// CountQuarantined is how many packages are in quarantine.
	CountQuarantined(ctx context.Context) (int, error)
}

// Quarantine implements Quarantines.
func (m *Memory) Quarantine(_ context.Context, pkg string, q judge.Quarantine) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, in := m.quarantine[pkg]; in || len(m.quarantine) >= maxQuarantines {
		return false, nil
	}
	m.quarantine[pkg] = q
	return true, nil
}

// Quarantined implements Quarantines.
func (m *Memory) Quarantined(_ context.Context, pkg string) (*judge.Quarantine, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	q, in := m.quarantine[pkg]
	if !in {
		return nil, nil
	}
	return &q, nil
}

// Unquarantine implements Quarantines.
func (m *Memory) Unquarantine(_ context.Context, pkg string) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, in := m.quarantine[pkg]
	delete(m.quarantine, pkg)
	return in, nil
}

// CountQuarantined implements Quarantines.
func (m *Memory) CountQuarantined(context.Context) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.quarantine), nil
}

// Quarantine implements Quarantines, in {jf}:quarantine: a hash of packages. The bound
// may be passed by as many as do this at the same moment.
func (s *Redis) Quarantine(ctx context.Context, pkg string, q judge.Quarantine) (bool, error) {
	data, err := json.Marshal(q)
	if err != nil {
		return false, fmt.Errorf("encode quarantine: %w", err)
	}
	n, err := s.CountQuarantined(ctx)
	if err != nil || n >= maxQuarantines {
		return false, err
	}
	ctx, cancel := context.WithTimeout(ctx, opTimeout)
	defer cancel()
	put, err := s.client.HSetNX(ctx, s.key("quarantine"), pkg, data).Result()
	if err != nil {
		return false, fmt.Errorf("quarantine %s: %w", pkg, cut(err))
	}
	return put, nil
}

// Quarantined implements Quarantines.
func (s *Redis) Quarantined(ctx context.Context, pkg string) (*judge.Quarantine, error) {
	ctx, cancel := context.WithTimeout(ctx, opTimeout)
	defer cancel()
	data, err := s.client.HGet(ctx, s.key("quarantine"), pkg).Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for quarantine of %s: %w", pkg, cut(err))
	}
	var q judge.Quarantine
	if err := json.Unmarshal(data, &q); err != nil {
		return nil, fmt.Errorf("decode quarantine of %s: %w", pkg, err)
	}
	return &q, nil
}

// Unquarantine implements Quarantines.
func (s *Redis) Unquarantine(ctx context.Context, pkg string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, opTimeout)
	defer cancel()
	n, err := s.client.HDel(ctx, s.key("quarantine"), pkg).Result()
	if err != nil {
		return false, fmt.Errorf("let %s out of quarantine: %w", pkg, cut(err))
	}
	return n > 0, nil
}

// CountQuarantined implements Quarantines.
func (s *Redis) CountQuarantined(ctx context.Context) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, opTimeout)
	defer cancel()
	n, err := s.client.HLen(ctx, s.key("quarantine")).Result()
	if err != nil {
		return 0, fmt.Errorf("count quarantined packages: %w", cut(err))
	}
	return int(n), nil
}
