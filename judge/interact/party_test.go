package interact_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"judgefarm/judge"
	"judgefarm/judge/interact"
	"judgefarm/judge/sandbox"
	"judgefarm/judge/sandbox/sandboxtest"
)

// party runs Go functions against a Go manager.
func party(t *testing.T, manager sandboxtest.Program, programs ...sandboxtest.Program) interact.Party {
	t.Helper()
	spec := sandbox.Spec{Args: []string{"/x"}, Limits: judge.Limits{}.Complete()}
	p := interact.Party{Manager: spec, ManagerRunner: &sandboxtest.Fake{Default: manager}, Dir: t.TempDir()}
	for _, program := range programs {
		p.Programs = append(p.Programs, spec)
		p.Runners = append(p.Runners, &sandboxtest.Fake{Default: program})
	}
	return p
}

// open opens a pipe as a program in the box would, by its name there.
func open(p *sandboxtest.Proc, name string, flag int) *os.File {
	for _, m := range p.Mounts {
		if m.Target == path.Dir(name) {
			f, err := os.OpenFile(filepath.Join(m.Source, path.Base(name)), flag, 0)
			if err != nil {
				panic(err)
			}
			return f
		}
	}
	panic(name + " is not mounted")
}

// doubles answers each number with its double, until it reads 0 or the end.
func doubles(i int) sandboxtest.Program {
	return func(p *sandboxtest.Proc) int {
		in, out := open(p, interact.ToProgram(i), os.O_RDONLY), open(p, interact.FromProgram(i), os.O_WRONLY)
		defer in.Close()
		defer out.Close()
		for {
			var n int
			if _, err := fmt.Fscan(in, &n); err != nil {
				return 5
			}
			if n == 0 {
				return 0
			}
			fmt.Fprintln(out, 2*n)
		}
	}
}

// asks talks to each of n programs in turn and tells them to stop.
func asks(n int) sandboxtest.Program {
	return func(p *sandboxtest.Proc) int {
		var to, from []*os.File
		for i := range n { // in the other order than the programs
			from = append(from, open(p, interact.FromProgram(i), os.O_RDONLY))
			to = append(to, open(p, interact.ToProgram(i), os.O_WRONLY))
			defer from[i].Close()
			defer to[i].Close()
		}
		for x := range 3 {
			for i := range n {
				var answer int
				fmt.Fprintln(to[i], x+1)
				if _, err := fmt.Fscan(from[i], &answer); err != nil || answer != 2*(x+1) {
					return 1
				}
			}
		}
		for i := range n {
			fmt.Fprintln(to[i], 0)
		}
		return 0
	}
}

func TestParty(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 5} {
		var programs []sandboxtest.Program
		for i := range n {
			programs = append(programs, doubles(i))
		}
		res, err := party(t, asks(n), programs...).Run(t.Context())
		if err != nil || res.Manager.Exit != 0 || len(res.Programs) != n {
			t.Fatalf("%d: got %+v, %v", n, res, err)
		}
		for i, p := range res.Programs {
			if p.Report.Exit != 0 {
				t.Errorf("%d: program %d ended with %d", n, i, p.Report.Exit)
			}
		}
	}
}

// A program whose pipes are its standard streams sees no others.
func TestPartyOfStreams(t *testing.T) {
	t.Parallel()
	p := party(t, asks(2), func(p *sandboxtest.Proc) int {
		in := bufio.NewReader(p.Stdin)
		for {
			var n int
			if _, err := fmt.Fscan(in, &n); err != nil || len(p.Mounts) > 0 {
				return 5
			}
			if n == 0 {
				return 0
			}
			fmt.Fprintln(p.Stdout, 2*n)
		}
	})
	p.Programs, p.Runners, p.Streams = append(p.Programs, p.Programs[0]), append(p.Runners, p.Runners[0]), true
	res, err := p.Run(t.Context())
	if err != nil || res.Manager.Exit != 0 || res.Programs[0].Report.Exit != 0 || res.Programs[1].Report.Exit != 0 {
		t.Fatalf("got %+v, %v", res, err)
	}
}

