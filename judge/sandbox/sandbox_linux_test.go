package sandbox_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"judgefarm/judge"
	"judgefarm/judge/sandbox"
	"judgefarm/judge/sandbox/sandboxtest"
)

func TestRunner(t *testing.T) {
	t.Parallel()
	sandboxtest.Run(t, func(t *testing.T) sandbox.Runner { return newSandbox(t, sandbox.Config{}) })
}

func TestEnds(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, sandbox.Config{})
	for _, c := range []struct {
		args   []string
		cause  sandbox.Cause
		exit   int
		signal syscall.Signal
	}{
		{[]string{"exit", "0"}, sandbox.CauseExit, 0, 0},
		{[]string{"exit", "1"}, sandbox.CauseExit, 1, 0},
		{[]string{"exit", "127"}, sandbox.CauseExit, 127, 0}, // not to be taken for a failed exec
		{[]string{"exit", "255"}, sandbox.CauseExit, 255, 0},
		{[]string{"abort"}, sandbox.CauseSignal, -1, syscall.SIGABRT},
		{[]string{"kill", "9"}, sandbox.CauseSignal, -1, syscall.SIGKILL},
		{[]string{"kill", "11"}, sandbox.CauseSignal, -1, syscall.SIGSEGV},
		{[]string{"reboot"}, sandbox.CauseSyscall, -1, syscall.SIGSYS},
		{[]string{"reserve"}, sandbox.CauseExit, 0, 0},
	} {
		rep := run(t, s, deed(t, c.args...))
		if rep.Cause != c.cause || rep.Exit != c.exit || rep.Signal != int(c.signal) {
			t.Errorf("%v: cause %q exit %d signal %d, want %q %d %d", c.args, rep.Cause, rep.Exit, rep.Signal, c.cause, c.exit, c.signal)
		}
		if rep.Evidence.KilledBy != "" {
			t.Errorf("%v: killed by %q", c.args, rep.Evidence.KilledBy)
		}
	}
}

func TestExecFailures(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, sandbox.Config{})
	spec := deed(t)
	spec.Files = []sandbox.File{{Name: "text", Data: []byte("no program"), Mode: 0o755}, {Name: "locked", Data: []byte("#!/bin/sh\n")}}
	for name, wantErr := range map[string]string{
		"/work/text":   "exec format error",
		"/work/locked": "permission denied",
		"/work":        "permission denied",
		"/work/none":   "no such file or directory",
	} {
		spec.Args = []string{name}
		rep := run(t, s, spec)
		want(t, rep, sandbox.CauseExec)
		if rep.Evidence.ExecError != wantErr {
			t.Errorf("%s: %q, want %q", name, rep.Evidence.ExecError, wantErr)
		}
	}
	spec.Dir = "/no/such"
	spec.Args = []string{"/exe/deeds", "exit", "0"}
	if _, err := s.Run(t.Context(), spec); !judge.IsBadRequest(err) {
		t.Errorf("a directory that is not there: %v", err)
	}
	spec.Dir, spec.Box.CPUs = "", []int{1000}
	if _, err := s.Run(t.Context(), spec); !judge.IsBadRequest(err) {
		t.Errorf("a core that is not there: %v", err)
	}
}

// A limit too small for the exec itself is the memory limit all the same.
func TestExecUnderTinyMemory(t *testing.T) {
	t.Parallel()
	exempt(t)
	s := newSandbox(t, sandbox.Config{Slots: 1})
	for _, limit := range []judge.Bytes{4 * judge.KiB, 64 * judge.KiB} {
		spec := deed(t, "exit", "0")
		spec.Limits.Memory = limit
		rep, err := s.Run(t.Context(), spec)
		if err != nil {
			t.Fatalf("%d bytes: %v", limit, err)
		}
		want(t, rep, sandbox.CauseMemory)
		untouched(t, s)
	}
}

func TestPinned(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, sandbox.Config{Slots: 1})
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		t.Fatal(err)
	}
	spec := deed(t)
	for c := 0; len(spec.Box.CPUs) == 0; c++ {
		if set.IsSet(c) {
			spec.Box.CPUs = []int{c}
		}
	}
	spec.Args = []string{"nproc"}
	if rep := run(t, s, spec); string(rep.Stdout.Data) != "1\n" {
		t.Errorf("cores of a pinned box: %q", rep.Stdout.Data)
	}
}

