package sandbox_test

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"judgefarm/judge"
	"judgefarm/judge/sandbox"
)

// Nor is that of a named pipe, on whichever side of it the program is; it stays the pipe
// that it was, for those who have it open.
func TestPipesHaveNoName(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("missing: root")
	}
	s := newSandbox(t, sandbox.Config{Slots: 1})
	dir, out := pipes(t)
	in, err := os.OpenFile(filepath.Join(dir, "in"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	write, err := os.OpenFile(filepath.Join(dir, "out"), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer write.Close()
	for _, fd := range []uintptr{in.Fd(), write.Fd()} { // as programs are handed them
		if err := unix.SetNonblock(int(fd), false); err != nil {
			t.Fatal(err)
		}
	}
	spec := deed(t)
	spec.Stdin, spec.Stdout.File = in, write
	spec.Args = []string{"/bin/sh", "-c", `a=$(readlink /proc/$$/fd/0 /proc/$$/fd/1); echo "$a" >&2; read x; echo "answer to $x"; chmod 600 /dev/stdin /dev/stdout 2>/dev/null && echo changed >&2
touch -c /dev/stdin /dev/stdout 2>/dev/null && echo touched >&2; true`}
	rep := run(t, s, spec)
	want(t, rep, sandbox.CauseExit)
	if got := string(rep.Stderr.Data); got != "/\n/\n" {
		t.Errorf("it sees %q", got)
	}
	answered(t, out)
}

// A directory would be a way out: what lies above it is not the box's.
func TestStdinIsNoDirectory(t *testing.T) {
	t.Parallel()
	noDirectory(t, newSandbox(t, sandbox.Config{Slots: 1}))
}

func TestTracedStdinIsNoDirectory(t *testing.T) {
	t.Parallel()
	noDirectory(t, newTraced(t, 1))
}

func noDirectory(t *testing.T, s sandbox.Runner) {
	t.Helper()
	dir, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	spec := deed(t)
	spec.Stdin = dir
	spec.Args = []string{"/bin/sh", "-c", "ls /proc/self/fd/0/../../.."}
	if rep, err := s.Run(t.Context(), spec); !judge.IsBadRequest(err) {
		t.Errorf("got %+v, %v, want a bad request", rep, err)
	}
}
