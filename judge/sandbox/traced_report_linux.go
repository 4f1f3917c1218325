package sandbox

import (
	"errors"
	"fmt"
	"syscall"
	"time"
)

// report is made when nothing of the run lives.
func (r *tracedRun) report(l *launcher) (*Report, error) {
	line := r.line // its thread has ended: no lock is needed
	if line.err != nil {
		return nil, line.err
	}
	rep := &Report{Exit: -1, Memory: line.memory}
	// A program may end by itself beyond the limit, before the next sample.
	oom := line.killedBy == killMemory || line.memory > r.spec.Limits.Memory+r.spec.Slack
	f := facts{killedBy: line.killedBy, oom: oom, cpuLimit: r.spec.Limits.CPU, limit: r.spec.Limits.Wall}
	if line.started.IsZero() {
		errno, err := l.outcome()
		if err != nil {
			return nil, err
		}
		if errno == 0 && line.killedBy == "" {
			return nil, errors.New("launcher died by itself")
		}
		if f.exec = errno; errno != 0 {
			rep.Evidence.ExecError = errno.Error()
		}
		line.started = line.ended
	}
	rep.CPU, rep.Wall, rep.Setup = line.used(), line.ended.Sub(line.started), line.started.Sub(r.began)
	rep.User, rep.System = line.split(rep.CPU)
	for i, out := range []*Output{&rep.Stdout, &rep.Stderr} {
		c := r.streams[i]
		if c == nil {
			continue
		}
		for c.read() {
		}
		if c.err != nil {
			return nil, fmt.Errorf("read output: %w", c.err)
		}
		*out = c.out
		f.over = f.over || c.out.Cut && !c.keep
	}
	switch {
	case f.exec != 0:
	case line.status.Signaled():
		f.signal = line.status.Signal()
	default:
		rep.Exit = line.status.ExitStatus()
	}
	if err := r.endDisk(&f); err != nil {
		return nil, err
	}
	f.cpu, f.wall = rep.CPU, rep.Wall
	if f.killedBy == killWall && f.wall <= f.limit {
		f.killedBy = "" // it had ended when our kill arrived
	}
	rep.Signal, rep.Cause = int(f.signal), decide(f)
	ev := &rep.Evidence
	ev.KilledBy, ev.ForksRefused, ev.TasksPeak, ev.Anon = f.killedBy, line.refused, line.peak, r.memory
	var err error
	rep.Files, err = collectFiles(r.work, r.spec.Collect)
	rep.Teardown = time.Since(line.ended)
	return rep, err
}

// endDisk looks once more: a program may end by itself beyond the limit, before the next
// count.
func (r *tracedRun) endDisk(f *facts) error {
	if f.killedBy == "" {
		switch _, err := r.diskUse(); {
		case errors.Is(err, errOverDisk):
			f.killedBy = killDisk
		case err != nil:
			return err
		}
	}
	if f.killedBy == killDisk {
		f.signal = syscall.SIGXFSZ
	}
	return nil
}
