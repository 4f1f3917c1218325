package queue

import (
	"context"
	"errors"
	"fmt"

	"github.com/hibiken/asynq"
)

// Purge deletes everything that carries this line's prefix from Redis, the records of
// dispatcher/results among it: for farms that were made to be measured. No Feed or
// Take may run. Prefix must have no characters that a pattern of Redis reads.
func (q *Queue) Purge(ctx context.Context) error {
	// The inspector shares our connection: its Close would be an error.
	err := asynq.NewInspectorFromRedisClient(q.client).DeleteQueue(q.cfg.Prefix, true)
	if err != nil && !errors.Is(err, asynq.ErrQueueNotFound) {
		return fmt.Errorf("purge asynq's queue: %w", err)
	}
	for _, pattern := range []string{"{" + q.cfg.Prefix + "}:*", "asynq:{" + q.cfg.Prefix + "}:*"} {
		keys := q.client.Scan(ctx, 0, pattern, 1000).Iterator()
		for keys.Next(ctx) {
			if err := q.client.Del(ctx, keys.Val()).Err(); err != nil {
				return fmt.Errorf("purge queue: %w", err)
			}
		}
		if err := keys.Err(); err != nil {
			return fmt.Errorf("purge queue: %w", err)
		}
	}
	return nil
}
