package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/criyle/go-sandbox/ptracer"
	"github.com/criyle/go-sandbox/runner"
	"golang.org/x/sys/unix"
)

// tracer watches the program of a strict box with go-sandbox's ptracer, on a thread
// of its own. It takes from it what a call is and that the program ended, no verdict:
// times, memory and the cause stay with the cgroup and the watcher.
//
// The ptracer signals the program's process group by its number after the program is
// dead, once more from a goroutine that nobody can wait for. So in a strict box the
// program dies before PID 1, and PID 1 keeps it as a zombie, and with it the number,
// until the tracer is done: kill ends the program, the end of the tracer ends PID 1.
type tracer struct {
	pidfd   int // of the program's process
	pid     int // its number here
	control *socket
	handler ptracer.Handler // itself, but in tests
	files   fileList
	paths   resolver
	calls   map[int]string // names by number

	done chan struct{} // closed when the tracer has ended; guards what follows
	call string        // the forbidden call that ended the run
	err  error         // why it could not begin, or go on
	end  runner.Result
}

// attach waits until the program's process asks to be traced and has it traced. If
// the process died first, the watcher learns why.
func (b *box) attach() error {
	pidfd, err := b.tracee()
	if err != nil || pidfd < 0 {
		return err
	}
	t, err := b.newTracer(pidfd)
	if err != nil {
		rawClose(pidfd)
		return err
	}
	b.mu.Lock()
	b.tracer = t
	b.mu.Unlock()
	go t.run()
	return nil
}

func (b *box) newTracer(pidfd int) (*tracer, error) {
	pid, err := pidOf(pidfd)
	if err != nil {
		return nil, err
	}
	info, err := thisArch()
	if err != nil {
		return nil, err
	}
	plan, err := b.s.planOf(b.spec)
	if err != nil {
		return nil, err
	}
	t := &tracer{
		pidfd: pidfd, pid: pid, control: b.control, handler: b.s.handler, files: fileListOf(plan), paths: resolver{root: -1}, calls: info.SyscallNumbers,
		done: make(chan struct{}),
	}
	if t.handler == nil {
		t.handler = t
	}
	return t, nil
}

// tracee returns the pidfd of the process that asks to be traced, -1 when there is
// none because the box is dying.
func (b *box) tracee() (int, error) {
	for {
		r, fd, err := b.control.receive(b.slot.poller)
		switch {
		case errors.Is(err, io.EOF):
			return -1, nil
		case err != nil:
			return -1, fmt.Errorf("hear from box: %w", err)
		case r.kind == msgTrace && fd >= 0:
			return fd, nil
		}
		if err := b.told(r, fd); err != nil {
			return -1, err
		}
	}
}

// pidOf is the number of a pidfd's process in our pid namespace; proc(5), fdinfo.
func pidOf(pidfd int) (int, error) {
	text, err := os.ReadFile("/proc/self/fdinfo/" + strconv.Itoa(pidfd))
	if err != nil {
		return 0, fmt.Errorf("read number of process: %w", err)
	}
	_, rest, _ := strings.Cut(string(text), "\nPid:\t")
	line, _, _ := strings.Cut(rest, "\n")
	pid, err := strconv.Atoi(line)
	if err != nil || pid <= 0 {
		return 0, fmt.Errorf("read number of process: it is %q here", line)
	}
	return pid, nil
}

// run traces until the program is dead. Whatever happens, the program does not
// outlive it.
func (t *tracer) run() {
	defer close(t.done)
	pt := ptracer.Tracer{
		Handler: t.handler, Runner: t,
		Limit: runner.Limit{TimeLimit: math.MaxInt64, MemoryLimit: math.MaxUint64},
	}
	deep(1, func() { t.end = pt.Trace(context.Background()) })
	t.paths.close()
	unix.PidfdSendSignal(t.pidfd, unix.SIGKILL, nil, 0) // if it could not begin
	unix.Shutdown(t.control.fd, unix.SHUT_WR)           // PID 1 may end
}

// deep calls f where this goroutine's stack need not move. The ptracer hands the
// kernel the address of a variable on the stack as a number (ptraceGetRegSet of
// v0.13.6): when the stack grows or shrinks in between, the kernel writes to where the
// variable was, and the registers read as zeros. Beneath two frames of 64 KiB the
// stack has grown before, has as much room again, and is too full to be shrunk.
//
//go:noinline
func deep(n int, f func()) byte {
	var frame [64 << 10]byte
	frame[n] = 1
	if n > 0 {
		frame[0] = deep(n-1, f)
	} else {
		f()
	}
	return frame[n]
}

// Start implements ptracer.Runner: it attaches this thread to the process, which then
// stops before its next instruction, and lets it go on to there.
func (t *tracer) Start() (int, error) {
	if err := unix.PtraceAttach(t.pid); err != nil {
		t.err = fmt.Errorf("trace program: %w", err)
		if errors.Is(err, unix.EPERM) {
			t.err = fmt.Errorf("%w: %w; strict mode needs ptrace: set kernel.yama.ptrace_scope to 1, and allow ptrace to the container", ErrHost, t.err)
		}
		return 0, t.err
	}
	// While the process lives its number is nobody else's.
	gone, err := ended(t.pidfd)
	if gone || err != nil {
		var status unix.WaitStatus
		if _, err := unix.Wait4(t.pid, &status, unix.WALL, nil); err == nil && status.Stopped() {
			unix.PtraceDetach(t.pid)
		}
		return 0, errors.Join(err, errors.New("program died before it was traced"))
	}
	var m message
	m.u32(msgTraced)
	if err := t.control.send(m.buf); err != nil {
		return 0, err
	}
	return t.pid, nil
}

// ended reports whether the process of a pidfd is dead. Of poll(2), even one that does
// not wait, a signal makes EINTR, and the runtime sends itself signals all the time.
func ended(pidfd int) (bool, error) {
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}, 0)
		if err != unix.EINTR {
			return n > 0, err
		}
	}
}

// Debug implements ptracer.Handler.
func (t *tracer) Debug(...any) {}

// endTracer waits for the tracer of a dead box; there may be none. It returns why the
// tracer could not do its work.
func (b *box) endTracer() error {
	if b.tracer == nil {
		return nil
	}
	select {
	case <-b.tracer.done:
		return b.tracer.err
	case <-time.After(setupTimeout):
		return errors.New("tracer does not end")
	}
}

// amend corrects the facts for a strict box, in which the tracer ended the program
// with SIGKILL where something else was the reason.
func (t *tracer) amend(f *facts) error {
	f.forbidden = t.call != ""
	if f.signal != syscall.SIGKILL || f.forbidden {
		return nil
	}
	switch {
	case t.end.Status == runner.StatusOutputLimitExceeded:
		f.signal = syscall.SIGXFSZ
	case t.end.Status == runner.StatusTimeLimitExceeded && t.end.ExitStatus == 0: // not SIGKILL itself
		f.signal = syscall.SIGXCPU
	case f.killedBy != "" || f.oom:
	case t.end.Error == unix.ESRCH.Error(): // it died while we looked
	case t.end.Status == runner.StatusDisallowedSyscall: // and no call that we refused
		return fmt.Errorf("%w: trace program: read its registers: %s; strict mode needs PTRACE_GETREGSET", ErrHost, t.end.Error)
	case t.end.Status == runner.StatusRunnerError:
		return fmt.Errorf("trace program: %s", t.end.Error)
	}
	return nil
}
