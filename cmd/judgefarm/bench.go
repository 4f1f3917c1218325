package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"

	"judgefarm/cmd/judgefarm/internal/bench"
	"judgefarm/internal/daemon"
	"judgefarm/judge"
	"judgefarm/judge/engine"
	"judgefarm/testcases"
)

// benchCmd is what there is to measure; all parts alone without another word.
type benchCmd struct {
	Parts benchPartsCmd `cmd:"" default:"withargs" help:"The parts of judging against a bare start: box, engine, queue."`
	Box   benchBoxCmd   `cmd:"" help:"What a box costs, beside other sandboxes where they are installed, and how exact it is."`
	Noise benchNoiseCmd `cmd:"" help:"How the CPU time of the same program varies: computing and in memory, with a core of its own and on a shared one."`
	Batch benchBatchCmd `cmd:"" help:"A batch of submissions of ten cases through queue, worker and results, against boxes alone."`

	Interact benchInteractCmd `cmd:"" help:"Dialogues of many turns and checks of large outputs, against the same programs joined by plain pipes, and the memory that they take."`
}

type benchPartsCmd struct {
	Runs   int  `help:"Runs of each load, round and number of workers." default:"200"`
	Rounds int  `help:"Rounds, in which the loads take turns." default:"3"`
	JSON   bool `help:"Print the table as JSON." name:"json"`
	localFlags
}

// benchReport is what bench prints.
type benchReport struct {
	Cores   int             `json:"cores"`
	Machine string          `json:"machine"`
	Rows    []bench.Row     `json:"rows"`
	Latency *bench.IdleTime `json:"idle_start"`
}

// Run measures on this machine: bare, in a box, through the engine, through the queue.
func (c *benchPartsCmd) Run(env *daemon.Env) error {
	if c.Runs < 1 || c.Rounds < 1 {
		return daemon.Usage("--runs and --rounds must be at least 1")
	}
	ctx, stop := env.Context()
	defer stop()
	n, err := daemon.Cores()
	if err != nil {
		return err
	}
	slots := 2 * n
	if c.Pin {
		slots = n
	}
	l, err := c.openLocal(env, slots, nil)
	if err != nil {
		return err
	}
	rep, err := c.measure(ctx, env, l, n)
	if err := errors.Join(err, l.Close()); err != nil {
		return err
	}
	if c.JSON {
		return printJSON(env.Stdout, rep)
	}
	return printBench(env, rep)
}

func (c *benchPartsCmd) measure(ctx context.Context, env *daemon.Env, l *local, n int) (*benchReport, error) {
	dir, err := os.MkdirTemp(l.cacheDir, "bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil {
		return nil, err
	}
	program, err := bench.BuildTrue(ctx, dir)
	if err != nil {
		return nil, err
	}
	job, err := trueJob()
	if err != nil {
		return nil, err
	}
	farm, err := startBenchFarm(ctx, env, benchFarmConfig{local: l, slots: n})
	if err != nil {
		return nil, err
	}
	rows, err := bench.Measure(ctx, bench.Config{
		Loads: []bench.Load{
			bench.Bare(program), bench.Box(l.box, program), judgeLoad(l, job), farm.load(),
		},
		Runs: c.Runs, Rounds: c.Rounds, Workers: []int{n},
		Progress: func(load string, round, rounds int) {
			env.Log.Debug("measured", "load", load, "round", round, "rounds", rounds)
		},
	})
	if err != nil {
		return nil, errors.Join(err, farm.stop())
	}
	idle, err := bench.Idle(ctx, c.Runs, farm.start)
	if err := errors.Join(err, farm.stop()); err != nil {
		return nil, err
	}
	return &benchReport{Cores: n, Machine: runtime.GOOS + "/" + runtime.GOARCH, Rows: rows, Latency: idle}, nil
}

// trueJob is the tiny program as a submission with one case.
func trueJob() (engine.Job, error) {
	p, err := testcases.Inline(testcases.InlineConfig{Tests: []testcases.InlineTest{{}}})
	return engine.Job{Problem: p, Submission: judge.Submission{
		ID: "bench", Language: "c", Files: []judge.File{{Name: "true.c", Data: []byte(bench.TrueSource())}},
	}}, err
}

func judgeLoad(l *local, job engine.Job) bench.Load {
	return bench.Load{Name: "judge", Do: func(ctx context.Context) error {
		out, err := l.engine.Judge(ctx, job, engine.Watcher{})
		if err != nil {
			return err
		}
		return wantAccepted(&out.Judgement)
	}}
}

func wantAccepted(j *judge.Judgement) error {
	if v := j.Verdict; v == nil || *v != judge.Accepted {
		return fmt.Errorf("the program that does nothing was judged %v, state %s, failed %v", v, j.State, j.Failed)
	}
	return nil
}

func printBench(env *daemon.Env, rep *benchReport) error {
	if err := printRows(env, rep.Rows); err != nil {
		return err
	}
	_, err := fmt.Fprintf(env.Stdout, "a submission to an idle farm starts after %.1f ms (p50), %.1f ms (p99), %d submissions\n",
		rep.Latency.P50, rep.Latency.P99, rep.Latency.Submissions)
	return err
}

func printRows(env *daemon.Env, rows []bench.Row) error {
	header := "LOAD | P50 | P99 | RATIO"
	var lines []string
	for i, row := range rows {
		line := fmt.Sprintf("%s\t%.2f ms\t%.2f ms\tx%.1f", row.Name, row.P50, row.P99, row.Ratio)
		for _, s := range row.Throughput {
			line += fmt.Sprintf("\t%.0f", s.PerSecond)
			if i == 0 {
				header += fmt.Sprintf(" | RUNS/S AT %d", s.Workers)
			}
		}
		lines = append(lines, line)
	}
	return printTable(env.Stdout, header, lines)
}
