package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// How long the watcher sleeps: no shorter than the kernel's clock is worth, no
// longer than a sample of memory use should be old.
const (
	shortestSleep = 500 * time.Microsecond
	longestSleep  = 200 * time.Millisecond
)

// watch waits for the end of the program and enforces its time limits. There is no
// fixed tick: it sleeps until the earliest moment at which a limit can be reached.
func (b *box) watch() (end, error) {
	wallEnd := b.started.Add(b.spec.Limits.Wall)
	next := b.nextLook(time.Now(), 0)
	for {
		if next.After(wallEnd) && b.killer() == "" {
			next = wallEnd
		}
		if err := b.control.deadline(next); err != nil {
			return end{}, err
		}
		r, _, err := b.control.receive()
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			if next, err = b.look(wallEnd); err != nil {
				return end{}, err
			}
		case errors.Is(err, io.EOF):
			return end{at: time.Now()}, nil
		case err != nil:
			return end{}, fmt.Errorf("hear from box: %w", err)
		case r.kind == msgExited:
			return end{seen: true, status: r.status, at: b.fromKernel(r.endNS)}, nil
		default:
			return end{}, r.failure()
		}
	}
}

// look compares what was used with the limits and says when to look again.
func (b *box) look(wallEnd time.Time) (time.Time, error) {
	now := time.Now()
	if b.killer() != "" { // it is dying; the kernel says when
		if now.After(wallEnd.Add(setupTimeout)) {
			return now, fmt.Errorf("box does not die")
		}
		return now.Add(longestSleep), nil
	}
	used, err := b.group.cpu()
	if err != nil {
		return now, err
	}
	used -= b.setupCPU
	switch {
	case used > b.spec.Limits.CPU:
		b.kill(killCPU)
	case !now.Before(wallEnd):
		b.kill(killWall)
	default:
		b.anon, b.cache = b.group.sample()
	}
	return b.nextLook(now, used), nil
}

// nextLook is the earliest moment at which the CPU limit can be reached: all the
// tasks that the box may have, running at once on all its cores.
func (b *box) nextLook(now time.Time, used time.Duration) time.Time {
	cores := b.s.cores
	if n := len(b.spec.Box.CPUs); n > 0 {
		cores = n
	}
	speed := time.Duration(min(b.spec.Limits.Tasks, cores))
	left := (b.spec.Limits.CPU - used) / speed
	return now.Add(min(max(left, shortestSleep), longestSleep))
}
