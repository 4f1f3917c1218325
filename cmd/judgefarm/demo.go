package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	client "judgefarm/clients/go"
	"judgefarm/cmd/judgefarm/internal/verify"
	"judgefarm/internal/daemon"
	"judgefarm/judge"
	"judgefarm/languages"
	"judgefarm/testcases"
	"judgefarm/testcases/format"
)

// demoOutstanding is how many submissions wait at the server at one time.
const demoOutstanding = 16

type demoCmd struct {
	Problems string `help:"Directory of problem packages with labelled submissions." default:"testcases/testdata/problems" type:"existingdir"`
	Server   string `help:"Base URL of a running server; by default the demo starts one of its own." placeholder:"URL"`
	CacheDir string `help:"Cache directory of the server that the demo starts." placeholder:"DIR"`
	isolationFlag
}

// labelled is one row of the table.
type labelled struct {
	problem, language string
	sub               testcases.Labelled
	request           judge.Request
	missing           string // why it was not judged
	got               *judge.Judgement
}

// failed reports that we could not judge it: that says nothing of the label, unless
// the label says so.
func (l *labelled) failed() bool {
	return l.missing == "" && l.got.State != judge.Judged && !l.sub.Broken
}

// differs reports a judgement that is not what the label promises.
func (l *labelled) differs() bool {
	return l.missing == "" && l.got.State == judge.Judged && len(verify.Unmet(l.sub, verify.Judged{Doc: l.got})) > 0
}

// Run judges every labelled submission of the packages in every language that the
// server has. It ends with 1 when a verdict is not the label's, with 3 where none is
// but some could not be judged.
func (c *demoCmd) Run(env *daemon.Env) error {
	ctx, stop := env.Context()
	defer stop()
	base := c.Server
	if base == "" {
		url, end, err := c.startServer(ctx, env)
		if err != nil {
			return err
		}
		defer end()
		base = url
	}
	server, err := client.New(client.Config{URL: base})
	if err != nil {
		return daemon.Usage("--server: %w", err)
	}
	rows, err := c.load(ctx, server)
	if err != nil {
		return err
	}
	began := time.Now()
	if err := judgeAll(ctx, env, server, rows); err != nil {
		return err
	}
	return printDemo(env, rows, time.Since(began))
}

// startServer runs judgefarm serve beside us on a port of its own.
func (c *demoCmd) startServer(ctx context.Context, env *daemon.Env) (url string, end func(), err error) {
	dir, err := os.MkdirTemp("", "judgefarm-demo-")
	if err != nil {
		return "", nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	self, err := os.Executable()
	if err != nil {
		return "", nil, err
	}
	address := filepath.Join(dir, "address")
	args := []string{"serve", "--listen", "127.0.0.1:0", "--address-file", address, "--data-dir", dir, "--log-level", "warn", "--isolation", string(c.Isolation)}
	if c.CacheDir != "" {
		args = append(args, "--cache-dir", c.CacheDir)
	}
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Stderr = env.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	if err := cmd.Start(); err != nil {
		return "", nil, fmt.Errorf("start server: %w", err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // its end is news only while we wait for its address
	}()
	end = func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		<-ended
		os.RemoveAll(dir)
	}
	for {
		text, err := os.ReadFile(address)
		if err == nil {
			return "http://" + strings.TrimSpace(string(text)), end, nil
		}
		select {
		case <-ended:
			end()
			return "", nil, errors.New("start server: it ended before it listened")
		case <-ctx.Done():
			end()
			return "", nil, context.Cause(ctx)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// load uploads the packages and lists their labelled submissions.
func (c *demoCmd) load(ctx context.Context, server *client.Client) ([]*labelled, error) {
	infos, err := server.Languages(ctx)
	if err != nil {
		return nil, err
	}
	have := map[string]judge.LanguageInfo{}
	for _, info := range infos {
		have[info.ID] = info
	}
	set, err := languages.Load(languages.Config{})
	if err != nil {
		return nil, err
	}
	dirs, err := os.ReadDir(c.Problems)
	if err != nil {
		return nil, daemon.Usage("--problems: %w", err)
	}
	var rows []*labelled
	for _, d := range dirs {
		if !d.IsDir() {
			continue
		}
		p, err := upload(ctx, server, filepath.Join(c.Problems, d.Name()), d.Name())
		if err != nil {
			return nil, fmt.Errorf("problem %s: %w", d.Name(), err)
		}
		for _, sub := range p.Submissions {
			row, err := newLabelled(set, have, d.Name(), sub)
			if err != nil {
				return nil, err
			}
			rows = append(rows, row)
		}
	}
	if len(rows) == 0 {
		return nil, daemon.Usage("--problems: no labelled submission below %s", c.Problems)
	}
	return rows, nil
}

func upload(ctx context.Context, server *client.Client, dir, id string) (*testcases.Problem, error) {
	p, err := format.Open(dir)
	if err != nil {
		return nil, err
	}
	var archive bytes.Buffer
	if err := format.Pack(dir, &archive); err != nil {
		return nil, err
	}
	_, err = server.PutProblem(ctx, id, archive.Bytes())
	return p, err
}

func newLabelled(set *languages.Set, have map[string]judge.LanguageInfo, problem string, sub testcases.Labelled) (*labelled, error) {
	lang, ok := languageFor(set, sub.Language, sub.Files)
	if !ok {
		return nil, fmt.Errorf("problem %s: the language of %s is not known", problem, sub.Path)
	}
	row := &labelled{problem: problem, sub: sub, language: lang.ID}
	if info := have[lang.ID]; !info.Available {
		row.missing = cmp.Or(info.Missing, "no worker has "+lang.ID)
		return row, nil
	}
	row.request = judge.Request{Language: lang.ID, Problem: problem, Priority: "batch"}
	for _, f := range sub.Files {
		row.request.Files = append(row.request.Files, judge.FileJSONOf(f))
	}
	return row, nil
}

// judgeAll sends all rows and waits for them, a bounded number at a time.
func judgeAll(ctx context.Context, env *daemon.Env, server *client.Client, rows []*labelled) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		group sync.WaitGroup
		room  = make(chan struct{}, demoOutstanding)
		mu    sync.Mutex // guards done
		done  int
		total int
	)
	for _, row := range rows {
		if row.missing == "" {
			total++
		}
	}
	for _, row := range rows {
		if row.missing != "" {
			continue
		}
		group.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			if err := judgeOne(ctx, server, row); err != nil {
				cancel(fmt.Errorf("%s %s: %w", row.problem, row.sub.Path, err))
				return
			}
			mu.Lock()
			defer mu.Unlock()
			done++
			progress(env.Stderr, "judged", done, total)
		})
	}
	group.Wait()
	return context.Cause(ctx)
}

