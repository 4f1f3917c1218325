package engine

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"judgefarm/testcases"
)

// Stdin is a sealed copy of data for a program of a package to read, at its start. The
// caller closes it.
func Stdin(data testcases.Data) (*os.File, error) { return stdin(data) }

// stdinSeals make the copy unchangeable; see memfd_create(2) and fcntl(2).
const stdinSeals = unix.F_SEAL_WRITE | unix.F_SEAL_GROW | unix.F_SEAL_SHRINK | unix.F_SEAL_SEAL

// stdin copies a case's input into a sealed memfd. The program never gets a
// descriptor of the file itself: /proc/self/fd/0 would show its path on the host,
// and its directory may hold the answer.
func stdin(data testcases.Data) (*os.File, error) {
	fd, err := unix.MemfdCreate("stdin", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING|unix.MFD_NOEXEC_SEAL)
	if err == unix.EINVAL { // before Linux 6.3
		fd, err = unix.MemfdCreate("stdin", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	}
	if err != nil {
		return nil, fmt.Errorf("create input: %w", err)
	}
	f := os.NewFile(uintptr(fd), "stdin")
	if err := fill(f, data); err != nil {
		f.Close()
		return nil, fmt.Errorf("copy input: %w", err)
	}
	return f, nil
}

// copyBuffers are reused: io.Copy makes one for each case, after it has tried calls
// of the kernel that refuse a memfd.
var copyBuffers = sync.Pool{New: func() any { return new([64 << 10]byte) }}

// copyTo writes all of r into f, whose offset stays at the start.
func copyTo(f *os.File, r io.Reader) (total int64, err error) {
	buf := copyBuffers.Get().(*[64 << 10]byte)
	defer copyBuffers.Put(buf)
	for {
		n, err := r.Read(buf[:])
		if _, werr := f.WriteAt(buf[:n], total); werr != nil {
			return total, werr
		}
		total += int64(n)
		if errors.Is(err, io.EOF) {
			return total, nil
		}
		if err != nil {
			return total, err
		}
	}
}

func fill(f *os.File, data testcases.Data) error {
	r, err := data.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	n, err := copyTo(f, r)
	if err != nil {
		return err
	}
	if n != data.Size() {
		return fmt.Errorf("read %d bytes of %d", n, data.Size())
	}
	// Sealing after the writes; F_SEAL_WRITE keeps even a reopened descriptor read-only.
	_, err = unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, stdinSeals)
	return err
}
