// Package build makes what a problem package has no data for: inputs by its
// generators, answers by its main solution. Every program runs in a box, and what it
// made is kept under a name that tells program, toolchain, arguments and input, so
// that nothing is made twice. It does not read packages and judges nothing.
//
//	recipe of the input --> compile --> box --> dir/<key> --.
//	recipe of the answer -------------> box --> dir/<key> --+--> problem, sealed again
package build

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"

	"judgefarm/judge"
	"judgefarm/judge/checker"
	"judgefarm/judge/sandbox"
	"judgefarm/testcases"
)

// DefaultMaxBytes is Config.MaxBytes where it is not stated.
const DefaultMaxBytes = 4 * judge.GiB

// maxFile bounds one input or answer.
const maxFile = 256 * judge.MiB

// limits are what a program that makes data may use. A solution may use more where its
// problem allows more.
var limits = judge.Limits{CPU: 60 * time.Second, Wall: 180 * time.Second, Memory: 2 * judge.GiB, Output: maxFile, Tasks: 64}

// Config is what a Builder works with. Runner, Compiler and Languages are required.
type Config struct {
	Runner    sandbox.Runner
	Compiler  checker.Compiler
	Languages checker.Languages
	// Talkers is the runner of interactors, as the engine's: without it answers of
	// interactive problems are not made.
	Talkers  sandbox.Runner
	MaxBytes judge.Bytes  // of what is made for one problem; 0 is 4 GiB
	Log      *slog.Logger // nil is slog.Default()
}

// Builder makes the missing data of problems. It is safe for concurrent use, as long
// as no two builds share a directory.
type Builder struct{ cfg Config }

// New returns a Builder.
func New(cfg Config) (*Builder, error) {
	if cfg.Runner == nil || cfg.Compiler == nil || cfg.Languages == nil {
		return nil, errors.New("make builder: runner, compiler and languages must be set")
	}
	if cfg.MaxBytes == 0 {
		cfg.MaxBytes = DefaultMaxBytes
	}
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	return &Builder{cfg}, nil
}

// Build returns p itself when none of its data is missing. Else it makes the data in
// dir, which only the caller's user may enter, and returns a problem that reads it
// there and has the digest of it. dir is made where it is missing; what an earlier
// build left in it is used. The error is ctx's cause or a *judge.Failed: FailProblem
// with the program, its arguments and the case in its reason when the package is at
// fault; it can be tried again when a wall limit ended a program or the fault is ours.
func (b *Builder) Build(ctx context.Context, p *testcases.Problem, dir string) (*testcases.Problem, error) {
	if !p.Pending() {
		return p, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, judge.Fail(judge.FailStorage, fmt.Errorf("make directory of test data: %w", err))
	}
	made := *p
	made.Groups = cloned(p.Groups)
	w := &work{
		Builder: b, dir: dir, p: &made, programs: map[*testcases.Program]*program{}, equals: map[*testcases.Program]*testcases.Program{},
		named: map[string][]*testcases.Program{}, counted: map[string]bool{}, began: time.Now(),
	}
	defer w.release()
	if err := w.all(ctx); err != nil {
		return nil, err
	}
	made.MadeFrom = p.Named()
	if err := made.Seal(); err != nil {
		return nil, judge.Fail(judge.FailProblem, err)
	}
	b.cfg.Log.Info("test data made", "problem", p.ID, "made", w.made, "there", w.there, "bytes", int64(w.bytes), "took", time.Since(w.began))
	return &made, nil
}

// cloned copies the tree down to its cases.
func cloned(groups []testcases.Group) []testcases.Group {
	out := slices.Clone(groups)
	for i := range out {
		out[i].Cases = slices.Clone(out[i].Cases)
		out[i].Groups = cloned(out[i].Groups)
	}
	return out
}

// work is one build.
type work struct {
	*Builder
	dir      string
	p        *testcases.Problem // whose data is being filled in
	programs map[*testcases.Program]*program
	equals   map[*testcases.Program]*testcases.Program // of programs to the one that stands for them
	named    map[string][]*testcases.Program           // those that stand for themselves, by their names
	outputs  map[string][]string                       // files that recipes want of one and the same run
	stderr   bool                                      // what programs write on standard error is kept too
	began    time.Time

	made, there int // files
	bytes       judge.Bytes
	counted     map[string]bool // files among bytes
}

// all makes inputs first: answers read them.
func (w *work) all(ctx context.Context) error {
	w.outputs = map[string][]string{}
	w.p.Walk(func(_ *testcases.Group, c *testcases.Case) {
		if c.Input == nil {
			w.want(c.InputFrom)
		}
		w.stderr = w.stderr || c.Answer == nil && c.AnswerFrom.Output == testcases.Stderr
	})
	var err error
	each := func(one func(*testcases.Case) error) {
		w.p.Walk(func(_ *testcases.Group, c *testcases.Case) {
			if err == nil && ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			if err == nil {
				err = one(c)
			}
		})
	}
	each(func(c *testcases.Case) (err error) {
		if c.Input == nil {
			c.Input, err = w.input(ctx, c)
		}
		return err
	})
	each(func(c *testcases.Case) (err error) {
		if c.Answer == nil {
			c.Answer, err = w.answer(ctx, c)
		}
		return err
	})
	return err
}

func (w *work) input(ctx context.Context, c *testcases.Case) (testcases.Data, error) {
	d, err := w.follow(ctx, c.InputFrom, task{what: "input of case " + c.Name})
	if err == nil && d.Size() == 0 && !c.InputFrom.Empty {
		return nil, w.broken(c.InputFrom, task{what: "input of case " + c.Name}, "wrote nothing", nil, false)
	}
	return d, err
}

// answer lets a solution find what a submission would.
func (w *work) answer(ctx context.Context, c *testcases.Case) (testcases.Data, error) {
	t := task{what: "answer of case " + c.Name, stdin: c.Input, files: c.Files, args: c.Args, solution: true}
	if w.p.Kind == testcases.Interactive && c.AnswerFrom.Output != testcases.Stderr {
		return w.dialogue(ctx, c, t)
	}
	if w.p.InputFile != "" {
		t.files = append(slices.Clone(t.files), testcases.CaseFile{Name: w.p.InputFile, Data: c.Input})
		t.stdin = nil
	}
	return w.follow(ctx, c.AnswerFrom, t)
}

// follow makes what a recipe says, after what it reads. What t has to read is for the
// first program alone.
func (w *work) follow(ctx context.Context, r *testcases.Recipe, t task) (testcases.Data, error) {
	if r.Stdin != nil {
		read, err := w.follow(ctx, r.Stdin, t)
		if err != nil {
			return nil, err
		}
		t = task{what: t.what, stdin: read, solution: t.solution}
	}
	if r.Stdin == nil && r.Input != nil {
		t = task{what: t.what, stdin: r.Input, solution: t.solution}
	}
	d, err := w.run(ctx, r, t)
	if err != nil || !r.Text {
		return d, err
	}
	if d, err = testcases.Text(d); err != nil {
		return nil, judge.Fail(judge.FailStorage, fmt.Errorf("read the %s: %w", t.what, err))
	}
	return d, nil
}

func (w *work) release() {
	for _, p := range w.programs {
		p.exe.Release()
	}
}
