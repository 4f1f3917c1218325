package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"judgefarm/judge"
	"judgefarm/judge/sandbox"
	"judgefarm/judge/sandbox/sandboxtest"
)

func strictDeed(t testing.TB, args ...string) sandbox.Spec {
	t.Helper()
	spec := deed(t, args...)
	spec.Limits.Ptrace = true
	return spec
}

// strictSandbox skips where the kernel cannot trace as strict mode needs it: ptrace of
// user-mode Linux has no register sets.
func strictSandbox(t *testing.T, slots int) *sandbox.Sandbox {
	t.Helper()
	s := newSandbox(t, sandbox.Config{Slots: slots})
	if _, err := s.Run(t.Context(), strictDeed(t, "step", "open", "x")); errors.Is(err, sandbox.ErrHost) {
		t.Skipf("missing: %v", err)
	}
	return s
}

// A forbidden call ends the run, and the report has its name and arguments.
func TestStrictForbids(t *testing.T) {
	t.Parallel()
	s := strictSandbox(t, 1)
	for _, c := range []struct{ args, want string }{
		{"open /etc/passwd", `(openat|open)\("/etc/passwd", O_RDONLY\)`},
		{"open /proc/self/mem", `(openat|open)\("/proc/self/mem", O_RDONLY\)`},
		{"open ../etc/passwd", `(openat|open)\("\.\./etc/passwd", O_RDONLY\)`},
		{"create /usr/x", `(openat|open)\("/usr/x", O_WRONLY\|O_CREAT\|O_TRUNC, 0640\)`},
		{"relative ../etc/passwd", `(openat|open)\("\.\./etc/passwd", O_RDONLY\)`},
		{"beneath ../etc/passwd", `openat\(\d, "\.\./etc/passwd", O_RDONLY\)`},
		{"thread /etc/passwd", `(openat|open)\("/etc/passwd", O_RDONLY\)`},
		{"open /" + strings.Repeat("long/", 200), `(openat|open)\("/(long/){51}"\.\.\., O_RDONLY\)`},
		{"open /etc/\n\x01", `(openat|open)\("/etc/\\n\\x01", O_RDONLY\)`},
		{"socket", `socket\(AF_INET, SOCK_STREAM, 0\)`},
		{"fork", `clone\(CLONE_CHILD_CLEARTID\|CLONE_CHILD_SETTID\|0x11\)|fork\(\)`},
		{"untraced", `clone\(CLONE_VM\|CLONE_UNTRACED\|0x10800\)`},
		{"exec", `execve\("/bin/sh", \["sh", "-c", "id \\"\$0\\""\]\)`},
		{"ptrace", `ptrace\(16, 1, 0x0, 0x0\)`},
		{"killall", `kill\(-1, SIGKILL\)`},
		{"setsid", `setsid\(\)`},
		{"unknown", `syscall_1999\(0x1, 0x2, 0x3, 0x4, 0x5, 0x6\)`},
		{"symlink x", `symlink(at)?\("/etc/passwd", "x"\)`},
	} {
		what, path, _ := strings.Cut(c.args, " ")
		rep := run(t, s, strictDeed(t, "step", what, path))
		if rep.Cause != sandbox.CauseSyscall || !regexp.MustCompile("^("+c.want+")$").MatchString(rep.Evidence.Syscall) {
			t.Errorf("%q: cause %q, %q, want %s; stdout %q", c.args, rep.Cause, rep.Evidence.Syscall, c.want, rep.Stdout.Data)
		}
		if len(rep.Stdout.Data) != 0 || rep.Exit != -1 {
			t.Errorf("%q: it went on: exit %d, %q", c.args, rep.Exit, rep.Stdout.Data)
		}
	}
	rep := run(t, s, strictDeed(t, "forkbomb"))
	want(t, rep, sandbox.CauseSyscall)
	if rep.Evidence.TasksPeak > 1 || rep.Evidence.ForksRefused != 0 {
		t.Errorf("fork bomb: %+v", rep.Evidence)
	}
	want(t, run(t, s, strictDeed(t, "reboot")), sandbox.CauseSyscall)
}

