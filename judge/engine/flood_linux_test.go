package engine_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"judgefarm/judge"
	"judgefarm/judge/engine"
	"judgefarm/judge/sandbox"
	"judgefarm/testcases"
)

// A program that drowns a manager has itself to blame, in both ways of talking and
// whichever of several it is; the manager alone has not.
func TestDrownedManagers(t *testing.T) {
	t.Parallel()
	e, _ := realEngine(t)
	picky := "assert len(back.readline()) < 100\n    " // breaks at what is too long
	manager := strings.Replace(relay, "for to, back in ends:\n    print(-1", "for to, back in ends:\n    "+picky+"print(-1", 1)
	manager = strings.Replace(manager, "n = int(sys.stdin.read())", "sys.stdin.read(); n = 0", 1)
	manager = strings.Replace(manager, "assert n ==", "assert 5 ==", 1)
	for name, c := range map[string]struct {
		processes int
		source    string
		want      judge.Verdict // "" is our failure
	}{
		"honest":         {1, "print('yes', file=out, flush=True); inp.readline()", judge.Accepted},
		"a line":         {1, "print('x' * 1000, file=out)", ""},
		"floods":         {1, "while True: print('x' * 1000, file=out)", judge.OutputLimit},
		"one of two":     {2, "while sys.argv[-1] == '1': print('x' * 1000, file=out)\nprint('yes', file=out, flush=True); inp.readline()", judge.OutputLimit},
		"in two strands": {1, "import os; os.fork()\nwhile True: os.write(out.fileno(), b'x' * 65536)", judge.OutputLimit},
	} {
		for _, named := range []bool{true, false} {
			p := relayProblem(c.processes, named)
			p.Interactor = script("manager.py", manager, testcases.ProtocolCMS)
			p.Interactor.Limits.Memory = 64 * judge.MiB
			p.Limits = judge.Limits{CPU: plenty, Wall: patience, Output: 256 * judge.KiB}
			source := streams + c.source
			if named {
				source = names + c.source
			}
			j, err := judgePython(t, e, p, source)
			var failed *judge.Failed
			switch {
			case c.want == "":
				if !errors.As(err, &failed) || failed.Kind != judge.FailChecker {
					t.Errorf("%s, named %v: got %+v, %v, want our failure", name, named, j, err)
				}
			case err != nil || *j.Verdict != c.want:
				t.Errorf("%s, named %v: got %+v, %v, want %s", name, named, j, err, c.want)
			case c.want == judge.OutputLimit && !strings.Contains(j.Cases[0].Message, "262144 bytes"):
				t.Errorf("%s, named %v: message %q does not name the limit", name, named, j.Cases[0].Message)
			}
		}
	}
}

// onceBroken makes the first box of a runner end as if its program had broken, and have
// read its input through our descriptor, as at isolation levels without mounts.
type onceBroken struct {
	sandbox.Runner
	done *atomic.Bool
}

func (r onceBroken) Run(ctx context.Context, spec sandbox.Spec) (*sandbox.Report, error) {
	rep, err := r.Runner.Run(ctx, spec)
	if err == nil && !r.done.Swap(true) {
		rep.Exit = 1
		_, err = spec.Stdin.Seek(0, io.SeekEnd)
	}
	return rep, err
}

// A manager that breaks once has its whole input when it is asked again, so that what
// comes of the second time counts.
func TestManagerThatBreaksOnce(t *testing.T) {
	t.Parallel()
	e, _ := realEngine(t)
	for _, named := range []bool{true, false} {
		cfg := e.Config
		cfg.Interactors = onceBroken{e.Interactors, &atomic.Bool{}}
		source := streams + right
		if named {
			source = names + right
		}
		j, err := judgePython(t, engine.New(cfg), relayProblem(1, named), source)
		if err != nil || *j.Verdict != judge.Accepted {
			t.Errorf("named %v: got %+v, %v, want AC", named, j, err)
		}
	}
}

// What a program of the problem floods is never the submission's fault: it goes on
// without what is too much, or is our failure by its own limits. Nobody hangs.
func TestFloodingRoles(t *testing.T) {
	t.Parallel()
	e, _ := realEngine(t)
	const (
		stdout = "import sys\nwhile True: sys.stdout.write('x' * 65536)\n"
		stderr = "import sys\nwhile True: sys.stderr.write('x' * 65536)\n"
		file   = "f = open('/work/flood', 'wb')\nwhile True: f.write(b'x' * 65536)\n"
		files  = "i = 0\nwhile True: open('/work/%d' % i, 'w'); i += 1\n"
	)
	checked := func(own *testcases.Program) *testcases.Problem {
		return &testcases.Problem{Checker: judge.CheckerSpec{Name: testcases.CustomChecker}, CheckerProgram: own}
	}
	talks := func(own *testcases.Program) *testcases.Problem {
		return &testcases.Problem{Kind: testcases.Interactive, Interactor: own}
	}
	manages := func(own *testcases.Program) *testcases.Problem {
		own.Protocol = testcases.ProtocolCMS
		return &testcases.Problem{Kind: testcases.Communication, Processes: 1, Interactor: own}
	}
	for _, c := range []struct {
		role, source string
		problem      func(*testcases.Program) *testcases.Problem
	}{
		{"checker", stdout, checked}, {"checker", stderr, checked}, {"checker", file, checked}, {"checker", files, checked},
		{"interactor", stdout, talks}, {"interactor", stderr, talks}, {"interactor", file, talks}, {"interactor", files, talks},
		{"manager", file, manages}, {"manager", files, manages}, // its streams are taken as a checker's, and its CPU limit is over a second
	} {
		own := script("own.py", c.source, testcases.ProtocolKattis)
		own.Limits = judge.Limits{CPU: 100 * time.Millisecond, Wall: time.Minute}
		p := c.problem(own)
		p.Limits = judge.Limits{CPU: plenty, Wall: patience} // a manager has as long as its program
		p.Groups = []testcases.Group{{Name: "secret", Cases: []testcases.Case{caseOf("secret/1", "1\n", "1\n")}}}
		j, err := judgePython(t, e, p, "import sys\nif sys.stdin.read(1): print(1)\nimport time; time.sleep(0.01)\n")
		var failed *judge.Failed
		if !errors.As(err, &failed) || failed.Kind != judge.FailChecker {
			t.Errorf("%s floods by %q: got %+v, %v, want our failure", c.role, c.source, j, err)
		}
	}
	for _, source := range []string{stdout, stderr, file, files} {
		p := &testcases.Problem{Score: &testcases.Aggregate{}, Groups: []testcases.Group{{
			Name: "secret", Cases: []testcases.Case{caseOf("secret/1", "1\n", "1\n")},
			Score: &testcases.Aggregate{Mode: testcases.ModeCustom, Accept: score(10), Grader: script("grade.py", source, "")},
		}}}
		j, err := judgePython(t, e, p, "print(1)")
		var failed *judge.Failed
		if !errors.As(err, &failed) || failed.Kind != judge.FailProblem {
			t.Errorf("grader floods by %q: got %+v, %v, want our failure", source, j, err)
		}
	}
}
