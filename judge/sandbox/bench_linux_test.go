package sandbox_test

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"judgefarm/judge/sandbox"
)

// The cost of a box is told as a ratio to a bare start of the same program in the
// same run: the machine's mood is in both. One at a time and as many as slots.
func BenchmarkBox(b *testing.B) {
	s := newSandbox(b, sandbox.Config{})
	spec := deed(b, "exit", "0")
	exe := filepath.Join(deedsDir, "deeds")
	bare := func() {
		p, err := os.StartProcess(exe, []string{exe, "exit", "0"}, &os.ProcAttr{})
		if err != nil {
			b.Error(err)
			return
		}
		if _, err := p.Wait(); err != nil {
			b.Error(err)
		}
	}
	var mu sync.Mutex
	var setup, teardown []time.Duration
	box := func() {
		rep, err := s.Run(b.Context(), spec)
		if err != nil || rep.Cause != sandbox.CauseExit {
			b.Errorf("%+v, %v", rep, err)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		setup, teardown = append(setup, rep.Setup), append(teardown, rep.Teardown)
	}
	for _, c := range []struct {
		name string
		at   int
		f    func()
	}{{"bare/1", 1, bare}, {"box/1", 1, box}, {"bare/slots", s.Slots(), bare}, {"box/slots", s.Slots(), box}} {
		b.Run(c.name, func(b *testing.B) {
			setup, teardown = nil, nil
			took := repeat(b, c.at, c.f)
			b.ReportMetric(float64(percentile(took, 50))/1e6, "p50-ms")
			b.ReportMetric(float64(percentile(took, 99))/1e6, "p99-ms")
			b.ReportMetric(float64(len(took))/b.Elapsed().Seconds(), "runs/s")
			if setup != nil {
				b.ReportMetric(float64(percentile(setup, 50))/1e6, "setup-ms")
				b.ReportMetric(float64(percentile(teardown, 50))/1e6, "teardown-ms")
			}
		})
	}
}

// repeat calls f b.N times from several goroutines and returns each call's time.
func repeat(b *testing.B, at int, f func()) []time.Duration {
	var wg sync.WaitGroup
	took := make([][]time.Duration, at)
	for g := range at {
		wg.Go(func() {
			for i := g; i < b.N; i += at {
				began := time.Now()
				f()
				took[g] = append(took[g], time.Since(began))
			}
		})
	}
	wg.Wait()
	return slices.Concat(took...)
}

func percentile(d []time.Duration, p int) time.Duration {
	d = slices.Sorted(slices.Values(d))
	return d[min(len(d)*p/100, len(d)-1)]
}
