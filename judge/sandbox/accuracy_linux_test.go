package sandbox_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"judgefarm/judge/sandbox"
)

// The error bars of docs/limits.md, each as the median of nine. None of these tests
// is parallel: they measure. A loaded machine widens them only as far as it was
// measured to, in the same run, to keep this process's own threads from a core.

// coarse widens the bars on time by 300 ms where an emulated kernel accounts CPU time
// in steps of 10 ms (user-mode Linux at 100 Hz), and the time that a busy host takes
// from it as the guest's.
func coarse(bar time.Duration) time.Duration {
	if slow > 1 {
		return bar + 300*time.Millisecond
	}
	return bar
}

// pace is how much slower this machine's kernel starts and ends a process than the one
// that the error bars of such work were measured on, where it took 0.45 ms; at least 1.
func pace(t *testing.T) (factor float64, start time.Duration) {
	t.Helper()
	start = median(nine(func() time.Duration {
		used, said := bare(t, "self", "0")
		return used - said
	}))
	return max(1, float64(start)/float64(450*time.Microsecond)), start
}

// What a program uses is what is reported, but for its start, forks and ends, which the
// same program costs when it uses nothing; and that is what its start costs outside of
// any box, and up to a half more for the accounts that the kernel keeps.
func TestAccuracyOfCPU(t *testing.T) {
	s := newSandbox(t, sandbox.Config{})
	slower, start := pace(t)
	for _, c := range []struct {
		args, idle string
		bar        time.Duration
	}{
		{"self 0", "", max(150*time.Microsecond, start/2)}, // none of our set-up is in it
		{"self 500", "self 0", 300 * time.Microsecond},
		{"calls 200", "calls 0", 300 * time.Microsecond},
		{"threads 4 50", "threads 4 0", 600 * time.Microsecond},
		{"children 4 200", "children 4 0", 2500 * time.Microsecond},
		{"orphan 200", "orphan 0", 1200 * time.Microsecond},
	} {
		// The end of a task that has worked takes up to 0.1 ms more than that of an idle
		// one, where a start takes 0.45 ms; the bars hold that once.
		bar := coarse(c.bar) + time.Duration((slower-1)*float64(100*time.Microsecond))
		var delays []time.Duration
		excess := func(args string) time.Duration {
			rep, err := s.Run(t.Context(), exact(t, strings.Fields(args)...))
			if err != nil {
				t.Fatal(err)
			}
			want(t, rep, sandbox.CauseExit)
			delays = append(delays, rep.Noise.RunDelay)
			e := rep.CPU - told(t, rep.Stdout.Data)
			if e < 0 && slow == 1 {
				t.Errorf("%s: %v of CPU reported, the program itself used %v more", args, rep.CPU, -e)
			}
			return e
		}
		// Each beside its idle self, for what a start takes changes with what else runs.
		// Where it changes by more than the bar, the median of nine does not tell, and
		// that of more has to.
		var idles, errors []time.Duration
		within := func() bool {
			for range 5 {
				errors = append(errors, nine(func() time.Duration {
					idle := start
					if c.idle != "" {
						idle = excess(c.idle)
					}
					idles = append(idles, idle)
					return excess(c.args) - idle
				})...)
				slices.Sort(idles)
				slices.Sort(errors)
				slices.Sort(delays)
				// A machine that is busy disturbs what a start takes, too: wider by what
				// the programs waited for a core, at most by as much again.
				if median(errors).Abs() <= bar+min(max(median(delays), 0), c.bar) {
					return true
				}
			}
			return false
		}
		if !within() {
			t.Errorf("%s: reported - used = %v more than idle, want within %v", c.args, median(errors), bar)
		}
		t.Logf("%s: reported - used = %v more than idle; idle it takes %v; waited for a core %v", c.args, errors, median(idles), median(delays))
	}
}

// What is taken off for our own set-up is what the cgroup was charged with, and not
// what joining it took: on a busy host that may be more than a short program uses.
func TestCPUOfShortRunsOnABusyHost(t *testing.T) {
	s := newSandbox(t, sandbox.Config{})
	var running errgroup.Group
	for range 8 {
		running.Go(func() error {
			for range fewer(25) {
				rep, err := s.Run(t.Context(), exact(t, "self", "0"))
				if err != nil {
					return err
				}
				if rep.CPU <= 0 && slow == 1 {
					t.Errorf("%v of CPU reported, exit %d", rep.CPU, rep.Exit)
				}
			}
			return nil
		})
	}
	if err := running.Wait(); err != nil {
		t.Fatal(err)
	}
}

// A box is ended soon after its CPU limit: at most 5 ms of CPU for each core it runs
// on, and what the kernel takes to end so many tasks.
func TestOvershootOfCPULimit(t *testing.T) {
	s := newSandbox(t, sandbox.Config{})
	cores := len(ownCores(t))
	slower, _ := pace(t)
	for _, c := range []struct {
		args  string
		tasks int
	}{
		{"crowd 1", 1}, {"crowd 2", 2}, {"crowd 4", 4}, {"crowd 64", 64},
		{"crowd 4 150", 4}, // one, and three more late
	} {
		if slow > 1 && c.tasks > 4 {
			continue // the bar would be seconds wide
		}
		spec := exact(t, strings.Fields(c.args)...)
		spec.Limits.CPU, spec.Limits.Tasks = 250*time.Millisecond, 80
		over := nine(func() time.Duration {
			probe := startLateness()
			rep, err := s.Run(t.Context(), spec)
			late, _ := probe.end()
			if err != nil {
				t.Fatal(err)
			}
			want(t, rep, sandbox.CauseCPU)
			return rep.CPU - spec.Limits.CPU - late*time.Duration(min(c.tasks, cores))
		})
		bar := coarse(5*time.Millisecond)*time.Duration(min(c.tasks, cores)) + coarse(time.Duration(slower*float64(100*time.Microsecond)))*time.Duration(c.tasks)
		t.Logf("%s: %v, less what the machine was late", c.args, over)
		if median(over) > bar {
			t.Errorf("%s: ended %v over the CPU limit, median %v, want at most %v", c.args, over, median(over), bar)
		}
	}
}

func TestOvershootOfWallLimit(t *testing.T) {
	s := newSandbox(t, sandbox.Config{})
	spec := exact(t, "rest")
	spec.Limits.CPU, spec.Limits.Wall = 100*slow*time.Millisecond, 350*slow*time.Millisecond
	var early bool
	over := nine(func() time.Duration {
		probe := startLateness()
		rep, err := s.Run(t.Context(), spec)
		_, late := probe.end()
		if err != nil {
			t.Fatal(err)
		}
		if rep.Evidence.KilledBy != "wall" { // idle or wall: an emulated exec takes 0.1 s of CPU
			t.Fatalf("cause %q, killed by %q", rep.Cause, rep.Evidence.KilledBy)
		}
		early = early || rep.Wall <= spec.Limits.Wall
		// The worker wakes, PID 1 dies, the program dies, PID 1 sees it, the worker
		// wakes: five times something may wait for a core, twice for long.
		return rep.Wall - spec.Limits.Wall - 2*late
	})
	t.Logf("%v, less what the machine was late", over)
	if bar := coarse(5 * time.Millisecond); median(over) > bar || early {
		t.Errorf("ended %v over the wall limit, median %v, want at most %v and never before", over, median(over), bar)
	}
}