// What is not forbidden gives the kernel's own answer.
func TestStrictAllows(t *testing.T) {
	t.Parallel()
	s := strictSandbox(t, 1)
	for _, c := range []struct {
		args string
		want syscall.Errno
	}{
		{"create /work/x", 0}, {"create x", 0}, {"create /dev/shm/x", 0}, {"create /dev/null", 0},
		{"open /usr/bin/env", 0}, {"relative bin/env", 0}, {"beneath bin/env", 0}, {"thread /usr/bin/env", 0},
		{"open /usr/no/such", syscall.ENOENT}, {"open /sys/kernel", syscall.ENOENT},
		{"endless", syscall.ENAMETOOLONG}, {"nowhere", syscall.EFAULT},
	} {
		what, path, _ := strings.Cut(c.args, " ")
		rep := run(t, s, strictDeed(t, "step", what, path))
		if rep.Cause != sandbox.CauseExit || rep.Exit != 0 || string(rep.Stdout.Data) != fmt.Sprint(int(c.want)) {
			t.Errorf("%s: cause %q, exit %d, errno %q, want %d; %q", c.args, rep.Cause, rep.Exit, rep.Stdout.Data, c.want, rep.Evidence.Syscall)
		}
	}
}

// Every other end is told as in an ordinary box.
func TestStrictEnds(t *testing.T) {
	t.Parallel()
	s := strictSandbox(t, 1)
	for _, c := range []struct {
		args   []string
		cause  sandbox.Cause
		signal syscall.Signal
		change func(*sandbox.Spec)
	}{
		{args: []string{"exit", "0"}, cause: sandbox.CauseExit},
		{args: []string{"exit", "7"}, cause: sandbox.CauseExit},
		{args: []string{"threads", "5"}, cause: sandbox.CauseExit},
		{args: []string{"abort"}, cause: sandbox.CauseSignal, signal: syscall.SIGABRT},
		{args: []string{"kill", "9"}, cause: sandbox.CauseSignal, signal: syscall.SIGKILL},
		{args: []string{"kill", "15"}, cause: sandbox.CauseSignal, signal: syscall.SIGTERM},
		{args: []string{"deep"}, cause: sandbox.CauseSignal, signal: syscall.SIGSEGV,
			change: func(s *sandbox.Spec) { s.Box.Stack = 8 * judge.MiB }},
		{args: []string{"spin"}, cause: sandbox.CauseCPU, change: func(s *sandbox.Spec) { s.Limits.CPU = 300 * time.Millisecond }},
		{args: []string{"threads"}, cause: sandbox.CauseCPU, change: func(s *sandbox.Spec) { s.Limits.CPU = 300 * time.Millisecond }},
		{args: []string{"idle"}, cause: sandbox.CauseIdle,
			change: func(s *sandbox.Spec) { s.Limits.CPU, s.Limits.Wall = time.Second, 1500*slow*time.Millisecond }},
		{args: []string{"hog"}, cause: sandbox.CauseMemory},
		{args: []string{"print"}, cause: sandbox.CauseOutput},
		{args: []string{"fill", "x", "8192"}, cause: sandbox.CauseFileSize, signal: syscall.SIGXFSZ,
			change: func(s *sandbox.Spec) { s.Box.FileSize = 16 * judge.MiB }},
		{args: []string{"/no/such"}, cause: sandbox.CauseExec, change: func(s *sandbox.Spec) { s.Args = []string{"/no/such"} }},
	} {
		spec := strictDeed(t, c.args...)
		if c.change != nil {
			c.change(&spec)
		}
		rep := run(t, s, spec)
		if rep.Cause != c.cause || c.signal != 0 && rep.Signal != int(c.signal) || rep.Evidence.Syscall != "" {
			t.Errorf("%q: cause %q, signal %d, exit %d, %+v; want %q, %d", c.args, rep.Cause, rep.Signal, rep.Exit, rep.Evidence, c.cause, c.signal)
		}
		if c.cause == sandbox.CauseExit && len(c.args) > 1 && c.args[0] == "exit" && fmt.Sprint(rep.Exit) != c.args[1] {
			t.Errorf("%q: exit %d", c.args, rep.Exit)
		}
		if c.cause == sandbox.CauseCPU {
			if rep.CPU <= spec.Limits.CPU || rep.CPU > spec.Limits.CPU+200*slow*time.Millisecond {
				t.Errorf("%q: ended at %v of CPU, limit %v", c.args, rep.CPU, spec.Limits.CPU)
			}
		}
	}
}

