package sandbox

import (
	"syscall"
)

// readTrap reads the call at which a task was stopped by the filter.
func readTrap(pid int) (nr int, args [6]uint, err error) {
	var r syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(pid, &r); err != nil {
		return 0, args, err
	}
	return int(r.Orig_rax), [6]uint{uint(r.Rdi), uint(r.Rsi), uint(r.Rdx), uint(r.R10), uint(r.R8), uint(r.R9)}, nil
}

// answerTrap has the call return result without being made; seccomp(2),
// SECCOMP_RET_TRACE.
func answerTrap(pid int, result int) error {
	var r syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(pid, &r); err != nil {
		return err
	}
	r.Orig_rax, r.Rax = ^uint64(0), uint64(result)
	return syscall.PtraceSetRegs(pid, &r)
}
