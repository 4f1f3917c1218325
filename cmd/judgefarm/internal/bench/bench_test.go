package bench

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestMeasureTakesTurnsAndComparesWithTheFirst(t *testing.T) {
	t.Parallel()
	var calls [2]atomic.Int64
	var order []string
	load := func(i int, name string) Load {
		return Load{Name: name, Do: func(context.Context) error { calls[i].Add(1); return nil }}
	}
	rows, err := Measure(t.Context(), Config{
		Loads: []Load{load(0, "bare"), load(1, "box")}, Runs: 10, Rounds: 2, Workers: []int{2, 1},
		Progress: func(name string, _, _ int) { order = append(order, name) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(order, " "); got != "bare box bare box" {
		t.Errorf("loads went %q, want them in turns", got)
	}
	for i := range calls {
		if n := calls[i].Load(); n != 40 { // 2 rounds, 10 runs by one worker and 10 by two
			t.Errorf("load %d ran %d times, want 40", i, n)
		}
	}
	if len(rows) != 2 || rows[0].Ratio != 1 || len(rows[1].Throughput) != 2 || rows[1].Throughput[1].Workers != 2 {
		t.Errorf("rows = %+v, want two, the first at ratio 1, with rates at 1 and 2 workers", rows)
	}
}

func TestMeasureEndsWithTheFirstError(t *testing.T) {
	t.Parallel()
	broken := errors.New("no box")
	_, err := Measure(t.Context(), Config{
		Loads: []Load{{Name: "box", Do: func(context.Context) error { return broken }}}, Runs: 5, Rounds: 5,
	})
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "box") {
		t.Errorf("Measure = %v, want the load's error with its name", err)
	}
}

func TestQuantile(t *testing.T) {
	t.Parallel()
	var values []time.Duration
	for i := 100; i >= 1; i-- {
		values = append(values, time.Duration(i))
	}
	for q, want := range map[float64]time.Duration{0: 1, .5: 51, .99: 100, 1: 100} {
		if got := Quantile(values, q); got != want {
			t.Errorf("Quantile(1..100, %v) = %d, want %d", q, got, want)
		}
	}
	if got := Quantile(nil, .5); got != 0 {
		t.Errorf("Quantile(none) = %d, want 0", got)
	}
}

func TestIdleTellsOfEverySubmission(t *testing.T) {
	t.Parallel()
	n := 0
	idle, err := Idle(t.Context(), 4, func(context.Context) (time.Duration, error) {
		n++
		return time.Duration(n) * time.Millisecond, nil
	})
	if err != nil || idle.Submissions != 4 || idle.P50 != 3 || idle.P99 != 4 {
		t.Errorf("Idle = %+v, %v, want 4 submissions, 3 and 4 ms", idle, err)
	}
}
