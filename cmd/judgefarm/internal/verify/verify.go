// Package verify finds out whether a problem package is what it says: inputs against
// its validators, answers and outputs against its checker, labelled submissions
// against their labels, and the room that its time limit leaves. It judges with the
// engine that everything else judges with; reading packages and printing reports is
// not its work.
//
//	side by side   programs of the package, submissions      as many as there are slots
//	alone          what came near a limit, what is to be too slow, a second time
//	once more      too slow ones at a longer limit; with Repeat everything
package verify

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"judgefarm/judge"
	"judgefarm/judge/engine"
	"judgefarm/judge/sandbox"
	"judgefarm/languages"
	"judgefarm/testcases"
)

// Config is what verification judges with. Every field is required.
type Config struct {
	Judge     engine.Judge
	Runner    sandbox.Runner // of input validators
	Compiler  engine.Compiler
	Languages *languages.Set
	Checkers  engine.Checkers
	Slots     int // how many boxes the runner has at one time
}

// Options say what is looked at. The zero value is everything, once.
type Options struct {
	Name        string        // of the report; "" is the problem's ID
	Root        string        // the package's folder, to which files are told relative; "" is not known
	Submissions string        // pattern of the paths of submissions that are judged; "" is all
	Repeat      int           // how often each submission is judged; 0 is once
	Fast        bool          // stop a submission at its first failure
	Alone       bool          // judge nothing side by side
	CPU         time.Duration // the time limit, instead of the package's
	// Since is what times will be compared with, empty the first time; nil where they
	// will not. What is slower than there, or new, is measured again with nothing of
	// ours beside it, and the least counts: load only adds to a time.
	Since *Record
	// Progress hears how many of the steps that are known so far are done; its calls
	// come one after another.
	Progress func(done, total int)
}

// Package verifies a problem, which must not change meanwhile and of which nothing may
// be Pending. An error is ctx's cause
// or says that the problem's data cannot be read; whatever else goes wrong is in the
// report.
func (c Config) Package(ctx context.Context, p *testcases.Problem, o Options) (*Report, error) {
	if p.Pending() {
		return nil, errors.New("verify problem: its inputs or answers are still to be made")
	}
	began := time.Now()
	v := &verification{
		cfg: &c, p: p, opts: o, files: files{root: o.Root, kind: p.Format},
		report: &Report{
			Package: o.Name, Name: p.Name, Format: p.Format, Digest: p.Digest, Submissions: []Row{}, Unfailed: []string{}, Findings: []Finding{},
			Toolchains: map[string]judge.LanguageRef{},
		},
	}
	if o.Name == "" {
		v.report.Package = p.ID
	}
	for _, one := range p.Cases() {
		v.report.Cases++
		if one.Sample {
			v.report.Samples++
		}
	}
	v.lookAtPackage()
	if err := v.lookAtData(); err != nil {
		return nil, err
	}
	if err := v.lookAtPrograms(ctx); err != nil {
		return nil, err
	}
	if err := v.lookAtSubmissions(ctx); err != nil {
		return nil, err
	}
	v.report.finish()
	v.report.Took = judge.MillisOf(time.Since(began))
	return v.report, nil
}

// verification is one problem on its way.
type verification struct {
	cfg   *Config
	p     *testcases.Problem
	opts  Options
	files files

	unlimited bool // there is no time limit, and none could be derived

	mu          sync.Mutex // guards what follows
	report      *Report
	done, total int
}

func (v *verification) found(s Severity, check, file string, line int, format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.report.add(Finding{s, check, file, line, fmt.Sprintf(format, args...)})
}

// task is one step. Its error ends the verification: ctx ended.
type task func(ctx context.Context) error

// run does the tasks, as many at a time as there are slots, or one after another.
func (v *verification) run(ctx context.Context, alone bool, tasks []task) error {
	v.step(0, len(tasks))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(v.cfg.Slots, 1))
	if alone || v.opts.Alone {
		g.SetLimit(1)
	}
	for _, t := range tasks {
		g.Go(func() error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			err := t(ctx)
			v.step(1, 0)
			return err
		})
	}
	return g.Wait()
}

func (v *verification) step(done, more int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.done, v.total = v.done+done, v.total+more
	if v.opts.Progress != nil && done > 0 {
		v.opts.Progress(v.done, v.total)
	}
}
