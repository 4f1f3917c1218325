package queue

import (
	"fmt"
	"testing"
	"time"

	"github.com/hibiken/asynq"
)

// Without workers two jobs are past all priority, with them as many as they have slots.
func TestShallow(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, fresh func() Config) {
		cfg := fresh()
		q := newQueue(t, cfg)
		for i := range 20 {
			push(t, q, fmt.Sprint(i), Train, "a", false)
		}
		pending := func() int {
			t.Helper()
			if err := q.handOverAll(t.Context()); err != nil {
				t.Fatalf("handOverAll: %v", err)
			}
			info, err := asynq.NewInspectorFromRedisClient(q.client).GetQueueInfo(cfg.Prefix)
			if err != nil {
				t.Fatalf("GetQueueInfo: %v", err)
			}
			return info.Pending
		}
		if got := pending(); got != 2 {
			t.Errorf("pending without workers: got %d, want 2", got)
		}
		for _, id := range []string{"0", "1"} { // cancelled, but asynq's list holds them
			if err := q.Remove(t.Context(), id); err != nil {
				t.Fatalf("Remove: %v", err)
			}
		}
		if got := pending(); got != 2 {
			t.Errorf("pending after cancels: got %d, want 2", got)
		}
		announce := func(worker string, slots int) {
			t.Helper()
			if err := q.do(t.Context(), q.run.announce, worker, slots, time.Hour.Milliseconds()).Err(); err != nil {
				t.Fatalf("announce: %v", err)
			}
		}
		announce("w1", 3)
		announce("w2", 4)
		if workers, slots, err := q.Workers(t.Context()); workers != 2 || slots != 7 || err != nil {
			t.Errorf("Workers: got %d with %d slots, %v; want 2 with 7", workers, slots, err)
		}
		if got := pending(); got != 7 {
			t.Errorf("pending with 7 slots: got %d, want 7", got)
		}
		announce("w2", 0)
		if workers, slots, err := q.Workers(t.Context()); workers != 1 || slots != 3 || err != nil {
			t.Errorf("Workers after one left: got %d with %d slots, %v; want 1 with 3", workers, slots, err)
		}
		wantDepth(t, q, 0, 18, 0)
	})
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		taken int64
		in    time.Duration
		bound int
		want  time.Duration
	}{
		{0, time.Minute, 100_000, 60 * time.Second},
		{12_000, time.Minute, 100_000, 5 * time.Second}, // 200/s, a share of 1,000
		{600_000, time.Minute, 100_000, time.Second},
		{1, time.Minute, 100_000, 60 * time.Second},
		{60, time.Minute, 10, time.Second},
		{20, time.Minute, 10, 3 * time.Second},
		{100, 100 * time.Millisecond, 100_000, 10 * time.Second}, // a young farm: at least a second
	} {
		if got := retryAfter(test.taken, test.in, test.bound); got != test.want {
			t.Errorf("retryAfter(%d in %v, bound %d): got %v, want %v", test.taken, test.in, test.bound, got, test.want)
		}
	}
	onBoth(t, func(t *testing.T, fresh func() Config) {
		cfg := fresh()
		cfg.Bound = 10
		q := newQueue(t, cfg)
		if got := q.RetryAfter(t.Context()); got != maxRetry {
			t.Errorf("RetryAfter of a farm that takes nothing: got %v, want %v", got, maxRetry)
		}
		for i := range 200 {
			push(t, q, fmt.Sprint(i), Train, "a", true)
			if err := q.do(t.Context(), q.run.take, fmt.Sprint(i)).Err(); err != nil {
				t.Fatalf("take: %v", err)
			}
		}
		if got := q.RetryAfter(t.Context()); got != minRetry {
			t.Errorf("RetryAfter at 200 jobs in a few seconds: got %v, want %v", got, minRetry)
		}
	})
}
