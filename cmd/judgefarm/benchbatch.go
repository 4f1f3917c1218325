package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"judgefarm/cmd/judgefarm/internal/bench"
	"judgefarm/internal/daemon"
	"judgefarm/judge"
	"judgefarm/judge/compile"
	"judgefarm/judge/sandbox"
	"judgefarm/testcases/format"
)

type benchBatchCmd struct {
	Submissions int    `help:"Submissions in all, for each number of slots." default:"1000"`
	Cases       int    `help:"Cases of each submission." default:"10"`
	Rounds      int    `help:"Rounds, in which boxes alone and the farm take turns." default:"5"`
	Slots       []int  `help:"Numbers of slots to measure." default:"2,4"`
	Clients     int    `help:"Submissions under way at one time for each slot." default:"4"`
	Redis       string `help:"URL of a Redis to measure with as well; without it the one in this process alone." placeholder:"URL"`
	SideBySide  bool   `help:"Let idle slots run further cases of a submission, as worker --side-by-side does."`
	JSON        bool   `help:"Print the table as JSON." name:"json"`
	localFlags
}

// batchReport is what bench batch prints.
type batchReport struct {
	Cores   int              `json:"cores"`
	Machine string           `json:"machine"`
	Rows    []bench.BatchRow `json:"rows"`
}

// Run measures a batch on this machine.
func (c *benchBatchCmd) Run(env *daemon.Env) error {
	if c.Submissions < 1 || c.Cases < 1 || c.Rounds < 1 || c.Clients < 1 || c.Rounds > c.Submissions {
		return daemon.Usage("--submissions, --cases, --rounds and --clients must be at least 1, and no more rounds than submissions")
	}
	if len(c.Slots) == 0 || slices.Min(c.Slots) < 1 {
		return daemon.Usage("--slots: must be numbers of at least 1, are %v", c.Slots)
	}
	for _, slots := range c.Slots {
		if _, err := cores(slots); err != nil {
			return err
		}
	}
	if err := c.checkSideBySide(c.SideBySide); err != nil {
		return err
	}
	ctx, stop := env.Context()
	defer stop()
	n, err := daemon.Cores()
	if err != nil {
		return err
	}
	rep := &batchReport{Cores: n, Machine: runtime.GOOS + "/" + runtime.GOARCH}
	urls := []string{""}
	if c.Redis != "" {
		urls = append(urls, c.Redis)
	}
	for _, slots := range c.Slots {
		for _, url := range urls {
			row, err := c.measure(ctx, env, slots, url)
			if err != nil {
				return err
			}
			rep.Rows = append(rep.Rows, *row)
		}
	}
	if c.JSON {
		return printJSON(env.Stdout, rep)
	}
	return printBatch(env, rep)
}

// measure is one row: a farm of so many slots.
func (c *benchBatchCmd) measure(ctx context.Context, env *daemon.Env, slots int, url string) (row *bench.BatchRow, err error) {
	l, err := c.openLocal(env, slots, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	if c.SideBySide {
		l.sideBySide(slots)
	}
	farm, err := startBenchFarm(ctx, env, benchFarmConfig{local: l, slots: slots, redis: url})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, farm.stop()) }()
	if err := farm.upload(ctx, c.Cases); err != nil {
		return nil, err
	}
	box, closeBox, err := sumBox(ctx, l, slots)
	if err != nil {
		return nil, err
	}
	defer closeBox()
	submit := func(ctx context.Context) error {
		_, err := farm.judge(ctx, judge.Request{Language: "c", Problem: sumProblem, Files: []judge.FileJSON{{Name: "sum.c", Content: sumSource}}})
		return err
	}
	cfg := bench.BatchConfig{
		Slots: slots, Submissions: c.Submissions, Cases: c.Cases, Rounds: c.Rounds, Clients: c.Clients * slots, Box: box, Submit: submit,
	}
	if url != "" {
		cfg.Redis = func() (time.Duration, error) { return farm.line.ServerCPU(ctx) }
	}
	for i := range 2 * slots { // nurseries, templates and caches are there before the first round
		if err := errors.Join(box(ctx, i%slots), submit(ctx)); err != nil {
			return nil, err
		}
	}
	if row, err = bench.Batch(ctx, cfg); err != nil {
		return nil, err
	}
	row.Queue, row.SideBySide = "embedded", c.SideBySide
	if url != "" {
		row.Queue = "redis"
	}
	return row, nil
}

// The program of the batch, what it reads and the problem that has it.
const (
	sumProblem = "bench-sum"
	sumSource  = "#include <stdio.h>\nint main(void) {\n\tlong a, b;\n\tif (scanf(\"%ld %ld\", &a, &b) != 2) return 1;\n\tprintf(\"%ld\\n\", a + b);\n}\n"
	sumInput   = "1 41\n"
)

