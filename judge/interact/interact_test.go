package interact_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"judgefarm/judge"
	"judgefarm/judge/interact"
	"judgefarm/judge/sandbox"
	"judgefarm/judge/sandbox/sandboxtest"
)

// talk runs two Go functions against each other.
func talk(ctx context.Context, program, interactor sandboxtest.Program, final func(*sandbox.Report) bool) (*interact.Result, error) {
	spec := sandbox.Spec{Args: []string{"/x"}, Limits: judge.Limits{}.Complete()}
	return interact.Session{
		ProgramRunner: &sandboxtest.Fake{Default: program}, InteractorRunner: &sandboxtest.Fake{Default: interactor},
		Program: spec, Interactor: spec, Final: final,
	}.Run(ctx)
}

func TestDialogue(t *testing.T) {
	t.Parallel()
	res, err := talk(t.Context(), func(p *sandboxtest.Proc) int {
		in := bufio.NewReader(p.Stdin)
		for range 3 {
			var n int
			if _, err := fmt.Fscan(in, &n); err != nil {
				return 1
			}
			fmt.Fprintln(p.Stdout, 2*n)
		}
		return 0
	}, func(p *sandboxtest.Proc) int {
		in := bufio.NewReader(p.Stdin)
		for i := range 3 {
			var n int
			fmt.Fprintln(p.Stdout, i)
			if _, err := fmt.Fscan(in, &n); err != nil || n != 2*i {
				return 43
			}
		}
		return 42
	}, nil)
	if err != nil || res.Program.Exit != 0 || res.Interactor.Exit != 42 {
		t.Fatalf("got %+v, %v", res, err)
	}
}

// A program that ends first is known to have before the interactor reads the end of
// its output; and what the interactor goes on writing is taken.
func TestProgramFirst(t *testing.T) {
	t.Parallel()
	res, err := talk(t.Context(), func(p *sandboxtest.Proc) int {
		io.WriteString(p.Stdout, "half a li")
		return 3
	}, func(p *sandboxtest.Proc) int {
		b, err := io.ReadAll(p.Stdin)
		if _, werr := io.WriteString(p.Stdout, strings.Repeat("x", 1<<20)); err != nil || werr != nil || string(b) != "half a li" {
			return 1
		}
		return 43
	}, nil)
	if err != nil || !res.ProgramFirst || res.Program.Exit != 3 || res.Interactor.Exit != 43 {
		t.Fatalf("got %+v, %v", res, err)
	}
}

// An interactor that ends first is known to have before the program reads the end of
// its input; and what the program goes on writing is taken.
func TestInteractorFirst(t *testing.T) {
	t.Parallel()
	res, err := talk(t.Context(), func(p *sandboxtest.Proc) int {
		_, err := io.ReadAll(p.Stdin)
		if _, werr := io.WriteString(p.Stdout, strings.Repeat("x", 1<<20)); err != nil || werr != nil {
			return 1
		}
		return 0
	}, func(*sandboxtest.Proc) int { return 42 }, nil)
	if err != nil || res.ProgramFirst || res.Program.Exit != 0 || res.Interactor.Exit != 42 {
		t.Fatalf("got %+v, %v", res, err)
	}
}

// When nothing is left to gain the program is ended.
func TestFinal(t *testing.T) {
	t.Parallel()
	res, err := talk(t.Context(), func(p *sandboxtest.Proc) int {
		<-p.Done
		return 0
	}, func(*sandboxtest.Proc) int { return 43 }, func(r *sandbox.Report) bool { return r.Exit == 43 })
	if err != nil || res.Program != nil || res.ProgramFirst || res.Interactor.Exit != 43 {
		t.Fatalf("got %+v, %v", res, err)
	}
}

// broken fails every run after a while.
type broken struct{ sandboxtest.Fake }

var errBroken = errors.New("broken")

func (*broken) Run(context.Context, sandbox.Spec) (*sandbox.Report, error) { return nil, errBroken }

