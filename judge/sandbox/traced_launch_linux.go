package sandbox

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"judgefarm/judge"
)

// launchName is argv[0] of a launcher; launch_linux.c.
const launchName = "judgefarm-launch"

// launchMessage is what a launcher does: struct launch, the filter, strings.
func (t *Traced) launchMessage(p program, rules []string, uid int) []byte {
	var m message
	pin, other := uint32(0), uint32(0)
	if len(p.cpus) > 0 {
		pin = 1
	}
	if t.switchUser {
		other = 1
	}
	m.u32(uint32(len(t.filter)), uint32(len(p.limits)), uint32(len(rules)), uint32(len(p.paths)),
		uint32(len(p.args)), uint32(len(p.env)), pin, other, uint32(uid), uint32(uid))
	var mask [cpuWords]uint64
	for _, c := range p.cpus {
		mask[c/64] |= 1 << (c % 64)
	}
	m.u64(mask[:]...)
	m.limits(p.limits)
	m.filter(t.filter)
	m.str(p.dir)
	for _, list := range [][]string{rules, p.paths, p.args, p.env} {
		for _, s := range list {
			m.str(s)
		}
	}
	return m.buf
}

// launcher is a process that waits to become the program.
type launcher struct {
	pid    int
	socket *os.File
	pins   []int
}

// launch starts it with the three streams. The calling thread, which is locked, traces
// it and everything that it starts.
func launch(msg []byte, streams []int) (*launcher, error) {
	if err := fits(msg); err != nil {
		return nil, err
	}
	text, err := unix.MemfdCreate("launch", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make message: %w", err)
	}
	file := os.NewFile(uintptr(text), "launch")
	defer file.Close()
	if _, err := file.Write(msg); err != nil {
		return nil, fmt.Errorf("write message: %w", err)
	}
	if _, err := file.Seek(0, 0); err != nil {
		return nil, fmt.Errorf("write message: %w", err)
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("make socket pair: %w", err)
	}
	l := &launcher{socket: os.NewFile(uintptr(pair[0]), "launcher")}
	defer unix.Close(pair[1])
	files := []uintptr{uintptr(streams[0]), uintptr(streams[1]), uintptr(streams[2]), file.Fd(), uintptr(pair[1])}
	l.pid, err = syscall.ForkExec("/proc/self/exe", []string{launchName}, &syscall.ProcAttr{Dir: "/", Env: []string{}, Files: files})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start launcher: %w", err), l.socket.Close())
	}
	return l, nil
}

// seize waits for the launcher's byte, attaches and lets it go on. Its records in /proc
// are kept from being forgotten.
func (l *launcher) seize(records []string) error {
	var b [1]byte
	if n, err := l.socket.Read(b[:]); err != nil || n != 1 {
		return fmt.Errorf("hear from launcher: %w", errors.Join(err, errors.New("it is dead")))
	}
	var err error
	if l.pins, err = pin(l.pid, records); err != nil {
		return err
	}
	if err := seize(l.pid, seizeOptions); err != nil {
		err = fmt.Errorf("trace launcher: %w", err)
		if errors.Is(err, unix.EPERM) {
			err = fmt.Errorf("%w: %w; kernel.yama.ptrace_scope must be at most 1, and a container must be allowed to trace", ErrHost, err)
		}
		return err
	}
	if _, err := l.socket.Write(b[:]); err != nil {
		return fmt.Errorf("answer launcher: %w", err)
	}
	return nil
}

// close gives up what we hold of it.
func (l *launcher) close() error {
	closeAll(l.pins)
	return l.socket.Close()
}

// abandon ends a launcher that is not traced.
func (l *launcher) abandon() {
	unix.Kill(l.pid, unix.SIGKILL)
	var status syscall.WaitStatus
	for {
		if _, err := syscall.Wait4(l.pid, &status, unix.WALL, nil); err != unix.EINTR {
			return
		}
	}
}

// outcome is why a dead launcher did not become the program: the errno of the exec, or
// an error of a step before. Both are zero when it did.
func (l *launcher) outcome() (syscall.Errno, error) {
	var b [64]byte
	n, err := l.socket.Read(b[:])
	if err != nil || n != len(b) {
		return 0, nil
	}
	errno := syscall.Errno(binary.NativeEndian.Uint32(b[:]))
	if binary.NativeEndian.Uint32(b[4:]) == 0 {
		return errno, nil
	}
	what, _, _ := bytes.Cut(b[8:], []byte{0})
	if string(what) == "enter directory" {
		return 0, judge.Refuse(&judge.FieldError{Field: "dir", Reason: errno.Error()})
	}
	return 0, fmt.Errorf("%s: %w", what, errno)
}
