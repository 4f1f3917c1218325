package sandbox

import (
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"judgefarm/judge"
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

// A box that is pinned to one core is looked at as if it had all: its program may move.
func TestPinnedBoxIsLookedAtInTime(t *testing.T) {
	t.Parallel()
	now := time.Now()
	b := &box{s: &Sandbox{cores: 2, reach: 64}, meter: &group{}, sent: now, started: now}
	b.spec.Limits = judge.Limits{CPU: 640 * time.Millisecond, Wall: time.Hour, Tasks: 64}
	b.spec.Box.CPUs = []int{0}
	if got := b.nextLook(now, 0).Sub(now); got != 10*time.Millisecond {
		t.Errorf("the next look is in %v, want 10ms", got)
	}
}

// A box whose PID 1 is gone before it told of the program's start, and which does not
// die, is given up as any other.
func TestSilentBoxIsGivenUp(t *testing.T) {
	t.Parallel()
	control, other, err := socketPair()
	if err != nil {
		t.Fatal(err)
	}
	defer control.close()
	rawClose(other)
	now := time.Now()
	for sent, fails := range map[time.Time]bool{now: false, now.Add(-setupTimeout - time.Second): true} {
		b := &box{control: control, sent: sent}
		if next, err := b.look(now); (err != nil) != fails || !fails && !next.After(now) {
			t.Errorf("%v after the start: error %v, next look in %v", now.Sub(sent), err, next.Sub(now))
		}
	}
}

// A worker that has one core itself knows of those that a program can get.
func TestReachable(t *testing.T) {
	t.Parallel()
	var own, one, after unix.CPUSet
	runtime.LockOSThread() // not unlocked: the thread ends with the test
	if err := unix.SchedGetaffinity(0, &own); err != nil {
		t.Fatal(err)
	}
	for c := range maxCPUs {
		if own.IsSet(c) && one.Count() == 0 {
			one.Set(c)
		}
	}
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		t.Fatal(err)
	}
	if got := reachable(one); got < own.Count() {
		t.Errorf("%d cores, and this worker has %d", got, own.Count())
	}
	if err := unix.SchedGetaffinity(0, &after); err != nil || after != one {
		t.Errorf("the thread is on %d cores, want 1: %v", after.Count(), err)
	}
}
