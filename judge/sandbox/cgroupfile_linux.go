package sandbox

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"judgefarm/judge"
)

// writeAt writes a file of a group. The os package would cost more than the
// kernel's part: it registers each file with the poller.
func writeAt(dir int, name, text string) error {
	fd, err := rawOpen(dir, name, unix.O_WRONLY)
	if err != nil {
		return fmt.Errorf("open cgroup file %s: %w", name, err)
	}
	defer rawClose(fd)
	if _, err := rawWrite(fd, text); err != nil {
		return fmt.Errorf("write %q to cgroup file %s: %w", text, name, err)
	}
	return nil
}

func readAt(dir int, name string) (string, error) {
	fd, err := rawOpen(dir, name, unix.O_RDONLY)
	if err != nil {
		return "", fmt.Errorf("open cgroup file %s: %w", name, err)
	}
	defer rawClose(fd)
	return readFD(fd, name)
}

var fileBuffers = sync.Pool{New: func() any { return new([4096]byte) }}

func readFD(fd int, name string) (string, error) {
	buf := fileBuffers.Get().(*[4096]byte)
	defer fileBuffers.Put(buf)
	n, err := rawReadStart(fd, buf[:])
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

// field finds "name value" in a flat keyed file of a cgroup, or "name: value" in a
// status of proc(5), on any line; -1 when it is not there.
func field(text, name string) int64 {
	for line := range strings.Lines(text) {
		if v, ok := strings.CutPrefix(line, name); ok && strings.ContainsAny(v[:min(1, len(v))], " :") {
			if n, err := strconv.ParseInt(strings.Trim(v, ": \t\n"), 10, 64); err == nil {
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
