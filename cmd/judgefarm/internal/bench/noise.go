package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"judgefarm/judge/sandbox"
)

// Variation is how the CPU time of the same work varied.
type Variation struct {
	Name     string  `json:"name"`
	Runs     int     `json:"runs"`
	Mean     float64 `json:"mean_ms"`
	CV       float64 `json:"cv"`           // coefficient of variation: standard deviation over mean
	Shift    float64 `json:"shift"`        // mean over that of the same work with a core of its own, less 1
	RunDelay float64 `json:"run_delay_ms"` // median of what the runs waited for a core; -1 where the kernel does not tell
}

// Noise runs the same work many times, on a core of its own and on one that it shares
// with a program that wants core and caches for itself. The boxes need two slots;
// program is the compiled noise.c.
func Noise(ctx context.Context, runner sandbox.Runner, program string, core, times int) ([]Variation, error) {
	var rows []Variation
	for _, work := range []struct {
		name string
		args []string
	}{
		{"computing", []string{"alu", "100"}},
		{"memory", []string{"chase", "1"}},
	} {
		spec := specOf(program, work.args...)
		spec.Limits.CPU, spec.Limits.Wall, spec.Box.CPUs = time.Minute, 10*time.Minute, []int{core}
		alone, err := vary(ctx, runner, spec, times)
		if err != nil {
			return nil, fmt.Errorf("measure %s: %w", work.name, err)
		}
		alone.Name = work.name + ", own core"
		shared, err := besideRival(ctx, runner, specOf(program, "rival"), spec, times)
		if err != nil {
			return nil, fmt.Errorf("measure %s on a shared core: %w", work.name, err)
		}
		shared.Name, shared.Shift = work.name+", shared core", shared.Mean/alone.Mean-1
		rows = append(rows, alone, shared)
	}
	return rows, nil
}

// besideRival varies spec while rival runs on the same core.
func besideRival(ctx context.Context, runner sandbox.Runner, rival, spec sandbox.Spec, times int) (Variation, error) {
	rival.Limits.CPU, rival.Limits.Wall, rival.Box.CPUs = 10*time.Minute, 30*time.Minute, spec.Box.CPUs
	done := errors.New("measured")
	beside, stop := context.WithCancelCause(ctx)
	ended := make(chan error, 1)
	go func() {
		_, err := runner.Run(beside, rival)
		if err == nil {
			err = errors.New("the rival ended before")
		}
		ended <- err
		stop(nil)
	}()
	v, err := vary(beside, runner, spec, times)
	stop(done)
	if rerr := <-ended; !errors.Is(rerr, done) {
		err = errors.Join(rerr, err)
	}
	return v, err
}

func vary(ctx context.Context, runner sandbox.Runner, spec sandbox.Spec, times int) (Variation, error) {
	var cpu []float64
	var delays []time.Duration
	for range times {
		rep, err := runOK(ctx, runner, spec)
		if err != nil {
			return Variation{}, err
		}
		cpu = append(cpu, millis(rep.CPU))
		if n := rep.Noise; n != nil && n.RunDelay >= 0 {
			delays = append(delays, n.RunDelay)
		}
	}
	v := Variation{Runs: times, RunDelay: -1}
	v.Mean, v.CV = meanAndCV(cpu)
	if len(delays) > 0 {
		slices.Sort(delays)
		v.RunDelay = millis(delays[len(delays)/2])
	}
	return v, nil
}

// meanAndCV returns the mean and the sample's standard deviation over it.
func meanAndCV(values []float64) (mean, cv float64) {
	for _, v := range values {
		mean += v / float64(len(values))
	}
	var squares float64
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	if len(values) < 2 || mean == 0 {
		return mean, 0
	}
	return mean, math.Sqrt(squares/float64(len(values)-1)) / mean
}
