package sandbox_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"judgefarm/internal/daemon"
	"judgefarm/judge/sandbox"
)

// shell returns a function that runs a script in a box of its own and gives back
// what it printed on both streams.
func shell(t *testing.T, s *sandbox.Sandbox) func(script string) string {
	return func(script string) string {
		t.Helper()
		spec := deed(t)
		spec.Args = []string{"/bin/sh", "-c", script}
		spec.Env = append(spec.Env, "HOME=/work") // as every language has it
		spec.Stderr.Merge = true
		rep := run(t, s, spec)
		want(t, rep, sandbox.CauseExit)
		return string(rep.Stdout.Data)
	}
}

// hiddenPaths are where a program may look for the host's secrets, for answers and
// for other submissions (D27, D28).
func hiddenPaths(t *testing.T) []string {
	t.Helper()
	paths := []string{
		"/etc/shadow", "/etc/gshadow", "/etc/machine-id", "/etc/ssh", "/etc/ssl/private", "/etc/sudoers", "/etc/resolv.conf", "/etc/hostname",
		"/root", "/home", "/boot", "/sys", "/run", "/opt", "/srv", "/mnt", "/media", "/var", "/var/log", "/var/lib", "/var/tmp", "/var/spool",
		"/var/cache", "/var/lib/judgefarm", "/var/run/docker.sock", "/run/docker.sock", "/etc/judgefarm",
		"/judge", "/judge/answer", "/judge/input", "/data", "/data/secret", "/problem", "/problems", "/testcases", "/tests", "/answers",
		"/submissions", "/judgements", "/feedback", "/cache", "/blobs", "/sha256",
		"/work/answer", "/work/data", "/work/problem.yaml", "/work/../answer", "/work/feedback", "/exe/answer", "/exe/../data", "/tmp/judgefarm",
		"/proc/1/root/etc/shadow", "/proc/1/cwd/etc", "/dev/sda", "/dev/mem", "/dev/kmsg", "/dev/tty",
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	// What is really there on this host, so that the question is not an idle one.
	there := []string{here, filepath.Join(here, "testdata"), deedsDir, t.TempDir()}
	for _, p := range append(there, "/etc/passwd") {
		if _, err := os.Lstat(p); err != nil {
			t.Fatalf("the host lacks what is to be hidden: %v", err)
		}
	}
	return append(paths, there...)
}

func TestHiddenPaths(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, sandbox.Config{Slots: 1})
	sh := shell(t, s)
	var script strings.Builder
	for _, p := range hiddenPaths(t) {
		fmt.Fprintf(&script, "if [ -e '%s' ] || [ -L '%s' ]; then echo '%s'; fi\n", p, p, p)
	}
	if got := sh(script.String() + "[ -e /bin/sh ] && echo asked"); got != "asked\n" {
		t.Errorf("a program sees of the host:\n%s", got)
	}
	script.Reset()
	for _, f := range []string{"environ", "mem", "maps", "fd", "root", "cwd"} { // of the box's first process, which is ours
		fmt.Fprintf(&script, "cat /proc/1/%s; ls -A /proc/1/%s/; ", f, f)
	}
	if got := sh("(" + script.String() + ") 2>/dev/null; head -c1 /proc/1/stat; cat /proc/1/environ"); got != "1cat: /proc/1/environ: Permission denied\n" {
		t.Errorf("a program reads of the box's first process: %q", got)
	}
}