// A failure of ours on one side ends the other one, and so does the caller.
func TestFailures(t *testing.T) {
	t.Parallel()
	waits := &sandboxtest.Fake{Default: func(p *sandboxtest.Proc) int {
		<-p.Done
		return 0
	}}
	spec := sandbox.Spec{Args: []string{"/x"}, Limits: judge.Limits{}.Complete()}
	for name, s := range map[string]interact.Session{
		"program":    {ProgramRunner: &broken{}, InteractorRunner: waits, Program: spec, Interactor: spec},
		"interactor": {ProgramRunner: waits, InteractorRunner: &broken{}, Program: spec, Interactor: spec},
	} {
		if res, err := s.Run(t.Context()); !errors.Is(err, errBroken) || res != nil {
			t.Errorf("%s: got %+v, %v", name, res, err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	s := interact.Session{ProgramRunner: waits, InteractorRunner: waits, Program: spec, Interactor: spec}
	if _, err := s.Run(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("cancelled: got %v", err)
	}
}

// relayed is talk with a bound and a record.
func relayed(t *testing.T, program, interactor sandboxtest.Program, most, keep judge.Bytes) *interact.Result {
	t.Helper()
	spec := sandbox.Spec{Args: []string{"/x"}, Limits: judge.Limits{}.Complete()}
	res, err := interact.Session{
		ProgramRunner: &sandboxtest.Fake{Default: program}, InteractorRunner: &sandboxtest.Fake{Default: interactor},
		Program: spec, Interactor: spec, Most: most, Record: keep,
	}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// Both sides' words are kept in their order, up to the bound, and say who broke off.
func TestRecord(t *testing.T) {
	t.Parallel()
	program := func(p *sandboxtest.Proc) int {
		in := bufio.NewReader(p.Stdin)
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return 0
			}
			io.WriteString(p.Stdout, "got "+line)
		}
	}
	interactor := func(p *sandboxtest.Proc) int {
		in := bufio.NewReader(p.Stdin)
		for i := range 3 {
			fmt.Fprintf(p.Stdout, "n %d\n", i)
			if _, err := in.ReadString('\n'); err != nil {
				return 43
			}
		}
		io.WriteString(p.Stdout, "bye")
		return 42
	}
	const all = "< n 0\n> got n 0\n< n 1\n> got n 1\n< n 2\n> got n 2\n< bye\\\n"
	for keep, want := range map[judge.Bytes]string{
		1000: all, 18: "< n 0\n> got n 0\n< n \\\n... cut here\n", 1: "< n\\\n... cut here\n", 0: "",
	} {
		if res := relayed(t, program, interactor, 0, keep); string(res.Dialogue) != want || res.Flood || res.Interactor.Exit != 42 {
			t.Errorf("keep %d: got %q, flood %v, want %q", keep, res.Dialogue, res.Flood, want)
		}
	}
}

// A program that says more than it may is ended, what it may say arrives, and the
// interactor reads the end of it.
func TestFlood(t *testing.T) {
	t.Parallel()
	var heard int64
	interactor := func(p *sandboxtest.Proc) int {
		heard, _ = io.Copy(io.Discard, p.Stdin)
		return 43
	}
	say := func(n int) sandboxtest.Program {
		return func(p *sandboxtest.Proc) int {
			for range n {
				io.WriteString(p.Stdout, strings.Repeat("x", 1000))
			}
			return 0
		}
	}
	if res := relayed(t, say(1000), interactor, 1_000_000, 0); res.Flood || heard != 1_000_000 || res.Program == nil {
		t.Errorf("at the bound: flood %v, heard %d, program %v", res.Flood, heard, res.Program)
	}
	endless := func(p *sandboxtest.Proc) int {
		for {
			select {
			case <-p.Done:
				return 0
			default:
				io.WriteString(p.Stdout, strings.Repeat("x", 1000))
			}
		}
	}
	if res := relayed(t, endless, interactor, 1_000_000, 100); !res.Flood || heard != 1_000_000 || res.Program != nil || res.Interactor.Exit != 43 {
		t.Errorf("over the bound: flood %v, heard %d, program %v", res.Flood, heard, res.Program)
	}
}
