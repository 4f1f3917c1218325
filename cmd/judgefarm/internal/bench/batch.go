package bench

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// BatchConfig says how to measure a batch of submissions of several cases each
// against boxes alone that run the same program as often.
type BatchConfig struct {
	Slots       int
	Submissions int // of all rounds together
	Cases       int
	Rounds      int // boxes alone and submissions take turns
	Clients     int // submissions sent and not final at one time

	Box    func(ctx context.Context, slot int) error // one run of the program; one goroutine for each slot
	Submit func(ctx context.Context) error           // one submission, to its end
	Redis  func() (time.Duration, error)             // see StartMeter
}

// BatchRow is what was measured of one farm. Rates are medians of rounds.
type BatchRow struct {
	Queue       string  `json:"queue"`
	Slots       int     `json:"slots"`
	SideBySide  bool    `json:"side_by_side"`
	Submissions int     `json:"submissions"`
	Cases       int     `json:"cases"`
	Boxes       float64 `json:"box_runs_per_second"`
	Runs        float64 `json:"runs_per_second"`
	Judged      float64 `json:"submissions_per_second"`
	Ratio       float64 `json:"ratio"`  // box rate over rate of runs: the cost of everything else
	P50         float64 `json:"p50_ms"` // of a submission, from its sending to its judgement
	P99         float64 `json:"p99_ms"`
	BoxCPU      Split   `json:"box_cpu_ms_per_run"`
	CPU         Split   `json:"cpu_ms_per_run"`
}

// Split is CPU in milliseconds a run.
type Split struct {
	Self  float64 `json:"judgefarm"`
	Boxes float64 `json:"nursery_and_boxes"`
	Redis float64 `json:"redis"`
}

func split(c CPU, runs int) Split {
	each := func(d time.Duration) float64 { return millis(d) / float64(max(1, runs)) }
	return Split{Self: each(c.Self), Boxes: each(c.Boxes), Redis: each(c.Redis)}
}

// phase sums up one of the two loads over all rounds.
type phase struct {
	rates []float64
	took  []time.Duration
	cpu   CPU
	done  int
}

// Batch measures. The first error ends it.
func Batch(ctx context.Context, cfg BatchConfig) (*BatchRow, error) {
	var boxes, subs phase
	each := max(1, cfg.Submissions/cfg.Rounds)
	for range cfg.Rounds {
		err := boxes.measure(ctx, nil, cfg.Slots, each*cfg.Cases, cfg.Box)
		if err != nil {
			return nil, fmt.Errorf("measure boxes alone: %w", err)
		}
		err = subs.measure(ctx, cfg.Redis, cfg.Clients, each, func(ctx context.Context, _ int) error { return cfg.Submit(ctx) })
		if err != nil {
			return nil, fmt.Errorf("measure batch: %w", err)
		}
	}
	row := &BatchRow{
		Slots: cfg.Slots, Submissions: subs.done, Cases: cfg.Cases,
		Boxes: median(boxes.rates), Judged: median(subs.rates),
		P50: millis(Quantile(subs.took, .5)), P99: millis(Quantile(subs.took, .99)),
		BoxCPU: split(boxes.cpu, boxes.done), CPU: split(subs.cpu, subs.done*cfg.Cases),
	}
	row.Runs = row.Judged * float64(cfg.Cases)
	row.Ratio = row.Boxes / row.Runs
	return row, nil
}

// measure does it n times from so many goroutines, each of which takes the next
// one when it is done: the slow ones do not hold the end up.
func (p *phase) measure(ctx context.Context, redis func() (time.Duration, error), goroutines, n int, do func(context.Context, int) error) error {
	runtime.GC() // not in the middle of a round
	meter, err := StartMeter(redis)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		group sync.WaitGroup
		taken atomic.Int64
		took  = make([]time.Duration, n)
	)
	began := time.Now()
	for g := range goroutines {
		group.Go(func() {
			for i := taken.Add(1) - 1; i < int64(n) && ctx.Err() == nil; i = taken.Add(1) - 1 {
				start := time.Now()
				if err := do(ctx, g); err != nil {
					cancel(err)
					return
				}
				took[i] = time.Since(start)
			}
		})
	}
	group.Wait()
	wall := time.Since(began)
	cpu, err := meter.Stop()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return err
	}
	p.rates = append(p.rates, float64(n)/wall.Seconds())
	p.took = append(p.took, took...)
	p.cpu = CPU{Self: p.cpu.Self + cpu.Self, Boxes: p.cpu.Boxes + cpu.Boxes, Redis: p.cpu.Redis + cpu.Redis}
	p.done += n
	return nil
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
