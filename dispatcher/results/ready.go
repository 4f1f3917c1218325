package results

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// policyWarnings keeps each warning of Ready to one line a process.
type policyWarnings struct{ forbidden, volatile sync.Once }

// Ready implements Store. Redis must take writes and must not evict: an evicted lease or
// task is lost without a trace (hibiken/asynq#1144). Where CONFIG is not allowed
// the policy is not checked, which is logged once, as is a Redis without AOF.
func (s *Redis) Ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, opTimeout)
	defer cancel()
	// A write, not PING: a replica, a Redis at its maxmemory and one that cannot save
	// answer that as well, and refuse everything of ours.
	err := s.client.Set(ctx, s.key("ready"), 1, time.Minute).Err()
	switch {
	case redis.HasErrorPrefix(err, "OOM"):
		return fmt.Errorf("write to redis: %w; fix: raise maxmemory", err)
	case redis.HasErrorPrefix(err, "READONLY"):
		return fmt.Errorf("write to redis: %w; fix: name the primary in --redis", err)
	case redis.HasErrorPrefix(err, "MISCONF"):
		return fmt.Errorf("write to redis: %w; fix: free disk space on Redis's machine", err)
	case err != nil:
		return fmt.Errorf("reach redis: %w", err)
	}
	policy, err := s.client.ConfigGet(ctx, "maxmemory-policy").Result()
	if err != nil {
		s.warned.forbidden.Do(func() {
			s.cfg.Logger.Warn("redis refuses CONFIG GET: maxmemory-policy is not checked, it must be noeviction", "error", err)
		})
		return nil
	}
	if p := policy["maxmemory-policy"]; p != "" && p != "noeviction" {
		return fmt.Errorf("check redis: maxmemory-policy is %q and may drop submissions; "+
			"fix: CONFIG SET maxmemory-policy noeviction, and the same in redis.conf", p)
	}
	if aof, err := s.client.ConfigGet(ctx, "appendonly").Result(); err == nil && aof["appendonly"] == "no" {
		s.warned.volatile.Do(func() {
			s.cfg.Logger.Warn("redis does not persist: submissions are lost when it crashes; fix: appendonly yes in redis.conf")
		})
	}
	return nil
}
