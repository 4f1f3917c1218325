// Package bench measures what judging costs on this machine, against the cost of
// starting a program bare in the same run: the ratio says more than the
// milliseconds, since machines are shared. It measures, it does not test.
package bench

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"
)

// Load is one way to run the same tiny program once.
type Load struct {
	Name string
	// Do runs it once. It is called from several goroutines at a time.
	Do func(ctx context.Context) error
	// Batch, where set, takes the place of Do: runs from each of so many workers,
	// timed by itself. It returns the time of each run and the runs a second.
	Batch func(ctx context.Context, runs, workers int) ([]time.Duration, float64, error)
}

// Row is what was measured of one load.
type Row struct {
	Name       string      `json:"name"`
	P50        float64     `json:"p50_ms"` // one at a time
	P99        float64     `json:"p99_ms"` // one at a time
	Ratio      float64     `json:"ratio"`  // P50 over the first load's P50
	Throughput []Saturated `json:"throughput"`
}

// Saturated is the rate with so many at a time.
type Saturated struct {
	Workers   int     `json:"workers"`
	PerSecond float64 `json:"runs_per_second"`
}

// Config says what to measure.
type Config struct {
	Loads   []Load // the first is the baseline
	Runs    int    // per load, round and number of workers
	Rounds  int    // loads take turns, so that a busy spell hits them all
	Workers []int  // 1 is always measured
	// Progress, where set, hears of every finished round.
	Progress func(load string, round, rounds int)
}

// Measure runs every load and returns one row each. The first error ends it.
func Measure(ctx context.Context, cfg Config) ([]Row, error) {
	workers := append([]int{1}, cfg.Workers...)
	slices.Sort(workers)
	workers = slices.Compact(workers)
	single := make([][]time.Duration, len(cfg.Loads))
	rates := make([]map[int][]float64, len(cfg.Loads))
	for round := range cfg.Rounds {
		for i, load := range cfg.Loads {
			if rates[i] == nil {
				rates[i] = map[int][]float64{}
			}
			for _, n := range workers {
				took, rate, err := saturate(ctx, load, cfg.Runs, n)
				if err != nil {
					return nil, fmt.Errorf("measure %s: %w", load.Name, err)
				}
				rates[i][n] = append(rates[i][n], rate)
				if n == 1 {
					single[i] = append(single[i], took...)
				}
			}
			if cfg.Progress != nil {
				cfg.Progress(load.Name, round+1, cfg.Rounds)
			}
		}
	}
	rows := make([]Row, len(cfg.Loads))
	for i, load := range cfg.Loads {
		rows[i] = Row{Name: load.Name, P50: millis(Quantile(single[i], .5)), P99: millis(Quantile(single[i], .99))}
		rows[i].Ratio = rows[i].P50 / rows[0].P50
		for _, n := range workers {
			slices.Sort(rates[i][n])
			rows[i].Throughput = append(rows[i].Throughput, Saturated{n, rates[i][n][len(rates[i][n])/2]})
		}
	}
	return rows, nil
}

// saturate runs the load runs times from n goroutines.
func saturate(ctx context.Context, load Load, runs, n int) ([]time.Duration, float64, error) {
	if load.Batch != nil {
		return load.Batch(ctx, max(1, runs/n), n)
	}
	runtime.GC() // not in the middle of a round
	var (
		group sync.WaitGroup
		mu    sync.Mutex // guards first and all
		first error
		all   []time.Duration
		share = max(1, runs/n)
	)
	began := time.Now()
	for range n {
		group.Go(func() {
			took := make([]time.Duration, 0, share)
			var err error
			for range share {
				start := time.Now()
				if err = load.Do(ctx); err != nil {
					break
				}
				took = append(took, time.Since(start))
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, took...)
			if first == nil {
				first = err
			}
		})
	}
	group.Wait()
	return all, float64(len(all)) / time.Since(began).Seconds(), first
}

// Quantile returns the q-quantile, nearest rank; 0 for no values.
func Quantile(values []time.Duration, q float64) time.Duration {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
