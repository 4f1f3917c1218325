package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hibiken/asynq"
)

// Queue is the dispatcher's side of the line in Redis. It implements Line.
type Queue struct {
	conn
	asynq *asynq.Client
	wake  chan struct{} // holds one: a Push of this process has something for Feed
}

var _ Line = (*Queue)(nil)

// New returns the line in the Redis of cfg.Client or cfg.URL. It does not connect:
// see Ready. The caller closes it.
func New(cfg Config) (*Queue, error) {
	c, err := connect(cfg)
	if err != nil {
		return nil, err
	}
	return &Queue{conn: c, asynq: asynq.NewClientFromRedisClient(c.client), wake: make(chan struct{}, 1)}, nil
}

func priorities() []string { return []string{Interactive, Train, Batch} }

// Push implements Line. It returns within 3 s when Redis does not answer.
func (q *Queue) Push(ctx context.Context, j Job, front bool) error {
	if j.ID == "" || !slices.Contains(priorities(), j.Priority) {
		return fmt.Errorf("push job %q: it needs an id and a priority of %v, has %q", j.ID, priorities(), j.Priority)
	}
	if j.Enqueued.IsZero() {
		j.Enqueued = time.Now()
	}
	j.Enqueued = j.Enqueued.UTC()
	data, err := json.Marshal(j)
	if err != nil {
		return fmt.Errorf("encode job %s: %w", j.ID, err)
	}
	flag := "0"
	if front {
		flag = "1"
	}
	added, err := q.do(ctx, q.run.push, j.ID, data, j.Priority, j.FairKey, q.cfg.Bound, flag, q.cfg.Shallow).Int()
	switch {
	case err != nil:
		return fmt.Errorf("push job %s: %w", j.ID, err)
	case added < 0:
		return fmt.Errorf("push job %s: %w", j.ID, ErrFull)
	}
	if added == pushedWithRoom {
		select {
		case q.wake <- struct{}{}:
		default: // Feed will see this job when it takes the signal that is there
		}
	}
	return nil
}

// pushedWithRoom is what the push script answers when Feed can hand the job over now.
const pushedWithRoom = 2

// Remove implements Line. A job that asynq holds is delivered all the same.
func (q *Queue) Remove(ctx context.Context, id string) error {
	if err := q.do(ctx, q.run.remove, id).Err(); err != nil {
		return fmt.Errorf("remove job %s: %w", id, err)
	}
	return nil
}

// Depth implements Line. Every priority is there.
func (q *Queue) Depth(ctx context.Context) (map[string]int, error) {
	ctx, cancel := context.WithTimeout(ctx, opTimeout)
	defer cancel()
	counts, err := q.client.HMGet(ctx, q.keys[3], priorities()...).Result()
	if err != nil {
		return nil, fmt.Errorf("count jobs: %w", err)
	}
	depth := map[string]int{}
	for i, priority := range priorities() {
		n := 0
		if text, ok := counts[i].(string); ok {
			if _, err := fmt.Sscan(text, &n); err != nil {
				return nil, fmt.Errorf("count jobs: %w", err)
			}
		}
		depth[priority] = n
	}
	return depth, nil
}

// The bounds of RetryAfter and what it says when the rate cannot be read.
const (
	minRetry     = time.Second
	maxRetry     = 60 * time.Second
	unknownRetry = 10 * time.Second
)

// RetryAfter implements Line: the time in which a hundredth of the bound drains, 1 s
// to 60 s in whole seconds; 10 s when Redis does not answer.
func (q *Queue) RetryAfter(ctx context.Context) time.Duration {
	out, err := q.do(ctx, q.run.rate).Int64Slice()
	if err != nil || len(out) != 2 {
		return unknownRetry
	}
	return retryAfter(out[0], time.Duration(out[1])*time.Millisecond, q.cfg.Bound)
}

// retryAfter of so many jobs taken in a time. A hundredth, so that not all who were
// refused come back for one free place.
func retryAfter(taken int64, in time.Duration, bound int) time.Duration {
	if taken <= 0 {
		return maxRetry
	}
	share := max(1, bound/100)
	wait := time.Duration(float64(max(in, time.Second)) * float64(share) / float64(taken))
	wait = (wait + time.Second - 1).Truncate(time.Second)
	return min(max(wait, minRetry), maxRetry)
}

// Workers counts the live workers and their slots.
func (q *Queue) Workers(ctx context.Context) (workers, slots int, err error) {
	out, err := q.do(ctx, q.run.announce, "", 0, 0).Int64Slice()
	if err == nil && len(out) != 2 {
		err = errors.New("redis script gave no pair")
	}
	if err != nil {
		return 0, 0, fmt.Errorf("count workers: %w", err)
	}
	return int(out[0]), int(out[1]), nil
}

// Ready implements Line: Redis answers and does not evict. An evicted task would be
// lost without a trace (hibiken/asynq#1144). Where CONFIG is not allowed the policy
// is not checked; results.Redis logs that.
func (q *Queue) Ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, opTimeout)
	defer cancel()
	if err := q.client.Ping(ctx).Err(); err != nil {
		return fmt.Errorf("reach redis: %w", err)
	}
	policy, err := q.client.ConfigGet(ctx, "maxmemory-policy").Result()
	if p := policy["maxmemory-policy"]; err == nil && p != "" && p != "noeviction" {
		return fmt.Errorf("check redis: maxmemory-policy is %q and may drop jobs; "+
			"fix: CONFIG SET maxmemory-policy noeviction, and the same in redis.conf", p)
	}
	return nil
}
