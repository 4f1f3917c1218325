package bench

import (
	"strings"
	"testing"
)

func TestCommandRunsFromEveryWorker(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p, err := Build(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	took, rate, err := BareC(p.Bare, p.True).Batch(t.Context(), 3, 2)
	if err != nil || len(took) != 6 || rate <= 0 {
		t.Errorf("%d times, %v runs/s, %v; want those of 3 runs by 2 workers", len(took), rate, err)
	}
	for _, ns := range took {
		if ns <= 0 {
			t.Errorf("a run took %v", ns)
		}
	}
	_, _, err = Command("number", p.Bare, "/bin/sh", "-c", "test {w} = 0").Batch(t.Context(), 1, 2)
	if err == nil || !strings.Contains(err.Error(), "wait status") {
		t.Errorf("a worker whose program fails: %v", err)
	}
}
