package sandbox_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"judgefarm/judge"
	"judgefarm/judge/sandbox"
)

// attack is a row of docs/attacks.md as it concerns the box.
type attack struct {
	id, name string
	args     []string
	cause    sandbox.Cause
	signal   syscall.Signal // 0: not looked at
	change   func(*sandbox.Spec)
	check    func(*testing.T, *sandbox.Report)
}

// over checks that a run was ended soon after its CPU limit of a second.
func over(t *testing.T, rep *sandbox.Report) {
	t.Helper()
	if rep.CPU <= time.Second || rep.CPU > 1200*time.Millisecond+(slow-1)*time.Second {
		t.Errorf("ended at %v of CPU, want 1.0 to 1.2 s", rep.CPU)
	}
}

// soon checks that a run which crosses its output limit within milliseconds was
// ended within a second of that. It uses too little CPU for a busy machine to
// delay it so much.
func soon(t *testing.T, rep *sandbox.Report) {
	t.Helper()
	if rep.Wall > slow*time.Second {
		t.Errorf("ended after %v, want within 1 s of crossing the limit", rep.Wall)
	}
}

// hogLimit is the memory limit of those that reach it: an emulated machine takes
// seconds to touch more.
func hogLimit() judge.Bytes {
	if slow > 1 {
		return 32 * judge.MiB
	}
	return 256 * judge.MiB
}

// atLimit checks that the reported peak is hogLimit, 2 % under it to 5 % over.
func atLimit(t *testing.T, rep *sandbox.Report) {
	t.Helper()
	if most := hogLimit(); rep.Memory < most-6*judge.MiB || rep.Memory > most+most/20+sampledOver() {
		t.Errorf("peak %d MiB, want %d", rep.Memory/judge.MiB, most/judge.MiB)
	}
	if rep.Evidence.OOMKills == 0 && rep.Evidence.KilledBy != "memory" {
		t.Errorf("no evidence: %+v", rep.Evidence)
	}
}

