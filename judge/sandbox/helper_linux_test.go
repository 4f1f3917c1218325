package sandbox_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"judgefarm/judge"
	"judgefarm/judge/sandbox"
	"judgefarm/judge/sandbox/sandboxtest"
)

// deedsDir holds the compiled programs of testdata, or is empty with the reason in
// noDeeds. Both are set by TestMain before any test runs.
var deedsDir, noDeeds string

// slow widens bounds on time: 1, or what JUDGEFARM_TEST_SLOW says on a machine
// whose kernel is emulated.
var slow time.Duration = 1

// fewer is how often a test does what takes seconds on an emulated machine: a third of
// n there.
func fewer(n int) int {
	if slow > 1 {
		return (n + 2) / 3
	}
	return n
}

// level is the isolation level of the tests: full, or what JUDGEFARM_TEST_ISOLATION
// says. levelExceptions lists what a lower one does otherwise.
var level = sandbox.Isolation(os.Getenv("JUDGEFARM_TEST_ISOLATION"))

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == orphanArg {
		orphan()
	}
	if len(os.Args) > 1 && os.Args[1] == tracedOrphanArg {
		tracedOrphan()
	}
	if len(os.Args) > 1 && os.Args[1] == tracedFewArg {
		tracedFew()
	}
	if len(os.Args) > 1 && os.Args[1] == ordinaryArg {
		ordinary()
	}
	if len(os.Args) > 1 && os.Args[1] == capableArg {
		capable()
	}
	if len(os.Args) > 1 && os.Args[1] == podArg {
		podReport()
	}
	if len(os.Args) > 2 && os.Args[1] == layoutArg {
		layout(m.Run)
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
	for _, name := range []string{"deeds", "exact"} {
		out, err := exec.Command("gcc", "-O1", "-static", "-pthread", "-w", "-o", filepath.Join(dir, name), "testdata/"+name+".c").CombinedOutput()
		if err != nil {
			noDeeds = fmt.Sprintf("missing: gcc with a static libc: %v %s", err, out)
		}
	}
	deedsDir = dir
	return run()
}

var bases atomic.Int64

// freshBase is a UIDBase that no other test has.
func freshBase() int { return 1<<20 + os.Getpid()%4096<<16 + int(bases.Add(64)) }

// newSandbox makes a Sandbox whose users no other test has, and checks at the end
// that nothing of it is left.
func newSandbox(t testing.TB, cfg sandbox.Config) *sandbox.Sandbox {
	t.Helper()
	if cfg.UIDBase == 0 {
		cfg.UIDBase = freshBase()
	}
	if cfg.Isolation == "" {
		cfg.Isolation = level
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
	rep := runOnly(t, s, spec)
	untouched(t, s)
	next, err := s.Run(t.Context(), deed(t, "exit", "0"))
	if err != nil || next.Cause != sandbox.CauseExit || next.Exit != 0 {
		t.Errorf("next ordinary run: %+v, %v", next, err)
	}
	return rep
}

// runOnly runs a spec and checks that its report comes in time and is complete.
func runOnly(t testing.TB, s *sandbox.Sandbox, spec sandbox.Spec) *sandbox.Report {
	t.Helper()
	began := time.Now()
	rep, err := s.Run(t.Context(), spec)
	if err != nil {
		t.Fatalf("run %q: %v", spec.Args, err)
	}
	if took := time.Since(began); took > spec.Limits.Wall+2*slow*time.Second {
		t.Errorf("the report came after %v", took)
	}
	// An emulated machine counts CPU time in ticks of 10 ms.
	if rep.CPU < 0 || rep.CPU == 0 && slow == 1 || rep.Wall <= 0 || rep.Memory <= 0 || rep.Cause == sandbox.CauseExit && rep.Exit < 0 ||
		rep.Cause == sandbox.CauseSignal && rep.Signal == 0 {
		t.Errorf("the report says too little: %+v", rep)
	}
	return rep
}

// untouched checks that nothing is left of the boxes' users and no cgroup or mount of
// a box exists, once the boxes that stood ready for the next runs are ended: no run was
// in those. It is for tests in which no box runs at the same time.
func untouched(t testing.TB, s *sandbox.Sandbox) {
	t.Helper()
	s.DropAhead()
	for _, what := range leftOf(t, s) {
		t.Errorf("left of a box: %s", what)
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

// leftOf names what the boxes' users have left.
func leftOf(t testing.TB, s *sandbox.Sandbox) []string {
	t.Helper()
	uids, _ := s.Traces()
	left, err := sandboxtest.Left(uids)
	if err != nil {
		t.Fatal(err)
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
