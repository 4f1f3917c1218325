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
	cores := ownCores(t)
	s := newSandbox(t, sandbox.Config{Slots: len(cores), Pin: true})
	spec := deed(t)
	spec.Args = []string{"sh", "-c", "grep Cpus_allowed_list /proc/self/status; sleep 0.3"}
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
