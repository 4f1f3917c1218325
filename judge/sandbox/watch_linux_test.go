package sandbox

import (
	"testing"
	"time"
)

// The next look is never later than the limit can be reached, but for the shortest
// sleep: whatever number of tasks starts meanwhile.
func TestCPULeft(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for _, c := range []struct {
		left         time.Duration
		tasks, cores int
		want         time.Duration
	}{
		{100 * ms, 1, 1, 100 * ms},
		{100 * ms, 64, 1, 100 * ms},
		{100 * ms, 1, 64, 100 * ms},
		{100 * ms, 2, 64, 50 * ms},
		{100 * ms, 64, 4, 25 * ms},
		{10 * time.Second, 64, 2, longestSleep},
		{ms, 64, 64, shortestSleep},
		{-ms, 64, 2, shortestSleep},
	} {
		if got := cpuLeft(c.left, c.tasks, c.cores); got != c.want {
			t.Errorf("cpuLeft(%v, %d, %d) = %v, want %v", c.left, c.tasks, c.cores, got, c.want)
		}
	}
}
