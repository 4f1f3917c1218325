package sandbox_test

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"judgefarm/judge/sandbox"
)

// footprint is what the worker and its nurseries hold.
type footprint struct {
	heap, nursery   int // KiB; nursery is the resident memory of all of them
	fds, goroutines int
	nurseryFDs      int
}

func footprintOf(t *testing.T, s *sandbox.Sandbox) (f footprint) {
	t.Helper()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	f.heap, f.goroutines = int(m.HeapAlloc>>10), runtime.NumGoroutine()
	count := func(dir string) int {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	f.fds = count("/proc/self/fd")
	for _, pid := range s.Nurseries() {
		f.nurseryFDs += count(fmt.Sprintf("/proc/%d/fd", pid))
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := bytes.Cut(status, []byte("\nVmRSS:"))
		kib, err := strconv.Atoi(string(bytes.Fields(rest)[0]))
		if err != nil {
			t.Fatal(err)
		}
		f.nursery += kib
	}
	return f
}

// Not parallel: it counts this process's descriptors, goroutines and memory. As many
// runs as JUDGEFARM_TEST_RUNS says; what grows by one thing with each shows in 300, but
// for memory in 60.
func TestManyRunsLeaveNothing(t *testing.T) {
	runs, first := 300, 30
	if slow > 1 {
		runs, first = 60, 12
	}
	if n, err := strconv.Atoi(os.Getenv("JUDGEFARM_TEST_RUNS")); err == nil {
		runs = n
	}
	s := newSandbox(t, sandbox.Config{Slots: 2})
	specs := []sandbox.Spec{deed(t, "exit", "0"), deed(t, "print"), deed(t, "exit", "1")}
	specs[2].Box.Inodes = 5000 // a box that none is prepared for
	specs[1].Files = []sandbox.File{{Name: "in", Data: []byte(strings.Repeat("x", 1000))}}
	round := func(n int) {
		for i := range n {
			if _, err := s.Run(t.Context(), specs[i%len(specs)]); err != nil {
				t.Fatal(err)
			}
		}
	}
	round(first)
	before := footprintOf(t, s)
	round(runs)
	after := footprintOf(t, s)
	t.Logf("%d runs: %+v -> %+v", runs, before, after)
	// The runtime's own goroutines and one prepared box more or less make the slack.
	if after.heap > before.heap+512 || after.nursery > before.nursery+256 ||
		after.fds > before.fds+8 || after.nurseryFDs > before.nurseryFDs+8 || after.goroutines > before.goroutines+5 {
		t.Errorf("after %d runs %+v, before %+v", runs, after, before)
	}
	untouched(t, s)
}
