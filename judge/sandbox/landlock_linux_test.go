package sandbox_test

import (
	"bufio"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"judgefarm/judge/sandbox"
)

// landlockABI is the version of the kernel's Landlock, 0 where it has none.
func landlockABI() int {
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(abi)
}

// Landlock takes nothing from a program that it needs: every way to change its own
// files, the devices, its standard streams by name.
func TestLandlockLeavesWhatProgramsNeed(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, sandbox.Config{Slots: 1})
	in := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(in, []byte("input\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	stdin, err := os.Open(in)
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	spec := deed(t)
	spec.Stdin = stdin
	spec.Stderr.Merge = true
	spec.Args = []string{"/bin/sh", "-ec", `
for d in /work /tmp /dev/shm; do
  cd $d; mkdir -p a/b c; echo 1 >a/b/f; mv a/b/f c/g; ln c/g a/h; ln -s c/g l; cat l; mv c a/b/c; : >a/h; mkfifo p
  truncate -s 5 a/b/c/g; cp a/b/c/g x; rm -r a l p x
done
for d in null zero full random urandom; do : >/dev/$d; done
echo x >/dev/null; cat /dev/stdin; echo y >/dev/stdout; echo z >/dev/stderr;
cat /proc/self/fd/0 /etc/passwd >/dev/null; /usr/bin/env true; echo done`}
	rep := run(t, s, spec)
	want(t, rep, sandbox.CauseExit)
	if got := string(rep.Stdout.Data); rep.Exit != 0 || got != "1\n1\n1\ninput\ny\nz\ndone\n" {
		t.Errorf("exit %d, %q", rep.Exit, got)
	}
}

// Where the kernel has Landlock, the program is under it: signals to PID 1 and TCP,
// which the other walls let through without effect, are refused.
func TestLandlockIsInForce(t *testing.T) {
	t.Parallel()
	abi := landlockABI()
	s := newSandbox(t, sandbox.Config{Slots: 1})
	rep := run(t, s, deed(t, "locked"))
	want(t, rep, sandbox.CauseExit)
	free := []string{"tcp", "signal", "node"} // in the order of the deed
	if abi >= 2 {
		free = free[:2]
	}
	if abi >= 4 {
		free = free[1:]
	}
	if abi >= 6 {
		free = free[:0]
	}
	if got := strings.Fields(string(rep.Stdout.Data)); strings.Join(got, " ") != strings.Join(free, " ") {
		t.Errorf("Landlock ABI %d: free are %q, want %q; %s", abi, got, free, rep.Stderr.Data)
	}
}

// pipes makes two named pipes and a file in a folder that every user reaches, with
// "question" on its way through the first; the second is read by the test.
func pipes(t *testing.T) (dir string, out *os.File) {
	t.Helper()
	dir, err := os.MkdirTemp("", "judgefarm-pipes")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(unix.Mkfifo(at("in"), 0o666), unix.Mkfifo(at("out"), 0o666), os.WriteFile(at("file"), []byte("old"), 0o666)); err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]os.FileMode{"": 0o755, "in": 0o666, "out": 0o666, "file": 0o666} {
		if err := os.Chmod(at(name), mode); err != nil {
			t.Fatal(err)
		}
	}
	open := func(name string) *os.File {
		f, err := os.OpenFile(at(name), os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	if _, err := open("in").WriteString("question\n"); err != nil {
		t.Fatal(err)
	}
	return dir, open("out")
}

// answered reads what a program wrote to a pipe.
func answered(t *testing.T, out *os.File) {
	t.Helper()
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "answer to question\n" {
		t.Errorf("through the pipe came %q, %v", line, err)
	}
}

// A program writes to a named pipe that a mount brings, and to nothing beside it.
func TestNamedPipes(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, sandbox.Config{Slots: 1})
	dir, out := pipes(t)
	spec := deed(t)
	spec.Mounts = append(spec.Mounts, sandbox.Mount{Source: dir, Target: sandbox.PipesDir + "/0"})
	spec.Args = []string{"/bin/sh", "-c", `
cd /pipes/0; read x <in; echo "answer to $x" >out
for f in file new; do (echo x >$f) 2>/dev/null && echo "wrote $f"; done
(echo x >>file) 2>/dev/null && echo appended; chmod 600 out 2>/dev/null && echo changed; rm -f out 2>/dev/null && echo removed; echo done`}
	rep := run(t, s, spec)
	want(t, rep, sandbox.CauseExit)
	if got := string(rep.Stdout.Data); got != "done\n" {
		t.Errorf("got %q, %q", got, rep.Stderr.Data)
	}
	answered(t, out)
}
