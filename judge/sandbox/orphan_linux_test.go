package sandbox_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

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
	s, err := sandbox.New(sandbox.Config{Slots: 1, UIDBase: base})
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(2)
	}
	_, groups := s.Traces()
	fmt.Println(strings.Join(groups, " "))
	_, err = s.Run(context.Background(), sandbox.Spec{
		Args: []string{"/bin/sh", "-c", "(setsid sleep 600 &) ; echo runs; exec sleep 600"}, Env: []string{sandboxtest.Path},
		Limits: sandboxtest.Limits(), Stdout: sandbox.Stream{File: os.Stdout},
	})
	fmt.Println("error: ended", err)
	os.Exit(3)
}

// A worker that is killed in the middle leaves no process, and its groups go with
// the next start.
func TestKilledWorker(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("missing: root")
	}
	base := 1<<20 + os.Getpid()%4096<<16 + int(bases.Add(64))
	cmd := exec.Command("/proc/self/exe", orphanArg, strconv.Itoa(base))
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
	if len(groups) == 0 {
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
	deadline := time.Now().Add(2 * slow * time.Second)
	for len(leftProcesses(t, s)) > 0 && time.Now().Before(deadline) {
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