// A program that dies is known to have before the manager reads the end of the pipe,
// also where the manager opens the pipe when the program is dead.
func TestPartyProgramFirst(t *testing.T) {
	t.Parallel()
	for _, late := range []bool{false, true} {
		dead := make(chan struct{})
		p := party(t, func(p *sandboxtest.Proc) int {
			if late {
				<-dead
			}
			from, to := open(p, interact.FromProgram(0), os.O_RDONLY), open(p, interact.ToProgram(0), os.O_WRONLY)
			defer from.Close()
			defer to.Close()
			if b, err := io.ReadAll(from); err != nil || !late && string(b) != "half a li" {
				return 1
			}
			if _, err := io.WriteString(to, strings.Repeat("x", 1<<20)); err != nil { // dropped
				return 2
			}
			return 43
		}, func(p *sandboxtest.Proc) int {
			out := open(p, interact.FromProgram(0), os.O_WRONLY)
			defer out.Close()
			io.WriteString(out, "half a li")
			return 3
		})
		p.Runners[0] = &telling{Runner: p.Runners[0], dead: dead}
		res, err := p.Run(t.Context())
		if err != nil || !res.Programs[0].First || res.Programs[0].Report.Exit != 3 || res.Manager.Exit != 43 {
			t.Errorf("late %v: got %+v, %v", late, res, err)
		}
	}
}

// telling closes a channel when its one box is dead.
type telling struct {
	sandbox.Runner
	dead chan struct{}
}

func (r *telling) Run(ctx context.Context, spec sandbox.Spec) (*sandbox.Report, error) {
	defer close(r.dead)
	return r.Runner.Run(ctx, spec)
}

// When the manager is dead every program reads the end of its pipe, early or late, and
// what they go on writing is dropped.
func TestPartyManagerFirst(t *testing.T) {
	t.Parallel()
	reads := func(i int) sandboxtest.Program {
		return func(p *sandboxtest.Proc) int {
			in, out := open(p, interact.ToProgram(i), os.O_RDONLY), open(p, interact.FromProgram(i), os.O_WRONLY)
			defer in.Close()
			defer out.Close()
			_, err := io.ReadAll(in)
			if _, werr := io.WriteString(out, strings.Repeat("x", 1<<20)); err != nil || werr != nil {
				return 1
			}
			return 0
		}
	}
	res, err := party(t, func(*sandboxtest.Proc) int { return 42 }, reads(0), reads(1)).Run(t.Context())
	if err != nil || res.Manager.Exit != 42 {
		t.Fatalf("got %+v, %v", res, err)
	}
	for i, p := range res.Programs {
		if p.First || p.Report.Exit != 0 {
			t.Errorf("program %d: %+v", i, p)
		}
	}
}

// Some agree to use their pipes the other way round. What a manager wrote last is
// still the program's, and the end of the file comes after it.
func TestPartyOtherWayRound(t *testing.T) {
	t.Parallel()
	for range 20 {
		res, err := party(t, func(p *sandboxtest.Proc) int {
			to, from := open(p, interact.FromProgram(0), os.O_WRONLY), open(p, interact.ToProgram(0), os.O_RDONLY)
			defer to.Close()
			defer from.Close()
			var n int
			if _, err := fmt.Fscan(from, &n); err != nil || n != 7 {
				return 1
			}
			fmt.Fprintln(to, 14)
			return 0
		}, func(p *sandboxtest.Proc) int {
			in, out := open(p, interact.FromProgram(0), os.O_RDONLY), open(p, interact.ToProgram(0), os.O_WRONLY)
			defer in.Close()
			defer out.Close()
			fmt.Fprintln(out, 7)
			if b, err := io.ReadAll(in); err != nil || string(b) != "14\n" {
				return 1
			}
			if _, err := io.WriteString(out, strings.Repeat("x", 1<<20)); err != nil {
				return 2
			}
			return 0
		}).Run(t.Context())
		if err != nil || res.Manager.Exit != 0 || res.Programs[0].Report.Exit != 0 {
			t.Fatalf("got %+v, %+v, %v", res.Manager, res.Programs, err)
		}
	}
}

