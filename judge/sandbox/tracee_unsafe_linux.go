package sandbox

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// What x/sys has of ptrace(2) and waitid(2) stops short of these.

// seize attaches to a process without stopping it, with options from the start.
func seize(pid int, options uintptr) error {
	_, _, errno := unix.RawSyscall6(unix.SYS_PTRACE, unix.PTRACE_SEIZE, uintptr(pid), 0, options, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// listen leaves a task in its group stop and hears of its end.
func listen(pid int) {
	unix.RawSyscall6(unix.SYS_PTRACE, unix.PTRACE_LISTEN, uintptr(pid), 0, 0, 0, 0)
}

// awaitTracee waits until one of this thread's tracees has something to tell and leaves
// it to be waited for: code is CLD_EXITED, CLD_KILLED, CLD_DUMPED or a stop's.
func awaitTracee() (pid int, code int32, err error) {
	for {
		var info unix.Siginfo
		err = unix.Waitid(unix.P_ALL, 0, &info, unix.WEXITED|unix.WSTOPPED|unix.WNOWAIT|unix.WALL|unix.WNOTHREAD, nil)
		if err == unix.EINTR {
			continue
		}
		// siginfo_t of 64-bit Linux: signal, errno, code, padding, then the pid.
		return int(*(*int32)(unsafe.Add(unsafe.Pointer(&info), 16))), info.Code, err
	}
}

// setThreadGroups sets the supplementary groups of this thread alone; the library's call
// sets those of every thread.
func setThreadGroups(groups []uint32) bool {
	var first unsafe.Pointer
	if len(groups) > 0 {
		first = unsafe.Pointer(&groups[0])
	}
	_, _, errno := unix.RawSyscall(unix.SYS_SETGROUPS, uintptr(len(groups)), uintptr(first), 0)
	return errno == 0
}
