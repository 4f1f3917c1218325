package sandbox

import (
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// host reads the counters of the whole host for all boxes together: a reading of
// the last HostResolution is used again, so that runs, however many, cost four
// small reads in that time. It does nothing while nothing runs.
type host struct {
	fds [4]int // of hostFiles; -1 where the kernel has none

	mu   sync.Mutex
	last hostSample
}

// hostFiles are absent, or cannot be opened, on kernels without PSI and in some
// containers.
var hostFiles = [4]string{"/proc/pressure/cpu", "/proc/pressure/memory", "/proc/pressure/io", "/proc/stat"}

// hostSample is totals since boot, Unknown where there are none.
type hostSample struct {
	at                     time.Time
	cpu, memory, io, steal time.Duration
}

func openHost() *host {
	h := &host{}
	for i, path := range hostFiles {
		fd, err := rawOpen(unix.AT_FDCWD, path, unix.O_RDONLY)
		if err != nil {
			fd = -1
		}
		h.fds[i] = fd
	}
	return h
}

func (h *host) close() {
	for _, fd := range h.fds {
		if fd >= 0 {
			rawClose(fd)
		}
	}
}

// sample returns a reading that is at most HostResolution old.
func (h *host) sample(now time.Time) hostSample {
	h.mu.Lock()
	defer h.mu.Unlock()
	if now.Sub(h.last.at) >= HostResolution {
		h.last = hostSample{now, h.pressure(0), h.pressure(1), h.pressure(2), h.steal(3)}
	}
	return h.last
}

// stolenSince is what the hypervisor took of all cores since a sample, read now.
func (h *host) stolenSince(before hostSample) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return max(since(before.steal, h.steal(3)), 0)
}

func (h *host) read(i int) string {
	if h.fds[i] < 0 {
		return ""
	}
	text, err := readFD(h.fds[i], hostFiles[i])
	if err != nil {
		return ""
	}
	return text
}

func (h *host) pressure(i int) time.Duration { return someTotal(h.read(i)) }

func (h *host) steal(i int) time.Duration { return stealTotal(h.read(i)) }

// someTotal reads the total of "some avg10=0.00 avg60=0.00 avg300=0.00 total=123".
func someTotal(text string) time.Duration {
	line, _, _ := strings.Cut(text, "\n")
	_, total, ok := strings.Cut(line, "total=")
	us, err := strconv.ParseInt(total, 10, 64)
	if !ok || err != nil || !strings.HasPrefix(line, "some ") {
		return Unknown
	}
	return time.Duration(us) * time.Microsecond
}

// stealTotal reads the eighth number of the first line of /proc/stat, in ticks of
// 10 ms for user space; proc_stat(5).
func stealTotal(text string) time.Duration {
	line, _, _ := strings.Cut(text, "\n")
	f := strings.Fields(line)
	if len(f) < 9 || f[0] != "cpu" {
		return Unknown
	}
	ticks, err := strconv.ParseInt(f[8], 10, 64)
	if err != nil {
		return Unknown
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}
