package sandbox

import (
	"errors"
	"fmt"
	"syscall"
	"time"
)

// report reads what is final when everything in the box is dead: counters, streams,
// files.
func (b *box) report(e end) (*Report, error) {
	b.s.prepareAhead(b.slot) // while we collect; nothing of this box runs
	rep := &Report{Exit: -1, Setup: b.started.Sub(b.began), Wall: e.at.Sub(b.started)}
	if err := b.endStreams(rep); err != nil {
		return nil, err
	}
	if err := b.meter.measure(rep); err != nil {
		return nil, err
	}
	used, err := b.meter.cpu()
	if err != nil {
		return nil, err
	}
	rep.CPU = max(used-b.setupCPU, 0)
	rep.User, rep.System = b.meter.split(rep.CPU)
	rep.Evidence.Anon, rep.Evidence.Shmem = b.anon, b.shmem
	rep.Noise = b.noise(e, rep.Wall)
	if err := b.judgeEnd(rep, e); err != nil {
		return nil, err
	}
	if rep.Files, err = collectFiles(b.work, b.spec.Collect); err != nil {
		return nil, err
	}
	if err := b.discard(); err != nil {
		return nil, err
	}
	rep.Teardown = time.Since(e.at)
	return rep, nil
}

// judgeEnd fills in how the program ended and why.
func (b *box) judgeEnd(rep *Report, e end) error {
	f := facts{
		exec: e.exec, oom: b.oomEvent || rep.Evidence.OOMKills > 0 || b.killer() == killMemory, refused: rep.Evidence.OOMEvents > 0,
		killedBy: b.killer(), cpu: rep.CPU, cpuLimit: b.spec.Limits.CPU, wall: rep.Wall, limit: b.spec.Limits.Wall,
	}
	for i, s := range []Stream{b.spec.Stdout, b.spec.Stderr} {
		f.over = f.over || b.streams[i] != nil && b.streams[i].out.Cut && !s.Keep
	}
	switch {
	case e.setup != nil && !f.oom && !f.refused:
		return e.setup // the host's memory it was, not the box's
	case e.exec != 0:
		rep.Evidence.ExecError = e.exec.Error()
	case !e.seen:
		// Killed before it could say anything: by us, or with a program that ran
		// out of memory while it still shared PID 1's.
		if f.killedBy == "" && !f.oom {
			return errors.New("box died by itself")
		}
		f.signal = syscall.SIGKILL
	case e.status.Signaled():
		f.signal = e.status.Signal()
	case e.status.Exited():
		rep.Exit = e.status.ExitStatus()
	default:
		return fmt.Errorf("unknown wait status %#x", int(e.status))
	}
	if b.tracer != nil {
		if err := b.tracer.amend(&f); err != nil {
			return err
		}
		rep.Evidence.Syscall = b.tracer.call
	}
	if e.seen && f.killedBy == killWall && rep.Wall <= f.limit {
		f.killedBy = "" // it had ended when our kill arrived
	}
	rep.Signal = int(f.signal)
	rep.Evidence.KilledBy = f.killedBy
	rep.Cause = decide(f)
	return nil
}

// waitDead waits until nothing in the box lives; see watch.
func (b *box) waitDead() error {
	ready, err := b.slot.poller.waitFor(b.pidfd, time.Now().Add(setupTimeout))
	if err != nil {
		return fmt.Errorf("wait for box: %w", err)
	}
	if !ready {
		return errors.New("box does not die")
	}
	return nil
}

// endStreams keeps what the program wrote.
func (b *box) endStreams(rep *Report) error {
	for i, out := range []*Output{&rep.Stdout, &rep.Stderr} {
		if c := b.streams[i]; c != nil {
			if c.err != nil {
				return fmt.Errorf("read output: %w", c.err)
			}
			*out = c.out
		}
	}
	return nil
}

// discard removes whatever there is of the box, in any state. It may be called
// more than once.
func (b *box) discard() error {
	var errs []error
	b.unwatch()
	if b.pidfd >= 0 {
		if !b.dead {
			b.kill(killSetup)
			errs = append(errs, b.waitDead())
		}
		b.mu.Lock()
		rawClose(b.pidfd)
		b.pidfd = -1
		b.mu.Unlock()
	}
	if b.tracer != nil {
		err := b.endTracer()
		errs = append(errs, err)
		select {
		case <-b.tracer.done:
			b.mu.Lock()
			rawClose(b.tracer.pidfd)
			b.tracer = nil
			b.mu.Unlock()
		default:
			b.control = nil // it is still the tracer's
		}
	}
	for i, c := range b.streams {
		if c != nil {
			rawClose(c.r)
			b.streams[i] = nil
		}
	}
	if b.control != nil {
		b.control.close()
		b.control = nil
	}
	if b.mounts >= 0 {
		if b.slot.nursery != nil {
			b.slot.nursery.bury(b.mounts)
		}
		rawClose(b.mounts)
		b.mounts = -1
	}
	if b.work >= 0 {
		rawClose(b.work)
		b.work = -1
	}
	if b.meter != nil {
		errs = append(errs, b.meter.remove())
		b.meter = nil
	}
	return errors.Join(errs...)
}
