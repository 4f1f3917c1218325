package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	client "judgefarm/clients/go"
	"judgefarm/cmd/judgefarm/internal/replay"
	"judgefarm/internal/daemon"
	"judgefarm/judge"
	"judgefarm/judge/engine"
	"judgefarm/languages"
	"judgefarm/testcases"
)

// replayOutstanding is how many submissions wait at the server at one time.
const replayOutstanding = 32

type replayCmd struct {
	File     string `arg:"" help:"Old submissions, one JSON object a line; docs/replay.md describes them." type:"existingfile"`
	Problems string `help:"Directory of the problem packages that the lines name, for judging on this machine." type:"existingdir" placeholder:"DIR"`
	Problem  string `help:"Problem of lines that name none: a package, or with --server a name there." placeholder:"PACKAGE"`
	Server   string `help:"Base URL of a server that judges, at its lowest priority; by default this machine does." placeholder:"URL"`
	Exact    bool   `help:"Take each verdict by itself; by default PE is WA, WTL and ILE are TLE, SV is RTE, CTL is CE."`
	All      bool   `help:"List lines that agree too."`
	Slots    int    `help:"Submissions judged at once on this machine; 0: one for each core that this process may use." default:"0"`
	JSON     bool   `help:"Print the report as JSON." name:"json"`
	packageFlags
	limitsFlag
	localFlags
}

// again judges one line; it is this machine or a server.
type again func(ctx context.Context, l replay.Line) (judge.Judgement, error)

// Run judges every line again. It ends with 1 where a verdict differs, with 3 where
// none does and some could not be judged.
func (c *replayCmd) Run(env *daemon.Env) error {
	set, err := c.languageSet()
	if err != nil {
		return err
	}
	total, err := c.count(set)
	if err != nil {
		return err
	}
	ctx, stop := env.Context()
	defer stop()
	once, most, end, err := c.judge(env, set)
	if err != nil {
		return err
	}
	report, err := c.replay(ctx, env, set, once, most, total)
	if err = errors.Join(err, end()); report == nil {
		return err
	}
	if c.JSON {
		err = errors.Join(err, printJSON(env.Stdout, report))
	} else {
		err = errors.Join(err, printReplay(env.Stdout, report))
	}
	switch {
	case err != nil:
		return err
	case report.Differ > 0:
		return daemon.ErrNotAccepted
	case report.Failed > 0:
		return daemon.Silent{Code: daemon.ExitFailed}
	}
	return nil
}

// count reads the whole file once, so that a fault in it is told before anything runs.
func (c *replayCmd) count(set *languages.Set) (int, error) {
	n := 0
	err := c.read(set, func(l replay.Line) error {
		n++
		if c.Server == "" && l.Request.Problem != c.Problem && l.Request.Problem != "" && c.Problems == "" {
			return daemon.Usage("--problems: line %d is of problem %.64q; state the directory of its package, or --server", l.Number, l.Request.Problem)
		}
		if l.Request.Problem == "" && len(l.Request.Tests) == 0 {
			return daemon.Usage("--problem: line %d names no problem and has no tests; state its package", l.Number)
		}
		return nil
	})
	if err == nil && n == 0 {
		err = daemon.Usage("<file>: %s has no submission", c.File)
	}
	return n, err
}

// read calls f for every line, with --problem where it names no problem.
func (c *replayCmd) read(set *languages.Set, f func(replay.Line) error) error {
	file, err := os.Open(c.File)
	if err != nil {
		return daemon.Usage("<file>: %w", err)
	}
	defer file.Close()
	return replay.Read(file, c.File, set, func(l replay.Line) error {
		if l.Request.Problem == "" && len(l.Request.Tests) == 0 {
			l.Request.Problem = c.Problem
		}
		return f(l)
	})
}

// errAway ends a replay: what was judged until then is reported.
var errAway = errors.New("the server is away")

// replay judges the lines, a bounded number at a time. With errAway there is a report
// of the lines that were judged.
func (c *replayCmd) replay(ctx context.Context, env *daemon.Env, set *languages.Set, once again, most, total int) (*replay.Report, error) {
	report := replay.NewReport(c.Exact, c.All)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(most)
	err := c.read(set, func(l replay.Line) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		g.Go(func() error {
			j, err := once(ctx, l)
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if errors.Is(err, errAway) {
				return fmt.Errorf("line %d: %w", l.Number, err)
			}
			progress(env.Stderr, "judged", report.Add(l, j, err), total)
			return nil
		})
		return nil
	})
	if ended := g.Wait(); ended != nil {
		err = ended // and so did the reading
	}
	if err != nil && !errors.Is(err, errAway) {
		return nil, err
	}
	report.Finish()
	return report, err
}

