package sandbox_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"judgefarm/judge"
	"judgefarm/judge/sandbox"
)

// coldFile makes a file which no page of is in memory, so that whoever reads it is
// charged for it, and shows it to a box. JUDGEFARM_TEST_COLD says where, if the
// programs lie in memory themselves.
func coldFile(t testing.TB, size judge.Bytes) (sandbox.Mount, string) {
	t.Helper()
	f, err := os.CreateTemp(cmp.Or(os.Getenv("JUDGEFARM_TEST_COLD"), deedsDir), "cold")
	if err != nil {
		t.Fatal(err)
	}
	// It stays open: some file systems (hostfs) forget a file's pages when nobody has
	// it open any more.
	t.Cleanup(func() { f.Close(); os.Remove(f.Name()) })
	chunk := make([]byte, judge.MiB)
	for i := range chunk {
		chunk[i] = 1
	}
	for range size / judge.MiB {
		if _, err := f.Write(chunk); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Chmod(0o644); err != nil {
		t.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
		t.Fatal(err)
	}
	dir, name := filepath.Split(f.Name())
	return sandbox.Mount{Source: filepath.Clean(dir), Target: "/cold"}, "/cold/" + name
}

// Page cache of files that were there before is not the program's: neither does it
// reach the limit nor is it in what is reported.
func TestPageCacheIsNotTheProgramsMemory(t *testing.T) {
	t.Parallel()
	exempt(t)
	s := newSandbox(t, sandbox.Config{Slots: 1})
	const M = judge.MiB
	for _, c := range []struct {
		name             string
		file, own, limit judge.Bytes
		held             int // ms until it gives its memory back and reads; -1: never
	}{
		{"more than the limit", 96 * M, 0, 64 * M, -1},
		{"with memory of its own", 32 * M, 24 * M, 256 * M, -1},
		{"both as much as the limit", 64 * M, 40 * M, 64 * M, -1},
		{"after its peak", 32 * M, 48 * M, 256 * M, 700},
	} {
		mount, file := coldFile(t, c.file)
		spec := exact(t, "cold", file, fmt.Sprint(c.own/M), fmt.Sprint(c.held))
		spec.Mounts = append(spec.Mounts, mount)
		spec.Limits.Memory = c.limit
		rep := run(t, s, spec)
		want(t, rep, sandbox.CauseExit)
		if rep.Exit != 0 {
			t.Fatalf("%s: exit %d: %s", c.name, rep.Exit, rep.Stderr.Data)
		}
		ev := rep.Evidence
		if ev.Peak < min(c.file, c.limit)/2 || ev.FileCache < 8*M || ev.Peak > c.limit {
			t.Fatalf("%s: the file was not cold: %+v", c.name, ev)
		}
		if most := c.own + 6*M; rep.Memory < c.own || rep.Memory > most {
			t.Errorf("%s: memory %d KiB, want %d to %d; %+v", c.name, rep.Memory/judge.KiB, c.own/judge.KiB, most/judge.KiB, ev)
		}
	}
}

// What a box writes into its file systems is memory, and not page cache; it is told
// apart from what a program holds by itself.
func TestPartsOfMemory(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, sandbox.Config{Slots: 1})
	const least = 19_000_000 // memory.stat lags
	for script, part := range map[string]func(sandbox.Evidence) (has, hasNot judge.Bytes){
		"head -c 20000000 /dev/zero >/tmp/x; sleep 0.7":           func(ev sandbox.Evidence) (has, hasNot judge.Bytes) { return ev.Shmem, ev.Anon },
		"x=$(head -c 20000000 /dev/zero | tr '\\0' x); sleep 0.7": func(ev sandbox.Evidence) (has, hasNot judge.Bytes) { return ev.Anon, ev.Shmem },
	} {
		spec := deed(t)
		spec.Args = []string{"sh", "-c", script}
		rep := run(t, s, spec)
		want(t, rep, sandbox.CauseExit)
		if has, hasNot := part(rep.Evidence); has < least || hasNot > least/2 || rep.Memory < 20_000_000 {
			t.Errorf("%s: memory %d; %+v", script, rep.Memory, rep.Evidence)
		}
	}
}

// Address space that nobody touches is free.
func TestReservedIsNotMemory(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, sandbox.Config{Slots: 1})
	rep := run(t, s, deed(t, "reserve"))
	want(t, rep, sandbox.CauseExit)
	if rep.Memory > 8*judge.MiB || rep.Exit != 0 {
		t.Errorf("exit %d, memory %d", rep.Exit, rep.Memory)
	}
}

// Memory counts whichever thread of a process lives on, whoever may look at the process,
// and once where two processes have it together.
func TestMemoryThatHides(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, sandbox.Config{Slots: 1})
	for _, what := range []string{"headless", "undumpable"} {
		spec := deed(t, what)
		spec.Limits.Memory = hogLimit()
		rep := run(t, s, spec)
		want(t, rep, sandbox.CauseMemory)
		if len(rep.Stdout.Data) != 0 {
			t.Errorf("%s: %q", what, rep.Stdout.Data)
		}
	}
	together := deed(t, "together", fmt.Sprint(hogLimit()/judge.MiB*5/8)) // twice that is too much
	together.Limits.Memory = hogLimit()
	want(t, run(t, s, together), sandbox.CauseExit)
	wantErr := "0"
	if level == sandbox.Userns {
		wantErr = strconv.Itoa(int(syscall.ENOSYS))
	}
	if rep := run(t, s, deed(t, "spliced")); string(rep.Stdout.Data) != wantErr {
		t.Errorf("pages in a pipe: errno %q, want %s", rep.Stdout.Data, wantErr)
	}
}

// Memory of System V objects counts though no process maps it, or they cannot be made.
func TestMemoryOfIPC(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, sandbox.Config{Slots: 1})
	const limit = 32 * judge.MiB
	for _, what := range []string{"segments", "arrays", "messages"} {
		spec := deed(t, "kept", what, fmt.Sprint(2*limit/judge.MiB))
		spec.Limits.Memory = limit
		rep := run(t, s, spec)
		if len(rep.Stdout.Data) != 0 || rep.Cause != sandbox.CauseMemory && (rep.Cause != sandbox.CauseExit || rep.Exit == 0) {
			t.Errorf("%s: cause %q, exit %d, %q; memory %d, %+v", what, rep.Cause, rep.Exit, rep.Stdout.Data, rep.Memory, rep.Evidence)
		}
		const half = limit / 2
		within := deed(t, "kept", what, fmt.Sprint(half/judge.MiB))
		within.Limits.Memory = limit
		rep = run(t, s, within)
		want(t, rep, sandbox.CauseExit)
		if rep.Exit != 0 || rep.Memory < half-judge.MiB || rep.Memory > half+6*judge.MiB {
			t.Errorf("%s within the limit: exit %d, memory %d, want %d; %+v", what, rep.Exit, rep.Memory, half, rep.Evidence)
		}
	}
}

// What a program shares with its children counts once, also when one dies while its
// share is asked for.
func TestMemorySharedWithTheDying(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, sandbox.Config{Slots: 1})
	spec := exact(t, "series", fmt.Sprint(fewer(100)), "3", "100")
	spec.Limits.Memory = 128 * judge.MiB
	rep := run(t, s, spec)
	want(t, rep, sandbox.CauseExit)
	if rep.Exit != 0 || rep.Memory < 100*judge.MiB || rep.Memory > 110*judge.MiB {
		t.Errorf("exit %d, memory %d; %+v", rep.Exit, rep.Memory, rep.Evidence)
	}
}
