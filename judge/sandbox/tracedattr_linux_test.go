package sandbox_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"judgefarm/judge/sandbox"
)

// Programs that copy files with their modes can: they take the level for a file system
// without access lists, and set modes as of old.
func TestTracedCopies(t *testing.T) {
	t.Parallel()
	s := newTraced(t, 1)
	spec := deed(t)
	spec.Args = []string{"/bin/sh", "-c", "echo x >a && chmod 640 a && touch -d @1000 a && cp -p a b && cp -a a c && install -m 640 a d && stat -c '%a %Y' b c && stat -c %a d"}
	rep := runTraced(t, s, spec)
	want(t, rep, sandbox.CauseExit)
	if got := string(rep.Stdout.Data); rep.Exit != 0 || got != "640 1000\n640 1000\n640\n" {
		t.Errorf("got %q, %q", got, rep.Stderr.Data)
	}
}

// What the tracer does for a program it does to what the program means: its own
// descriptors and directory where it says self, and a link itself where it says so.
func TestTracedLinks(t *testing.T) {
	t.Parallel()
	s := newTraced(t, 1)
	spec := deed(t, "links")
	rep := runTraced(t, s, spec)
	want(t, rep, sandbox.CauseExit)
	if len(rep.Stderr.Data) != 0 {
		t.Errorf("it could not:\n%s", rep.Stderr.Data)
	}
	// Our own directory is no way for it, and what is there and what is not look alike.
	for proc, errno := range map[string]syscall.Errno{
		"/proc/self": syscall.ENOENT, "/proc/thread-self": syscall.ENOENT, fmt.Sprintf("/proc/%d", os.Getpid()): syscall.EACCES,
	} {
		names := []string{"cwd/tracedattr_linux_test.go", "cwd/none"}
		if errno == syscall.EACCES {
			names = append(names, "fd/1", "fd/10000", "task/1/fd/1", "map_files/1-2")
		}
		for _, name := range names {
			rep := runTraced(t, s, deed(t, "answers", proc, name))
			if got, same := string(rep.Stdout.Data), strings.Repeat(fmt.Sprintf("%d ", errno), 3); !strings.HasPrefix(got, same) {
				t.Errorf("%s %s: errors %q, want %q", proc, name, got, same)
			}
		}
	}
}

// Archives are unpacked with the modes that are in them.
func TestTracedArchives(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("tar"); err != nil {
		t.Skipf("missing: %v", err)
	}
	s := newTraced(t, 1)
	spec := deed(t)
	spec.Args = []string{"/bin/sh", "-c", "mkdir d && echo x >d/f && ln -s f d/l && chmod 640 d/f && chmod 750 d && tar cf t d && rm -r d && tar xpf t && stat -c %a d d/f && readlink d/l"}
	rep := runTraced(t, s, spec)
	want(t, rep, sandbox.CauseExit)
	if got := string(rep.Stdout.Data); got != "750\n640\nf\n" {
		t.Errorf("got %q, %q", got, rep.Stderr.Data)
	}
}
