package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// socket is our end of a SOCK_SEQPACKET pair. One goroutine at a time may use it.
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

func (s *socket) close() { rawClose(s.fd) }

// send fails when the other end has a full queue of messages unread, which this
// protocol does not lead to.
func (s *socket) send(msg []byte, fds ...int) error {
	var oob []byte
	if len(fds) > 0 {
		oob = unix.UnixRights(fds...)
	}
	_, _, err := rawMessage(unix.SYS_SENDMSG, s.fd, msg, oob, unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT)
	return err
}

// receive waits for the next reply and the descriptor that came with it, -1 for
// none. The error is io.EOF when the other end is gone, and os.ErrDeadlineExceeded
// when nothing came in setupTimeout.
func (s *socket) receive(p *poller) (reply, int, error) {
	deadline := time.Now().Add(setupTimeout)
	for {
		r, fd, err := s.take()
		if !errors.Is(err, os.ErrDeadlineExceeded) || time.Now().After(deadline) {
			return r, fd, err
		}
		if _, err := p.waitFor(s.fd, deadline); err != nil {
			return reply{}, -1, err
		}
	}
}

// take is receive without waiting.
func (s *socket) take() (reply, int, error) {
	n, oobn, err := rawMessage(unix.SYS_RECVMSG, s.fd, s.buf[:], s.oob[:], unix.MSG_CMSG_CLOEXEC|unix.MSG_DONTWAIT)
	switch {
	case errors.Is(err, unix.EAGAIN):
		return reply{}, -1, os.ErrDeadlineExceeded
	case errors.Is(err, unix.ECONNRESET) || err == nil && n == 0:
		return reply{}, -1, io.EOF
	case err != nil:
		return reply{}, -1, err
	}
	return s.parse(n, oobn)
}

// parse reads a message that was received. It comes with one descriptor at most: of
// more, all are closed.
func (s *socket) parse(n, oobn int) (reply, int, error) {
	var fds []int
	if msgs, err := unix.ParseSocketControlMessage(s.oob[:oobn]); err == nil {
		for i := range msgs {
			if got, err := unix.ParseUnixRights(&msgs[i]); err == nil {
				fds = append(fds, got...)
			}
		}
	}
	r, err := parseReply(s.buf[:n])
	if err == nil && len(fds) > 1 {
		r, err = reply{}, fmt.Errorf("reply with %d descriptors", len(fds))
	}
	if err != nil {
		closeAll(fds)
		return reply{}, -1, err
	}
	if len(fds) == 0 {
		return r, -1, nil
	}
	return r, fds[0], nil
}