var attacks = []attack{
	{id: "D01", name: "loop", args: []string{"spin"}, cause: sandbox.CauseCPU, check: over},
	{id: "D01", name: "loop in the kernel", args: []string{"syscalls"}, cause: sandbox.CauseCPU, check: over},
	{id: "D02", name: "sleep", args: []string{"idle"}, cause: sandbox.CauseIdle,
		change: func(s *sandbox.Spec) { s.Limits.CPU, s.Limits.Wall = time.Second, 1500*slow*time.Millisecond },
		check: func(t *testing.T, rep *sandbox.Report) {
			if rep.CPU > 50*slow*time.Millisecond {
				t.Errorf("CPU %v of a sleeper", rep.CPU)
			}
		}},
	{id: "D03", name: "threads", args: []string{"threads"}, cause: sandbox.CauseCPU, check: over},
	{id: "D03", name: "threads that each stay within the limit", args: []string{"threads", "400"}, cause: sandbox.CauseCPU, check: over},
	{id: "D04", name: "signals ignored", args: []string{"stubborn"}, cause: sandbox.CauseCPU, check: over},
	{id: "D05", name: "daemon", args: []string{"daemon"}, cause: sandbox.CauseExit,
		check: func(t *testing.T, rep *sandbox.Report) {
			if string(rep.Stdout.Data) != "right answer\n" || rep.Wall > 20*slow*time.Second {
				t.Errorf("stdout %q after %v", rep.Stdout.Data, rep.Wall)
			}
		}},
	{id: "D06", name: "children", args: []string{"children"}, cause: sandbox.CauseCPU, check: over},
	{id: "D07", name: "fork bomb", args: []string{"forkbomb"}, cause: sandbox.CauseCPU,
		change: func(s *sandbox.Spec) { s.Limits.CPU = slow * time.Second }, // a fork is dear on an emulated machine
		check: func(t *testing.T, rep *sandbox.Report) {
			if rep.Evidence.ForksRefused == 0 || rep.Evidence.TasksPeak > 64 {
				t.Errorf("evidence %+v", rep.Evidence)
			}
		}},
	{id: "D08", name: "crowd", args: []string{"crowd"}, cause: sandbox.CauseMemory, check: atLimit},
	{id: "D09", name: "hog", args: []string{"hog"}, cause: sandbox.CauseMemory, check: atLimit},
	{id: "D09", name: "hog of a child, parent exits 0", args: []string{"childhog"}, cause: sandbox.CauseMemory},
	{id: "D09", name: "hog of a child, the box dies with it", args: []string{"childhog", "4096", "60"}, cause: sandbox.CauseMemory,
		check: func(t *testing.T, rep *sandbox.Report) {
			if rep.Wall > 20*slow*time.Second {
				t.Errorf("went on for %v", rep.Wall)
			}
		}},
	{id: "D10", name: "shared hog", args: []string{"sharedhog"}, cause: sandbox.CauseMemory, check: atLimit},
	{id: "D11", name: "fills /dev/shm", args: []string{"fill", "/dev/shm/x"}, cause: sandbox.CauseExit,
		change: func(s *sandbox.Spec) { s.Box.FileSize = judge.GiB },
		check:  refusedDisk},
	{id: "D11", name: "fills /tmp", args: []string{"fill", "/tmp/x"}, cause: sandbox.CauseExit,
		change: func(s *sandbox.Spec) { s.Box.FileSize = judge.GiB },
		check:  refusedDisk},
	{id: "D12", name: "shared memory segments", args: []string{"sysvshm"}, cause: sandbox.CauseMemory},
	{id: "D13", name: "recursion", args: []string{"deep"}, cause: sandbox.CauseSignal, signal: syscall.SIGSEGV,
		change: func(s *sandbox.Spec) { s.Box.Stack = 64 * judge.MiB }},
	{id: "D13", name: "recursion, stack as large as memory", args: []string{"deep"}, cause: sandbox.CauseMemory},
	{id: "D14", name: "flood", args: []string{"print"}, cause: sandbox.CauseOutput,
		check: func(t *testing.T, rep *sandbox.Report) {
			if len(rep.Stdout.Data) != 1<<20 || !rep.Stdout.Cut {
				t.Errorf("%d bytes kept, cut %v", len(rep.Stdout.Data), rep.Stdout.Cut)
			}
			soon(t, rep)
		}},
	{id: "D15", name: "flood of stderr", args: []string{"print", "1000000000", "2"}, cause: sandbox.CauseOutput, check: soon},
	{id: "D16", name: "giant file", args: []string{"fill", "x", "8192"}, cause: sandbox.CauseFileSize,
		change: func(s *sandbox.Spec) { s.Box.FileSize = 16 * judge.MiB }},
	{id: "D17", name: "many files", args: []string{"manyfiles"}, cause: sandbox.CauseExit,
		check: func(t *testing.T, rep *sandbox.Report) {
			if string(rep.Stdout.Data) != "4096 No space left on device\n" {
				t.Errorf("%q", rep.Stdout.Data)
			}
		}},
	{id: "D18", name: "core", args: []string{"core"}, cause: sandbox.CauseSignal, signal: syscall.SIGABRT,
		check: func(t *testing.T, rep *sandbox.Report) {
			if string(rep.Stdout.Data) != "1\n" { // neither raised nor lowered
				t.Errorf("core limit %q", rep.Stdout.Data)
			}
		}},
	{id: "D30", name: "sockets", args: []string{"sockets"}, cause: sandbox.CauseExit,
		check: func(t *testing.T, rep *sandbox.Report) {
			if len(rep.Stdout.Data)+len(rep.Stderr.Data) != 0 {
				t.Errorf("%s%s", rep.Stdout.Data, rep.Stderr.Data)
			}
		}},
	{id: "D30", name: "sockets with few files", args: []string{"connect", "1", "@x"}, cause: sandbox.CauseExit,
		change: func(s *sandbox.Spec) { s.Box.OpenFiles = 8 }},
	{id: "D33", name: "system calls", args: []string{"calls"}, cause: sandbox.CauseExit,
		check: func(t *testing.T, rep *sandbox.Report) {
			if len(rep.Stdout.Data) != 0 {
				t.Errorf("not refused as they should be:\n%s", rep.Stdout.Data)
			}
		}},
}

