package bench

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"judgefarm/judge"
	"judgefarm/judge/sandbox"
	"judgefarm/judge/sandbox/sandboxtest"
)

// built compiles programs that are measured.
func built(t *testing.T, names ...string) (dir string, paths map[string]string) {
	t.Helper()
	if _, err := os.Stat("/usr/bin/gcc"); err != nil {
		t.Skip("missing: gcc")
	}
	dir, paths = t.TempDir(), map[string]string{}
	for _, name := range names {
		path, err := build(t.Context(), dir, name)
		if err != nil {
			t.Fatal(err)
		}
		paths[name] = path
	}
	return dir, paths
}

// The programs do what they say, joined by pipes of ours or by nothing else; Pour
// writes what pour prints.
func TestPair(t *testing.T) {
	t.Parallel()
	dir, p := built(t, "talk", "reply", "pour", "drain")
	in := filepath.Join(dir, "in")
	if err := os.WriteFile(in, []byte("800\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		pair Pair
		ok   bool
	}{
		"dialogue":       {Pair{First: []string{p["reply"]}, Second: []string{p["talk"], in}, Back: true, Exit: 42}, true},
		"wrong dialogue": {Pair{First: []string{"/bin/cat"}, Second: []string{p["talk"], in}, Back: true, Exit: 42}, false},
		"output":         {Pair{First: []string{p["pour"]}, Stdin: in, Second: []string{p["drain"], in}, Exit: 42}, true},
		"wrong output":   {Pair{First: []string{"/bin/cat"}, Stdin: in, Second: []string{p["drain"], in}, Exit: 42}, false},
	} {
		if took, err := c.pair.Run(t.Context()); (err == nil) != c.ok || took <= 0 {
			t.Errorf("%s: got %v, %v", name, took, err)
		}
	}
	cmd := exec.CommandContext(t.Context(), p["pour"])
	cmd.Stdin = bytes.NewReader([]byte("800\n"))
	want, err := cmd.Output()
	var got bytes.Buffer
	if err := errors.Join(err, Pour(&got, 800)); err != nil || !bytes.Equal(got.Bytes(), want) || len(want) != 800 {
		t.Errorf("got %q, %v, want %q", got.Bytes(), err, want)
	}
}

// Medians, in the loads' order, and the ratio to the first; the round before the first
// does not count.
func TestPipes(t *testing.T) {
	t.Parallel()
	load := func(name string, took ...time.Duration) PipeLoad {
		return PipeLoad{Name: name, Do: func(context.Context) (d time.Duration, err error) {
			d, took = took[0]*time.Millisecond, took[1:]
			return d, nil
		}}
	}
	rows, err := Pipes(t.Context(), 3, []PipeLoad{load("plain", 99, 4, 2, 3), load("judged", 1, 6, 9, 6)})
	if err != nil || rows[0] != (PipeRow{"plain", 2, 3, 4, 1}) || rows[1] != (PipeRow{"judged", 6, 6, 9, 2}) {
		t.Errorf("got %+v, %v", rows, err)
	}
	bad := errors.New("bad")
	if _, err := Pipes(t.Context(), 1, []PipeLoad{{Do: func(context.Context) (time.Duration, error) { return 0, bad }}}); !errors.Is(err, bad) {
		t.Errorf("got %v, want %v", err, bad)
	}
}

// Memory that is taken and given back counts; so does a checker's, and nobody else's.
func TestMemoryOfChecks(t *testing.T) {
	grown, err := Growth(func() error {
		// Not of the heap, which the race detector keeps twice as much beside.
		b, err := unix.Mmap(-1, 0, 64<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
		if err != nil {
			return err
		}
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
		return unix.Munmap(b)
	})
	if err != nil || grown < 60*judge.MiB || grown > 90*judge.MiB {
		t.Errorf("grew by %d bytes, %v, want 64 MiB", grown, err)
	}
	var seen Reports
	runner := seen.Wrap(&sandboxtest.Fake{Default: func(p *sandboxtest.Proc) int {
		p.Memory = judge.Bytes(len(p.Args)) * judge.MiB
		return 0
	}})
	spec := sandbox.Spec{Args: []string{"/a", "b", "c"}, Limits: judge.Limits{}.Complete()}
	if _, err := runner.Run(t.Context(), spec); err != nil || seen.CheckerMemory() != 0 {
		t.Errorf("no checker: %d bytes, %v", seen.CheckerMemory(), err)
	}
	spec.Mounts = []sandbox.Mount{{Source: "/tmp", Target: "/judge"}}
	if _, err := runner.Run(t.Context(), spec); err != nil || seen.CheckerMemory() != 3*judge.MiB {
		t.Errorf("a checker: %d bytes, %v, want 3 MiB", seen.CheckerMemory(), err)
	}
	if seen.Reset(); seen.CheckerMemory() != 0 {
		t.Error("reset forgets nothing")
	}
}
