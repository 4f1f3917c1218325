package sandbox_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"judgefarm/judge"
	"judgefarm/judge/sandbox"
)

// Every slot has a core of its own, and boxes at one time never share one.
func TestPinnedSlots(t *testing.T) {
	t.Parallel()
	pinned(t, newSandbox(t, sandbox.Config{Slots: len(ownCores(t)), Pin: true}))
}

func TestTracedPinnedSlots(t *testing.T) {
	t.Parallel()
	newTraced(t, 1) // or skips
	s, err := sandbox.Open(sandbox.Config{Isolation: sandbox.Ptrace, Slots: len(ownCores(t)), Pin: true, UIDBase: freshBase()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	pinned(t, s)
	more, err := sandbox.Open(sandbox.Config{Isolation: sandbox.Ptrace, Slots: len(ownCores(t)) + 1, Pin: true, UIDBase: freshBase()})
	if err == nil {
		more.Close()
	}
	if !judge.IsBadRequest(err) {
		t.Errorf("more slots than cores: %v, want a bad request", err)
	}
}

func pinned(t *testing.T, s sandbox.Runner) {
	t.Helper()
	cores := ownCores(t)
	spec := deed(t)
	spec.Args = []string{"sh", "-c", "while read x; do case $x in Cpus_allowed_list*) echo \"$x\";; esac; done </proc/self/status; sleep 0.3"}
	for range 3 {
		var mu sync.Mutex
		seen := map[string]int{}
		var wg sync.WaitGroup
		for range cores {
			wg.Go(func() {
				rep, err := s.Run(t.Context(), spec)
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					t.Errorf("run: %v", err)
					return
				}
				_, core, _ := strings.Cut(strings.TrimSpace(string(rep.Stdout.Data)), "\t")
				seen[core]++
			})
		}
		wg.Wait()
		for _, c := range cores {
			if seen[fmt.Sprint(c)] != 1 {
				t.Errorf("core %d had %d boxes: %v", c, seen[fmt.Sprint(c)], seen)
			}
		}
	}
}

func TestMoreSlotsThanCoresCannotBePinned(t *testing.T) {
	t.Parallel()
	n := len(ownCores(t))
	s, err := sandbox.New(sandbox.Config{Slots: n + 1, Pin: true, UIDBase: 1 << 18})
	if err == nil {
		s.Close()
	}
	if !judge.IsBadRequest(err) || !strings.Contains(err.Error(), fmt.Sprintf("%d slots and %d cores", n+1, n)) {
		t.Errorf("error %v, want one that names both", err)
	}
}
