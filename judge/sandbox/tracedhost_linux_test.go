package sandbox_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"judgefarm/judge/sandbox"
)

// What the tracer does for a program is answered as the program's own user would be: it
// does not tell which names there are where that user may not look.
func TestTracedAnswers(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("missing: root, who may look where programs may not")
	}
	s := newTraced(t, 1)
	for _, mode := range []os.FileMode{0o700, 0o710, 0o750} {
		dir, err := os.MkdirTemp("/var/tmp", "judgefarm-private") // below /tmp it would be the run's own
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "there"), nil, 0o666); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"there", "none"} {
			rep := runTraced(t, s, deed(t, "answers", dir, name))
			want(t, rep, sandbox.CauseExit)
			if got, denied := string(rep.Stdout.Data), strings.Repeat(fmt.Sprintf("%d ", syscall.EACCES), 7); got != denied {
				t.Errorf("%v %s: errors %q, want %q", mode, name, got, denied)
			}
		}
	}
	// The thread that traced is its own user again.
	if rep := runTraced(t, s, deed(t, "inside")); len(rep.Stderr.Data) != 0 {
		t.Errorf("%q", rep.Stderr.Data)
	}
}

// Of /proc a program sees what runtimes ask for, of its own process and the machine.
func TestTracedProc(t *testing.T) {
	t.Parallel()
	s := newTraced(t, 1)
	const script = `for f do
	if { read x < "$f"; } 2>/dev/null || [ -n "$(cat "$f" 2>/dev/null; [ -d "$f" ] && ls "$f" 2>/dev/null)" ]; then echo "$f"; fi
done`
	all, err := filepath.Glob("/proc/*")
	if err != nil {
		t.Fatal(err)
	}
	wanted := map[string]bool{"/proc/self": true, "/proc/thread-self": true}
	for name := range strings.FieldsSeq("cpuinfo meminfo stat uptime loadavg version filesystems cgroups mounts") {
		wanted["/proc/"+name] = true
	}
	run := func(files []string) string {
		spec := deed(t)
		spec.Args = append([]string{"/bin/sh", "-c", script, "sh"}, files...)
		rep := runTraced(t, s, spec)
		want(t, rep, sandbox.CauseExit)
		return string(rep.Stdout.Data)
	}
	hidden := []string{"/proc", "/proc/self/net/tcp", "/proc/self/net/unix", "/proc/thread-self/net/unix", "/proc/self/pagemap", "/proc/pressure/cpu", "/proc/sys/kernel/hostname", "/proc/1/status"}
	for _, f := range all {
		// A number may be the program's own by now.
		if _, err := strconv.Atoi(filepath.Base(f)); err != nil && !wanted[f] {
			hidden = append(hidden, f)
		}
	}
	for _, f := range []string{"cmdline", "status", "stat", "schedstat", "net/tcp", "cgroup", "task"} {
		hidden = append(hidden, fmt.Sprintf("/proc/%d/%s", os.Getpid(), f))
	}
	if got := run(hidden); got != "" {
		t.Errorf("a program reads:\n%s", got)
	}
	shown := []string{
		"/proc/self/status", "/proc/self/maps", "/proc/self/stat", "/proc/self/cgroup", "/proc/self/mountinfo",
		"/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/version", "/proc/uptime", "/proc/sys/vm/overcommit_memory",
	}
	if got := run(shown); got != strings.Join(shown, "\n")+"\n" {
		t.Errorf("a program reads only:\n%s", got)
	}
	spec := deed(t)
	spec.Args = []string{"/bin/ls", "/proc/self/fd", "/proc/self/task"}
	if rep := runTraced(t, s, spec); rep.Exit != 0 || len(rep.Stderr.Data) != 0 {
		t.Errorf("a program lists %q, %q", rep.Stdout.Data, rep.Stderr.Data)
	}
}