// upload makes the problem the farm's.
func (f *benchFarm) upload(ctx context.Context, cases int) error {
	dir, err := os.MkdirTemp("", "judgefarm-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	data := filepath.Join(dir, "data", "secret")
	errs := []error{
		os.MkdirAll(data, 0o755),
		os.WriteFile(filepath.Join(dir, "problem.yaml"), []byte("name: sum\nlimits: {cpu: 1s, wall: 30s}\nchecker: tokens\n"), 0o644),
	}
	for i := range cases {
		name := filepath.Join(data, fmt.Sprintf("%04d", i+1))
		errs = append(errs,
			os.WriteFile(name+".in", fmt.Appendf(nil, "%d %s", i, sumInput[2:]), 0o644),
			os.WriteFile(name+".ans", fmt.Appendf(nil, "%d\n", i+41), 0o644))
	}
	var archive bytes.Buffer
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if err := format.Pack(dir, &archive); err != nil {
		return err
	}
	_, err = f.service.PutProblem(ctx, sumProblem, &archive)
	return err
}

// sumBox runs the program in boxes, as the engine does and with nothing else around
// it. Each slot has an input of its own.
func sumBox(ctx context.Context, l *local, slots int) (run func(context.Context, int) error, end func(), err error) {
	lang, ok := l.languages.Find("c")
	if !ok {
		return nil, nil, errors.New("language c is not defined")
	}
	res, err := l.compiler.Compile(ctx, compile.Request{Language: lang, Files: []judge.File{{Name: "sum.c", Data: []byte(sumSource)}}})
	if err != nil {
		return nil, nil, err
	}
	if res.Executable == nil {
		return nil, nil, fmt.Errorf("compile the program to measure: %s: %s", res.Verdict, res.Log)
	}
	lim := lang.Apply(judge.Limits{CPU: time.Second, Wall: 30 * time.Second}.Complete())
	cmd, err := compile.CommandOf(lang, res.Executable, lim)
	if err != nil {
		res.Executable.Release()
		return nil, nil, err
	}
	inputs := make([]*os.File, slots)
	end = func() {
		for _, f := range inputs {
			f.Close()
		}
		res.Executable.Release()
	}
	for i := range inputs {
		if inputs[i], err = unnamed(sumInput); err != nil {
			end()
			return nil, nil, err
		}
	}
	spec := sandbox.Spec{Args: cmd.Args, Env: cmd.Env, Root: cmd.Root, Mounts: cmd.Mounts, Limits: lim, Slack: cmd.Slack}
	return func(ctx context.Context, slot int) error {
		own := spec
		own.Stdin = inputs[slot]
		if _, err := own.Stdin.Seek(0, io.SeekStart); err != nil {
			return err
		}
		rep, err := l.box.Run(ctx, own)
		if err == nil && (rep.Cause != sandbox.CauseExit || rep.Exit != 0 || string(rep.Stdout.Data) != "42\n") {
			err = fmt.Errorf("program ended by %s, status %d, printed %q", rep.Cause, rep.Exit, rep.Stdout.Data)
		}
		return err
	}, end, nil
}

// unnamed is a file of no name with the text in it.
func unnamed(text string) (*os.File, error) {
	f, err := os.CreateTemp("", "judgefarm-bench-")
	if err != nil {
		return nil, fmt.Errorf("create input: %w", err)
	}
	_, err = f.WriteString(text)
	if err := errors.Join(err, os.Remove(f.Name())); err != nil {
		return nil, errors.Join(fmt.Errorf("create input: %w", err), f.Close())
	}
	return f, nil
}

func printBatch(env *daemon.Env, rep *batchReport) error {
	var lines []string
	for _, r := range rep.Rows {
		lines = append(lines, fmt.Sprintf("%s\t%d\t%.0f\t%.0f\tx%.2f\t%.1f\t%.1f ms\t%.1f ms\t%.2f + %.2f\t%.2f + %.2f + %.2f",
			r.Queue, r.Slots, r.Boxes, r.Runs, r.Ratio, r.Judged, r.P50, r.P99, r.BoxCPU.Self, r.BoxCPU.Boxes, r.CPU.Self, r.CPU.Boxes, r.CPU.Redis))
	}
	err := printTable(env.Stdout, "QUEUE | SLOTS | BOX RUNS/S | RUNS/S | RATIO | SUBMISSIONS/S | P50 | P99 | CPU MS A RUN: BOX ALONE | FARM", lines)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(env.Stdout, "%d submissions of %d cases each; CPU is judgefarm's own, then that of nurseries with their boxes, then that of a Redis outside\n",
		rep.Rows[0].Submissions, rep.Rows[0].Cases)
	return err
}
