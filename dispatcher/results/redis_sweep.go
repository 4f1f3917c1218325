package results

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// What one Reap drops at most, so that it does not hold Redis: at one Reap a
// second the farm would have to judge more than this to outgrow its bounds.
const (
	dropsPerReap = 2000
	dropsPerCall = 100
)

// Reap implements Store. Leases end by Redis's clock: how far now lies from the
// caller's clock is added to it. It also drops final records past their
// retention or over the bound.
func (s *Redis) Reap(ctx context.Context, now time.Time, max int) ([]Record, error) {
	last, err := lastFailure(nil, s.cfg.MaxAttempts)
	if err != nil {
		return nil, err
	}
	shift := s.shift(now)
	ids, err := s.due(ctx, "leases", shift, max, -1)
	if err != nil {
		return nil, err
	}
	records, err := s.take(ctx, "reap", s.run.reap, ids, shift, s.cfg.MaxAttempts, last)
	if err != nil {
		return records, err
	}
	return records, s.dropFinals(ctx, shift)
}

// Waiting implements Store.
func (s *Redis) Waiting(ctx context.Context, before time.Time, max int) ([]Record, error) {
	shift := s.shift(before)
	ids, err := s.due(ctx, "queued", shift, max, -1)
	if err != nil {
		return nil, err
	}
	return s.take(ctx, "offer", s.run.offer, ids, shift)
}

// take runs the script for each id and returns the records it got before others did.
func (s *Redis) take(ctx context.Context, verb string, script *redis.Script, ids []string, args ...any) ([]Record, error) {
	records := make([]Record, 0, len(ids))
	for _, id := range ids {
		if _, err := s.one(ctx, verb, script, id, args...); errors.Is(err, ErrFenced) {
			continue
		} else if err != nil {
			return records, err
		}
		r, err := s.Get(ctx, id)
		if errors.Is(err, ErrNotFound) {
			continue
		}
		if err != nil {
			return records, err
		}
		records = append(records, r)
	}
	return records, nil
}

// dropFinals drops the oldest final records, first those over the bound.
func (s *Redis) dropFinals(ctx context.Context, shift int64) error {
	for range dropsPerReap / dropsPerCall {
		ids, err := s.due(ctx, "finals", shift-s.cfg.Retention.Milliseconds(), dropsPerCall, s.cfg.Keep)
		if err != nil || len(ids) == 0 {
			return err
		}
		keys, args := []string{s.key("finals"), s.key("by-problem")}, make([]any, len(ids))
		for i, id := range ids {
			keys, args[i] = append(keys, s.subKey(id), s.eventsKey(id)), id
		}
		if err := s.drop(ctx, keys, args); err != nil {
			return err
		}
	}
	return nil
}

func (s *Redis) drop(ctx context.Context, keys []string, ids []any) error {
	ctx, cancel := context.WithTimeout(ctx, opTimeout)
	defer cancel()
	if err := s.run.drop.Run(ctx, s.client, keys, ids...).Err(); err != nil {
		return fmt.Errorf("drop final records: %w", err)
	}
	return nil
}

// due returns ids of a set of times that lie before Redis's clock plus shift.
func (s *Redis) due(ctx context.Context, set string, shift int64, most, keep int) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, opTimeout)
	defer cancel()
	ids, err := s.run.due.Run(ctx, s.client, []string{s.key(set)}, shift, most, keep).StringSlice()
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", set, err)
	}
	return ids, nil
}

// shift is the distance of t from the caller's clock in milliseconds.
func (s *Redis) shift(t time.Time) int64 { return t.Sub(s.cfg.Now()).Milliseconds() }
