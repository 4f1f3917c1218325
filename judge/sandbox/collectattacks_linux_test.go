package sandbox_test

import (
	"errors"
	"io/fs"
	"runtime"
	"strings"
	"testing"

	"judgefarm/judge"
	"judgefarm/judge/sandbox"
)

// collected makes an attack on what is collected as "out" and from "dir/x".
func collected(id, name string, args []string, cause sandbox.Cause, check func(*testing.T, sandbox.Collected)) attack {
	return attack{id: id, name: name, args: append([]string{"leave"}, args...), cause: cause,
		change: func(s *sandbox.Spec) {
			s.Collect = []sandbox.Collect{{Name: "out", Max: judge.MiB}, {Name: "dir/passwd", Max: judge.MiB}, {Name: ".", Dir: true, Max: judge.MiB}}
		},
		check: func(t *testing.T, rep *sandbox.Report) {
			t.Helper()
			for _, f := range rep.Files {
				if len(f.Data) > 0 && !strings.HasPrefix(name, "hard") {
					t.Errorf("%d bytes of %q came out: %.40q", len(f.Data), f.Name, f.Data)
				}
				if f.Err != nil && strings.Contains(f.Err.Error(), "/") {
					t.Errorf("the reason %q names a path", f.Err)
				}
			}
			if cause == sandbox.CauseExit && rep.Exit != 0 {
				t.Fatalf("exit %d: %s", rep.Exit, rep.Stderr.Data)
			}
			if len(rep.Files) < 2 {
				t.Fatalf("collected %+v", rep.Files)
			}
			check(t, rep.Files[0])
		}}
}

func notRegular(t *testing.T, f sandbox.Collected) {
	t.Helper()
	if !errors.Is(f.Err, sandbox.ErrNotRegular) {
		t.Errorf("%s: %v, want not a regular file", f.Name, f.Err)
	}
}

func absentFile(t *testing.T, f sandbox.Collected) {
	t.Helper()
	if !errors.Is(f.Err, fs.ErrNotExist) {
		t.Errorf("%s: %v, want absent", f.Name, f.Err)
	}
}

func noFile(t *testing.T, f sandbox.Collected) {
	t.Helper()
	if !errors.Is(f.Err, sandbox.ErrNotRegular) && !errors.Is(f.Err, fs.ErrNotExist) {
		t.Errorf("%s: %v, want absent or not a regular file", f.Name, f.Err)
	}
}

// tooLarge checks that a file of many GiB was neither read nor stored.
func tooLarge(t *testing.T, f sandbox.Collected) {
	t.Helper()
	if !errors.Is(f.Err, sandbox.ErrTooLarge) {
		t.Errorf("%s: %d bytes, %v, want too large", f.Name, len(f.Data), f.Err)
	}
	small(t, f)
}

func small(t *testing.T, f sandbox.Collected) {
	t.Helper()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if m.HeapAlloc > 512<<20 {
		t.Errorf("the worker's memory is %d MiB", m.HeapAlloc>>20)
	}
}

var collectAttacks = []attack{
	collected("D36", "link to a host file", []string{"link", "out", "/etc/passwd"}, sandbox.CauseExit, notRegular),
	collected("D36", "link to the host's root by proc", []string{"link", "out", "/proc/1/root/etc/shadow"}, sandbox.CauseExit, notRegular),
	collected("D36", "link upwards", []string{"link", "out", "../../../../etc/shadow"}, sandbox.CauseExit, notRegular),
	collected("D36", "link to a device", []string{"link", "out", "/dev/zero"}, sandbox.CauseExit, notRegular),
	collected("D36", "link to itself", []string{"link", "out", "out"}, sandbox.CauseExit, notRegular),
	collected("D36", "link to a descriptor", []string{"link", "out", "/proc/self/fd/0"}, sandbox.CauseExit, notRegular),
	collected("D36", "directory that is a link", []string{"parent", "dir", "/etc"}, sandbox.CauseExit, absentFile),
	collected("D36", "fifo", []string{"fifo"}, sandbox.CauseExit, notRegular),
	collected("D36", "device", []string{"whiteout"}, sandbox.CauseExit, noFile),
	collected("D36", "socket", []string{"socket"}, sandbox.CauseExit, notRegular),
	collected("D36", "directory", []string{"dir"}, sandbox.CauseExit, notRegular),
	collected("D36", "hard link to a host file", []string{"hard", "out", "/etc/ld.so.cache"}, sandbox.CauseExit, absentFile),
	collected("D36", "file that turns into a link and back", []string{"swap"}, sandbox.CauseExit, func(t *testing.T, f sandbox.Collected) {
		t.Helper()
		if f.Err != nil {
			noFile(t, f)
		}
	}),
	collected("D38", "sparse file over the size of files", []string{"sparse"}, sandbox.CauseFileSize, small),
	withFileSize(judge.Bytes(1)<<40, collected("D38", "sparse file of 64 GiB", []string{"sparse"}, sandbox.CauseExit, tooLarge)),
	withFileSize(judge.Bytes(1)<<40, collected("D38", "allocated file of 64 GiB", []string{"allocate"}, sandbox.CauseExit, small)),
}

func withFileSize(size judge.Bytes, a attack) attack {
	before := a.change
	a.change = func(s *sandbox.Spec) {
		before(s)
		s.Box.FileSize = size
	}
	return a
}
