package sandbox

import (
	"errors"

	"judgefarm/judge"
)

// spare is a cgroup that was made for the slot's next run, while the program of the
// last one ran: with three hierarchies its directories take 0.2 ms. Nothing ever was in
// it. Its limits are those of the last run until it is taken.
type spare struct {
	*group
	memory judge.Bytes
	tasks  int
}

// makeSpare makes the slot's spare group, if it has none and another slot is free.
// Without it the next run makes its own, as it does when this fails.
func (b *box) makeSpare() {
	idle := len(b.s.free) > 0 // else it takes a core, and the kernel's lock, from a run
	if b.s.noAhead || !idle || b.s.cgroups == nil || b.slot.spare != nil {
		return
	}
	sp := &spare{memory: b.memoryLimit(), tasks: b.spec.Limits.Tasks}
	var err error
	if sp.group, err = b.s.cgroups.newGroup(b.s.nextName(), sp.memory, sp.tasks); err != nil {
		b.s.log.Warn("no cgroup is prepared", "error", err)
		return
	}
	b.slot.spare = sp
}

// takeSpare gives the box the slot's spare group with its own limits, if there is one.
func (b *box) takeSpare() (*group, error) {
	sp := b.slot.spare
	if sp == nil {
		return nil, nil
	}
	b.slot.spare = nil
	if sp.memory == b.memoryLimit() && sp.tasks == b.spec.Limits.Tasks {
		return sp.group, nil
	}
	if err := sp.relimit(b.memoryLimit(), b.spec.Limits.Tasks); err != nil {
		return nil, errors.Join(err, sp.remove())
	}
	return sp.group, nil
}

func (b *box) memoryLimit() judge.Bytes { return b.spec.Limits.Memory + b.spec.Slack }

// dropSpare removes the slot's spare group, if there is one.
func (sl *slot) dropSpare() error {
	sp := sl.spare
	if sp == nil {
		return nil
	}
	sl.spare = nil
	return sp.remove()
}
