package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"judgefarm/judge"
)

// How long the watcher sleeps: no shorter than the kernel's clock is worth, no
// longer than a sample of memory use should be old.
const (
	shortestSleep = 500 * time.Microsecond
	longestSleep  = 200 * time.Millisecond
)

// deafTime is how long nobody reads the streams of a program: a short one is over by
// then, and all that it wrote is read at once, without a wake-up for its first byte and
// one for the end of each stream. One that writes more than a pipe holds waits so long,
// once.
const deafTime = 2 * time.Millisecond

// watch waits until everything in the box is dead: its pidfd becomes readable when
// the kernel has killed and reaped all else in the pid namespace;
// pid_namespaces(7). Meanwhile it reads the streams and enforces the time limits.
// What PID 1 tells waits in its socket until somebody has a use for it: a message
// that woke us would cost more than it is worth. There is no fixed tick: it sleeps
// until the earliest moment at which a limit can be reached.
func (b *box) watch() (end, error) {
	p := b.slot.poller
	if err := b.watchFDs(p); err != nil {
		return end{}, fmt.Errorf("wait for box: %w", err)
	}
	b.hostAtStart = b.s.host.sample(b.sent) // now, while the box has work to do
	b.makeSpare()
	next, deaf, listen := b.nextLook(b.sent, 0), true, b.sent.Add(deafTime)
	for {
		until := next
		if deaf && listen.Before(next) {
			until = listen
		}
		events, err := p.wait(until)
		if err != nil {
			return end{}, fmt.Errorf("wait for box: %w", err)
		}
		for _, ev := range events {
			fd := int(ev.Fd)
			switch {
			case fd == b.pidfd:
				b.dead = true
			case fd == b.meter.waker(b):
				next, err = b.meter.woke(b, next)
			case !b.readStream(fd):
				err = p.remove(fd)
			}
			if err != nil {
				return end{}, fmt.Errorf("wait for box: %w", err)
			}
		}
		if b.dead {
			return b.last()
		}
		now := time.Now()
		if deaf && !now.Before(listen) {
			deaf = false
			if err := b.watchStreams(p); err != nil {
				return end{}, fmt.Errorf("wait for box: %w", err)
			}
		}
		if !now.Before(next) {
			if next, err = b.look(now); err != nil {
				return end{}, err
			}
		}
	}
}

// watchFDs has the slot's poller look at the box; unwatch undoes it before the
// descriptors are closed. Closing alone would not do while a process that another
// goroutine forks has them too, and their numbers would be used again.
func (b *box) watchFDs(p *poller) error {
	b.watched = append(b.watched, b.pidfd)
	if fd := b.meter.waker(b); fd >= 0 {
		b.watched = append(b.watched, fd)
	}
	for _, fd := range b.watched {
		if err := p.add(fd); err != nil {
			return err
		}
	}
	return nil
}

// watchStreams has the poller look at the streams too.
func (b *box) watchStreams(p *poller) error {
	for _, c := range b.streams {
		if c != nil {
			b.watched = append(b.watched, c.r)
			if err := p.add(c.r); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *box) unwatch() {
	for _, fd := range b.watched {
		b.slot.poller.remove(fd) // it may have been removed before
	}
	b.watched = nil
}

// readStream reads from the stream of a descriptor and reports whether there can
// be more.
func (b *box) readStream(fd int) bool {
	for _, c := range b.streams {
		if c != nil && c.r == fd {
			c.read()
			return !c.closed
		}
	}
	return false
}

// last collects what is left of a dead box: the rest of its output and PID 1's
// last words.
func (b *box) last() (end, error) {
	now := time.Now()
	for _, c := range b.streams {
		for c != nil && c.read() {
		}
	}
	for {
		if err := b.hear(); err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, os.ErrDeadlineExceeded) {
				break
			}
			return end{}, err
		}
	}
	if b.started.IsZero() { // killed, or out of memory, before PID 1 could tell when it was
		b.started = b.sent
	}
	if b.end.at.IsZero() {
		b.end.at = now
	}
	return b.end, nil
}

// hear takes one message of PID 1 that is there already.
func (b *box) hear() error {
	r, fd, err := b.control.take()
	if err != nil {
		return err
	}
	return b.told(r, fd)
}

