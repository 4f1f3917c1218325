package sandbox_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"judgefarm/judge/sandbox"
)

// exact is a spec that runs a deed of testdata/exact.c.
func exact(t testing.TB, args ...string) sandbox.Spec {
	t.Helper()
	spec := deed(t)
	spec.Args = append([]string{"/exe/exact"}, args...)
	return spec
}

// told is what such a program says that it used.
func told(t testing.TB, stdout []byte) time.Duration {
	t.Helper()
	ns, err := strconv.ParseInt(strings.TrimSpace(string(stdout)), 10, 64)
	if err != nil {
		t.Fatalf("the program told %q: %v", stdout, err)
	}
	return time.Duration(ns)
}

// bare runs such a program without any box and returns what it used in the kernel's
// view, its exec and end included, and what it told.
func bare(t testing.TB, args ...string) (used, said time.Duration) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	exe := filepath.Join(deedsDir, "exact")
	p, err := os.StartProcess(exe, append([]string{exe}, args...), &os.ProcAttr{Files: []*os.File{nil, w, nil}})
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	state, err := p.Wait()
	if err != nil {
		t.Fatal(err)
	}
	var text [64]byte
	n, err := r.Read(text[:])
	if err != nil {
		t.Fatal(err)
	}
	return state.UserTime() + state.SystemTime(), told(t, text[:n])
}

// ownCores are the cores this process may use.
func ownCores(t testing.TB) []int {
	t.Helper()
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		t.Fatal(err)
	}
	var cores []int
	for c := range 1024 {
		if set.IsSet(c) {
			cores = append(cores, c)
		}
	}
	return cores
}

// nine returns nine measurements in order, three on an emulated machine, where each
// takes long and the bars are wide.
func nine(measure func() time.Duration) []time.Duration {
	var all []time.Duration
	for range fewer(9) {
		all = append(all, measure())
	}
	slices.Sort(all)
	return all
}

// median is the one in the middle of measurements in order.
func median(ordered []time.Duration) time.Duration { return ordered[len(ordered)/2] }