// judge opens what judges: how, how many at one time, and its end.
func (c *replayCmd) judge(env *daemon.Env, set *languages.Set) (once again, most int, end func() error, err error) {
	if c.Server != "" {
		server, err := client.New(client.Config{URL: c.Server, Pause: told(env)})
		if err != nil {
			return nil, 0, nil, daemon.Usage("--server: %w", err)
		}
		return onServer(server), replayOutstanding, func() error { return nil }, nil
	}
	slots, err := cores(c.Slots)
	if err != nil {
		return nil, 0, nil, err
	}
	dir, err := os.MkdirTemp("", "judgefarm-replay-")
	if err != nil {
		return nil, 0, nil, err
	}
	l, err := c.openLocal(env, slots, nil)
	if err != nil {
		return nil, 0, nil, errors.Join(err, os.RemoveAll(dir))
	}
	shelf := &shelf{local: l, options: c.limited(c.options()), packages: c.Problems, single: c.Problem, dir: dir, open: map[string]*shelved{}}
	return shelf.judge, slots, func() error { return errors.Join(l.Close(), os.RemoveAll(dir)) }, nil
}

func onServer(server *client.Client) again {
	return func(ctx context.Context, l replay.Line) (judge.Judgement, error) {
		req := l.Request
		req.Priority = "batch"
		req.Labels = map[string]string{"replay_line": strconv.Itoa(l.Number)}
		j, err := server.Submit(ctx, req)
		if err == nil {
			j, err = server.Wait(ctx, j.ID)
		}
		if isAway(err) {
			err = fmt.Errorf("%w: %w", errAway, err)
		}
		return j, err
	}
}

// isAway reports what comes of a server that did not answer for as long as the client
// is patient, or whose proxy or stores did: the other lines would come to no more.
func isAway(err error) bool {
	var (
		network *url.Error
		answer  *client.Error
	)
	if errors.As(err, &answer) {
		return answer.Status == http.StatusBadGateway || answer.Status == http.StatusServiceUnavailable || answer.Status == http.StatusGatewayTimeout
	}
	return errors.As(err, &network)
}

func printReplay(w io.Writer, r *replay.Report) error {
	if err := matrix(r.Matrix).print(w); err != nil {
		return err
	}
	var rows []string
	for _, row := range r.Rows {
		cause := row.Failed
		if row.Difference != nil {
			cause = row.Difference.Cause
		}
		is := string(row.New)
		if row.Failed != "" {
			is = "failed"
		}
		rows = append(rows, fmt.Sprintf("%d\t%s\t%s\t%s\t%s\t%s\t%s", row.Line, firstLine(row.ID), firstLine(row.Problem), row.Language, row.Old, is, firstLine(cause)))
	}
	if len(rows) > 0 {
		fmt.Fprintln(w)
		if err := printTable(w, "LINE | ID | PROBLEM | LANGUAGE | OLD | NEW | CAUSE", rows); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "\n%d submissions: %d agree, %d differ, %d could not be judged\n", r.Lines, r.Agree, r.Differ, r.Failed)
	return err
}

// localTests makes the anonymous problem of a line's own tests.
func localTests(req judge.Request) (*testcases.Problem, error) {
	var inline testcases.InlineConfig
	for i, t := range req.Tests {
		test, err := t.Test()
		if err != nil {
			return nil, fmt.Errorf("tests[%d]: %w", i, err)
		}
		inline.Tests = append(inline.Tests, testcases.InlineTest(test))
	}
	return testcases.Inline(inline)
}

// localJob is a line as the engine of this machine judges it.
func localJob(l replay.Line, p *testcases.Problem) (engine.Job, error) {
	sub := judge.Submission{ID: localID, Language: l.Request.Language, Checker: l.Request.Checker}
	if l.Request.Limits != nil {
		sub.Limits = l.Request.Limits.Limits()
	}
	for _, f := range l.Request.Files {
		file, err := f.File()
		if err != nil {
			return engine.Job{}, err
		}
		sub.Files = append(sub.Files, file)
	}
	return engine.Job{Submission: sub, Problem: p}, nil
}

// packagePath is the package of a problem in a directory: a directory or an archive
// of its name.
func packagePath(dir, name string) (string, error) {
	if reason := testcases.CheckName(name); reason != "" || strings.Contains(name, "/") {
		return "", fmt.Errorf("problem %.64q: is no name of a package", name)
	}
	for _, suffix := range []string{"", ".judgefarm.tar.gz", ".tar.gz", ".tgz", ".zip", ".tar"} {
		path := filepath.Join(dir, name+suffix)
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("problem %s: no package of this name in %s", name, dir)
}