// The path of the file behind stdin is the host's business.
func TestStdinHasNoName(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("missing: root")
	}
	s := newSandbox(t, sandbox.Config{Slots: 1})
	path := filepath.Join(t.TempDir(), "secret.in")
	if err := os.WriteFile(path, []byte("input"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	spec := deed(t)
	spec.Stdin = f
	spec.Args = []string{"sh", "-c", "readlink /proc/self/fd/0; cat; echo x >&0"}
	rep := run(t, s, spec)
	if string(rep.Stdout.Data) != "/\ninput" {
		t.Errorf("stdin: %q", rep.Stdout.Data)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "input" {
		t.Errorf("the program wrote into its input: %q, %v", b, err)
	}
}

func TestCollectRefuses(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, sandbox.Config{})
	spec := deed(t, "litter")
	for _, name := range []string{"link", "up/work/sparse", "fifo", "dir", "sparse", "dir/etc/passwd"} {
		spec.Collect = append(spec.Collect, sandbox.Collect{Name: name, Max: judge.MiB})
	}
	spec.Collect = append(spec.Collect, sandbox.Collect{Name: ".", Max: 128 * judge.MiB, Dir: true})
	rep := run(t, s, spec)
	want(t, rep, sandbox.CauseExit)
	got := map[string]error{}
	var names []string
	for _, f := range rep.Files[:6] {
		got[f.Name] = f.Err
		if f.Data != nil {
			t.Errorf("%s: %d bytes came out", f.Name, len(f.Data))
		}
	}
	for _, f := range rep.Files[6:] {
		names = append(names, f.Name)
		if f.Name == "sparse" && (f.Err != nil || f.Mode != 0 && level != sandbox.Userns || len(f.Data) != 60<<20) { // no program shuts its files at userns
			t.Errorf("sparse with room for it: %v, %d bytes", f.Err, len(f.Data))
		}
	}
	for name, wantErr := range map[string]error{
		"link": sandbox.ErrNotRegular, "up/work/sparse": sandbox.ErrNotRegular, "fifo": sandbox.ErrNotRegular,
		"dir": sandbox.ErrNotRegular, "sparse": sandbox.ErrTooLarge, "dir/etc/passwd": sandbox.ErrNotRegular,
	} {
		if !errors.Is(got[name], wantErr) {
			t.Errorf("%s: %v, want %v", name, got[name], wantErr)
		}
	}
	if wantNames := []string{"dir/etc", "fifo", "link", "sparse", "up"}; !slices.Equal(names, wantNames) {
		t.Errorf("everything: %v, want %v", names, wantNames)
	}
}

func TestFilesThatDoNotFit(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, sandbox.Config{})
	spec := deed(t, "exit", "0")
	spec.Box.Disk = judge.MiB
	spec.Files = []sandbox.File{{Name: "big", Data: make([]byte, 2<<20)}}
	if _, err := s.Run(t.Context(), spec); !judge.IsBadRequest(err) {
		t.Errorf("files larger than the disk: %v", err)
	}
	untouched(t, s)
	spec.Files = []sandbox.File{{Name: "a", Data: []byte("x")}, {Name: "a/b", Data: []byte("y")}}
	if _, err := s.Run(t.Context(), spec); err == nil {
		t.Error("a file below a file went through")
	}
	untouched(t, s)
}

func TestMountMustBeReadable(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("missing: root")
	}
	s := newSandbox(t, sandbox.Config{})
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	spec := deed(t, "exit", "0")
	spec.Mounts = append(spec.Mounts, sandbox.Mount{Source: dir, Target: "/data"})
	_, err := s.Run(t.Context(), spec)
	if !judge.IsBadRequest(err) || !strings.Contains(err.Error(), "mounts[1]") {
		t.Errorf("error %v, want a bad request that names the mount", err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("shown"), 0o644); err != nil {
		t.Fatal(err)
	}
	spec.Args = []string{"cat", "/data/f"}
	if rep := run(t, s, spec); string(rep.Stdout.Data) != "shown" {
		t.Errorf("mounted file: %q, %q", rep.Stdout.Data, rep.Stderr.Data)
	}
	spec.Args = []string{"touch", "/data/g"}
	if rep := run(t, s, spec); rep.Exit == 0 {
		t.Error("a mount could be written to")
	}
}

// A root of one's own is shown instead of the host's.
func TestRoot(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, sandbox.Config{})
	spec := deed(t, "fill", "/work/x", "1")
	spec.Root = t.TempDir()
	for _, dir := range []string{"opt/thing", "home/secret"} {
		if err := os.MkdirAll(filepath.Join(spec.Root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	want(t, run(t, s, spec), sandbox.CauseExit)
	spec.Args = []string{"/usr/bin/true"}
	want(t, run(t, s, spec), sandbox.CauseExec)
}
