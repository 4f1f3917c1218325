package sandbox

import "time"

// meter bounds and measures one box. Its methods belong to the goroutine that runs
// the box. group does it with a cgroup, tally without one.
type meter interface {
	// joinFiles opens what the program's process writes "0" to before its exec.
	// usageFile is what it reads then, for CPU time of ours; -1 where there is nothing to join.
	joinFiles() ([]int, error)
	usageFile() int
	// limitFile opens what PID 1 writes a new limit of tasks to when it joins; -1 likewise.
	limitFile() (int, error)

	// cpu is the CPU time, user and system, of everything that was ever in the box;
	// split divides a total between them.
	cpu() (time.Duration, error)
	split(total time.Duration) (user, system time.Duration)

	// sample sets what memory is used for now, at once or as soon as PID 1 tells.
	sample(b *box, now time.Time) error

	// noise is what disturbed the program so far.
	noise() exitNoise

	// waker is a descriptor to watch, -1 for none. woke is called when there is
	// something to read from it; it may change when the watcher looks next.
	waker(b *box) int
	woke(b *box, next time.Time) (time.Time, error)

	// told hears PID 1's STARTED, EXEC_FAILED, USAGE and EXITED, with a descriptor or -1.
	told(b *box, r reply, fd int) error

	// within shortens the watcher's sleep where memory has to be looked at.
	within(sleep time.Duration) time.Duration

	// end has PID 1 end the box and tell what it used; false when the kernel
	// counts and the box can be killed right away.
	end(b *box) bool

	// measure reads the counters of a dead box; remove is the last call.
	measure(r *Report) error
	remove() error
}

// newMeter makes the meter of a box, with the limits of its spec in force.
func (s *Sandbox) newMeter(spec Spec) (meter, error) {
	memory := spec.Limits.Memory + spec.Slack
	if s.level == Userns {
		return &tally{limit: memory, counter: -1}, nil
	}
	g, err := s.cgroups.newGroup(s.nextName(), memory, spec.Limits.Tasks)
	if err != nil {
		return nil, err // not g: a nil *group is no nil meter
	}
	return g, nil
}
