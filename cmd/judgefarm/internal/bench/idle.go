package bench

import (
	"context"
	"fmt"
	"time"
)

// IdleTime is how long a submission to an idle farm waits before a worker starts on it.
type IdleTime struct {
	Submissions int     `json:"submissions"`
	P50         float64 `json:"p50_ms"`
	P99         float64 `json:"p99_ms"`
}

// Idle measures it with n submissions, each sent when the one before is final.
// start sends one, waits for its end and returns how long it waited in the queue.
func Idle(ctx context.Context, n int, start func(context.Context) (time.Duration, error)) (*IdleTime, error) {
	waits := make([]time.Duration, 0, n)
	for range n {
		wait, err := start(ctx)
		if err != nil {
			return nil, fmt.Errorf("measure idle start: %w", err)
		}
		waits = append(waits, wait)
	}
	return &IdleTime{Submissions: n, P50: millis(Quantile(waits, .5)), P99: millis(Quantile(waits, .99))}, nil
}
