package sandboxtest

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"judgefarm/judge/sandbox"
)

func (s suite) output(t *testing.T) {
	lim := Limits()
	lim.Output = 100_000
	rep := s.run(t, sandbox.Spec{Args: []string{"head", "-c", "100000", "/dev/zero"}, Limits: lim})
	expect(t, rep, sandbox.CauseExit, 0)
	if len(rep.Stdout.Data) != 100_000 || rep.Stdout.Cut {
		t.Errorf("at the limit: %d bytes, cut %v", len(rep.Stdout.Data), rep.Stdout.Cut)
	}
	rep = s.run(t, sandbox.Spec{Args: []string{"head", "-c", "100001", "/dev/zero"}, Limits: lim})
	if rep.Cause != sandbox.CauseOutput {
		t.Errorf("one byte more: cause %q, want output", rep.Cause)
	}
	if len(rep.Stdout.Data) != 100_000 || !rep.Stdout.Cut || rep.Stdout.Total <= 100_000 {
		t.Errorf("one byte more: %d bytes, cut %v, total %d", len(rep.Stdout.Data), rep.Stdout.Cut, rep.Stdout.Total)
	}
	rep = s.run(t, sandbox.Spec{
		Args: []string{"head", "-c", "1001", "/dev/zero"}, Limits: lim,
		Stdout: sandbox.Stream{Limit: 1000},
	})
	if rep.Cause != sandbox.CauseOutput || len(rep.Stdout.Data) != 1000 {
		t.Errorf("limit of the stream: cause %q, %d bytes", rep.Cause, len(rep.Stdout.Data))
	}
}

func (s suite) keep(t *testing.T) {
	rep := s.run(t, sandbox.Spec{
		Args:   []string{"head", "-c", "300000", "/dev/zero"},
		Stdout: sandbox.Stream{Limit: 10, Keep: true},
	})
	expect(t, rep, sandbox.CauseExit, 0)
	if len(rep.Stdout.Data) != 10 || !rep.Stdout.Cut || rep.Stdout.Total != 300_000 {
		t.Errorf("kept %d bytes, cut %v, total %d", len(rep.Stdout.Data), rep.Stdout.Cut, rep.Stdout.Total)
	}
}

func (s suite) fileStream(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lim := Limits()
	lim.Output = 10
	rep := s.run(t, sandbox.Spec{Args: []string{"head", "-c", "5000", "/dev/zero"}, Limits: lim, Stdout: sandbox.Stream{File: f}})
	expect(t, rep, sandbox.CauseExit, 0)
	if st, err := f.Stat(); err != nil || st.Size() != 5000 {
		t.Errorf("file: %v, %v, want 5000 bytes", st, err)
	}
}

// What goes into a file is as much as what would be held, and cut at the same byte.
func (s suite) spill(t *testing.T) {
	const limit = 3_000_000
	for n, cause := range map[int]sandbox.Cause{
		1000: sandbox.CauseExit, sandbox.SpillAfter: sandbox.CauseExit, limit: sandbox.CauseExit, limit + 1: sandbox.CauseOutput,
	} {
		f, err := os.Create(filepath.Join(t.TempDir(), "more"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		rep := s.run(t, sandbox.Spec{
			Args: []string{"head", "-c", strconv.Itoa(n), "/dev/zero"}, Stdout: sandbox.Stream{Limit: limit, Spill: f},
		})
		held, kept := min(n, sandbox.SpillAfter), int64(min(n, limit))
		if rep.Cause != cause || len(rep.Stdout.Data) != held || int64(held)+rep.Stdout.Spilled != kept || rep.Stdout.Cut != (n > limit) {
			t.Errorf("%d bytes: cause %q, %d held, %d spilled, cut %v", n, rep.Cause, len(rep.Stdout.Data), rep.Stdout.Spilled, rep.Stdout.Cut)
		}
		if st, err := f.Stat(); err != nil || st.Size() != rep.Stdout.Spilled {
			t.Errorf("%d bytes: file %v, %v, want %d bytes", n, st, err, rep.Stdout.Spilled)
		}
	}
}
