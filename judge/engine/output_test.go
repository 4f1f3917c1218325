package engine_test

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"judgefarm/judge"
	"judgefarm/judge/engine"
	"judgefarm/judge/sandbox"
	"judgefarm/judge/sandbox/sandboxtest"
	"judgefarm/testcases"
)

// An output that is not held in memory is ruled on to its last byte, and what is kept
// of it is as much as was asked for.
func TestLargeOutputs(t *testing.T) {
	t.Parallel()
	const size = 3 * sandbox.SpillAfter
	right := bytes.Repeat([]byte("word\n"), size/5)
	wrong := append(bytes.Clone(right[:len(right)-2]), 't', '\n')
	print := func(b []byte) sandboxtest.Program {
		return func(p *sandboxtest.Proc) int { p.Stdout.Write(b); return 0 }
	}
	e, _ := newEngine(t, map[string]sandboxtest.Program{
		"right": print(right), "wrong": print(wrong), "short": print(right[:size/2]), "more": print(append(right, right...)),
	})
	e.Dir = t.TempDir()
	p := &testcases.Problem{
		Limits: judge.Limits{Output: size},
		Groups: []testcases.Group{{Name: "secret", Cases: []testcases.Case{{
			Name: "secret/1", Input: testcases.BytesData(nil), Answer: testcases.BytesData(right),
		}}}},
	}
	if err := p.Seal(); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		keep, kept judge.Bytes
		total      int64
		want       judge.Verdict
	}{
		"right": {0, engine.DefaultKeepOutput, int64(len(right)), judge.Accepted},
		"wrong": {2 * judge.MiB, 2 * judge.MiB, int64(len(wrong)), judge.WrongAnswer},
		"short": {100, 100, size / 2, judge.WrongAnswer},
		"more":  {8 * judge.MiB, size, size, judge.OutputLimit},
	} {
		cfg := e.Config
		cfg.KeepOutput = c.keep
		out, err := engine.New(cfg).Judge(t.Context(), engine.Job{Problem: p, Submission: judge.Submission{
			ID: "s", Language: "c", Files: []judge.File{{Name: "main.c", Data: []byte(name)}},
		}}, engine.Watcher{})
		if err != nil {
			t.Fatal(err)
		}
		o := out.Outputs[0]
		if *out.Judgement.Verdict != c.want || judge.Bytes(len(o.Stdout)) != min(c.kept, judge.Bytes(c.total)) || o.StdoutTotal != c.total {
			t.Errorf("%s: got %s, kept %d of %d bytes, want %s, %d of %d", name, *out.Judgement.Verdict, len(o.Stdout), o.StdoutTotal, c.want, c.kept, c.total)
		}
		if !bytes.HasPrefix(append(right, right...), o.Stdout) && name != "wrong" || !bytes.HasPrefix(wrong, o.Stdout) && name == "wrong" {
			t.Errorf("%s: what was kept is not what was printed", name)
		}
	}
	if left, err := os.ReadDir(e.Dir); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// refusing hands out no file of a program, for that reason.
type refusing struct {
	sandbox.Runner
	reason error
}

func (r refusing) Run(ctx context.Context, spec sandbox.Spec) (*sandbox.Report, error) {
	rep, err := r.Runner.Run(ctx, spec)
	for i := range rep.Files {
		rep.Files[i] = sandbox.Collected{Name: rep.Files[i].Name, Err: r.reason}
	}
	return rep, err
}

// The file that is asked for takes none of the room that any program has, be there other
// files in its box or not, and there is room to go over its limit.
func TestRoomForOutputFiles(t *testing.T) {
	t.Parallel()
	plain := sandbox.BoxLimits{}.Complete(judge.Limits{})
	for _, input := range []string{"", "in.txt"} {
		e, fake := newEngine(t, map[string]sandboxtest.Program{"echo": func(p *sandboxtest.Proc) int {
			p.Write("out.txt", []byte("a"))
			return 0
		}})
		p := problem(t, "a", "a")
		p.InputFile, p.OutputFile = input, "out.txt"
		if _, err := e.Judge(t.Context(), engine.Job{Submission: submission("echo"), Problem: p}, engine.Watcher{}); err != nil {
			t.Fatal(err)
		}
		if spec := fake.Specs()[0]; spec.Box.FileSize < plain.FileSize || spec.Box.Disk <= plain.Disk+spec.Limits.Output {
			t.Errorf("input file %q: the box has %+v, any other %+v", input, spec.Box, plain)
		}
	}
}

// Whatever a program makes of its output file is its own: no reason why the file did
// not come out is a failure of ours.
func TestOutputFilesThatDoNotComeOut(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t, map[string]sandboxtest.Program{"echo": func(p *sandboxtest.Proc) int {
		p.Write("out.txt", []byte("a"))
		return 0
	}})
	p := problem(t, "a", "a")
	p.OutputFile = "out.txt"
	for reason, want := range map[error]struct {
		verdict judge.Verdict
		message string
	}{
		fs.ErrNotExist:        {judge.WrongAnswer, "the program wrote no file out.txt"},
		sandbox.ErrNotRegular: {judge.WrongAnswer, "the program wrote no file out.txt"},
		sandbox.ErrTooLarge:   {judge.OutputLimit, "output over"},
		syscall.EACCES:        {judge.WrongAnswer, "the program left file out.txt unreadable"},
		syscall.ENAMETOOLONG:  {judge.WrongAnswer, "the program left file out.txt unreadable"},
	} {
		cfg := e.Config
		cfg.Runner = refusing{cfg.Runner, reason}
		out, err := engine.New(cfg).Judge(t.Context(), engine.Job{Submission: submission("echo"), Problem: p}, engine.Watcher{})
		if err != nil || *out.Judgement.Verdict != want.verdict || !strings.HasPrefix(out.Judgement.Cases[0].Message, want.message) {
			t.Errorf("%v: got %+v, %v, want %+v", reason, out, err, want)
		}
	}
}
