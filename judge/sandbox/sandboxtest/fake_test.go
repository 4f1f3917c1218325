package sandboxtest_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"testing"
	"time"

	"judgefarm/judge"
	"judgefarm/judge/sandbox"
	"judgefarm/judge/sandbox/sandboxtest"
)

func TestFake(t *testing.T) {
	t.Parallel()
	sandboxtest.Run(t, func(*testing.T) sandbox.Runner {
		return &sandboxtest.Fake{Programs: map[string]sandboxtest.Program{
			"true":  func(*sandboxtest.Proc) int { return 0 },
			"false": func(*sandboxtest.Proc) int { return 1 },
			"cat":   cat,
			"chmod": func(*sandboxtest.Proc) int { return 0 },
			"cp": func(p *sandboxtest.Proc) int {
				if !p.Write(p.Args[2], p.Files[p.Args[1]]) {
					return 1
				}
				return 0
			},
			"env": func(p *sandboxtest.Proc) int {
				for _, e := range p.Env {
					fmt.Fprintln(p.Stdout, e)
				}
				return 0
			},
			"head": func(p *sandboxtest.Proc) int {
				n, _ := strconv.Atoi(p.Args[2])
				p.Stdout.Write(make([]byte, n))
				return 0
			},
			"sleep": func(p *sandboxtest.Proc) int {
				p.Wall = 20 * time.Second
				return 0
			},
		}}
	})
}

// cat copies its files; of /dev/zero it writes a little and claims the CPU time
// of a loop that never ends, or goes on until it is cancelled.
func cat(p *sandboxtest.Proc) int {
	if len(p.Args) == 1 {
		io.Copy(p.Stdout, p.Stdin)
		return 0
	}
	if p.Args[1] == "/dev/zero" {
		p.Stdout.Write(make([]byte, 4096))
		if p.Limits.CPU > time.Second {
			<-p.Done
		}
		p.CPU = p.Limits.CPU + time.Millisecond
		return 0
	}
	for _, name := range p.Args[1:] {
		data, ok := p.Files[name]
		if !ok {
			fmt.Fprintf(p.Stderr, "cat: %s: No such file or directory\n", name)
			return 1
		}
		p.Stdout.Write(data)
	}
	return 0
}

func TestFakeClaims(t *testing.T) {
	t.Parallel()
	lim := sandboxtest.Limits()
	for name, c := range map[string]struct {
		prog sandboxtest.Program
		want sandbox.Cause
	}{
		"memory": {func(p *sandboxtest.Proc) int { p.Memory = lim.Memory + 1; return 0 }, sandbox.CauseMemory},
		"wall":   {func(p *sandboxtest.Proc) int { p.Wall, p.CPU = lim.Wall+1, lim.CPU; return 0 }, sandbox.CauseWall},
		"signal": {func(p *sandboxtest.Proc) int { p.Signal = 11; return 0 }, sandbox.CauseSignal},
		"fine":   {func(p *sandboxtest.Proc) int { p.Memory, p.CPU, p.Wall = lim.Memory, lim.CPU, lim.Wall; return 0 }, sandbox.CauseExit},
	} {
		f := &sandboxtest.Fake{Default: c.prog}
		rep, err := f.Run(t.Context(), sandbox.Spec{Args: []string{"p"}, Limits: lim})
		if err != nil || rep.Cause != c.want {
			t.Errorf("%s: %+v, %v, want cause %q", name, rep, err, c.want)
		}
		if len(f.Specs()) != 1 {
			t.Errorf("%s: %d specs recorded", name, len(f.Specs()))
		}
	}
}

func ExampleFake() {
	f := &sandboxtest.Fake{Programs: map[string]sandboxtest.Program{
		"greet": func(p *sandboxtest.Proc) int {
			fmt.Fprintln(p.Stdout, "hello")
			return 3
		},
	}}
	rep, err := f.Run(context.Background(), sandbox.Spec{Args: []string{"/exe/greet"}, Limits: judge.Limits{}.Complete()})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	fmt.Printf("%s %d %s", rep.Cause, rep.Exit, rep.Stdout.Data)
	// Output: exit 3 hello
}
