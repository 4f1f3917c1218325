package bench

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// CPU is CPU time, user and system, by whose it was.
type CPU struct {
	Self  time.Duration // this process: all that is ours
	Boxes time.Duration // its children: what makes boxes, and all that ran in them
	Redis time.Duration // of a server of its own; 0 where it is a part of this process
}

// Meter measures the CPU time that passes between StartMeter and Stop. What the
// kernel does in threads of its own (removing mounts and cgroups) is in none of it.
type Meter struct {
	redis  func() (time.Duration, error)
	self   time.Duration
	server time.Duration
	events []int // one for each child, with all that it starts
}

// StartMeter starts one. redis, where set, tells the server's CPU time since its
// start. Children are measured by a perf event that their own children inherit, see
// perf_event_open(2): nobody waits for dead boxes, so no other sum has them. That
// costs each box some 1 % and needs root or a perf_event_paranoid of 2 at most.
func StartMeter(redis func() (time.Duration, error)) (m *Meter, err error) {
	m = &Meter{redis: redis}
	defer func() {
		if err != nil {
			m.close()
		}
	}()
	children, err := children()
	if err != nil {
		return nil, err
	}
	attr := unix.PerfEventAttr{
		Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_TASK_CLOCK,
		Size: unix.PERF_ATTR_SIZE_VER0, Bits: unix.PerfBitInherit,
	}
	for _, pid := range children {
		fd, err := unix.PerfEventOpen(&attr, pid, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
		if errors.Is(err, unix.ESRCH) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("measure CPU time of boxes (run as root, or set kernel.perf_event_paranoid to 2): %w", err)
		}
		m.events = append(m.events, fd)
	}
	if redis != nil {
		if m.server, err = redis(); err != nil {
			return nil, err
		}
	}
	m.self, err = ownCPU()
	return m, err
}

// Stop ends the measurement.
func (m *Meter) Stop() (CPU, error) {
	defer m.close()
	var used CPU
	self, err := ownCPU()
	if err != nil {
		return used, err
	}
	used.Self = self - m.self
	for _, fd := range m.events {
		var count [8]byte
		if _, err := unix.Read(fd, count[:]); err != nil {
			return used, fmt.Errorf("read CPU time of boxes: %w", err)
		}
		used.Boxes += time.Duration(binary.NativeEndian.Uint64(count[:]))
	}
	if m.redis != nil {
		server, err := m.redis()
		if err != nil {
			return used, err
		}
		used.Redis = server - m.server
	}
	return used, nil
}

func (m *Meter) close() {
	for _, fd := range m.events {
		unix.Close(fd)
	}
	m.events = nil
}

func ownCPU() (time.Duration, error) {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0, fmt.Errorf("read own CPU time: %w", err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}

// children are the processes that this one started, see proc_pid_task(5).
func children() ([]int, error) {
	lists, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		return nil, err
	}
	if len(lists) == 0 {
		return nil, errors.New("measure CPU time of boxes: the kernel does not list children (CONFIG_PROC_CHILDREN)")
	}
	var pids []int
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ESRCH) {
			continue // the thread ended
		}
		if err != nil {
			return nil, err
		}
		for field := range strings.FieldsSeq(string(text)) {
			pid, err := strconv.Atoi(field)
			if err != nil {
				return nil, fmt.Errorf("read children: %w", err)
			}
			pids = append(pids, pid)
		}
	}
	return pids, nil
}
