package sandbox

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"judgefarm/judge"
)

// capture reads one stream of a running program as it comes: a program that nobody
// reads from blocks on a full pipe for ever.
type capture struct {
	r     int
	limit int64
	keep  bool
	spill *os.File // for what Data does not hold; nil: it holds all
	over  func()   // ends the program: the limit is passed and keep is not set, or nobody reads it any more

	out     Output
	scratch []byte // for what Data does not hold
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
	c := &capture{r: fds[0], limit: int64(limit), keep: s.Keep, spill: s.Spill, over: over}
	if s.Limit != 0 {
		c.limit = int64(s.Limit)
	}
	return c, fds[1], nil
}

// read takes what is there, at most one buffer, and reports whether there may be
// more. It keeps at most limit bytes, growing as they come. After an error it reads
// nothing, for a piece would be missing before it.
func (c *capture) read() bool {
	if c.closed {
		return false
	}
	room := c.limit - int64(len(c.out.Data))
	if c.spill != nil {
		room = min(c.limit, SpillAfter) - int64(len(c.out.Data))
	}
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
	if c.err != nil { // it would wait on a full pipe until its wall limit
		c.over()
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
	} else if c.spill != nil {
		c.pour(buf)
	}
	c.out.Total += n
	if c.out.Total > c.limit && !c.out.Cut {
		c.out.Cut = true
		if !c.keep {
			c.over()
		}
	}
}

// pour writes what Data does not hold behind what was spilled, up to the limit.
func (c *capture) pour(buf []byte) {
	buf = buf[:min(int64(len(buf)), c.limit-int64(len(c.out.Data))-c.out.Spilled)]
	n, err := c.spill.WriteAt(buf, c.out.Spilled)
	c.out.Spilled += int64(n)
	if err != nil {
		c.err, c.closed = fmt.Errorf("spill: %w", err), true
	}
}
