package sandbox_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"judgefarm/judge/sandbox"
)

// silent checks that nothing was gained: the deed prints what was.
func silent(t *testing.T, rep *sandbox.Report) {
	t.Helper()
	if out := string(rep.Stdout.Data) + string(rep.Stderr.Data); out != "" || rep.Exit != 0 {
		t.Errorf("exit %d, not refused:\n%s", rep.Exit, out)
	}
}

// nobody is what whoami prints of a process without any privilege.
const nobody = "Uid:\t1000\t1000\t1000\t1000\nGid:\t1000\t1000\t1000\t1000\n" +
	"CapInh:\t0000000000000000\nCapPrm:\t0000000000000000\nCapEff:\t0000000000000000\nCapBnd:\t0000000000000000\nCapAmb:\t0000000000000000\n" +
	"NoNewPrivs:\t1\n"

var privilegeAttacks = []attack{
	{id: "D32", name: "asks for other ids and capabilities", args: []string{"gain"}, cause: sandbox.CauseExit,
		check: func(t *testing.T, rep *sandbox.Report) {
			if string(rep.Stdout.Data) != nobody {
				t.Errorf("gained:\n%s", rep.Stdout.Data)
			}
		}},
	{id: "D34", name: "reaches for its parent and neighbours", args: []string{"reach"}, cause: sandbox.CauseExit, check: silent},
	{id: "D35", name: "devices, kernel settings, ports", args: []string{"devices"}, cause: sandbox.CauseExit, check: silent},
	{id: "D35", name: "reboots", args: []string{"ending", "0"}, cause: sandbox.CauseSyscall, signal: syscall.SIGSYS},
	{id: "D35", name: "loads a module", args: []string{"ending", "1"}, cause: sandbox.CauseSyscall, signal: syscall.SIGSYS},
	{id: "D35", name: "loads a module from a file", args: []string{"ending", "2"}, cause: sandbox.CauseSyscall, signal: syscall.SIGSYS},
	{id: "D35", name: "unloads a module", args: []string{"ending", "3"}, cause: sandbox.CauseSyscall, signal: syscall.SIGSYS},
	{id: "D35", name: "loads a kernel", args: []string{"ending", "4"}, cause: sandbox.CauseSyscall, signal: syscall.SIGSYS},
	{id: "D35", name: "swaps on", args: []string{"ending", "5"}, cause: sandbox.CauseSyscall, signal: syscall.SIGSYS},
	{id: "D35", name: "swaps off", args: []string{"ending", "6"}, cause: sandbox.CauseSyscall, signal: syscall.SIGSYS},
}

// D32: programs with a setuid bit or file capabilities gain nothing, neither the
// host's own nor such as are mounted into the box.
func TestSetuidPrograms(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, sandbox.Config{Slots: 1})
	dir := t.TempDir()
	program, err := os.ReadFile(filepath.Join(deedsDir, "deeds"))
	if err != nil {
		t.Fatal(err)
	}
	spec := deed(t, "gain")
	for name, mode := range map[string]uint32{"setuid": 0o4755, "setgid": 0o2755, "capable": 0o755} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(path, program, 0o755), unix.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
		spec.Args = append(spec.Args, "/data/"+name)
	}
	// cap_setuid, cap_sys_admin and the rest, effective; a VFS capability of version 2.
	all := "\x01\x00\x00\x02" + strings.Repeat("\xff\xff\xff\x3f\x00\x00\x00\x00", 2)
	if err := unix.Setxattr(filepath.Join(dir, "capable"), "security.capability", []byte(all), 0); err != nil && os.Geteuid() == 0 && slow == 1 {
		t.Errorf("set file capabilities: %v", err)
	}
	spec.Mounts = append(spec.Mounts, sandbox.Mount{Source: dir, Target: "/data"})
	rep := run(t, s, spec)
	want(t, rep, sandbox.CauseExit)
	if got := string(rep.Stdout.Data); got != strings.Repeat(nobody, 4) {
		t.Errorf("gained:\n%s%s", got, rep.Stderr.Data)
	}
	sh := shell(t, s)
	if got := sh("find / -xdev -perm /6000 -type f 2>/dev/null | wc -l; for p in su passwd mount newgrp; do timeout 5 $p </dev/null >/dev/null 2>&1; done; su -c id root </dev/null >/dev/null 2>&1 && echo root; id -u"); !strings.HasSuffix(got, "\n1000\n") || strings.Contains(got, "root") {
		t.Errorf("setuid programs of the host: %q", got)
	}
}

