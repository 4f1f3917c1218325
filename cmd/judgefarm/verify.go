package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"judgefarm/cmd/judgefarm/internal/verify"
	"judgefarm/internal/blob"
	"judgefarm/internal/daemon"
	"judgefarm/judge"
	"judgefarm/testcases"
	"judgefarm/testcases/format"
	"judgefarm/testcases/format/packed"
)

type verifyCmd struct {
	Packages    []string      `arg:"" optional:"" help:"Problem packages: directories, or archives of one. With --stored names of problems; none is all." name:"package"`
	Submissions string        `help:"Judge only the submissions whose path, or a folder of it, matches: accepted, */slow.py." placeholder:"PATTERN"`
	Repeat      int           `help:"Judge each submission so many times and tell those that come out differently." default:"1" placeholder:"N"`
	Fast        bool          `help:"Stop a submission at its first failure; cases that no wrong submission fails are not told then."`
	CPU         time.Duration `help:"Time limit, instead of the package's or the derived one." name:"cpu" placeholder:"1s"`
	Slots       int           `help:"How much goes on at once; 0: one for each core that this process may use. What comes near a limit is judged again, alone." default:"0"`
	Alone       bool          `help:"Judge everything alone."`
	AllFaults   bool          `help:"Take warnings for faults." name:"warnings-are-faults"`
	JSON        bool          `help:"Print the reports as one JSON document." name:"json"`
	Stored      bool          `help:"Verify the problems of a farm again, as after an upgrade of a toolchain or the kernel, and tell what changed since the last time. Needs --server and --blobs."`
	packageFlags
	limitsFlag
	serverFlag
	blob.Config
	localFlags
}

// Run verifies each package and ends with 1 when one of them has a fault, with 3 when
// none has but something could not be looked at.
func (c *verifyCmd) Run(env *daemon.Env) error {
	if err := c.check(); err != nil {
		return err
	}
	slots, err := cores(c.Slots)
	if err != nil {
		return err
	}
	l, err := c.openLocal(env, slots, nil)
	if err != nil {
		return err
	}
	ctx, stop := env.Context()
	defer stop()
	reports, err := c.all(ctx, env, l)
	err = errors.Join(err, l.Close())
	if err != nil && len(reports) == 0 {
		return err
	}
	return errors.Join(err, c.finish(env, reports, err == nil))
}

func (c *verifyCmd) check() error {
	if _, err := path.Match(c.Submissions, ""); err != nil {
		return daemon.Usage("--submissions: %q is no pattern: %w", c.Submissions, err)
	}
	if c.Repeat < 1 || c.Repeat > 1000 {
		return daemon.Usage("--repeat: must be 1 to 1000, is %d", c.Repeat)
	}
	switch {
	case !c.Stored && len(c.Packages) == 0:
		return daemon.Usage("name a package, or state --stored")
	case c.Stored && (c.Submissions != "" || c.CPU != 0 || c.Fast):
		return daemon.Usage("--stored: not together with --submissions, --cpu or --fast: what it remembers would not be the whole")
	}
	if c.CPU != 0 {
		return flagNames(judge.Refuse(judge.Limits{CPU: c.CPU}.Complete().Validate("limits.")...))
	}
	return nil
}

// toVerify is a package on its way.
type toVerify struct {
	name string
	// open reads the problem. It may use dir; root is the package's folder, "" where its
	// files have no names that anybody knows.
	open func(ctx context.Context, dir string) (p *testcases.Problem, root string, err error)
	// last is what is remembered of its last verification, nil where nothing is; after
	// hears of it and of the report before that is shown. Both are nil where nothing
	// is remembered.
	last  func(ctx context.Context) (*verify.Record, error)
	after func(ctx context.Context, old *verify.Record, r *verify.Report) error
}

// packages are those of the command line, or of the farm.
func (c *verifyCmd) packages(ctx context.Context, env *daemon.Env) ([]toVerify, error) {
	var all []toVerify
	if !c.Stored {
		for _, at := range c.Packages {
			all = append(all, toVerify{name: filepath.Clean(at), open: func(_ context.Context, dir string) (*testcases.Problem, string, error) {
				return openNamed(c.limited(c.options()), at, filepath.Join(dir, "unpacked"))
			}})
		}
		return all, nil
	}
	s, infos, err := c.openStored(ctx, env)
	for _, info := range infos {
		all = append(all, toVerify{
			name: info.ID,
			open: func(ctx context.Context, dir string) (*testcases.Problem, string, error) {
				p, err := s.fetch(ctx, info, dir)
				return p, "", err
			},
			last: func(ctx context.Context) (*verify.Record, error) { return s.last(ctx, info.Package) },
			after: func(ctx context.Context, old *verify.Record, r *verify.Report) error {
				return s.compare(ctx, info.Package, old, r)
			},
		})
	}
	return all, err
}

