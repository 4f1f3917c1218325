package sandbox

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The wall time is the difference of two readings of one clock by PID 1. To turn each
// into a time of ours would add what we wait for a core between our own readings.
func TestWallIsTheKernels(t *testing.T) {
	t.Parallel()
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		t.Fatal(err)
	}
	ago := min(time.Minute, time.Duration(now.Nano()/2)) // after the machine's start
	for _, wall := range []time.Duration{0, 1, 7 * time.Millisecond, time.Hour} {
		start := now.Nano() - int64(ago)
		b := &box{meter: &group{}}
		for _, r := range []reply{
			{kind: msgStarted, startNS: start},
			{kind: msgExited, startNS: start, endNS: start + int64(wall)},
		} {
			if err := b.told(r, -1); err != nil {
				t.Fatal(err)
			}
		}
		if got := b.end.at.Sub(b.started); got != wall {
			t.Errorf("wall %v, want %v", got, wall)
		}
		if late := time.Since(b.started) - ago; late < 0 || late > time.Minute {
			t.Errorf("started %v from what the kernel says", late)
		}
	}
}
