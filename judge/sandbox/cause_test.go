package sandbox

import (
	"syscall"
	"testing"
	"time"
)

func TestDecide(t *testing.T) {
	t.Parallel()
	fine := facts{cpu: time.Second, cpuLimit: time.Second, wall: 3 * time.Second, limit: 3 * time.Second}
	for _, c := range []struct {
		name   string
		change func(*facts)
		want   Cause
	}{
		{"at every limit", func(*facts) {}, CauseExit},
		{"exec failed", func(f *facts) { f.exec = syscall.ENOENT }, CauseExec},
		{"exec failed under the memory limit", func(f *facts) { f.exec, f.refused = syscall.ENOMEM, true }, CauseMemory},
		{"memory limit touched, nothing killed", func(f *facts) { f.refused = true }, CauseExit},
		{"out of memory, exit 0", func(f *facts) { f.oom = true }, CauseMemory},
		{"out of memory and over in everything", func(f *facts) {
			f.oom, f.over, f.cpu, f.wall, f.killedBy = true, true, time.Hour, time.Hour, killWall
		}, CauseMemory},
		{"SIGKILL without evidence", func(f *facts) { f.signal = syscall.SIGKILL }, CauseSignal},
		{"output", func(f *facts) { f.over, f.killedBy, f.signal = true, killOutput, syscall.SIGKILL }, CauseOutput},
		{"output and CPU", func(f *facts) { f.over, f.cpu = true, 2*time.Second }, CauseOutput},
		{"a nanosecond of CPU too much", func(f *facts) { f.cpu++ }, CauseCPU},
		{"over the CPU limit, ended by itself with SIGXFSZ", func(f *facts) { f.cpu, f.signal = 2*time.Second, syscall.SIGXFSZ }, CauseCPU},
		{"CPU and wall", func(f *facts) { f.cpu, f.killedBy = 2*time.Second, killWall }, CauseCPU},
		{"wall", func(f *facts) { f.killedBy, f.signal = killWall, syscall.SIGKILL }, CauseWall},
		{"wall, ended by itself", func(f *facts) { f.wall++ }, CauseWall},
		{"idle: just under 5 %", func(f *facts) { f.killedBy, f.cpu = killWall, 150*time.Millisecond-1 }, CauseIdle},
		{"not idle: 5 %", func(f *facts) { f.killedBy, f.cpu = killWall, 150*time.Millisecond }, CauseWall},
		{"idle beats the signal", func(f *facts) { f.wall, f.cpu, f.signal = time.Hour, 0, syscall.SIGSYS }, CauseIdle},
		{"forbidden call", func(f *facts) { f.forbidden, f.signal = true, syscall.SIGKILL }, CauseSyscall},
		{"forbidden call over the CPU limit", func(f *facts) { f.forbidden, f.cpu = true, time.Hour }, CauseCPU},
		{"SIGSYS", func(f *facts) { f.signal = syscall.SIGSYS }, CauseSyscall},
		{"SIGXFSZ", func(f *facts) { f.signal = syscall.SIGXFSZ }, CauseFileSize},
		{"SIGSEGV", func(f *facts) { f.signal = syscall.SIGSEGV }, CauseSignal},
	} {
		f := fine
		c.change(&f)
		if got := decide(f); got != c.want {
			t.Errorf("%s: %+v is %q, want %q", c.name, f, got, c.want)
		}
	}
}

// Whatever two limits were reached in one run, the first line of the table in
// docs/verdicts.md that holds is the cause.
func TestDecideOfTwo(t *testing.T) {
	t.Parallel()
	order := []struct {
		cause Cause
		reach func(*facts)
	}{
		{CauseMemory, func(f *facts) { f.oom = true }},
		{CauseExec, func(f *facts) { f.exec = syscall.ENOENT }},
		{CauseOutput, func(f *facts) { f.over = true }},
		{CauseCPU, func(f *facts) { f.cpu = f.cpuLimit + 1 }},
		{CauseWall, func(f *facts) { f.wall = f.limit + 1 }},
		{CauseSyscall, func(f *facts) { f.forbidden = true }},
		{CauseFileSize, func(f *facts) { f.signal = syscall.SIGXFSZ }},
		{CauseSignal, func(f *facts) {
			if f.signal == 0 { // a program ends by one signal only
				f.signal = syscall.SIGSEGV
			}
		}},
		{CauseExit, func(*facts) {}},
	}
	killers := []string{"", killCPU, killWall, killOutput, killMemory}
	for i, first := range order {
		for _, second := range order[i:] {
			for _, by := range killers {
				f := facts{cpu: time.Second, cpuLimit: time.Second, wall: 3 * time.Second, limit: 3 * time.Second}
				first.reach(&f)
				second.reach(&f)
				want := first.cause
				if f.killedBy = by; by != "" && f.signal == 0 {
					f.signal = syscall.SIGKILL
				}
				switch { // we ended it at the wall limit, or by a signal of ours
				case by == killWall && i > 4:
					want = CauseWall
				case by != "" && want == CauseExit:
					want = CauseSignal
				}
				if got := decide(f); got != want {
					t.Errorf("%s and %s, killed by %q: %+v is %q, want %q", first.cause, second.cause, by, f, got, want)
				}
			}
		}
	}
}
