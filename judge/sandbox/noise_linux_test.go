package sandbox_test

import (
	"os"
	"testing"
	"time"

	"judgefarm/judge/sandbox"
)

// counted reports whether this kernel counts run-queue delay.
func counted(t testing.TB) bool {
	t.Helper()
	_, err := os.Stat("/proc/self/schedstat")
	return err == nil
}

// Two that need a core each and have one between them disturb each other.
func TestNoise(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, sandbox.Config{Slots: 1})
	spec := exact(t, "rivals", "200")
	spec.Box.CPUs = ownCores(t)[:1]
	rep := run(t, s, spec)
	want(t, rep, sandbox.CauseExit)
	n := rep.Noise
	if n == nil || n.Involuntary < 1 {
		t.Fatalf("noise %+v, want involuntary switches", n)
	}
	if least := 50 * time.Millisecond; counted(t) && (n.RunDelay < least || n.RunDelay > rep.Wall) {
		t.Errorf("run delay %v in %v, want at least %v", n.RunDelay, rep.Wall, least)
	}
	if !counted(t) && n.RunDelay != sandbox.Unknown {
		t.Errorf("run delay %v on a kernel that does not count it", n.RunDelay)
	}
	_, err := os.ReadFile("/proc/pressure/cpu")
	if p := n.Pressure; err == nil && (p.CPU < 50*time.Millisecond || p.Memory < 0 || p.IO < 0) {
		t.Errorf("pressure %+v in %v", p, rep.Wall)
	} else if err != nil && (p != sandbox.Pressure{CPU: sandbox.Unknown, Memory: sandbox.Unknown, IO: sandbox.Unknown}) {
		t.Errorf("pressure %+v on a kernel without", p)
	}
	if n.Steal < 0 {
		t.Errorf("steal %v", n.Steal)
	}
}

// A run that we end tells too, a short one nothing of the host.
func TestNoiseOfOtherEnds(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, sandbox.Config{Slots: 1})
	spec := exact(t, "crowd")
	spec.Limits.CPU = 150 * time.Millisecond
	rep := run(t, s, spec)
	want(t, rep, sandbox.CauseCPU)
	if n := rep.Noise; n == nil || n.Involuntary < 0 || counted(t) && n.RunDelay < 0 || n.Steal < 0 {
		t.Errorf("noise of a run over its CPU limit: %+v", n)
	}
	spec.Args = []string{"/exe/none"}
	rep = run(t, s, spec)
	want(t, rep, sandbox.CauseExec)
	if j := rep.Noise.JSON(); j != nil && (rep.Wall < sandbox.HostResolution || j.Involuntary != nil || j.RunDelay != nil) {
		t.Errorf("noise of no run of %v: %+v", rep.Wall, j)
	}
}
