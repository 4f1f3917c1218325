package interact

import (
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// lateInterval is how often we look after a pipe of which one side is dead.
const lateInterval = 10 * time.Millisecond

// fifo is a named pipe. Both ends are open here until one of those who use it is dead,
// so that no program waits in open(2) for another, in whatever order they open theirs.
// Which of the two reads it nobody has to know: there are managers and programs that
// agree to use their pipes the other way round.
type fifo struct {
	path   string
	r, w   *os.File
	closed sync.Once // of w
}

func (f *fifo) make(path string) error {
	f.path = path
	if err := unix.Mkfifo(path, 0o666); err != nil {
		return fmt.Errorf("make named pipe: %w", err)
	}
	if err := os.Chmod(path, 0o666); err != nil { // whatever our umask is
		return fmt.Errorf("make named pipe: %w", err)
	}
	// Opening the first end must not wait for the second; see fifo(7).
	r, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open named pipe: %w", err)
	}
	w, err := unix.Open(path, unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		unix.Close(r)
		return fmt.Errorf("open named pipe: %w", err)
	}
	if err := unix.SetNonblock(r, false); err != nil {
		unix.Close(r)
		unix.Close(w)
		return fmt.Errorf("open named pipe: %w", err)
	}
	f.r, f.w = os.NewFile(uintptr(r), path), os.NewFile(uintptr(w), path)
	return nil
}

// writer is another writing end. The caller closes it.
func (f *fifo) writer() (*os.File, error) {
	fd, err := unix.FcntlInt(f.w.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open named pipe once more: %w", err)
	}
	return os.NewFile(uintptr(fd), f.path), nil
}

// end closes our writing end: who reads the pipe finds the end of the file when
// nobody else writes to it.
func (f *fifo) end() { f.closed.Do(func() { f.w.Close() }) }

// survive serves the one who is left, until done is closed. Our writing end is closed.
// Where the survivor writes, we read and drop it. Where nobody writes, what is left in
// the pipe is the survivor's to read, and the end of the file comes after it, for one
// who opens the pipe only now too: that open waits for a writer, so one comes and goes.
func (f *fifo) survive(done <-chan struct{}) {
	tick := time.NewTicker(lateInterval)
	defer tick.Stop()
	drop := make([]byte, 64<<10)
	for {
		select {
		case <-done:
			return
		default:
		}
		if fd, err := unix.Open(f.path, unix.O_WRONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0); err == nil {
			unix.Close(fd)
		}
		// POLLHUP tells that there is no writer; see pipe_poll in Linux's fs/pipe.c.
		fds := []unix.PollFd{{Fd: int32(f.r.Fd()), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, int(lateInterval/time.Millisecond))
		switch {
		case err == nil && n == 0:
		case err == nil && fds[0].Revents&(unix.POLLHUP|unix.POLLIN) == unix.POLLIN:
			f.r.Read(drop)
		default:
			select {
			case <-done:
				return
			case <-tick.C:
			}
		}
	}
}

// close is for a pipe that nobody uses any more, or yet.
func (f *fifo) close() {
	if f.r != nil {
		f.end()
		f.r.Close()
	}
}
