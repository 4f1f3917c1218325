package sandbox

import (
	"fmt"

	"golang.org/x/sys/unix"

	"judgefarm/judge"
)

// pinsOf gives each slot a core of its own, so that no two boxes take turns on one and
// no program moves between them: its time is steadier. A program may move itself to
// another core of the worker's cpuset; the pin steadies and is no boundary.
func pinsOf(cpus unix.CPUSet, slots int) (pins []int, err error) {
	if n := cpus.Count(); slots > n {
		return nil, judge.Refuse(&judge.FieldError{Field: "pin", Reason: fmt.Sprintf(
			"gives each slot a core of its own: %d slots and %d cores; have at most as many slots, or do not pin", slots, n)})
	}
	for c := 0; c < maxCPUs && len(pins) < slots; c++ {
		if cpus.IsSet(c) {
			pins = append(pins, c)
		}
	}
	return pins, nil
}

// pinTo has the box run on its slot's core, unless its spec names cores itself.
func (b *box) pinTo(sl *slot) {
	if sl.core >= 0 && len(b.spec.Box.CPUs) == 0 {
		b.spec.Box.CPUs = []int{sl.core}
		b.lim.CPUs = b.spec.Box.CPUs
	}
}
