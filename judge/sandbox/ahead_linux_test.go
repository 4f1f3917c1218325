package sandbox_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"judgefarm/judge"
	"judgefarm/judge/sandbox"
	"judgefarm/judge/sandbox/sandboxtest"
)

// asRoot skips what needs slots with users of their own, by whose processes prepared
// boxes are told.
func asRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("missing: root")
	}
}

// boxProcesses are the processes of the boxes' users, each as its directory in /proc.
func boxProcesses(t *testing.T, s *sandbox.Sandbox) (procs []string) {
	t.Helper()
	for _, what := range leftOf(t, s) {
		if p, ok := strings.CutPrefix(what, "process "); ok {
			path, _, _ := strings.Cut(p, " ")
			procs = append(procs, path)
		}
	}
	return procs
}

// settled waits until there are so many processes of the boxes' users and returns them.
func settled(t *testing.T, s *sandbox.Sandbox, n int) []string {
	t.Helper()
	deadline := time.Now().Add(5 * slow * time.Second)
	for {
		procs := boxProcesses(t, s)
		if len(procs) == n {
			return procs
		}
		if time.Now().After(deadline) {
			t.Fatalf("processes of boxes' users are %q, want %d", procs, n)
		}
		runtime.Gosched() // there is no event
	}
}

// duringRun runs a program that waits and returns the processes that there are of the
// boxes' users then.
func duringRun(t *testing.T, s *sandbox.Sandbox, change func(*sandbox.Spec)) []string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	in, hold, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	spec := deed(t)
	spec.Args = []string{"/bin/sh", "-c", "echo; read x"}
	spec.Stdin, spec.Stdout.File = in, w
	if change != nil {
		change(&spec)
	}
	done := make(chan error, 1)
	go func() {
		rep, err := s.Run(t.Context(), spec)
		if err == nil && rep.Cause != sandbox.CauseExit {
			err = fmt.Errorf("cause %q", rep.Cause)
		}
		w.Close()
		done <- err
	}()
	_, rerr := r.Read(make([]byte, 1))
	procs := boxProcesses(t, s)
	hold.Close()
	if err := <-done; err != nil || rerr != nil {
		t.Fatalf("run: %v, %v", err, rerr)
	}
	return procs
}

func TestPreparedBoxServesOneRun(t *testing.T) {
	t.Parallel()
	asRoot(t)
	s := newSandbox(t, sandbox.Config{Slots: 1})
	for name, c := range map[string]struct {
		change func(*sandbox.Spec)
		used   bool
	}{
		"the same": {nil, true},
		"another executable": {func(spec *sandbox.Spec) {
			spec.Mounts = []sandbox.Mount{{Source: t.TempDir(), Target: sandbox.ExeDir}}
			if err := os.Chmod(spec.Mounts[0].Source, 0o755); err != nil {
				t.Error(err)
			}
		}, true},
		"another disk": {func(spec *sandbox.Spec) { spec.Box.Disk = judge.MiB }, false},
		"more inodes":  {func(spec *sandbox.Spec) { spec.Box.Inodes = 5000 }, false},
		"another root": {func(spec *sandbox.Spec) { spec.Root = "/" }, false},
		"other places": {func(spec *sandbox.Spec) { spec.Mounts[0].Target = "/elsewhere" }, false},
	} {
		for range 9 { // until this is the likeliest box, whatever was before
			runOnly(t, s, deed(t, "exit", "0"))
		}
		ready := settled(t, s, 1)[0]
		procs := duringRun(t, s, c.change)
		if len(procs) != 2 || slices.Contains(procs, ready) != c.used {
			t.Errorf("%s: %q was ready, the run's are %q; want it used: %v", name, ready, procs, c.used)
		}
		if next := settled(t, s, 1); next[0] == ready {
			t.Errorf("%s: %q stands ready again", name, ready)
		}
	}
}

