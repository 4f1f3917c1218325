package main

import (
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"judgefarm/internal/daemon"
	"judgefarm/judge/engine"
)

// mostCopied is how large an input run copies into memory; a larger one flows through a pipe.
const mostCopied = 64 << 20

// handIn gives what a program may have for our standard input. An ordinary user's box has
// his own uid, so its program could change the mode and the times of a file or a named
// pipe that it is handed, and read their paths, which at level ptrace root's could too. A
// file of up to most bytes is copied, with a program able to seek in it as in the file; a
// larger one, one that does not tell its size and a named pipe flow through a pipe.
// Everything else goes on to the program as it is: pipes, sockets, devices, terminals.
// stop is called when the program has ended.
func handIn(f *os.File, most int64) (in *os.File, stop func(), err error) {
	none := func() {}
	var st unix.Stat_t
	var fs unix.Statfs_t
	fd := int(f.Fd())
	if unix.Fstat(fd, &st) != nil || unix.Fstatfs(fd, &fs) != nil { // closed: the box tells
		return f, none, nil
	}
	switch kind := st.Mode & unix.S_IFMT; {
	case kind == unix.S_IFDIR:
		return nil, none, daemon.Usage("standard input must not be a directory")
	case kind == unix.S_IFREG && st.Nlink > 0:
		at, err := f.Seek(0, io.SeekCurrent)
		if err != nil {
			return nil, none, fmt.Errorf("read standard input: %w", err)
		}
		if size := st.Size - at; st.Size > 0 && size <= most {
			in, err := engine.Stdin(section{f, at, max(size, 0)})
			if err != nil {
				return nil, none, err
			}
			return in, func() { in.Close() }, nil
		}
		return pump(f)
	case kind == unix.S_IFIFO && fs.Type != unix.PIPEFS_MAGIC:
		return pump(f)
	}
	return f, none, nil
}

// section is a part of a file.
type section struct {
	f        *os.File
	at, size int64
}

func (s section) Open() (io.ReadCloser, error) {
	return io.NopCloser(io.NewSectionReader(s.f, s.at, s.size)), nil
}

func (s section) Size() int64 { return s.size }

// pump has a file flow through a pipe until it ends, the program does, or stop is called.
// Of a named pipe it takes up to 64 KiB more than the program reads, and a pipe holds as much.
func pump(f *os.File) (in *os.File, stop func(), err error) {
	var data, end [2]int
	if err := unix.Pipe2(data[:], unix.O_CLOEXEC); err != nil {
		return nil, nil, fmt.Errorf("make pipe: %w", err)
	}
	if err := unix.Pipe2(end[:], unix.O_CLOEXEC); err != nil {
		unix.Close(data[0])
		unix.Close(data[1])
		return nil, nil, fmt.Errorf("make pipe: %w", err)
	}
	in = os.NewFile(uintptr(data[0]), "stdin")
	var done sync.WaitGroup
	done.Go(func() {
		flow(int(f.Fd()), data[1], end[0])
		unix.Close(data[1])
		unix.Close(end[0])
	})
	return in, func() {
		unix.Close(end[1])
		in.Close() // a write that waits fails
		done.Wait()
	}, nil
}

// flow copies until there is no more, nobody reads, or end is closed at its other side.
// It waits by poll(2), since a read from a named pipe could not be ended.
func flow(from, to, end int) {
	buf := make([]byte, 64<<10)
	for {
		fds := []unix.PollFd{{Fd: int32(from), Events: unix.POLLIN}, {Fd: int32(end)}, {Fd: int32(to)}}
		if _, err := unix.Poll(fds, -1); err == unix.EINTR {
			continue
		} else if err != nil || fds[1].Revents != 0 || fds[2].Revents&unix.POLLERR != 0 {
			return
		}
		n, err := unix.Read(from, buf)
		for rest := buf[:max(n, 0)]; len(rest) > 0; {
			m, err := unix.Write(to, rest)
			if err != nil && err != unix.EINTR {
				return
			}
			rest = rest[max(m, 0):]
		}
		if n == 0 || err != nil && err != unix.EINTR && err != unix.EAGAIN {
			return
		}
	}
}