// told takes in what PID 1 says.
func (b *box) told(r reply, fd int) error {
	switch {
	case r.kind == msgReady && fd >= 0:
		b.work = fd
		return nil
	case r.kind == msgStarted:
		b.started, b.setupCPU = b.fromKernel(r.startNS), time.Duration(r.setupNS)
		return b.meter.told(b, r, fd)
	case r.kind == msgExecFailed:
		b.started, b.setupCPU = b.fromKernel(r.startNS), time.Duration(r.setupNS)
		b.end = end{exec: r.errno, at: time.Now()}
		return b.meter.told(b, r, fd)
	case r.kind == msgExited:
		// From the start, so that the wall time is the kernel's to the nanosecond.
		b.end = end{seen: true, status: r.status, at: b.started.Add(time.Duration(r.endNS - r.startNS)), noise: r.noise}
		return b.meter.told(b, r, fd)
	case r.kind == msgUsage:
		return b.meter.told(b, r, fd)
	case r.kind == msgFail && b.work >= 0 && r.errno == unix.ENOMEM:
		// The last steps before the exec count against the box's memory limit.
		b.started = time.Now()
		b.end = end{exec: r.errno, setup: r.failure(), at: b.started}
		return nil
	case r.kind == msgFail && r.what == "enter directory":
		return judge.Refuse(&judge.FieldError{Field: "dir", Reason: r.errno.Error()})
	}
	if fd >= 0 {
		rawClose(fd)
	}
	return r.failure()
}

// look compares what was used with the limits and says when to look again.
func (b *box) look(now time.Time) (time.Time, error) {
	for b.started.IsZero() {
		err := b.hear()
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded): // it is not yet the program
			if now.After(b.sent.Add(setupTimeout)) {
				return now, fmt.Errorf("hear from box: %w", err)
			}
			return now.Add(shortestSleep), nil
		case errors.Is(err, io.EOF): // it is dying
			if now.After(b.sent.Add(setupTimeout)) {
				return now, errors.New("box does not die")
			}
			return now.Add(longestSleep), nil
		case err != nil:
			return now, err
		}
	}
	wallEnd := b.started.Add(b.spec.Limits.Wall)
	if b.killer() != "" { // it is dying; the kernel says when
		if now.After(wallEnd.Add(setupTimeout)) {
			return now, errors.New("box does not die")
		}
		b.endHard(now)
		return now.Add(longestSleep), nil
	}
	used, err := b.meter.cpu()
	if err != nil {
		return now, err
	}
	used -= b.setupCPU
	switch {
	case used > b.spec.Limits.CPU:
		b.lastNoise = b.meter.noise()
		b.kill(killCPU)
	case !now.Before(wallEnd):
		b.lastNoise = b.meter.noise()
		b.kill(killWall)
	default:
		if err := b.meter.sample(b, now); err != nil {
			return now, err
		}
	}
	return b.nextLook(now, used), nil
}

// nextLook is the earliest moment at which a time limit can be reached.
func (b *box) nextLook(now time.Time, used time.Duration) time.Time {
	began := b.started
	if began.IsZero() {
		began = b.sent // not before
	}
	next := now.Add(b.meter.within(cpuLeft(b.spec.Limits.CPU-used, b.spec.Limits.Tasks, b.s.reach)))
	if wallEnd := began.Add(b.spec.Limits.Wall); next.After(wallEnd) && b.killer() == "" {
		return wallEnd
	}
	return next
}

// cpuLeft is how long it takes at least to use so much CPU time: by all the tasks
// that the box may have, running at once on all the cores that it can get. Those it
// has now (pids.current) would allow longer sleeps, but any number may start the
// moment after; a box of one task that is watched for 64 cores is looked at some 60
// times as often near its limit, and only there.
func cpuLeft(left time.Duration, tasks, cores int) time.Duration {
	return min(max(left/time.Duration(min(tasks, cores)), shortestSleep), longestSleep)
}

// reachable is how many cores a program can have itself run on, whichever it was put on:
// those of the worker's cpuset, of which the worker itself may have fewer;
// sched_setaffinity(2).
func reachable(own unix.CPUSet) int {
	runtime.LockOSThread() // and let it end with this goroutine where it cannot go back
	var all, got unix.CPUSet
	for c := range maxCPUs {
		all.Set(c)
	}
	if unix.SchedSetaffinity(0, &all) != nil || unix.SchedGetaffinity(0, &got) != nil {
		got = own
	}
	if unix.SchedSetaffinity(0, &own) == nil {
		runtime.UnlockOSThread()
	}
	return max(got.Count(), 1)
}
