package sandbox_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"judgefarm/judge"
	"judgefarm/judge/sandbox"
	"judgefarm/judge/sandbox/sandboxtest"
)

// deedsDir holds the compiled testdata/deeds.c, or is empty with the reason in
// noDeeds. Both are set by TestMain before any test runs.
var deedsDir, noDeeds string

// slow widens bounds on time: 1, or what JUDGEFARM_TEST_SLOW says on a machine
// whose kernel is emulated.
var slow time.Duration = 1

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == orphanArg {
		orphan()
	}
	os.Exit(withDeeds(m.Run))
}

func withDeeds(run func() int) int {
	if n, err := strconv.Atoi(os.Getenv("JUDGEFARM_TEST_SLOW")); err == nil && n > 0 {
		slow = time.Duration(n)
	}
	if deedsDir = os.Getenv("JUDGEFARM_TEST_DEEDS"); deedsDir != "" { // compiled before
		return run()
	}
	dir, err := os.MkdirTemp("", "judgefarm-deeds")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	out, err := exec.Command("gcc", "-O1", "-static", "-pthread", "-w", "-o", filepath.Join(dir, "deeds"), "testdata/deeds.c").CombinedOutput()
	if err != nil {
		noDeeds = fmt.Sprintf("missing: gcc with a static libc: %v %s", err, out)
	}
	deedsDir = dir
	return run()
}

var bases atomic.Int64

// newSandbox makes a Sandbox whose users no other test has, and checks at the end
// that nothing of it is left.
func newSandbox(t testing.TB, cfg sandbox.Config) *sandbox.Sandbox {
	t.Helper()
	if cfg.UIDBase == 0 {
		cfg.UIDBase = 1<<20 + os.Getpid()%4096<<16 + int(bases.Add(64))
	}
	s, err := sandbox.New(cfg)
	if err != nil {
		if os.Geteuid() != 0 {
			t.Skipf("missing: root or a delegated cgroup: %v", err)
		}
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, groups := s.Traces()
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		for _, g := range groups {
			if _, err := os.Stat(g); err == nil {
				t.Errorf("cgroup %s is left after Close", g)
			}
		}
	})
	return s
}

// deed is a spec that runs one deed within the limits of attacks.md, but for time,
// of which a loaded or emulated machine charges more than was used.
func deed(t testing.TB, args ...string) sandbox.Spec {
	t.Helper()
	if noDeeds != "" {
		t.Skip(noDeeds)
	}
	return sandbox.Spec{
		Args:   append([]string{"/exe/deeds"}, args...),
		Env:    []string{sandboxtest.Path},
		Mounts: []sandbox.Mount{{Source: deedsDir, Target: sandbox.ExeDir}},
		Limits: judge.Limits{CPU: 10 * slow * time.Second, Wall: 60 * slow * time.Second, Memory: 256 * judge.MiB, Output: judge.MiB, Tasks: 64},
	}
}

// run runs a spec and checks that nothing of it is left and the next ordinary run
// is fine.
func run(t testing.TB, s *sandbox.Sandbox, spec sandbox.Spec) *sandbox.Report {
	t.Helper()
	began := time.Now()
	rep, err := s.Run(t.Context(), spec)
	if err != nil {
		t.Fatalf("run %q: %v", spec.Args, err)
	}
	if took := time.Since(began); took > spec.Limits.Wall+2*slow*time.Second {
		t.Errorf("the report came after %v", took)
	}
	untouched(t, s)
	next, err := s.Run(t.Context(), deed(t, "exit", "0"))
	if err != nil || next.Cause != sandbox.CauseExit || next.Exit != 0 {
		t.Errorf("next ordinary run: %+v, %v", next, err)
	}
	return rep
}

// untouched checks that no process of a box's user and no cgroup of a box exists.
// It is for tests in which no box runs at the same time.
func untouched(t testing.TB, s *sandbox.Sandbox) {
	t.Helper()
	for _, p := range leftProcesses(t, s) {
		t.Errorf("process of a box is left: %s", p)
	}
	_, groups := s.Traces()
	for _, g := range groups {
		entries, err := os.ReadDir(g)
		if err != nil {
			t.Errorf("cgroup of the worker: %v", err)
		}
		for _, e := range entries {
			if e.IsDir() {
				t.Errorf("cgroup %s/%s of a box is left", g, e.Name())
			}
		}
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(mounts, []byte(" - tmpfs work ")) || bytes.Contains(mounts, []byte(" - tmpfs root ")) {
		t.Errorf("a mount of a box is left:\n%s", mounts)
	}
}

// leftProcesses names the processes of the boxes' users.
func leftProcesses(t testing.TB, s *sandbox.Sandbox) []string {
	t.Helper()
	uids, _ := s.Traces()
	procs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, p := range procs {
		status, err := os.ReadFile(p + "/status")
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(status), "\nUid:\t")
		uid, err := strconv.Atoi(rest[:max(strings.IndexByte(rest, '\t'), 0)])
		if err == nil && uids[uid] {
			name, _, _ := strings.Cut(string(status), "\n")
			left = append(left, p+" "+name)
		}
	}
	return left
}

// want fails unless the run ended for the cause.
func want(t testing.TB, rep *sandbox.Report, cause sandbox.Cause) {
	t.Helper()
	if rep.Cause != cause {
		t.Fatalf("cause %q (exit %d, signal %d), want %q; CPU %v, wall %v, memory %d, stdout %.80q, stderr %.200q, evidence %+v",
			rep.Cause, rep.Exit, rep.Signal, cause, rep.CPU, rep.Wall, rep.Memory, rep.Stdout.Data, rep.Stderr.Data, rep.Evidence)
	}
}