// openNamed opens a package that the command line names. An archive is unpacked.
func openNamed(opt format.Options, at, unpacked string) (*testcases.Problem, string, error) {
	p, err := openPackage(opt, "<package>", at, unpacked)
	root := at
	if info, err := os.Stat(unpacked); err == nil && info.IsDir() {
		root = unpacked
	}
	if root = format.Root(root); packed.Detect(root) {
		root = ""
	}
	return p, root, err
}

// all verifies package after package, so that nothing of one disturbs another, and
// prints each report when it is there.
func (c *verifyCmd) all(ctx context.Context, env *daemon.Env, l *local) ([]*verify.Report, error) {
	packages, err := c.packages(ctx, env)
	if err != nil {
		return nil, err
	}
	reports := []*verify.Report{}
	for _, one := range packages {
		r, err := c.remembered(ctx, env, l, one)
		if err != nil {
			return reports, err
		}
		reports = append(reports, r)
		if c.JSON {
			continue
		}
		if err := printReport(env.Stdout, r); err != nil {
			return reports, err
		}
	}
	return reports, nil
}

// remembered verifies a package, with a look at the last time where that is remembered.
func (c *verifyCmd) remembered(ctx context.Context, env *daemon.Env, l *local, one toVerify) (*verify.Report, error) {
	if one.last == nil {
		return c.one(ctx, env, l, one, nil)
	}
	old, err := one.last(ctx)
	if err != nil {
		return nil, err
	}
	since := old
	if since == nil {
		since = &verify.Record{}
	}
	r, err := c.one(ctx, env, l, one, since)
	if err == nil && r.Digest != "" {
		err = one.after(ctx, old, r)
	}
	return r, err
}

// one verifies a package. What it makes by its own programs is made, or found again.
func (c *verifyCmd) one(ctx context.Context, env *daemon.Env, l *local, one toVerify, since *verify.Record) (*verify.Report, error) {
	dir, err := os.MkdirTemp("", "judgefarm-verify-")
	if err != nil {
		return nil, fmt.Errorf("verify %s: %w", one.name, err)
	}
	defer os.RemoveAll(dir)
	p, root, err := one.open(ctx, dir)
	if err == nil {
		p, err = l.built(ctx, p)
	}
	if r, is := verify.Refused(one.name, err); is {
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	return l.verify(ctx, p, verify.Options{
		Name: one.name, Root: root, Submissions: c.Submissions, Repeat: c.Repeat, Fast: c.Fast, Alone: c.Alone, CPU: c.CPU, Since: since,
		Progress: func(done, total int) { progress(env.Stderr, one.name+": step", done, total) },
	})
}

// verify verifies a problem with what judges here.
func (l *local) verify(ctx context.Context, p *testcases.Problem, o verify.Options) (*verify.Report, error) {
	return verify.Config{
		Judge: l.engine, Runner: l.engine.Runner, Compiler: l.engine.Compiler, Languages: l.languages, Checkers: l.engine.Checkers,
		Slots: l.box.Slots(),
	}.Package(ctx, p, o)
}

// verifyDocument is what --json prints.
type verifyDocument struct {
	Faults   int              `json:"faults"`
	Warnings int              `json:"warnings"`
	Failed   int              `json:"failed"`
	Complete bool             `json:"complete"`
	Problems []*verify.Report `json:"problems"`
}

// finish prints the document and says how the command ends. ended is false where an
// error of ours kept it from the rest of the packages, which ends it then.
func (c *verifyCmd) finish(env *daemon.Env, reports []*verify.Report, ended bool) error {
	doc := verifyDocument{Complete: ended, Problems: reports}
	for _, r := range reports {
		doc.Faults, doc.Warnings, doc.Failed = doc.Faults+r.Faults, doc.Warnings+r.Warnings, doc.Failed+r.Failed
		doc.Complete = doc.Complete && r.Complete
	}
	if c.JSON {
		if err := printJSON(env.Stdout, doc); err != nil {
			return err
		}
	}
	switch {
	case !ended:
		return nil
	case doc.Faults > 0, c.AllFaults && doc.Warnings > 0:
		return daemon.ErrNotAccepted
	case doc.Failed > 0:
		return daemon.Silent{Code: daemon.ExitFailed}
	case c.Submissions != "" && !slices.ContainsFunc(reports, func(r *verify.Report) bool { return len(r.Submissions) > 0 }):
		return daemon.Usage("--submissions: %q matches no submission of the packages", c.Submissions)
	}
	return nil
}
