package sandbox_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"judgefarm/judge"
	"judgefarm/judge/sandbox"
)

func TestNurseryIsReplaced(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, sandbox.Config{Slots: 1})
	for range 3 {
		if err := s.KillNursery(0); err != nil {
			t.Fatal(err)
		}
		// What it prepared dies with it, in a moment for which there is no event.
		deadline := time.Now().Add(2 * slow * time.Second)
		for len(leftOf(t, s)) > 0 && time.Now().Before(deadline) {
			runtime.Gosched()
		}
		want(t, run(t, s, deed(t, "exit", "0")), sandbox.CauseExit)
	}
}

// Not parallel: it counts this process's descriptors and goroutines.
func TestNothingGrows(t *testing.T) {
	s := newSandbox(t, sandbox.Config{})
	count := func() (fds, goroutines int) {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(entries), runtime.NumGoroutine()
	}
	specs := []sandbox.Spec{deed(t, "exit", "1"), deed(t, "print"), deed(t, "hog"), deed(t, "daemon")}
	bad := deed(t, "exit", "0")
	bad.Dir = "/no/such"
	specs[2].Limits.Memory = 8 * judge.MiB
	round := func() {
		for _, spec := range specs {
			if _, err := s.Run(t.Context(), spec); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Run(t.Context(), bad); err == nil {
			t.Fatal("a bad spec ran")
		}
	}
	for range s.Slots() { // each slot starts its nursery at its first run
		round()
	}
	fds, goroutines := count()
	for range 5 {
		round()
	}
	// A goroutine may still be on its last step when the run that waited for it is
	// over; 25 runs that leak would show more than that.
	if f, g := count(); f > fds || g > goroutines+5 {
		t.Errorf("descriptors %d -> %d, goroutines %d -> %d", fds, f, goroutines, g)
	}
	untouched(t, s)
}

func TestCloseAndCancelWhileWaiting(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, sandbox.Config{Slots: 1})
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close() // not before the run is over
	first := deed(t, "idle", "60")
	first.Args = []string{"sh", "-c", "echo; sleep 60"}
	first.Stdout.File = w
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := s.Run(ctx, first)
		done <- err
	}()
	if _, err := r.Read(make([]byte, 1)); err != nil { // it runs and holds the slot
		t.Fatal(err)
	}
	gone := errors.New("gone")
	wctx, wcancel := context.WithCancelCause(t.Context())
	wcancel(gone)
	if _, err := s.Run(wctx, deed(t, "exit", "0")); !errors.Is(err, gone) {
		t.Errorf("waiting for a slot: %v", err)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled run: %v", err)
	}
	untouched(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(t.Context(), deed(t, "exit", "0")); !errors.Is(err, sandbox.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// A template shows what is at its paths now, not what was there at first.
func TestReplacedSourceIsSeen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	text := filepath.Join(dir, "text")
	replace := func(s string) {
		t.Helper()
		if err := errors.Join(os.WriteFile(text+".new", []byte(s), 0o644), os.Rename(text+".new", text)); err != nil {
			t.Fatal(err)
		}
	}
	replace("old")
	s := newSandbox(t, sandbox.Config{Slots: 1, System: append(sandbox.DefaultSystem(), sandbox.Mount{Source: text, Target: "/data/text"})})
	spec := deed(t)
	spec.Args = []string{"/bin/cat", "/data/text"}
	for _, want := range []string{"old", "new", "newer"} {
		replace(want)
		for range 2 {
			rep, err := s.Run(t.Context(), spec)
			if err != nil || string(rep.Stdout.Data) != want {
				t.Fatalf("%v, %+v; want %q", err, rep, want)
			}
		}
	}
}