func TestNoAhead(t *testing.T) {
	t.Parallel()
	asRoot(t)
	s := newSandbox(t, sandbox.Config{Slots: 1, NoAhead: true})
	want(t, run(t, s, deed(t, "exit", "0")), sandbox.CauseExit)
	settled(t, s, 0)
}

func TestPreparedBoxIsEnded(t *testing.T) {
	t.Parallel()
	asRoot(t)
	s := newSandbox(t, sandbox.Config{Slots: 2})
	s.SetAheadMax(time.Millisecond)
	want(t, run(t, s, deed(t, "exit", "0")), sandbox.CauseExit)
	settled(t, s, 0) // it waited too long
	s.SetAheadMax(time.Hour)
	for range 2 {
		if _, err := s.Run(t.Context(), deed(t, "exit", "0")); err != nil {
			t.Fatal(err)
		}
	}
	settled(t, s, 2)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if procs := boxProcesses(t, s); len(procs) > 0 {
		t.Errorf("after Close: %q", procs)
	}
}

// A prepared box that somebody killed is no reason for a run to fail.
func TestKilledPreparedBox(t *testing.T) {
	t.Parallel()
	asRoot(t)
	s := newSandbox(t, sandbox.Config{Slots: 1})
	path := settled(t, s, 1)[0]
	pid, err := strconv.Atoi(filepath.Base(path))
	if err != nil {
		t.Fatal(err)
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	settled(t, s, 0)
	want(t, run(t, s, deed(t, "exit", "0")), sandbox.CauseExit)
}

// What a prepared box keeps while it waits: its share of the memory of all processes.
func TestPreparedBoxIsSmall(t *testing.T) {
	t.Parallel()
	asRoot(t)
	s := newSandbox(t, sandbox.Config{Slots: 1})
	run(t, s, deed(t, "exit", "0"))
	want(t, run(t, s, deed(t, "exit", "0")), sandbox.CauseExit)
	if _, err := s.Run(t.Context(), deed(t, "exit", "0")); err != nil {
		t.Fatal(err)
	}
	path := settled(t, s, 1)[0]
	text, err := os.ReadFile(path + "/smaps_rollup")
	if err != nil {
		t.Skipf("missing: smaps_rollup in this kernel: %v", err)
	}
	kib := map[string]int{}
	for line := range bytes.Lines(text) {
		if f := strings.Fields(string(line)); len(f) == 3 && f[2] == "kB" {
			kib[strings.TrimSuffix(f[0], ":")], _ = strconv.Atoi(f[1])
		}
	}
	t.Logf("Rss %d KiB, Pss %d KiB, private %d KiB", kib["Rss"], kib["Pss"], kib["Private_Dirty"]+kib["Private_Clean"])
	if kib["Rss"] == 0 || kib["Rss"] >= 2048 {
		t.Errorf("a prepared box is %d KiB, want less than 2 MiB", kib["Rss"])
	}
}

// idleOrphan is a worker with boxes prepared and nothing to do.
func idleOrphan(s *sandbox.Sandbox) {
	for range 2 {
		if _, err := s.Run(context.Background(), sandbox.Spec{Args: []string{"/bin/true"}, Limits: sandboxtest.Limits()}); err != nil {
			fmt.Println("error:", err)
			os.Exit(2)
		}
	}
	fmt.Println("idle")
	select {}
}

func TestKilledIdleWorker(t *testing.T) {
	t.Parallel()
	asRoot(t)
	base := freshBase()
	cmd := exec.Command("/proc/self/exe", orphanArg, strconv.Itoa(base), "idle")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "idle" {
		if strings.HasPrefix(lines.Text(), "error:") {
			t.Fatal(lines.Text())
		}
	}
	s := newSandbox(t, sandbox.Config{Slots: 1, UIDBase: base, NoAhead: true})
	settled(t, s, 1) // the other's, whose users we share
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	settled(t, s, 0)
}
