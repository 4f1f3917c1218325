package sandbox

import (
	"errors"
	"fmt"
	"strconv"

	"golang.org/x/sys/unix"

	"judgefarm/judge"
)

// capture reads one stream of a running program as it comes: a program that nobody
// reads from blocks on a full pipe for ever.
type capture struct {
	r     int
	limit int64
	keep  bool
	over  func() // called once, when the limit is passed and keep is not set

	out     Output
	scratch []byte // for what is beyond the limit
	closed  bool   // there is no more, and never will be
	err     error
}

// newCapture makes the pipe and returns the program's end of it, which the caller
// closes once it is handed over.
func newCapture(s Stream, limit judge.Bytes, over func()) (*capture, int, error) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		return nil, -1, fmt.Errorf("make pipe: %w", err)
	}
	// Only our end may be non-blocking; the program's must behave like any pipe.
	if _, err := unix.FcntlInt(uintptr(fds[0]), unix.F_SETFL, unix.O_NONBLOCK); err != nil {
		closeAll(fds[:])
		return nil, -1, fmt.Errorf("set pipe: %w", err)
	}
	c := &capture{r: fds[0], limit: int64(limit), keep: s.Keep, over: over}
	if s.Limit != 0 {
		c.limit = int64(s.Limit)
	}
	return c, fds[1], nil
}

// read takes what is there, at most one buffer, and reports whether there may be
// more. It keeps at most limit bytes, growing as they come.
func (c *capture) read() bool {
	room := c.limit - int64(len(c.out.Data))
	if room == 0 && c.scratch == nil {
		c.scratch = make([]byte, 32<<10)
	}
	buf := c.scratch
	if room > 0 {
		c.grow(room)
		buf = c.out.Data[len(c.out.Data):cap(c.out.Data)]
	}
	n, err := rawRead(c.r, buf)
	if errors.Is(err, unix.EAGAIN) {
		return false
	}
	c.err, c.closed = err, err != nil || n == 0
	if !c.closed {
		c.take(buf[:n], room)
	}
	return !c.closed
}

// grow makes room for at least one more byte, doubling up to the limit.
func (c *capture) grow(room int64) {
	if len(c.out.Data) < cap(c.out.Data) {
		return
	}
	size := min(max(2*int64(cap(c.out.Data)), 512), int64(len(c.out.Data))+room)
	bigger := make([]byte, len(c.out.Data), size)
	copy(bigger, c.out.Data)
	c.out.Data = bigger
}

// take counts what was read; buf lies behind the data already kept.
func (c *capture) take(buf []byte, room int64) {
	n := int64(len(buf))
	if room > 0 {
		kept := min(n, room)
		c.out.Data = c.out.Data[:int64(len(c.out.Data))+kept]
	}
	c.out.Total += n
	if c.out.Total > c.limit && !c.out.Cut {
		c.out.Cut = true
		if !c.keep {
			c.over()
		}
	}
}

// nameless opens a regular file anew, for reading, so that the program cannot read
// its path on the host from /proc/self/fd: through a mount of the file alone, its
// path is "/". ok is false for what is no regular file, which has no such path.
func nameless(fd int) (got int, ok bool) {
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || st.Nlink == 0 {
		return -1, false
	}
	offset, err := unix.Seek(fd, 0, unix.SEEK_CUR)
	if err != nil {
		return -1, false
	}
	tree, err := unix.OpenTree(fd, "", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_EMPTY_PATH)
	if err != nil {
		return -1, false
	}
	defer unix.Close(tree)
	got, err = unix.Open("/proc/self/fd/"+strconv.Itoa(tree), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, false
	}
	if _, err := unix.Seek(got, offset, unix.SEEK_SET); err != nil {
		unix.Close(got)
		return -1, false
	}
	return got, true
}
