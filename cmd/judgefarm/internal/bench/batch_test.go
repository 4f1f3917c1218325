package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestBatchTakesTurns(t *testing.T) {
	t.Parallel()
	var boxes, submissions, atOnce, most atomic.Int64
	row, err := Batch(t.Context(), BatchConfig{
		Slots: 2, Submissions: 20, Cases: 3, Rounds: 4, Clients: 5,
		Box: func(_ context.Context, slot int) error {
			if boxes.Add(1); slot < 0 || slot > 1 {
				return fmt.Errorf("slot %d of 2", slot)
			}
			if done := submissions.Load(); (boxes.Load()-1)/15 != done/5 {
				return fmt.Errorf("box %d after %d submissions", boxes.Load(), done)
			}
			return nil
		},
		Submit: func(context.Context) error {
			now := atOnce.Add(1)
			defer atOnce.Add(-1)
			for old := most.Load(); now > old && !most.CompareAndSwap(old, now); old = most.Load() {
			}
			submissions.Add(1)
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if boxes.Load() != 60 || submissions.Load() != 20 || most.Load() > 5 {
		t.Errorf("%d boxes, %d submissions, %d at once, want 60, 20 and 5 at most", boxes.Load(), submissions.Load(), most.Load())
	}
	if row.Submissions != 20 || row.Cases != 3 || row.Runs != 3*row.Judged || row.Ratio != row.Boxes/row.Runs {
		t.Errorf("row = %+v, does not fit together", row)
	}
}

func TestBatchEndsWithTheFirstError(t *testing.T) {
	t.Parallel()
	broken := errors.New("queue is full")
	_, err := Batch(t.Context(), BatchConfig{
		Slots: 1, Submissions: 9, Cases: 1, Rounds: 3, Clients: 2,
		Box:    func(context.Context, int) error { return nil },
		Submit: func(context.Context) error { return broken },
	})
	if !errors.Is(err, broken) {
		t.Errorf("Batch = %v, want the error of Submit", err)
	}
}

// A child's own children count, though it does not wait for them.
func TestMeterCountsChildrenOfChildren(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("/bin/sh", "-c", "read go; trap '' CHLD; (i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done); echo done; read end")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { in.Close(); cmd.Wait() }()
	redis := time.Second
	m, err := StartMeter(func() (time.Duration, error) { redis += time.Millisecond; return redis, nil })
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	fmt.Fprintln(in, "go")
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || strings.TrimSpace(line) != "done" {
		t.Fatalf("child printed %q, %v", line, err)
	}
	used, err := m.Stop()
	if took := time.Since(began); err != nil || used.Boxes < 5*time.Millisecond || used.Boxes > 4*took || used.Redis != time.Millisecond {
		t.Errorf("used = %+v, %v in %v, want some milliseconds of children and 1 ms of redis", used, err, took)
	}
}
