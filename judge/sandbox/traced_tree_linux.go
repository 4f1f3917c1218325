package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"judgefarm/judge"
)

// seizeOptions follow every task that a task makes, wherever it goes, and end them all
// with the tracer; ptrace(2).
const seizeOptions = unix.PTRACE_O_EXITKILL | unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK | unix.PTRACE_O_TRACECLONE |
	unix.PTRACE_O_TRACEEXEC | unix.PTRACE_O_TRACEEXIT | unix.PTRACE_O_TRACESECCOMP

// lineage is every process of a run of the level ptrace. One thread traces them all; a
// process that is dead stays in it, and keeps its number, until that thread has read
// its CPU clock and reaped it, which it does under the lock. So whoever holds the lock
// may use the numbers.
type lineage struct {
	main  int // of the program's first process
	limit int // of tasks
	calls map[int]string
	own   ownFiles

	mu       sync.Mutex
	tasks    map[int]*task // by number
	clocks   map[int]bool  // processes, by number
	dead     []corpse      // processes that were reaped as tracees
	spent    time.Duration // of those that are reaped
	base     time.Duration // of the launcher, before the program's exec
	user     int64         // ticks of those that are reaped
	system   int64
	peak     int64 // of tasks
	refused  int64
	memory   judge.Bytes // peak of what was sampled
	killedBy string
	dying    bool // everything is to end

	started, ended time.Time
	status         syscall.WaitStatus // of the main process, once ended is set
	err            error
	stranger       bool // the tracing thread did not get its own identity back
}

// task is a thread.
type task struct {
	process int
	forking bool // it was let make another, which we have not been told of
	thread  bool // that is to be a thread of the same process
	early   bool // it stopped before we were told who made it
}

// follow begins with the launcher.
func (t *lineage) follow(pid int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.main = pid
	t.addLocked(pid, &task{process: pid})
}

// state says when the program began and whether everything is to end.
func (t *lineage) state() (started time.Time, dying bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.started, t.dying
}

// trace runs on a locked thread, of which the launcher is seized, until nothing of the
// run is left.
func (t *lineage) trace() {
	for {
		pid, code, err := awaitTracee()
		if errors.Is(err, unix.ECHILD) {
			t.adopt()
			return
		}
		if err != nil {
			t.fail(fmt.Errorf("wait for processes: %w", err))
			return
		}
		if code == cldExited || code == cldKilled || code == cldDumped {
			t.reap(pid)
			continue
		}
		var status syscall.WaitStatus
		if _, err := syscall.Wait4(pid, &status, unix.WALL|unix.WNOTHREAD, nil); err != nil || !status.Stopped() {
			continue // it died meanwhile: the next wait tells
		}
		t.stopped(pid, status)
	}
}

// Of siginfo's code for SIGCHLD; sigaction(2).
const (
	cldExited = 1
	cldKilled = 2
	cldDumped = 3
)

// reap takes in a task that is dead. A process's clock has all its threads and stands
// still when the kernel tells of the process's end.
func (t *lineage) reap(pid int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	if t.clocks[pid] {
		t.spent += clockOf(pid)
		user, system, began := statOf(pid)
		t.user, t.system = t.user+user, t.system+system
		delete(t.clocks, pid)
		if pid != t.main {
			t.dead = append(t.dead, corpse{pid, began})
		}
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &status, unix.WALL|unix.WNOTHREAD, nil); err != nil {
		t.failLocked(fmt.Errorf("reap process: %w", err))
	}
	if dead := t.tasks[pid]; dead != nil && dead.forking {
		t.noneEarlyLocked()
	}
	delete(t.tasks, pid)
	if pid == t.main {
		t.ended, t.status = now, status
		t.endLocked("")
	}
}

// corpse is a process that is dead for its tracer and has its number until its parent
// waits for it. Afterwards the number may be anybody's, whom its beginning tells from it.
type corpse struct {
	pid   int
	began string
}

// gone reports whether its number is free. It reaps one whose parent is dead too: that
// is this process's child now.
func (c corpse) gone() bool {
	if unix.Kill(c.pid, 0) == unix.ESRCH {
		return true
	}
	if _, _, began := statOf(c.pid); began != c.began && began != "" && c.began != "" {
		return true
	}
	for {
		if n, err := syscall.Wait4(c.pid, nil, unix.WALL|unix.WNOHANG, nil); err != unix.EINTR {
			return n == c.pid
		}
	}
}

// buryLocked forgets the dead that nobody has to wait for.
func (t *lineage) buryLocked() { t.dead = slices.DeleteFunc(t.dead, corpse.gone) }

// adopt reaps the processes that died before their parents waited for them: now that
// those are dead too, they are this process's children.
func (t *lineage) adopt() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buryLocked()
	t.dead = nil
}

// stopped has a task go on that stopped for us or for a signal.
func (t *lineage) stopped(pid int, status syscall.WaitStatus) {
	signal := 0
	switch event := int(status) >> 16; event {
	case unix.PTRACE_EVENT_FORK, unix.PTRACE_EVENT_VFORK, unix.PTRACE_EVENT_CLONE:
		t.made(pid)
	case unix.PTRACE_EVENT_EXEC:
		t.executed(pid)
	case unix.PTRACE_EVENT_SECCOMP:
		t.trap(pid)
	case unix.PTRACE_EVENT_EXIT:
		t.leaving(pid)
	case unix.PTRACE_EVENT_STOP:
		if s := status.StopSignal(); s != syscall.SIGTRAP { // a group stop
			listen(pid)
			return
		}
		t.born(pid)
	default:
		signal = int(status.StopSignal())
	}
	syscall.PtraceCont(pid, signal) // unless it was killed meanwhile
}

