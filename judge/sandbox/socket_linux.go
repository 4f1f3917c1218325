package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// socket is our end of a SOCK_SEQPACKET pair, used by bare system calls: an os.File
// would be registered with the runtime's poller and wake two threads for each
// message. One goroutine at a time may use it.
type socket struct {
	fd  int
	buf [256]byte
	oob [32]byte // of one descriptor
}

// socketPair makes a pair; the caller hands the other end on and closes it.
func socketPair() (*socket, int, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, -1, fmt.Errorf("make socket pair: %w", err)
	}
	return &socket{fd: fds[0]}, fds[1], nil
}

func (s *socket) close() error { return unix.Close(s.fd) }

// send waits only while the other end has a full queue of messages unread, which
// this protocol does not lead to.
func (s *socket) send(msg []byte, fds ...int) error {
	var oob []byte
	if len(fds) > 0 {
		oob = unix.UnixRights(fds...)
	}
	for {
		err := unix.Sendmsg(s.fd, msg, oob, nil, unix.MSG_NOSIGNAL)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// receive returns the next reply and the descriptor that came with it, -1 for
// none. The error is io.EOF when the other end is gone, and os.ErrDeadlineExceeded
// when nothing came in time; with no time at all it does not wait.
func (s *socket) receive(wait time.Duration) (reply, int, error) {
	deadline := time.Now().Add(wait)
	for {
		n, oobn, _, _, err := unix.Recvmsg(s.fd, s.buf[:], s.oob[:], unix.MSG_CMSG_CLOEXEC|unix.MSG_DONTWAIT)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN):
			left := time.Until(deadline)
			if wait == 0 || left <= 0 {
				return reply{}, -1, os.ErrDeadlineExceeded
			}
			if _, err := pollFor([]unix.PollFd{{Fd: int32(s.fd), Events: unix.POLLIN}}, left); err != nil {
				return reply{}, -1, err
			}
		case errors.Is(err, unix.ECONNRESET) || err == nil && n == 0:
			return reply{}, -1, io.EOF
		case err != nil:
			return reply{}, -1, err
		default:
			return s.parse(n, oobn)
		}
	}
}

func (s *socket) parse(n, oobn int) (reply, int, error) {
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

// pollFor waits until a descriptor is ready or the time is over and returns how
// many are. It holds a thread, as many as there are slots at most, and answers in
// one system call where the runtime's poller takes several and another thread.
func pollFor(fds []unix.PollFd, wait time.Duration) (int, error) {
	ts := unix.NsecToTimespec(max(int64(wait), 0))
	n, err := unix.Ppoll(fds, &ts, nil)
	if errors.Is(err, unix.EINTR) {
		for i := range fds {
			fds[i].Revents = 0
		}
		return 0, nil
	}
	return n, err
}
