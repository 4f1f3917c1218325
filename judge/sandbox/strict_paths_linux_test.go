package sandbox_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"judgefarm/judge/sandbox"
)

// linked is a strict deed with a directory of links at /links/b, the likes of which lie
// in every system directory.
func linked(t *testing.T, args ...string) sandbox.Spec {
	t.Helper()
	dir, err := os.MkdirTemp("", "judgefarm-links")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := errors.Join(os.Chmod(dir, 0o755), os.Mkdir(filepath.Join(dir, "b"), 0o755)); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{
		"usr": "/usr/share", "self": "/proc/self", "up": "../..", "loop": "loop", "made": "/etc/made", "out": "/proc/self/fd/1", "alias": "/etc/no.such",
	} {
		if err := os.Symlink(to, filepath.Join(dir, "b", name)); err != nil {
			t.Fatal(err)
		}
	}
	spec := strictDeed(t, args...)
	spec.Mounts = append(spec.Mounts, sandbox.Mount{Source: dir, Target: "/links"})
	return spec
}

// forbidden is no errno of any call.
const forbidden = ^syscall.Errno(0)

// What counts is where a path leads, not what it says.
func TestStrictPaths(t *testing.T) {
	t.Parallel()
	s := strictSandbox(t, 1)
	for _, c := range []struct {
		args string
		want syscall.Errno
	}{
		{"open /links/b/usr/../../etc/passwd", forbidden},
		{"open /links/b/up/etc/passwd", forbidden},
		{"open /links/b/self/environ", forbidden},
		{"open /links/b/usr/../../proc/self/environ", forbidden},
		{"open /links/b/self/task/../environ", forbidden},
		{"create /links/b/made", forbidden},
		{"create /links/b/alias", forbidden},
		{"open /etc/no.such", forbidden},
		{"relative ../links/b/up/etc/passwd", forbidden},
		{"open /proc/thread-self/environ", forbidden},
		{"open /proc/self/fd/../environ", forbidden},
		{"open /dev/fd/../environ", forbidden},
		{"open /proc/self/cwd/../etc/passwd", forbidden},
		{"open /proc/self/root/etc/passwd", forbidden},
		{"open /proc/1/environ", forbidden},
		{"tasks ../environ", forbidden},
		{"gone ../../etc/passwd", forbidden},
		{"writeonly /etc/passwd", forbidden},
		{"undumpable /etc/passwd", forbidden},

		{"open /links/b/usr/../bin/env", 0},
		{"open /links/b/self/maps", 0},
		{"open /links/b/self/../self/task/../maps", 0},
		{"open /links/b/out/", syscall.ENOTDIR},
		{"create /links/b/out", 0},
		{"open /links/b/loop", syscall.ELOOP},
		{"open /links/b/alias", syscall.ENOENT},
		{"open /links/b/alias/x", syscall.ENOENT},
		{"open /proc/self/exe", 0},
		{"open /proc/self/cwd", 0},
		{"open /proc/self/root/usr/bin/env", 0},
		{"open /proc/thread-self/comm", 0},
		{"open /dev/fd/0", 0},
		{"create /dev/stdout", 0},
		{"nofollow /proc/self/fd/0", 0},
		{"open /dev/fd/77", syscall.ENOENT},
		{"open /usr/../work/../usr/bin/env", 0},
		{"open /work/no/../such", syscall.ENOENT},
		{"open /work/" + strings.Repeat("x", 300), syscall.ENAMETOOLONG},
		{"tasks ../maps", 0},
		{"gone x", syscall.ENOENT},
		{"gone ../../usr/bin/env", 0},
		{"writeonly /usr/bin/env", 0},
		{"closed usr/bin/env", syscall.EBADF},
		{"closed /usr/bin/env", 0},
		{"stream bin", syscall.ENOTDIR},
		{"stream /usr/bin/env", 0},
		{"mapped", syscall.EPERM},
		{"deep", syscall.ENAMETOOLONG},
	} {
		what, path, _ := strings.Cut(c.args, " ")
		rep, err := s.Run(t.Context(), linked(t, "step", what, path))
		switch {
		case err != nil:
			t.Errorf("%s: %v", c.args, err)
		case c.want == forbidden:
			if rep.Cause != sandbox.CauseSyscall || len(rep.Stdout.Data) != 0 {
				t.Errorf("%s: cause %q, errno %q, want it forbidden", c.args, rep.Cause, rep.Stdout.Data)
			}
		case rep.Cause != sandbox.CauseExit || string(rep.Stdout.Data) != fmt.Sprint(int(c.want)):
			t.Errorf("%s: cause %q, errno %q, want %d; %q", c.args, rep.Cause, rep.Stdout.Data, c.want, rep.Evidence.Syscall)
		}
	}
}

// A program that dies while the tracer looks at a call of it has died, no more.
func TestStrictDying(t *testing.T) {
	t.Parallel()
	s := strictSandbox(t, 1)
	for i := range 60 {
		rep, err := s.Run(t.Context(), strictDeed(t, "step", "dying", []string{"/usr/bin/env", "/proc/thread-self/comm", "bin"}[i%3]))
		if err != nil || rep.Cause != sandbox.CauseSignal || rep.Signal != int(syscall.SIGKILL) {
			t.Fatalf("run %d: %+v, %v", i, rep, err)
		}
	}
}

// What a traced call costs: of the program's CPU time, of wall time, of the worker's CPU time.
func BenchmarkStrictOpen(b *testing.B) {
	s := newSandbox(b, sandbox.Config{Slots: 1})
	for _, path := range []string{"/usr/bin/env", "/lib/../bin/env", "/usr/no/such", "/proc/self/maps", "bin"} {
		b.Run(path, func(b *testing.B) {
			var cpu, wall time.Duration
			before := ownTime(b)
			for b.Loop() {
				rep, err := s.Run(b.Context(), strictDeed(b, "step", "opens", path))
				if err != nil || rep.Cause != sandbox.CauseExit {
					b.Fatalf("%+v, %v", rep, err)
				}
				cpu, wall = cpu+rep.CPU, wall+rep.Wall
			}
			b.ReportMetric(float64(cpu/time.Duration(b.N))/1e6, "cpu-us/call") // a thousand calls a run
			b.ReportMetric(float64(wall/time.Duration(b.N))/1e6, "wall-us/call")
			b.ReportMetric(float64((ownTime(b)-before)/time.Duration(b.N))/1e6, "worker-us/call")
		})
	}
}

// ownTime is the CPU time that this process has used.
func ownTime(tb testing.TB) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