// made learns which task another has made.
func (t *lineage) made(by int) {
	n, err := unix.PtraceGetEventMsg(by)
	if err != nil {
		return // killed; the new one tells of itself
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	pid, maker := int(n), t.tasks[by]
	if maker == nil {
		return
	}
	process := pid
	if maker.thread {
		process = maker.process
	}
	maker.forking, maker.thread = false, false
	switch known := t.tasks[pid]; {
	case known != nil:
		known.early = false
	case tracee(pid):
		t.addLocked(pid, &task{process: process})
	default:
		// The new one is dead and reaped; or the maker was killed meanwhile and stands
		// before its end, whose message is an exit status that the program chose.
		t.noneEarlyLocked()
	}
}

// noneEarlyLocked counts each task as any other when the maker of one will not tell.
func (t *lineage) noneEarlyLocked() {
	for _, k := range t.tasks {
		k.early = false
	}
}

// tracee reports whether a task is one that this thread traces.
func tracee(pid int) bool {
	err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WSTOPPED|unix.WNOHANG|unix.WNOWAIT|unix.WALL|unix.WNOTHREAD, nil)
	return err == nil
}

// born is the first stop of a task, perhaps before its maker's.
func (t *lineage) born(pid int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.tasks[pid] == nil {
		t.addLocked(pid, &task{process: processOf(pid), early: true})
	}
	if t.dying {
		unix.Kill(t.tasks[pid].process, unix.SIGKILL)
	}
}

func (t *lineage) addLocked(pid int, k *task) {
	t.tasks[pid] = k
	if pid == k.process {
		t.clocks[pid] = true
	}
	t.peak = max(t.peak, int64(t.countLocked()))
	if t.dying {
		unix.Kill(k.process, unix.SIGKILL)
	}
}

// countLocked is how many tasks there are, those included that are being made.
func (t *lineage) countLocked() int {
	n := len(t.tasks)
	for _, k := range t.tasks {
		if k.forking {
			n++
		}
		if k.early {
			n-- // it is the one that another is making
		}
	}
	return n
}

// executed drops the number of a thread that took over its process; the program begins
// with the first exec.
func (t *lineage) executed(pid int) {
	former, err := unix.PtraceGetEventMsg(pid)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil && int(former) != pid {
		delete(t.tasks, int(former))
	}
	if pid == t.main && t.started.IsZero() {
		t.started, t.base = time.Now(), clockOf(pid)
	}
}

// used is the CPU time of the whole lineage since the program's exec.
func (t *lineage) used() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	sum := t.spent - t.base
	for pid := range t.clocks {
		sum += clockOf(pid)
	}
	return max(sum, 0)
}

// split is how the kernel divides the time between user and system. It counts that by
// ticks, so the parts are scaled to the total.
func (t *lineage) split(total time.Duration) (user, system time.Duration) {
	if t.user+t.system == 0 {
		return total, 0
	}
	user = time.Duration(float64(total) * float64(t.user) / float64(t.user+t.system))
	return user, total - user
}

// kill ends everything; the first reason is kept.
func (t *lineage) kill(by string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.endLocked(by)
}

func (t *lineage) endLocked(by string) {
	if t.killedBy == "" && t.ended.IsZero() {
		t.killedBy = by
	}
	t.dying = true
	for pid := range t.clocks {
		unix.Kill(pid, unix.SIGKILL)
	}
}

func (t *lineage) fail(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failLocked(err)
}

// failLocked keeps the first error and ends everything.
func (t *lineage) failLocked(err error) {
	if t.err == nil {
		t.err = err
	}
	t.endLocked("")
}

// clockOf is the CPU time of a process, its dead threads included, 0 when there is none
// of that number; the clock's id as clock_getcpuclockid(3) makes it.
func clockOf(pid int) time.Duration {
	var ts unix.Timespec
	if unix.ClockGettime(int32(^pid<<3|2), &ts) != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}

// statOf reads a dead process's user and system time and when it began, "" where it
// cannot; proc(5), stat.
func statOf(pid int) (user, system int64, began string) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, 0, ""
	}
	// The name before it is the program's to choose, ") " included.
	rest := string(text[bytes.LastIndexByte(text, ')')+1:])
	if f := strings.Fields(rest); len(f) > 19 { // the third field is the first here
		user, _ = strconv.ParseInt(f[11], 10, 64)
		system, _ = strconv.ParseInt(f[12], 10, 64)
		began = f[19]
	}
	return user, system, began
}

// processOf is the process of a thread.
func processOf(pid int) int {
	if n, ok := statusNumber(pid, "Tgid"); ok {
		return int(n)
	}
	return pid
}

// statusNumber reads one line of /proc/PID/status.
func statusNumber(pid int, name string) (int64, bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return 0, false
	}
	return lineNumber(string(text), name)
}

// lineNumber finds "name: number" among lines.
func lineNumber(text, name string) (int64, bool) {
	_, rest, ok := strings.Cut(text, "\n"+name+":")
	if !ok {
		return 0, false
	}
	f := strings.Fields(rest[:max(strings.IndexByte(rest, '\n'), 0)])
	if len(f) == 0 {
		return 0, false
	}
	n, err := strconv.ParseInt(f[0], 10, 64)
	return n, err == nil
}