// progress rewrites one line on a terminal; elsewhere it prints a line now and then.
func progress(w io.Writer, what string, done, total int) {
	if f, ok := w.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			end := "\r"
			if done == total {
				end = "\n"
			}
			fmt.Fprintf(w, "%s %d of %d%s", what, done, total, end)
			return
		}
	}
	if done%10 == 0 || done == total {
		fmt.Fprintf(w, "%s %d of %d\n", what, done, total)
	}
}

func judgeOne(ctx context.Context, server *client.Client, row *labelled) error {
	sent, err := server.Submit(ctx, row.request)
	if err != nil {
		return err
	}
	j, err := server.Wait(ctx, sent.ID)
	row.got = &j
	return err
}

func printDemo(env *daemon.Env, rows []*labelled, took time.Duration) error {
	var lines []string
	var differ, failed, missing int
	lacks := map[string]string{} // why, by language
	for _, row := range rows {
		mark, given, cpu := "ok", "", ""
		switch {
		case row.missing != "":
			mark = "missing"
			missing++
			lacks[row.language] = row.missing
		default:
			given, cpu = outcome(row.got), fmt.Sprintf("%.0f ms", maxCPU(row.got))
			switch {
			case row.failed():
				mark = "FAILED"
				failed++
			case row.differs():
				mark = "DIFFERS"
				differ++
			}
		}
		lines = append(lines, strings.Join([]string{row.problem, strings.TrimPrefix(row.sub.Path, "submissions/"), row.language, verify.Words(row.sub.Allowed), given, cpu, mark}, "\t"))
	}
	if err := printTable(env.Stdout, "PROBLEM | SUBMISSION | LANGUAGE | EXPECTED | GIVEN | MOST CPU | ", lines); err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(lacks)) {
		fmt.Fprintf(env.Stdout, "missing %s: %s\n", id, firstLine(lacks[id]))
	}
	fmt.Fprintf(env.Stdout, "%d submissions judged in %.1f s, %d differ, %d could not be judged, %d of languages that are missing here\n",
		len(rows)-missing-failed, took.Seconds(), differ, failed, missing)
	switch {
	case missing == len(rows):
		return errors.New("nothing was judged: no language of the packages is there")
	case differ > 0:
		return daemon.ErrNotAccepted
	case failed > 0:
		return daemon.Silent{Code: daemon.ExitFailed}
	}
	return nil
}

func outcome(j *judge.Judgement) string {
	if j.Verdict != nil {
		return string(*j.Verdict)
	}
	if j.Failed != nil {
		return firstLine(j.Failed.Error())
	}
	return string(j.State)
}

func maxCPU(j *judge.Judgement) float64 {
	most := 0.0
	for _, run := range j.Cases {
		most = max(most, float64(run.Usage.CPU))
	}
	return most
}
