package sandbox_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"judgefarm/judge"
	"judgefarm/judge/sandbox"
)

func TestMerge(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, sandbox.Config{})
	rep := run(t, s, deed(t, "turns"))
	if string(rep.Stdout.Data) != "02" || string(rep.Stderr.Data) != "13" {
		t.Errorf("apart: %q and %q", rep.Stdout.Data, rep.Stderr.Data)
	}
	spec := deed(t, "turns")
	spec.Stderr.Merge = true
	rep = run(t, s, spec)
	if string(rep.Stdout.Data) != "0123" || rep.Stderr.Data != nil {
		t.Errorf("merged: %q and %q", rep.Stdout.Data, rep.Stderr.Data)
	}
}

func TestOutputLimits(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, sandbox.Config{})
	for fd, name := range map[string]string{"1": "stdout", "2": "stderr"} {
		for _, n := range []int{1 << 20, 1<<20 + 1} {
			rep := run(t, s, deed(t, "print", fmt.Sprint(n), fd))
			out := rep.Stdout
			if fd == "2" {
				out = rep.Stderr
			}
			cause := sandbox.CauseExit
			if n > 1<<20 {
				cause = sandbox.CauseOutput
			}
			if rep.Cause != cause || len(out.Data) != 1<<20 || out.Cut != (n > 1<<20) {
				t.Errorf("%d bytes on %s: cause %q, %d kept, cut %v", n, name, rep.Cause, len(out.Data), out.Cut)
			}
		}
	}
}

// A program whose output cannot be kept is ended at once: nobody would read on, and it
// would wait until its wall limit.
func TestOutputThatCannotBeKept(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	boxedAndTraced(t, func(t *testing.T, r sandbox.Runner) {
		spec := deed(t, "print", fmt.Sprint(3<<20))
		spec.Limits.Wall = 30 * slow * time.Second
		spec.Stdout = sandbox.Stream{Limit: 8 * judge.MiB, Spill: full}
		began := time.Now()
		if rep, err := r.Run(t.Context(), spec); !errors.Is(err, unix.ENOSPC) {
			t.Errorf("report %+v, error %v", rep, err)
		}
		if took := time.Since(began); took > spec.Limits.Wall/2 {
			t.Errorf("told after %v", took)
		}
	})
}

// boxedAndTraced tests both kinds of runner, of which a host may lack the second.
func boxedAndTraced(t *testing.T, test func(*testing.T, sandbox.Runner)) {
	t.Run("box", func(t *testing.T) { test(t, newSandbox(t, sandbox.Config{Slots: 1})) })
	t.Run("traced", func(t *testing.T) { test(t, newTraced(t, 1)) })
}

// A name that is sought in many directories may make more than a message holds, within
// all bounds of a Spec.
func TestNameTooLongToSeek(t *testing.T) {
	t.Parallel()
	boxedAndTraced(t, func(t *testing.T, r sandbox.Runner) {
		spec := deed(t)
		spec.Args, spec.Env = []string{strings.Repeat("x", 50<<10)}, []string{"PATH=/a:/b:/c"}
		if rep, err := r.Run(t.Context(), spec); !judge.IsBadRequest(err) || !strings.Contains(err.Error(), "args:") {
			t.Errorf("report %+v, error %v, want a bad request", rep, err)
		}
		spec.Env = []string{"PATH=/a"}
		rep, err := r.Run(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		want(t, rep, sandbox.CauseExec)
	})
}

// Output is held by us and is not the program's memory.
func TestMuchOutputUnderSmallMemory(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, sandbox.Config{})
	size := 60 << 20
	if slow > 1 {
		size = 15 << 20 // on an emulated machine 60 take 20 s
	}
	spec := deed(t, "print", fmt.Sprint(size))
	spec.Limits.Memory, spec.Limits.Output = 64*judge.MiB, 64*judge.MiB
	rep := run(t, s, spec)
	want(t, rep, sandbox.CauseExit)
	if len(rep.Stdout.Data) != size || rep.Memory > 8*judge.MiB {
		t.Errorf("%d bytes, memory %d", len(rep.Stdout.Data), rep.Memory)
	}
}
