package sandbox

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"judgefarm/judge"
)

// writeAt writes a file of a group. The os package would cost more than the
// kernel's part: it registers each file with the poller.
func writeAt(dir int, name, text string) error {
	fd, err := unix.Openat(dir, name, unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open cgroup file %s: %w", name, err)
	}
	defer unix.Close(fd)
	if _, err := unix.Write(fd, []byte(text)); err != nil {
		return fmt.Errorf("write %q to cgroup file %s: %w", text, name, err)
	}
	return nil
}

func readAt(dir int, name string) (string, error) {
	fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", fmt.Errorf("open cgroup file %s: %w", name, err)
	}
	defer unix.Close(fd)
	return readFD(fd, name)
}

func readFD(fd int, name string) (string, error) {
	var buf [4096]byte
	n, err := unix.Pread(fd, buf[:], 0)
	if err != nil {
		return "", fmt.Errorf("read cgroup file %s: %w", name, err)
	}
	return strings.TrimSpace(string(buf[:n])), nil
}

func readInt(dir int, name string) (int64, error) {
	s, err := readAt(dir, name)
	if err != nil {
		return 0, err
	}
	if s == "max" {
		return -1, nil
	}
	v, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read cgroup file %s: %w", name, err)
	}
	return v, nil
}

// field finds "name value" in a flat keyed file; -1 when it is not there.
func field(text, name string) int64 {
	for line := range strings.Lines(text) {
		if v, ok := strings.CutPrefix(line, name+" "); ok {
			if n, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64); err == nil {
				return n
			}
		}
	}
	return -1
}

// wholePages rounds a limit up, as the kernel would round it down.
func wholePages(b judge.Bytes) int64 {
	page := int64(os.Getpagesize())
	return (int64(b) + page - 1) / page * page
}
