package sandbox

import (
	"time"

	"judgefarm/judge"
)

// Noise is what disturbed a run: reasons why the same program may take another
// time elsewhere. Nothing is ruled by it. A part that is not known is Unknown.
type Noise struct {
	// Involuntary counts context switches that the program did not ask for: of all
	// its processes that ended before the box did; of the main program's first
	// thread alone where a time limit ended the box.
	Involuntary int64
	// RunDelay is how long the main program's first thread could have run and had
	// no core.
	RunDelay time.Duration
	// Pressure and Steal are of the whole host, and known for runs of at least
	// HostResolution only: they are read so often, and so their span may begin and
	// end that much before the run does.
	Pressure Pressure
	Steal    time.Duration // taken by the hypervisor, all cores together; in steps of 10 ms
}

// Pressure is for how long some task of the host waited for a core, for memory
// or for a disk; Documentation/accounting/psi.rst.
type Pressure struct{ CPU, Memory, IO time.Duration }

// Unknown is the value of a part of Noise that is not known.
const Unknown = -1

// HostResolution is how old a reading of the host's counters may be.
const HostResolution = 100 * time.Millisecond

// JSON is n as documents show it; nil when nothing is known. It may be called on nil.
func (n *Noise) JSON() *judge.Noise {
	if n == nil {
		return nil
	}
	millis := func(d time.Duration) *judge.Millis {
		if d < 0 {
			return nil
		}
		m := judge.MillisOf(d)
		return &m
	}
	j := judge.Noise{
		RunDelay: millis(n.RunDelay), Steal: millis(n.Steal),
		PressureCPU: millis(n.Pressure.CPU), PressureMemory: millis(n.Pressure.Memory), PressureIO: millis(n.Pressure.IO),
	}
	if n.Involuntary >= 0 {
		j.Involuntary = &n.Involuntary
	}
	if j == (judge.Noise{}) {
		return nil
	}
	return &j
}
