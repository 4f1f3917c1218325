package sandbox

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Register sets of ptrace(2).
const (
	regsGeneral = 1     // NT_PRSTATUS
	regsCall    = 0x404 // NT_ARM_SYSTEM_CALL
)

// readTrap reads the call at which a task was stopped by the filter.
func readTrap(pid int) (nr int, args [6]uint, err error) {
	var r unix.PtraceRegsArm64
	if err := unix.PtraceGetRegSetArm64(pid, regsGeneral, &r); err != nil {
		return 0, args, err
	}
	for i := range args {
		args[i] = uint(r.Regs[i])
	}
	return int(r.Regs[8]), args, nil
}

// answerTrap has the call return result without being made; seccomp(2),
// SECCOMP_RET_TRACE.
func answerTrap(pid int, result int) error {
	var r unix.PtraceRegsArm64
	if err := unix.PtraceGetRegSetArm64(pid, regsGeneral, &r); err != nil {
		return err
	}
	r.Regs[0] = uint64(result)
	if err := unix.PtraceSetRegSetArm64(pid, regsGeneral, &r); err != nil {
		return err
	}
	none := int32(-1)
	iov := unix.Iovec{Base: (*byte)(unsafe.Pointer(&none))}
	iov.SetLen(int(unsafe.Sizeof(none)))
	_, _, errno := unix.RawSyscall6(unix.SYS_PTRACE, unix.PTRACE_SETREGSET, uintptr(pid), regsCall, uintptr(unsafe.Pointer(&iov)), 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}
