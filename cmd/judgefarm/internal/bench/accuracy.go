package bench

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"judgefarm/judge/sandbox"
)

// Spread is what repeated measurements of one quantity gave, in milliseconds.
type Spread struct {
	Name   string  `json:"name"`
	Least  float64 `json:"least_ms"`
	Median float64 `json:"median_ms"`
	Most   float64 `json:"most_ms"`
}

func spread(name string, values []time.Duration) Spread {
	values = slices.Sorted(slices.Values(values))
	return Spread{name, millis(values[0]), millis(values[len(values)/2]), millis(values[len(values)-1])}
}

// Accuracy runs programs that know their own CPU time and tells how far the reported
// one was from that; and how far beyond a limit a program came. work is the compiled
// work.c.
func Accuracy(ctx context.Context, runner sandbox.Runner, work string, times int) (errors, overshoot []Spread, err error) {
	for _, args := range [][]string{{"burn", "500"}, {"children", "200", "4"}} {
		spec := specOf(work, args...)
		s, err := repeated(times, "CPU time of "+strings.Join(args, " "), func() (time.Duration, error) {
			rep, err := runOK(ctx, runner, spec)
			if err != nil {
				return 0, err
			}
			truth, err := strconv.ParseInt(strings.TrimSpace(string(rep.Stdout.Data)), 10, 64)
			return rep.CPU - time.Duration(truth), err
		})
		if err != nil {
			return nil, nil, err
		}
		errors = append(errors, s)
	}
	for _, l := range []struct {
		name, arg string
		cpu, wall time.Duration
		cause     sandbox.Cause
	}{
		{"CPU limit of 1 s", "spin", time.Second, 20 * time.Second, sandbox.CauseCPU},
		{"wall limit of 0.5 s", "sleep", time.Second / 4, time.Second / 2, sandbox.CauseIdle},
	} {
		spec := specOf(work, l.arg)
		spec.Limits.CPU, spec.Limits.Wall = l.cpu, l.wall
		s, err := repeated(times, l.name, func() (time.Duration, error) {
			rep, err := runner.Run(ctx, spec)
			switch {
			case err != nil:
				return 0, err
			case rep.Cause != l.cause:
				return 0, fmt.Errorf("program ended by %s", rep.Cause)
			case l.cause == sandbox.CauseCPU:
				return rep.CPU - l.cpu, nil
			}
			return rep.Wall - l.wall, nil
		})
		if err != nil {
			return nil, nil, err
		}
		overshoot = append(overshoot, s)
	}
	return errors, overshoot, nil
}

func repeated(times int, name string, once func() (time.Duration, error)) (Spread, error) {
	var values []time.Duration
	for range times {
		v, err := once()
		if err != nil {
			return Spread{}, fmt.Errorf("measure %s: %w", name, err)
		}
		values = append(values, v)
	}
	return spread(name, values), nil
}
