package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// socket is our end of a SOCK_SEQPACKET pair. It waits in the runtime's poller, so
// that a waiting run holds no thread. An os.File instead of a net.UnixConn (and so
// of go-sandbox's unixsocket) spares ten system calls for each box.
type socket struct {
	file *os.File
	raw  syscall.RawConn
	buf  []byte
	oob  []byte
}

// socketPair makes a pair; the caller hands the other end on and closes it.
func socketPair() (*socket, int, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, -1, fmt.Errorf("make socket pair: %w", err)
	}
	f := os.NewFile(uintptr(fds[0]), "box")
	raw, err := f.SyscallConn()
	if err != nil {
		return nil, -1, errors.Join(fmt.Errorf("use socket: %w", err), f.Close(), unix.Close(fds[1]))
	}
	return &socket{file: f, raw: raw, buf: make([]byte, 256), oob: make([]byte, unix.CmsgSpace(4))}, fds[1], nil
}

func (s *socket) close() error { return s.file.Close() }

// deadline bounds the next send or receive; past it they return os.ErrDeadlineExceeded.
func (s *socket) deadline(t time.Time) error { return s.file.SetDeadline(t) }

func (s *socket) send(msg []byte, fds ...int) error {
	var oob []byte
	if len(fds) > 0 {
		oob = unix.UnixRights(fds...)
	}
	var err error
	werr := s.raw.Write(func(fd uintptr) bool {
		err = unix.Sendmsg(int(fd), msg, oob, nil, unix.MSG_NOSIGNAL)
		return !errors.Is(err, unix.EAGAIN)
	})
	if werr != nil {
		return werr
	}
	return err
}

// receive returns the next reply and the descriptor that came with it, -1 for
// none; io.EOF when the other end is gone.
func (s *socket) receive() (reply, int, error) {
	var n, oobn int
	var err error
	rerr := s.raw.Read(func(fd uintptr) bool {
		n, oobn, _, _, err = unix.Recvmsg(int(fd), s.buf, s.oob, unix.MSG_CMSG_CLOEXEC)
		return !errors.Is(err, unix.EAGAIN)
	})
	switch {
	case rerr != nil:
		return reply{}, -1, rerr
	case errors.Is(err, unix.ECONNRESET) || err == nil && n == 0:
		return reply{}, -1, io.EOF
	case err != nil:
		return reply{}, -1, err
	}
	got := -1
	if oobn > 0 {
		if msgs, err := unix.ParseSocketControlMessage(s.oob[:oobn]); err == nil && len(msgs) == 1 {
			if fds, err := unix.ParseUnixRights(&msgs[0]); err == nil && len(fds) == 1 {
				got = fds[0]
			}
		}
	}
	r, err := parseReply(s.buf[:n])
	if err != nil && got >= 0 {
		unix.Close(got)
		got = -1
	}
	return r, got, err
}
