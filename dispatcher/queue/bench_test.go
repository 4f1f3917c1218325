package queue

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"judgefarm/internal/testenv"
)

func benchOnBoth(b *testing.B, run func(b *testing.B, cfg Config)) {
	b.Run("redis", func(b *testing.B) {
		run(b, Config{URL: "redis://" + testenv.Redis(b), Logger: quiet})
	})
	b.Run("embedded", func(b *testing.B) {
		e, err := StartEmbedded(context.WithoutCancel(b.Context()))
		if err != nil {
			b.Fatalf("StartEmbedded: %v", err)
		}
		b.Cleanup(e.Close)
		run(b, Config{URL: e.URL, Logger: quiet})
	})
}

// BenchmarkIdleLatency is the time from Push to the start of the handler on an idle
// farm; the feeder is another process's. Each push falls at the start of asynq's
// sleep, the worst moment.
func BenchmarkIdleLatency(b *testing.B) {
	benchOnBoth(b, func(b *testing.B, cfg Config) {
		q := newQueue(b, cfg)
		feed(b, newQueue(b, cfg))
		started := make(chan time.Time, 1)
		takeUp(b, cfg, 2, func(context.Context, Job) { started <- time.Now() })
		push(b, q, "first", Train, "a", false)
		next(b, started)
		var took []time.Duration
		for i := 0; b.Loop(); i++ {
			began := time.Now()
			push(b, q, fmt.Sprint(i), Train, "a", false)
			took = append(took, next(b, started).Sub(began))
		}
		slices.Sort(took)
		at := func(share float64) float64 {
			return float64(took[int(share*float64(len(took)-1))].Microseconds()) / 1000
		}
		b.ReportMetric(at(0.5), "p50-ms")
		b.ReportMetric(at(0.99), "p99-ms")
		b.ReportMetric(at(1), "max-ms")
	})
}

// BenchmarkThroughput is jobs through the line with a handler that does nothing.
func BenchmarkThroughput(b *testing.B) {
	benchOnBoth(b, func(b *testing.B, cfg Config) {
		cfg.Bound = max(DefaultBound, b.N)
		q := newQueue(b, cfg)
		feed(b, newQueue(b, cfg))
		done := make(chan struct{}, 100)
		for i := range b.N {
			push(b, q, fmt.Sprint(i), Train, fmt.Sprint(i%5), false)
		}
		b.ResetTimer()
		takeUp(b, cfg, 4, func(context.Context, Job) { done <- struct{}{} })
		for range b.N {
			next(b, done)
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
	})
}
