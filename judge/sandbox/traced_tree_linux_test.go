package sandbox

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// A task that is killed where it stopped to tell what it has made stops once more before
// its end, and what it tells there is its exit status: no process of that number is the
// run's, to be signalled and charged for.
func TestExitStatusIsNoTask(t *testing.T) {
	t.Parallel()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := exec.Command("/bin/sh", "-c", "exit 3")
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := cmd.Process.Pid
	var status syscall.WaitStatus
	wait := func() {
		if _, err := syscall.Wait4(pid, &status, unix.WALL, nil); err != nil {
			t.Fatal(err)
		}
	}
	wait()
	if err := syscall.PtraceSetOptions(pid, unix.PTRACE_O_TRACEEXIT|unix.PTRACE_O_EXITKILL); err != nil {
		t.Fatal(err)
	}
	for int(status)>>16 != unix.PTRACE_EVENT_EXIT {
		if err := syscall.PtraceCont(pid, 0); err != nil || status.Exited() {
			t.Fatalf("no stop before the end: %v", err)
		}
		wait()
	}
	l := &lineage{tasks: map[int]*task{pid: {process: pid, forking: true}}, clocks: map[int]bool{}}
	l.made(pid)
	if len(l.tasks) != 1 || len(l.clocks) != 0 {
		t.Errorf("tasks %v, processes %v: the exit status is among them", l.tasks, l.clocks)
	}
	if !tracee(pid) || tracee(os.Getppid()) {
		t.Error("a tracee is not told from another process")
	}
	syscall.PtraceCont(pid, 0)
	wait()
}
