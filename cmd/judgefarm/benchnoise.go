package main

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"judgefarm/cmd/judgefarm/internal/bench"
	"judgefarm/internal/daemon"
	"judgefarm/judge/sandbox"
)

type benchNoiseCmd struct {
	Times int  `help:"Runs of each program." default:"100"`
	JSON  bool `help:"Print the table as JSON." name:"json"`
	isolationFlag
}

// Run measures how the CPU time of the same program varies on this machine.
func (c *benchNoiseCmd) Run(env *daemon.Env) (err error) {
	if c.Times < 2 {
		return daemon.Usage("--times must be at least 2")
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
	program, err := bench.BuildNoise(ctx, dir)
	if err != nil {
		return err
	}
	core, err := lastCore()
	if err != nil {
		return err
	}
	box, err := c.openBoxes(env, sandbox.Config{Slots: 2})
	if err != nil {
		return err
	}
	rows, err := bench.Noise(ctx, box, program, core, c.Times)
	if err := errors.Join(err, box.Close()); err != nil {
		return err
	}
	if c.JSON {
		return printJSON(env.Stdout, rows)
	}
	var lines []string
	for _, r := range rows {
		delay := "unknown"
		if r.RunDelay >= 0 {
			delay = fmt.Sprintf("%.1f ms", r.RunDelay)
		}
		lines = append(lines, fmt.Sprintf("%s\t%d\t%.1f ms\t%.1f %%\t%+.1f %%\t%s", r.Name, r.Runs, r.Mean, 100*r.CV, 100*r.Shift, delay))
	}
	return printTable(env.Stdout, "SAME WORK | RUNS | CPU TIME | VARIATION | SHIFT | RUN DELAY", lines)
}

// lastCore is the highest core that this process may use: the first has most
// interrupts.
func lastCore() (int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return 0, fmt.Errorf("read own cores: %w", err)
	}
	last := 0
	for c := range 1024 {
		if set.IsSet(c) {
			last = c
		}
	}
	return last, nil
}