func refusedDisk(t *testing.T, rep *sandbox.Report) {
	t.Helper()
	if rep.Exit != 5 || !strings.Contains(string(rep.Stderr.Data), "No space left") || rep.Memory < 60*judge.MiB {
		t.Errorf("exit %d, %q, memory %d", rep.Exit, rep.Stderr.Data, rep.Memory)
	}
}

func TestAttacks(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, sandbox.Config{Slots: 2})
	alone := workAlone(t, s)
	for _, a := range slices.Concat(attacks, privilegeAttacks, collectAttacks) {
		t.Run(a.id+" "+a.name, func(t *testing.T) {
			spec := deed(t, a.args...)
			switch a.cause {
			case sandbox.CauseCPU:
				spec.Limits.CPU = time.Second
			case sandbox.CauseMemory:
				spec.Limits.Memory = hogLimit()
			}
			if a.change != nil {
				a.change(&spec)
			}
			rep := runBeside(t, s, spec, alone)
			want(t, rep, a.cause)
			if a.signal != 0 && rep.Signal != int(a.signal) {
				t.Errorf("signal %d, want %d", rep.Signal, a.signal)
			}
			if a.check != nil {
				a.check(t, rep)
			}
		})
	}
}

// D30 and D31: nothing arrives anywhere.
func TestNoNetwork(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, sandbox.Config{Slots: 1})
	tcp, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	port := tcp.Addr().(*net.TCPAddr).Port
	path := filepath.Join(t.TempDir(), "sock")
	unix, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close()
	abstract, err := net.Listen("unix", fmt.Sprintf("@judgefarm-test-%d", os.Getpid()))
	if err != nil {
		t.Fatal(err)
	}
	defer abstract.Close()
	for _, name := range []string{path, abstract.Addr().String()} {
		rep := run(t, s, deed(t, "connect", fmt.Sprint(port), name))
		want(t, rep, sandbox.CauseExit)
		if out := string(rep.Stdout.Data); strings.Contains(out, "connected") || strings.Contains(out, "sent") || strings.Count(out, "\n") != 3 {
			t.Errorf("connections to %d and %s: %q", port, name, out)
		}
	}
}

// What one run leaves in the kernel's network code is not to be seen by the next.
func TestNothingPassesThroughTheNetwork(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, sandbox.Config{Slots: 1})
	look := deed(t)
	look.Args = []string{"/bin/sh", "-c", "cd /proc/net && cat unix snmp snmp6 netstat dev igmp igmp6 tcp udp udp6 raw packet ip6_flowlabel 2>/dev/null; sed -n 1p sockstat; true"}
	look.Stderr.Merge = true
	see := func() string {
		t.Helper()
		rep, err := s.Run(t.Context(), look)
		if err != nil {
			t.Fatal(err)
		}
		want(t, rep, sandbox.CauseExit)
		return string(rep.Stdout.Data)
	}
	before := see()
	if !strings.Contains(before, "OutNoRoutes") || !strings.Contains(before, "sockets: used 0") {
		t.Fatalf("no counters in %q", before)
	}
	for range fewer(5) {
		rep, err := s.Run(t.Context(), deed(t, "socketsleft"))
		if err != nil {
			t.Fatal(err)
		}
		want(t, rep, sandbox.CauseExit)
		if rep.Exit != 0 {
			t.Fatalf("exit %d: %s", rep.Exit, rep.Stderr.Data)
		}
		if after := see(); after != before {
			t.Fatalf("the next run sees\n%s\nwant\n%s", after, before)
		}
	}
}