// D26 and D28: the environment is what the spec states, the files are made for boxes.
func TestMadeFiles(t *testing.T) {
	t.Parallel()
	sh := shell(t, newSandbox(t, sandbox.Config{Slots: 1}))
	passwd := "root:x:0:0:root:/:/usr/sbin/nologin\nbox:x:1000:1000:box:/work:/bin/sh\nnobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n"
	if got := sh("cat /etc/passwd"); got != passwd {
		t.Errorf("/etc/passwd is %q", got)
	}
	if got := sh("cat /etc/group"); got != "root:x:0:\nbox:x:1000:\nnogroup:x:65534:\n" {
		t.Errorf("/etc/group is %q", got)
	}
	if got := sh("cat /etc/hosts"); got != "127.0.0.1 localhost box\n::1 localhost box\n" {
		t.Errorf("/etc/hosts is %q", got)
	}
	if got := sh("env | sort"); got != "HOME=/work\nPATH=/usr/bin:/bin\nPWD=/work\n" {
		t.Errorf("environment %q", got)
	}
	if got := sh("id -u; id -g; hostname; pwd; umask; ls /proc/self/fd | wc -l"); got != "1000\n1000\nbox\n/work\n0022\n4\n" {
		t.Errorf("identity %q", got)
	}
	if got := sh("cat /proc/self/cgroup"); strings.Contains(got, "judgefarm") {
		t.Errorf("cgroup names of the host:\n%s", got)
	}
	if got := sh("cat /proc/cmdline /proc/interrupts /proc/softirqs /proc/diskstats /proc/vmstat /proc/zoneinfo /proc/locks 2>/dev/null; true"); got != "" {
		t.Errorf("of the host: %.200q", got)
	}
	if got := sh("grep -c . /proc/net/dev"); got != "3\n" {
		t.Errorf("network devices and two lines of heading: %q", got)
	}
}

// D29: what a run leaves in the places that are its own, the next one does not see;
// other places are not there or cannot be written.
func TestNothingIsLeftForTheNext(t *testing.T) {
	t.Parallel()
	sh := shell(t, newSandbox(t, sandbox.Config{Slots: 1})) // one slot: the same user
	if got := sh("for d in /work /tmp /dev/shm $HOME; do echo x > $d/left && mkdir $d/.left2 && echo $d; rm -rf $d/.left2; done"); got != "/work\n/tmp\n/dev/shm\n/work\n" {
		t.Errorf("writable places: %q", got)
	}
	if got := sh("ls -A /work /tmp /dev/shm $HOME ~box"); got != "/dev/shm:\n\n/tmp:\n\n/work:\n\n/work:\n\n/work:\n" {
		t.Errorf("the next run sees %q", got)
	}
	if got := sh("for d in / /etc /usr /usr/tmp /var /var/tmp /var/lock /run /run/lock /dev /dev/mqueue /exe /proc/sys; do mkdir -p $d 2>/dev/null; if touch $d/x 2>/dev/null; then echo $d; fi; done; echo asked"); got != "asked\n" {
		t.Errorf("it can write to %q", got)
	}
}

// D03: threads run on several cores, and the CPU of all counts: the run ends before
// a second of wall time. Other work on the host can stretch it, so then it must have
// been the other work that kept the cores busy. In a guest even that cannot be seen,
// so it is tried again: what holds every time is the mechanism.
func TestThreadsEndBeforeASecondOfWall(t *testing.T) {
	t.Parallel()
	if cores, err := daemon.Cores(); err != nil || cores < 2 {
		t.Skipf("missing: a second core (%d, %v)", cores, err)
	}
	s := newSandbox(t, sandbox.Config{Slots: 1})
	spec := deed(t, "threads")
	spec.Limits.CPU = time.Second
	for range 5 {
		before := hostBusy(t)
		rep, err := s.Run(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		busy := hostBusy(t) - before
		want(t, rep, sandbox.CauseCPU)
		over(t, rep)
		if rep.Wall < rep.CPU || busy >= rep.Wall*3/2 {
			return
		}
		t.Logf("%v of CPU in %v of wall time, while the host used %v of CPU", rep.CPU, rep.Wall, busy)
	}
	t.Error("on one core only")
}

// hostBusy is the CPU time that everything on the host has used, in steps of 10 ms.
func hostBusy(t *testing.T) time.Duration {
	t.Helper()
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := bytes.Cut(stat, []byte("\n"))
	var ticks int
	for i, f := range strings.Fields(string(line))[1:] { // proc_stat(5): idle and iowait are the fourth and fifth
		n, err := strconv.Atoi(f)
		if err != nil {
			t.Fatal(err)
		}
		if i < 8 && i != 3 && i != 4 {
			ticks += n
		}
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}