// Where what programs say is counted everything else is as where it is not, whichever
// way round they use their pipes, and one that says more than it may is found.
func TestPartyCounts(t *testing.T) {
	t.Parallel()
	counted := func(manager sandboxtest.Program, programs ...sandboxtest.Program) *interact.PartyResult {
		p := party(t, manager, programs...)
		p.Most = 100_000
		res, err := p.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if left, err := os.ReadDir(p.Dir); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
		return res
	}
	res := counted(asks(3), doubles(0), doubles(1), doubles(2))
	if res.Flood || res.Manager.Exit != 0 || res.Programs[2].Report.Exit != 0 {
		t.Errorf("three that answer: got %+v", res)
	}
	var heard int64
	says := func(name string, n int) sandboxtest.Program {
		return func(p *sandboxtest.Proc) int {
			out := open(p, name, os.O_WRONLY)
			defer out.Close()
			for range n {
				select {
				case <-p.Done:
					return 1
				default:
					io.WriteString(out, strings.Repeat("x", 1000))
				}
			}
			return 0
		}
	}
	for _, name := range []string{interact.FromProgram(0), interact.ToProgram(0)} {
		hears := func(p *sandboxtest.Proc) int {
			in := open(p, name, os.O_RDONLY)
			defer in.Close()
			heard, _ = io.Copy(io.Discard, in)
			return 0
		}
		if res := counted(hears, says(name, 100)); res.Flood || heard != 100_000 || res.Programs[0].Report == nil {
			t.Errorf("%s at the bound: got %+v, heard %d", name, res, heard)
		}
		if res := counted(hears, says(name, 1<<30)); !res.Flood || heard > 100_000 || res.Programs[0].Report != nil {
			t.Errorf("%s over the bound: got %+v, heard %d", name, res, heard)
		}
		// Who reads nothing does not keep the other from being found, and the manager may
		// say what it likes.
		if res := counted(func(*sandboxtest.Proc) int { return 42 }, says(name, 1<<30)); !res.Flood || res.Manager.Exit != 42 {
			t.Errorf("%s, nobody listens: got %+v", name, res)
		}
		if res := counted(says(name, 1000), func(*sandboxtest.Proc) int { return 7 }); res.Flood || res.Programs[0].Report.Exit != 7 || res.Manager.Exit != 0 {
			t.Errorf("%s, the manager talks: got %+v", name, res)
		}
	}
	both := func(p *sandboxtest.Proc) int {
		in, out := open(p, interact.ToProgram(0), os.O_RDONLY), open(p, interact.FromProgram(0), os.O_WRONLY)
		defer in.Close()
		defer out.Close()
		b, err := io.ReadAll(in)
		if err != nil || len(b) > 0 {
			return 1
		}
		return 0
	}
	if res := counted(func(*sandboxtest.Proc) int { return 42 }, both); res.Flood || res.Programs[0].Report.Exit != 0 {
		t.Errorf("nobody says anything: got %+v", res)
	}
}

// When nothing is left to gain every program is ended.
func TestPartyFinal(t *testing.T) {
	t.Parallel()
	waits := func(p *sandboxtest.Proc) int { <-p.Done; return 0 }
	p := party(t, func(*sandboxtest.Proc) int { return 43 }, waits, waits)
	p.Final = func(r *sandbox.Report) bool { return r.Exit == 43 }
	res, err := p.Run(t.Context())
	if err != nil || slices.ContainsFunc(res.Programs, func(e interact.Ended) bool { return e.Report != nil || e.First }) {
		t.Fatalf("got %+v, %v", res, err)
	}
}

// A failure of ours ends everybody, and so does the caller; no pipe is left.
func TestPartyFailures(t *testing.T) {
	t.Parallel()
	waits := func(p *sandboxtest.Proc) int { <-p.Done; return 0 }
	for name, change := range map[string]func(*interact.Party){
		"manager": func(p *interact.Party) { p.ManagerRunner = &broken{} },
		"program": func(p *interact.Party) { p.Runners[1] = &broken{} },
	} {
		p := party(t, waits, waits, waits)
		change(&p)
		if res, err := p.Run(t.Context()); !errors.Is(err, errBroken) || res != nil {
			t.Errorf("%s: got %+v, %v", name, res, err)
		}
		if left, err := os.ReadDir(p.Dir); err != nil || len(left) > 0 {
			t.Errorf("%s: left behind: %v, %v", name, left, err)
		}
	}
	p := party(t, waits, waits)
	p.Dir = filepath.Join(p.Dir, "none")
	if _, err := p.Run(t.Context()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no directory: got %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := party(t, waits, waits).Run(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("cancelled: got %v", err)
	}
}
