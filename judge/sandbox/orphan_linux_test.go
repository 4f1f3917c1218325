package sandbox_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"judgefarm/judge/sandbox"
	"judgefarm/judge/sandbox/sandboxtest"
)

// orphanArg makes this test binary a worker that is to be killed.
const orphanArg = "judgefarm-test-orphan"

// orphan runs an endless program in a box and never returns by itself.
func orphan() {
	base, err := strconv.Atoi(os.Args[2])
	if err != nil {
		os.Exit(2)
	}
	s, err := sandbox.New(sandbox.Config{Isolation: level, Slots: 1, UIDBase: base})
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(2)
	}
	_, groups := s.Traces()
	fmt.Println(strings.Join(groups, " "))
	spec := sandbox.Spec{
		Args: []string{"/bin/sh", "-c", "(setsid sleep 600 &) ; echo runs; exec sleep 600"}, Env: []string{sandboxtest.Path},
		Limits: sandboxtest.Limits(), Stdout: sandbox.Stream{File: os.Stdout},
	}
	switch os.Args[3] {
	case "idle":
		idleOrphan(s)
	case "strict": // in which there is one process
		r, w, err := os.Pipe()
		if err != nil {
			os.Exit(2)
		}
		fmt.Fprintln(w, "runs")
		spec.Args, spec.Stdin, spec.Limits.Ptrace = []string{"/bin/cat"}, r, true
	}
	_, err = s.Run(context.Background(), spec)
	fmt.Println("error: ended", err)
	os.Exit(3)
}

// A worker that is killed in the middle leaves no process, and its groups go with
// the next start.
func TestKilledWorker(t *testing.T) {
	t.Parallel()
	killWorker(t, "plain")
}

func TestStrictKilledWorker(t *testing.T) {
	t.Parallel()
	strictSandbox(t, 1) // or skips
	killWorker(t, "strict")
}

func killWorker(t *testing.T, mode string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("missing: root")
	}
	base := freshBase()
	cmd := exec.Command("/proc/self/exe", orphanArg, strconv.Itoa(base), mode)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	var groups []string
	for lines.Scan() && lines.Text() != "runs" {
		if strings.HasPrefix(lines.Text(), "error:") {
			t.Fatal(lines.Text())
		}
		groups = strings.Fields(lines.Text())
	}
	if len(groups) == 0 && level != sandbox.Userns {
		t.Fatal("the worker said nothing")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	// The pipe ends when the last process that holds it is dead: the worker, its
	// nursery, the box.
	dead := make(chan struct{})
	go func() {
		for lines.Scan() {
		}
		close(dead)
	}()
	select {
	case <-dead:
	case <-time.After(10 * slow * time.Second):
		t.Fatal("processes of the killed worker live on")
	}
	cmd.Wait()

	s := newSandbox(t, sandbox.Config{Slots: 1, UIDBase: base})
	for _, g := range groups {
		if _, err := os.Stat(g); err == nil {
			t.Errorf("cgroup %s of the dead worker is left", g)
		}
	}
	// The pipe was closed a moment before the last process was gone, and for that
	// there is no event.
	s.DropAhead()
	deadline := time.Now().Add(2 * slow * time.Second)
	for len(leftOf(t, s)) > 0 && time.Now().Before(deadline) {
		runtime.Gosched()
	}
	untouched(t, s)
}

// The living keep theirs.
func TestJanitorSparesTheLiving(t *testing.T) {
	t.Parallel()
	a := newSandbox(t, sandbox.Config{Slots: 1})
	newSandbox(t, sandbox.Config{Slots: 1})
	_, groups := a.Traces()
	for _, g := range groups {
		if _, err := os.Stat(g); err != nil {
			t.Errorf("the group of a living worker: %v", err)
		}
	}
	run(t, a, deed(t, "exit", "0"))
}

// lockedDir makes a group as a worker does. Other tests' workers sweep, so it may be gone
// before it is locked.
func lockedDir(t *testing.T, parent string) (string, *os.File) {
	t.Helper()
	for {
		dir := filepath.Join(parent, fmt.Sprintf("judgefarm-%d-%012x", os.Getpid(), bases.Add(1)))
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(dir)
		if err != nil {
			continue
		}
		t.Cleanup(func() { f.Close(); os.Remove(dir) })
		if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
			continue
		}
		if _, err := os.Stat(dir); err == nil {
			return dir, f
		}
	}
}

// A worker that is still dying when the next one starts holds its lock a little longer;
// its group goes too.
func TestJanitorLooksAgain(t *testing.T) {
	t.Parallel()
	a := newSandbox(t, sandbox.Config{Slots: 1})
	_, groups := a.Traces()
	if len(groups) == 0 {
		t.Fatal("no group")
	}
	dir, dying := lockedDir(t, filepath.Dir(groups[0]))
	newSandbox(t, sandbox.Config{Slots: 1})
	if _, err := os.Stat(dir); err != nil {
		t.Fatalf("the group of a worker that holds its lock: %v", err)
	}
	if err := dying.Close(); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(20 * slow * time.Second)
	for _, err := os.Stat(dir); err == nil; _, err = os.Stat(dir) {
		if time.Now().After(deadline) {
			t.Fatalf("%s is left", dir)
		}
		run(t, a, deed(t, "exit", "0"))
	}
}
