package bench

import (
	"bytes"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"

	"judgefarm/judge"
)

// Growth runs f and returns by how much this process's memory was larger at most than
// before; proc_pid_status(5), VmHWM, which writing 5 to clear_refs sets back.
func Growth(f func() error) (judge.Bytes, error) {
	debug.FreeOSMemory()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		return 0, fmt.Errorf("reset peak of memory: %w", err)
	}
	before, err := statusBytes("VmRSS:")
	if err != nil {
		return 0, err
	}
	if err := f(); err != nil {
		return 0, err
	}
	peak, err := statusBytes("VmHWM:")
	return max(0, peak-before), err
}

func statusBytes(field string) (judge.Bytes, error) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(text) {
		if rest, ok := bytes.CutPrefix(line, []byte(field)); ok {
			n, err := strconv.ParseInt(string(bytes.TrimSpace(bytes.TrimSuffix(bytes.TrimSpace(rest), []byte("kB")))), 10, 64)
			return judge.Bytes(n) * judge.KiB, err
		}
	}
	return 0, fmt.Errorf("/proc/self/status has no %s", field)
}
