package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"

	"judgefarm/cmd/judgefarm/internal/bench"
	"judgefarm/internal/daemon"
	"judgefarm/judge/sandbox"
)

type benchBoxCmd struct {
	Runs   int  `help:"Runs of each load, round and number of workers." default:"300"`
	Rounds int  `help:"Rounds, in which the loads take turns." default:"5"`
	Peers  bool `help:"Measure bubblewrap, nsjail and isolate too, where they are installed."`
	JSON   bool `help:"Print the tables as JSON." name:"json"`
	isolationFlag
}

// boxReport is what bench box prints.
type boxReport struct {
	Cores     int            `json:"cores"`
	Machine   string         `json:"machine"`
	Rows      []bench.Row    `json:"rows"`    // ratios are to the first
	Missing   []string       `json:"missing"` // peers that were not measured, and why
	Python    []bench.Row    `json:"python"`  // bare, then in a box
	Compile   *bench.Compile `json:"compile"`
	Error     []bench.Spread `json:"error"`     // reported minus true
	Overshoot []bench.Spread `json:"overshoot"` // used minus allowed
}

// boxWorkers are how many run at once.
var boxWorkers = []int{1, 2, 4}

// Run measures what a box costs and how exact it is on this machine.
func (c *benchBoxCmd) Run(env *daemon.Env) error {
	if c.Runs < 1 || c.Rounds < 1 {
		return daemon.Usage("--runs and --rounds must be at least 1")
	}
	ctx, stop := env.Context()
	defer stop()
	dir, err := os.MkdirTemp("", "judgefarm-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil {
		return err
	}
	programs, err := bench.Build(ctx, dir)
	if err != nil {
		return err
	}
	slots := boxWorkers[len(boxWorkers)-1]
	box, err := c.openBoxes(env, sandbox.Config{Slots: slots})
	if err != nil {
		return err
	}
	cold, err := c.openBoxes(env, sandbox.Config{Slots: slots, UIDBase: sandbox.DefaultUIDBase + slots, NoAhead: true})
	if err != nil {
		return errors.Join(err, box.Close())
	}
	rep, err := c.measure(ctx, env, box, cold, programs, dir)
	if err := errors.Join(err, cold.Close(), box.Close()); err != nil {
		return err
	}
	if c.JSON {
		return printJSON(env.Stdout, rep)
	}
	return printBox(env, rep)
}

func (c *benchBoxCmd) measure(ctx context.Context, env *daemon.Env, box, cold sandbox.Runner, p bench.Programs, dir string) (*boxReport, error) {
	n, err := daemon.Cores()
	if err != nil {
		return nil, err
	}
	rep := &boxReport{Cores: n, Machine: runtime.GOOS + "/" + runtime.GOARCH, Missing: []string{}}
	loads := []bench.Load{
		bench.BareC(p.Bare, p.True), named("bare (Go os.StartProcess)", bench.Start(p.True)),
		named("box, cold", bench.Box(cold, p.True)), named("box, prepared", bench.Box(box, p.True)), bench.StrictBox(box, p.True),
	}
	if c.Peers {
		peers, missing, end := bench.Peers(ctx, p.Bare, p.True)
		defer end()
		loads, rep.Missing = append(loads, peers...), append(rep.Missing, missing...)
	}
	if rep.Rows, err = c.table(ctx, env, loads, c.Runs, boxWorkers...); err != nil {
		return nil, err
	}
	const python = "/usr/bin/python3"
	if _, err := os.Stat(python); err != nil {
		rep.Missing = append(rep.Missing, "python3 -c 'print(1)': "+err.Error())
	} else if rep.Python, err = c.table(ctx, env, []bench.Load{
		bench.Command("bare (C vfork+exec)", p.Bare, python, "-c", "print(1)"), bench.Box(box, python, "-c", "print(1)"),
	}, max(1, c.Runs/10)); err != nil {
		return nil, err
	}
	if _, err := os.Stat("/usr/bin/g++"); err != nil {
		rep.Missing = append(rep.Missing, "compile: "+err.Error())
	} else if rep.Compile, err = bench.MeasureCompile(ctx, box, p.Compile, dir, 3*c.Rounds); err != nil {
		return nil, err
	}
	rep.Error, rep.Overshoot, err = bench.Accuracy(ctx, box, p.Work, 2*c.Rounds-1)
	return rep, err
}

func (c *benchBoxCmd) table(ctx context.Context, env *daemon.Env, loads []bench.Load, runs int, workers ...int) ([]bench.Row, error) {
	return bench.Measure(ctx, bench.Config{
		Loads: loads, Runs: runs, Rounds: c.Rounds, Workers: workers,
		Progress: func(load string, round, rounds int) {
			env.Log.Debug("measured", "load", load, "round", round, "rounds", rounds)
		},
	})
}

func named(name string, l bench.Load) bench.Load {
	l.Name = name
	return l
}

func printBox(env *daemon.Env, rep *boxReport) error {
	if err := printRows(env, rep.Rows); err != nil {
		return err
	}
	if p := rep.Python; len(p) == 2 {
		fmt.Fprintf(env.Stdout, "python3 -c 'print(1)': bare %.2f ms, in a box %.2f ms: %+.2f ms\n", p[0].P50, p[1].P50, p[1].P50-p[0].P50)
	}
	if c := rep.Compile; c != nil {
		fmt.Fprintf(env.Stdout, "g++ -O2: bare %.0f ms, in a box %.0f ms: %+.1f %%; CPU time %.0f and %.0f ms: %+.1f %%\n",
			c.BareWall, c.BoxWall, 100*(c.BoxWall/c.BareWall-1), c.BareCPU, c.BoxCPU, 100*(c.BoxCPU/c.BareCPU-1))
	}
	var lines []string
	for _, part := range []struct {
		what    string
		spreads []bench.Spread
	}{{"reported minus true ", rep.Error}, {"beyond the ", rep.Overshoot}} {
		for _, s := range part.spreads {
			lines = append(lines, fmt.Sprintf("%s%s\t%+.3f ms\t%+.3f ms\t%+.3f ms", part.what, s.Name, s.Least, s.Median, s.Most))
		}
	}
	if err := printTable(env.Stdout, "EXACTNESS | LEAST | MEDIAN | MOST", lines); err != nil {
		return err
	}
	for _, m := range rep.Missing {
		if _, err := fmt.Fprintf(env.Stdout, "not measured: %s\n", m); err != nil {
			return err
		}
	}
	return nil
}
