package sandbox

import (
	"errors"
	"time"

	"judgefarm/judge"
)

// How memory is looked at: as soon as it could be full at the fastest that programs
// were seen to fill it, within bounds.
const (
	fillSpeed    = 2 // bytes a nanosecond: page faults on two cores
	shortestFill = time.Millisecond
	longestFill  = 100 * time.Millisecond
)

// watch reads the streams and enforces the limits until nothing of the run is left.
func (r *tracedRun) watch() error {
	fds := []int{r.done}
	for _, c := range r.streams {
		if c != nil {
			fds = append(fds, c.r)
		}
	}
	for _, fd := range fds {
		if err := r.poller.add(fd); err != nil {
			return err
		}
	}
	next := time.Now().Add(shortestSleep)
	for {
		events, err := r.poller.wait(next)
		if err != nil {
			return err
		}
		for _, ev := range events {
			if int(ev.Fd) == r.done {
				return nil
			}
			for _, c := range r.streams {
				if c != nil && c.r == int(ev.Fd) {
					c.read()
					if c.closed {
						err = errors.Join(err, r.poller.remove(c.r))
					}
				}
			}
		}
		if err != nil {
			return err
		}
		if now := time.Now(); !now.Before(next) {
			if next, err = r.look(now); err != nil {
				return err
			}
		}
	}
}

// look compares what was used with the limits and says when to look again.
func (r *tracedRun) look(now time.Time) (time.Time, error) {
	l := r.line
	started, dying := l.state()
	switch {
	case dying:
		if r.stopAt.IsZero() {
			r.stopAt = now.Add(setupTimeout)
		}
		if now.After(r.stopAt) {
			return now, errors.New("processes do not die")
		}
		return now.Add(longestSleep), nil
	case started.IsZero():
		if now.After(r.began.Add(setupTimeout)) {
			return now, errors.New("the program does not start")
		}
		return now.Add(shortestSleep), nil
	}
	lim := r.spec.Limits
	used := l.used()
	wallEnd := started.Add(lim.Wall)
	memory := r.memoryNow(lim.Memory + r.spec.Slack)
	diskOver, err := r.diskOver(now)
	if err != nil {
		return now, err
	}
	switch {
	case memory > lim.Memory+r.spec.Slack:
		l.kill(killMemory)
	case used > lim.CPU:
		l.kill(killCPU)
	case !now.Before(wallEnd):
		l.kill(killWall)
	case diskOver:
		l.kill(killDisk)
	}
	wait := min(
		max((lim.CPU-used)/time.Duration(min(lim.Tasks, r.t.reach)), shortestSleep),
		clampFill(lim.Memory+r.spec.Slack-memory),
		max(r.diskAt.Sub(now), shortestFill),
	)
	if next := now.Add(wait); next.Before(wallEnd) {
		return next, nil
	}
	return maxTime(wallEnd, now), nil
}

func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func clampFill(left judge.Bytes) time.Duration {
	return min(max(time.Duration(left/fillSpeed), shortestFill), longestFill)
}

// memoryNow asks more closely only where the cheap upper bound is over the limit.
func (r *tracedRun) memoryNow(limit judge.Bytes) judge.Bytes {
	r.memory = r.line.sample()
	if r.memory > limit {
		r.memory = r.line.shares()
	}
	return r.memory
}
