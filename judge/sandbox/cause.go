package sandbox

import (
	"syscall"
	"time"
)

// facts is all that the cause of an end is told from.
type facts struct {
	exec      syscall.Errno // of a failed exec, else 0
	oom       bool          // the kernel's out-of-memory counter or event of the box moved
	refused   bool          // the memory limit stopped an allocation
	over      bool          // a captured stream passed its limit without Keep
	killedBy  string        // which watcher of ours ended the box
	signal    syscall.Signal
	forbidden bool // strict: the tracer ended it for a call
	cpu       time.Duration
	cpuLimit  time.Duration
	wall      time.Duration
	limit     time.Duration // of wall
}

// idleShare is the part of the wall limit below which a run counts as idle.
const idleShare = 20

// decide tells the cause from the facts. Where several limits were reached the
// first of this order wins, see docs/verdicts.md: a run out of memory also fails
// in other ways, a flood of output also takes time, and no limit's signal may be
// taken for the program's own.
func decide(f facts) Cause {
	switch {
	case f.oom, f.exec != 0 && f.refused:
		return CauseMemory
	case f.exec != 0:
		return CauseExec
	case f.over:
		return CauseOutput
	case f.cpu > f.cpuLimit:
		return CauseCPU
	case f.killedBy == killWall || f.wall > f.limit:
		if f.cpu*idleShare < f.limit {
			return CauseIdle
		}
		return CauseWall
	case f.signal == syscall.SIGSYS, f.forbidden:
		return CauseSyscall
	case f.signal == syscall.SIGXFSZ:
		return CauseFileSize
	case f.signal != 0:
		return CauseSignal
	}
	return CauseExit
}

// What Evidence.KilledBy says.
const (
	killCPU    = "cpu"
	killWall   = "wall"
	killOutput = "output"
	killMemory = "memory"
	killCancel = "cancel"
	killSetup  = "setup" // never reported: the box failed
)
