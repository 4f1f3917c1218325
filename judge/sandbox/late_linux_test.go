package sandbox_test

import (
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// lateness measures how much later than it wants a thread gets a core: a probe
// beside the worker's own threads, which wait in the same queues. It goes to sleep
// every two milliseconds by itself, not through the runtime, whose timers are a part
// of what is tested.
type lateness struct {
	stop atomic.Bool
	done chan struct{}
	late []time.Duration
}

func startLateness() *lateness {
	l := &lateness{done: make(chan struct{})}
	go func() {
		defer close(l.done)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		const step = 2 * time.Millisecond
		for !l.stop.Load() {
			began := time.Now()
			ts := unix.NsecToTimespec(int64(step))
			unix.ClockNanosleep(unix.CLOCK_MONOTONIC, 0, &ts, nil)
			l.late = append(l.late, time.Since(began)-step)
		}
	}()
	return l
}

// end returns what nine of ten were within, and the worst.
func (l *lateness) end() (most, worst time.Duration) {
	l.stop.Store(true)
	<-l.done
	slices.Sort(l.late)
	return l.late[len(l.late)*9/10], l.late[len(l.late)-1]
}