// D32: the program is nobody outside of the box too: its slot's user, without
// capabilities, groups or the right to gain any, and in a session of its own.
func TestNobodyOutside(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, sandbox.Config{Slots: 1})
	uids, _ := s.Traces()
	if len(uids) == 0 {
		uids = map[int]bool{os.Getuid(): true}
	}
	said, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	in, release, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	spec := deed(t)
	spec.Args = []string{"/bin/sh", "-c", "echo runs; read x"}
	spec.Stdout.File, spec.Stdin = out, in
	done := make(chan error, 1)
	go func() {
		_, err := s.Run(t.Context(), spec)
		done <- err
	}()
	if line, err := bufio.NewReader(said).ReadString('\n'); line != "runs\n" {
		t.Fatalf("%q, %v", line, err)
	}
	found := 0
	procs, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range procs {
		status, _ := os.ReadFile(p + "/status")
		if !strings.Contains(string(status), "Seccomp:\t2\n") || !strings.Contains(string(status), "Name:\tsh\n") {
			continue
		}
		f := fieldsOf(string(status))
		if uid, err := strconv.Atoi(strings.Fields(f["Uid"])[0]); err != nil || !uids[uid] {
			continue
		}
		found++
		one := strings.Fields(f["Uid"])[0]
		if f["Uid"] != strings.Join([]string{one, one, one, one}, "\t") || len(strings.Fields(f["Groups"])) > 0 && os.Geteuid() == 0 {
			t.Errorf("users %q, groups %q", f["Uid"], f["Groups"])
		}
		for _, set := range []string{"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"} {
			if f[set] != "0000000000000000" {
				t.Errorf("%s %s", set, f[set])
			}
		}
		if f["NoNewPrivs"] != "1" || f["NSsid"] == "" || strings.Fields(f["NSsid"])[len(strings.Fields(f["NSsid"]))-1] == "0" {
			t.Errorf("no new privileges %q, session %q", f["NoNewPrivs"], f["NSsid"])
		}
	}
	if found != 1 {
		t.Errorf("%d processes of the box are seen, want 1", found)
	}
	if err := errors.Join(release.Close(), <-done, in.Close(), out.Close()); err != nil {
		t.Fatal(err)
	}
	untouched(t, s)
}

// fieldsOf reads /proc/PID/status.
func fieldsOf(status string) map[string]string {
	f := map[string]string{}
	for line := range strings.Lines(status) {
		name, value, _ := strings.Cut(line, ":")
		f[name] = strings.TrimSpace(value)
	}
	return f
}

// D34: a box in another slot at the same time is as hidden as the host.
func TestNeighboursAreHidden(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, sandbox.Config{Slots: 2})
	said, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	in, release, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	victim := deed(t)
	// A file, a fifo, a shared memory object and a name in the abstract space of sockets.
	victim.Args = []string{"/bin/sh", "-c", "echo secret >/work/mine; echo secret >/dev/shm/mine; mkfifo /tmp/mine; echo runs; read x; cat /work/mine"}
	victim.Stdout.File, victim.Stdin = out, in
	done := make(chan *sandbox.Report, 1)
	go func() {
		rep, err := s.Run(t.Context(), victim)
		if err != nil {
			t.Error(err)
		}
		done <- rep
	}()
	if line, err := bufio.NewReader(said).ReadString('\n'); line != "runs\n" {
		t.Fatalf("%q, %v", line, err)
	}
	for range fewer(3) {
		rep := runOnly(t, s, deed(t, "reach"))
		want(t, rep, sandbox.CauseExit)
		silent(t, rep)
	}
	look := deed(t)
	look.Args = []string{"/bin/sh", "-c", "ls -A /work /tmp /dev/shm; ls -d /proc/[0-9]*; cat /proc/sysvipc/* | wc -l; cat /proc/net/unix | wc -l; cat /proc/loadavg | cut -d/ -f2 | cut -d' ' -f2"}
	rep := runOnly(t, s, look)
	want(t, rep, sandbox.CauseExit)
	lines := strings.Split(strings.TrimSpace(string(rep.Stdout.Data)), "\n")
	if got := strings.Join(lines[:min(len(lines), 5)], "|"); got != "/dev/shm:||/tmp:||/work:" {
		t.Errorf("it sees files: %q", rep.Stdout.Data)
	}
	for _, l := range lines {
		if pid, err := strconv.Atoi(strings.TrimPrefix(l, "/proc/")); err == nil && strings.HasPrefix(l, "/proc/") && pid > 4 {
			t.Errorf("it sees process %d", pid)
		}
	}
	if err := release.Close(); err != nil {
		t.Fatal(err)
	}
	if rep := <-done; rep == nil || rep.Cause != sandbox.CauseExit || rep.Exit != 0 {
		t.Errorf("the neighbour: %+v", rep)
	}
	if err := errors.Join(in.Close(), out.Close()); err != nil {
		t.Fatal(fmt.Errorf("close: %w", err))
	}
	untouched(t, s)
}