// strictly runs every spec in strict mode.
type strictly struct{ sandbox.Runner }

func (s strictly) Run(ctx context.Context, spec sandbox.Spec) (*sandbox.Report, error) {
	spec.Limits.Ptrace = true
	return s.Runner.Run(ctx, spec)
}

func TestStrictConformance(t *testing.T) {
	t.Parallel()
	sandboxtest.Run(t, func(t *testing.T) sandbox.Runner { return strictly{strictSandbox(t, 0)} })
}

// Programs with threads and interpreters, several at once.
func TestStrictHonest(t *testing.T) {
	t.Parallel()
	s := strictSandbox(t, 3)
	var wg sync.WaitGroup
	for range 12 {
		wg.Go(func() {
			spec := strictDeed(t, "threads", "3")
			if rep, err := s.Run(t.Context(), spec); err != nil || rep.Cause != sandbox.CauseExit || rep.Exit != 0 {
				t.Errorf("threads: %+v, %v", rep, err)
			}
		})
	}
	wg.Wait()
	untouched(t, s)
}

// Signals to the worker's threads, as the runtime sends itself, interrupt no step of a
// run.
func TestStrictUnderSignals(t *testing.T) {
	t.Parallel()
	s := strictSandbox(t, 1)
	underSignals(t)
	for i := range 40 {
		for _, spec := range []sandbox.Spec{strictDeed(t, "exit", "0"), deed(t, "exit", "0")} {
			if rep, err := s.Run(t.Context(), spec); err != nil || rep.Cause != sandbox.CauseExit {
				t.Fatalf("run %d, strict %t: %+v, %v", i, spec.Limits.Ptrace, rep, err)
			}
		}
	}
}

// underSignals interrupts every thread of this process over and over until the test ends.
func underSignals(t *testing.T) {
	t.Helper()
	stop, done := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() { close(stop); <-done })
	go func() {
		defer close(done)
		for {
			threads, err := os.ReadDir("/proc/self/task")
			if err != nil {
				t.Error(err)
			}
			for _, thread := range threads {
				if tid, err := strconv.Atoi(thread.Name()); err == nil {
					unix.Tgkill(os.Getpid(), tid, unix.SIGURG)
				}
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	}()
}

// A tracer that breaks is our fault and ends the run at once.
func TestStrictTracerBreaks(t *testing.T) {
	t.Parallel()
	s := strictSandbox(t, 1)
	s.BreakTracers()
	began := time.Now()
	rep, err := s.Run(t.Context(), strictDeed(t, "step", "open", "/usr/bin/env"))
	if err == nil || !strings.Contains(err.Error(), "trace program") || judge.IsBadRequest(err) {
		t.Errorf("got %+v, %v, want an error of the tracer", rep, err)
	}
	if took := time.Since(began); took > 10*slow*time.Second {
		t.Errorf("it took %v", took)
	}
	untouched(t, s)
	rep, err = s.Run(t.Context(), deed(t, "exit", "0"))
	if err != nil || rep.Cause != sandbox.CauseExit {
		t.Errorf("next run: %+v, %v", rep, err)
	}
}
