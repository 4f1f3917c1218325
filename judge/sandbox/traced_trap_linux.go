package sandbox

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// ownFiles is the run's own directory, the only place where attributes are changed.
type ownFiles struct {
	dir   string
	uid   int
	other bool // the user is not ours

	groups []uint32 // the worker's
}

// trap decides about a call that the filter handed to us. One that is let go is made as
// it stands in the task's registers, which nobody can change meanwhile.
func (t *lineage) trap(pid int) {
	nr, args, err := readTrap(pid)
	if err != nil {
		return // killed
	}
	result, answer := 0, false
	switch name := t.calls[nr]; name {
	case "clone", "fork", "vfork":
		result, answer = t.fork(pid, name == "clone" && args[0]&cloneThread != 0)
	case "kill":
		result, answer = t.mayKill(int(int32(args[0])))
	case "tkill", "rt_sigqueueinfo", "pidfd_open":
		result, answer = t.mayReach(args[0], unix.ESRCH)
	case "prlimit64", "sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr":
		result, answer = t.mayReach(args[0], unix.EPERM)
	case "tgkill", "rt_tgsigqueueinfo":
		if result, answer = t.mayReach(args[0], unix.ESRCH); !answer {
			result, answer = t.mayReach(args[1], unix.ESRCH)
		}
	case "setpriority", "ioprio_set":
		result, answer = t.mayReach(args[1], unix.EPERM)
	case "chmod", "fchmod", "fchmodat", "fchmodat2", "utimensat":
		result, answer = t.change(pid, name, args), true
	}
	if answer {
		if err := answerTrap(pid, result); err != nil && err != unix.ESRCH {
			t.fail(fmt.Errorf("answer system call: %w", err))
		}
	}
}

// fork refuses a task beyond the limit, as the pids controller does, which counts the dead
// too until somebody has waited for them: each has a number, of which the host has few.
func (t *lineage) fork(pid int, thread bool) (result int, answer bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	k := t.tasks[pid]
	if k == nil {
		return 0, false
	}
	k.forking, k.thread = false, thread // what it was let make before has failed, or we know of it
	if t.countLocked()+len(t.dead) >= t.limit {
		t.buryLocked()
	}
	if t.countLocked()+len(t.dead) >= t.limit {
		t.refused++
		return -int(unix.EAGAIN), true
	}
	k.forking = true
	return 0, false
}

// mayReach lets a call go that means a task of the run; else it fails.
func (t *lineage) mayReach(pid uint, otherwise syscall.Errno) (result int, answer bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.tasks[int(int32(pid))] != nil {
		return 0, false
	}
	return -int(otherwise), true
}

// mayKill lets kill(2) go for a process of the run or a process group of it. The run is
// a session of its own, and no process joins a group of another session.
func (t *lineage) mayKill(pid int) (result int, answer bool) {
	switch {
	case pid == 0:
		return 0, false
	case pid == -1:
		return -int(unix.EPERM), true
	case pid > 0:
		return t.mayReach(uint(pid), unix.ESRCH)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for k := range t.clocks {
		if group, err := unix.Getpgid(k); err == nil && group == -pid {
			return 0, false
		}
	}
	return -int(unix.ESRCH), true
}

// change does chmod's and utimensat's work for a task, on a file of the run's own: it
// opens the file, looks where it is, and changes what it has opened, so that it does not
// matter what becomes of the path or the descriptor meanwhile.
func (t *lineage) change(pid int, call string, args [6]uint) int {
	o := t.own
	fd, err := t.openAs(pid, call, args)
	if err != nil {
		return -int(err.(syscall.Errno))
	}
	defer unix.Close(fd)
	link := "/proc/self/fd/" + strconv.Itoa(fd)
	buf := make([]byte, 4096)
	n, err := unix.Readlink(link, buf)
	var st unix.Stat_t
	if err != nil || !strings.HasPrefix(string(buf[:n]), o.dir+"/") || unix.Fstat(fd, &st) != nil || int(st.Uid) != o.uid {
		return -int(unix.EPERM)
	}
	mode := args[2]
	if call == "chmod" || call == "fchmod" {
		mode = args[1]
	}
	switch {
	case call == "utimensat":
		err = setTimes(pid, fd, args[2])
	case st.Mode&unix.S_IFMT == unix.S_IFLNK:
		err = unix.EOPNOTSUPP // as the kernel says of links
	default:
		err = unix.Fchmodat(unix.AT_FDCWD, link, uint32(mode&0o777), 0)
	}
	if errno, ok := err.(syscall.Errno); ok {
		return -int(errno)
	}
	return 0
}

// become takes the file system identity of a user on this thread, and of groups.
func (t *lineage) become(id int, groups []uint32) bool {
	// Only root may set groups, and what it may do with files goes with its user.
	if setThreadGroups(groups) && setFSID(id) {
		return true
	}
	t.stranger = true
	t.fail(errors.New("change identity of tracing thread"))
	return false
}

// setTimes sets the times of what is open to those that stand at an address of the task,
// to now for 0. It follows no link.
func setTimes(pid, fd int, addr uint) error {
	times := []unix.Timespec{{Nsec: unix.UTIME_NOW}, {Nsec: unix.UTIME_NOW}}
	for i := range times {
		var sec, nsec [8]byte
		if addr == 0 {
			continue
		}
		at := addr + uint(16*i)
		if !readMemory(pid, at, sec[:]) || !readMemory(pid, at+8, nsec[:]) {
			return unix.EFAULT
		}
		times[i] = unix.Timespec{Sec: int64(le64(sec)), Nsec: int64(le64(nsec))}
	}
	return unix.UtimesNanoAt(fd, "", times, unix.AT_EMPTY_PATH)
}
