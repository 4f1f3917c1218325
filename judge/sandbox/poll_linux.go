package sandbox

import (
	"errors"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// poller waits for several descriptors at once in the runtime's poller, with which
// it is registered once and for all: an epoll instance within its own.
type poller struct {
	file *os.File
	raw  syscall.RawConn
	fd   int
}

func newPoller() (*poller, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, err
	}
	if err := unix.SetNonblock(fd, true); err != nil { // which makes NewFile register it
		return nil, errors.Join(err, unix.Close(fd))
	}
	p := &poller{file: os.NewFile(uintptr(fd), "epoll"), fd: fd}
	if p.raw, err = p.file.SyscallConn(); err != nil {
		return nil, errors.Join(err, p.file.Close())
	}
	return p, nil
}

func (p *poller) close() error { return p.file.Close() }

// add has wait tell when there is something to read from fd, until it is removed,
// which comes before it is closed.
func (p *poller) add(fd int) error { return rawEpollControl(p.fd, unix.EPOLL_CTL_ADD, fd) }

func (p *poller) remove(fd int) error { return rawEpollControl(p.fd, unix.EPOLL_CTL_DEL, fd) }

// wait returns the descriptors that are ready, none when the time is over.
func (p *poller) wait(deadline time.Time) ([]unix.EpollEvent, error) {
	if err := p.file.SetReadDeadline(deadline); err != nil {
		return nil, err
	}
	var events [8]unix.EpollEvent
	var n int
	var perr error
	err := p.raw.Read(func(fd uintptr) bool {
		n, perr = rawEpollWait(int(fd), events[:])
		return n != 0
	})
	if errors.Is(err, os.ErrDeadlineExceeded) { // perhaps before it looked at all
		n, err = rawEpollWait(p.fd, events[:])
	}
	if err = errors.Join(err, perr); err != nil {
		return nil, err
	}
	return events[:n], nil
}

// waitFor waits for one descriptor alone, which nothing else waits for.
func (p *poller) waitFor(fd int, deadline time.Time) (ready bool, err error) {
	if err := p.add(fd); err != nil {
		return false, err
	}
	events, err := p.wait(deadline)
	return len(events) > 0, errors.Join(err, p.remove(fd))
}
