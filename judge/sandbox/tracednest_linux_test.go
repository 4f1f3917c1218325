package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"judgefarm/judge"
	"judgefarm/judge/sandbox"
	"judgefarm/judge/sandbox/sandboxtest"
)

// Files count wherever a program hides them.
func TestTracedDiskHidden(t *testing.T) {
	t.Parallel()
	s := newTraced(t, 1)
	for name, args := range map[string][]string{
		"below a path that is too long":       {"nest", "40", "250", "700", "12"},
		"below directories nobody may read":   {"nest", "3", "10", "000", "12"},
		"below directories nobody may search": {"nest", "3", "10", "600", "12"},
	} {
		spec := deed(t, args...)
		spec.Box.Disk = 8 * judge.MiB
		if rep := runTraced(t, s, spec); rep.Cause != sandbox.CauseFileSize || rep.Evidence.KilledBy != "disk" || len(rep.Stdout.Data) != 0 {
			t.Errorf("%s: cause %q, %+v, %q, %q", name, rep.Cause, rep.Evidence, rep.Stdout.Data, rep.Stderr.Data)
		}
	}
	spec := deed(t, "nest", "1", "1", "700", "12", "and exit")
	spec.Box.Disk = 8 * judge.MiB
	if rep := runTraced(t, s, spec); rep.Cause != sandbox.CauseFileSize {
		t.Errorf("a program that ends at once: cause %q, %+v", rep.Cause, rep.Evidence)
	}
	spec = deed(t, "nest", "40", "250", "000", "5", "and exit")
	spec.Box.Disk = 8 * judge.MiB
	if rep := runTraced(t, s, spec); rep.Cause != sandbox.CauseExit || len(rep.Stderr.Data) != 0 {
		t.Errorf("within the limit: cause %q, %+v, %q", rep.Cause, rep.Evidence, rep.Stderr.Data)
	}
}

// Files without a name count while a process holds them, however it does; what would
// hide them is refused.
func TestTracedDiskHeld(t *testing.T) {
	t.Parallel()
	s := newTraced(t, 1)
	for _, how := range []string{"thread", "mapped"} {
		spec := deed(t, "hold", how)
		spec.Box.Disk = 8 * judge.MiB
		if rep := runTraced(t, s, spec); rep.Cause != sandbox.CauseFileSize || rep.Evidence.KilledBy != "disk" || len(rep.Stdout.Data) != 0 {
			t.Errorf("%s: cause %q, %+v, %q, %q", how, rep.Cause, rep.Evidence, rep.Stdout.Data, rep.Stderr.Data)
		}
	}
	for how, want := range map[string]syscall.Errno{"sent": unix.EPERM, "allocated": unix.EOPNOTSUPP, "undumpable": unix.EPERM, "buffers": unix.EPERM} {
		rep := runTraced(t, s, deed(t, "hold", how))
		if got := string(rep.Stdout.Data); got != strconv.Itoa(int(want)) || rep.Cause != sandbox.CauseExit || rep.Exit != 0 {
			t.Errorf("%s: errno %q, want %d; cause %q, exit %d", how, got, want, rep.Cause, rep.Exit)
		}
	}
}

// The memory reported of several processes is that of the largest at least.
func TestTracedMemoryOfChild(t *testing.T) {
	t.Parallel()
	s := newTraced(t, 1)
	spec := deed(t)
	spec.Args = []string{"/bin/sh", "-c", "/exe/deeds hog 50; true"}
	if rep := runTraced(t, s, spec); rep.Cause != sandbox.CauseExit || rep.Memory < 50*judge.MiB || rep.Memory > 60*judge.MiB {
		t.Errorf("cause %q, memory %d", rep.Cause, rep.Memory)
	}
}

// tracedFewArg makes this test binary a worker of the level that has few descriptors.
const tracedFewArg = "judgefarm-test-traced-few"

func tracedFew() {
	err := func() error {
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 64, Max: 64}); err != nil {
			return err
		}
		s, err := sandbox.Open(sandbox.Config{Isolation: sandbox.Ptrace, Slots: 1, UIDBase: freshBase()})
		if err != nil {
			return err
		}
		_, dir := s.(*sandbox.Traced).Traces()
		for _, nest := range [][]string{{"1500", "200", "700"}, {"1500", "200", "000"}, {"60", "3", "700"}} {
			spec := sandbox.Spec{
				Args: append([]string{"/exe/deeds", "nest"}, append(nest, "0", "and exit")...), Env: []string{sandboxtest.Path},
				Mounts: []sandbox.Mount{{Source: os.Args[2], Target: sandbox.ExeDir}}, Limits: sandboxtest.Limits(),
			}
			if nest[0] == "60" { // as deep as what is collected may be
				spec.Collect = []sandbox.Collect{{Name: ".", Max: 1, Dir: true}}
			}
			rep, err := s.Run(context.Background(), spec)
			if err != nil {
				return err
			}
			left, err := filepath.Glob(dir + "/run*")
			if err != nil || rep.Cause != sandbox.CauseExit || rep.Exit != 0 || len(left) > 0 {
				return fmt.Errorf("%v: %+v, stderr %q, left %v, %v", nest, rep, rep.Stderr.Data, left, err)
			}
			if spec.Collect != nil && (len(rep.Files) != 1 || rep.Files[0].Err != nil || path.Base(rep.Files[0].Name) != "file") {
				return fmt.Errorf("collected %+v", rep.Files)
			}
		}
		if err := s.Close(); err != nil {
			return err
		}
		if _, err := os.Stat(dir); err == nil {
			return fmt.Errorf("%s is left", dir)
		}
		return nil
	}()
	fmt.Println("end:", err)
	os.Exit(0)
}

// A worker with few descriptors removes directories that are nested deeper than those
// and than any path, and the run is told.
func TestTracedNestedDeep(t *testing.T) {
	t.Parallel()
	newTraced(t, 1) // or skips
	deed(t)         // or skips
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", tracedFewArg, deedsDir)
	out, err := cmd.CombinedOutput()
	if err != nil || string(out) != "end: <nil>\n" {
		t.Errorf("%v, %s", err, out)
	}
}

// What cannot be removed is no fault of the run, whose report stands.
func TestTracedCannotRemove(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("missing: root, to make a file that cannot be removed")
	}
	s := newTraced(t, 1)
	_, dir := s.Traces()
	in, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, told, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []*os.File{in, w, out, told} {
		defer f.Close()
	}
	spec := deed(t)
	spec.Args = []string{"/bin/sh", "-c", "echo runs; read x; exit 7"}
	spec.Stdin, spec.Stdout = in, sandbox.Stream{File: told}
	type result struct {
		rep *sandbox.Report
		err error
	}
	ended := make(chan result, 1)
	go func() {
		rep, err := s.Run(t.Context(), spec)
		ended <- result{rep, err}
	}()
	if _, err := out.Read(make([]byte, 5)); err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(dir + "/run*/tmp")
	if err != nil || len(found) != 1 {
		t.Fatalf("%v, %v", found, err)
	}
	if err := unix.Mount("stuck", found[0], "tmpfs", 0, "size=4k"); err != nil {
		t.Fatal(err)
	}
	_, werr := w.WriteString("go\n")
	got := <-ended
	if err := errors.Join(werr, unix.Unmount(found[0], unix.MNT_DETACH)); err != nil {
		t.Fatal(err)
	}
	if got.err != nil || got.rep == nil || got.rep.Cause != sandbox.CauseExit || got.rep.Exit != 7 {
		t.Errorf("%+v, %v", got.rep, got.err)
	}
}
