package sandbox_test

import (
	"slices"
	"testing"
	"time"

	"judgefarm/judge/sandbox"
)

// runBeside runs a spec in one of two slots while ordinary programs run in the other,
// one after the other, and checks that each of those ends well and soon, that the CPU
// time of their fixed work is what it is alone, and then as run does. The sandbox
// must have two slots.
func runBeside(t *testing.T, s *sandbox.Sandbox, spec sandbox.Spec, alone time.Duration) *sandbox.Report {
	t.Helper()
	// Whatever else the host does may slow a neighbour down, for a while: when it does
	// not slow the work alone and three times in a row, it is the spec.
	for try := 1; ; try++ {
		stop, done := make(chan struct{}), make(chan neighbour)
		go func() { done <- keepNeighbour(t, s, stop) }()
		rep := runOnly(t, s, spec)
		close(stop)
		n := <-done
		untouched(t, s)
		next := neighbourRun(t, s)
		if t.Failed() {
			return rep
		}
		slowest := min(n.least, next.CPU)
		if slow > 1 || slowest < alone*6/5 {
			return rep
		}
		if alone = max(alone, workAlone(t, s)); slowest < alone*6/5 {
			return rep
		}
		if try == 3 {
			t.Errorf("an ordinary program beside it used %v of CPU, alone %v", slowest, alone)
			return rep
		}
	}
}

// neighbour is what became of the ordinary programs: the least CPU time that one of
// them used, so that one undisturbed is enough.
type neighbour struct{ least time.Duration }

func keepNeighbour(t *testing.T, s *sandbox.Sandbox, stop chan struct{}) neighbour {
	n := neighbour{least: time.Hour}
	for {
		began := time.Now()
		rep := neighbourRun(t, s)
		if took := time.Since(began); took > 5*slow*time.Second {
			t.Errorf("an ordinary program beside it took %v", took)
		}
		n.least = min(n.least, rep.CPU)
		select {
		case <-stop:
			return n
		default:
		}
		if rep.Cause == "" || slow > 1 { // one is enough where it takes half of the only core
			return n
		}
	}
}

// neighbourRun runs an ordinary program of fixed work, which must end well.
func neighbourRun(t *testing.T, s *sandbox.Sandbox) *sandbox.Report {
	rep, err := s.Run(t.Context(), deed(t, "work"))
	if err != nil {
		t.Errorf("an ordinary program beside it: %v", err)
		return &sandbox.Report{}
	}
	if rep.Cause != sandbox.CauseExit || rep.Exit != 0 || len(rep.Stdout.Data)+len(rep.Stderr.Data) != 0 {
		t.Errorf("an ordinary program beside it: %+v", rep)
	}
	return rep
}

// workAlone is the CPU time of the neighbour's work when nothing of ours runs beside.
func workAlone(t *testing.T, s *sandbox.Sandbox) time.Duration {
	t.Helper()
	var used []time.Duration
	for range 5 {
		used = append(used, neighbourRun(t, s).CPU)
	}
	slices.Sort(used)
	return used[len(used)/2]
}
