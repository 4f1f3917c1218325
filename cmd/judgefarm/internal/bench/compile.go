package bench

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"judgefarm/judge"
	"judgefarm/judge/sandbox"
)

// Compile is a compiler run bare and in a box by turns, medians in milliseconds. The
// CPU time tells what the box costs even where others use the machine.
type Compile struct {
	BareWall float64 `json:"bare_wall_ms"`
	BoxWall  float64 `json:"box_wall_ms"`
	BareCPU  float64 `json:"bare_cpu_ms"`
	BoxCPU   float64 `json:"box_cpu_ms"`
}

// MeasureCompile compiles source with g++ so many times each way, after one that
// warms the machine's caches.
func MeasureCompile(ctx context.Context, runner sandbox.Runner, source, dir string, times int) (*Compile, error) {
	spec := sandbox.Spec{
		Args:   []string{"/usr/bin/g++", "-O2", "-o", "/work/compiled", sandbox.ExeDir + "/" + filepath.Base(source)},
		Env:    []string{"PATH=/usr/bin:/bin"},
		Mounts: []sandbox.Mount{{Source: filepath.Dir(source), Target: sandbox.ExeDir}},
		Limits: judge.Limits{CPU: time.Minute, Wall: 5 * time.Minute, Memory: judge.GiB}.Complete(),
	}
	var bareWall, bareCPU, boxWall, boxCPU []time.Duration
	for i := range times + 1 {
		cmd := exec.CommandContext(ctx, "/usr/bin/g++", "-O2", "-o", filepath.Join(dir, "compiled"), source)
		began := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("compile: %w: %s", err, out)
		}
		wall := time.Since(began)
		rep, err := runOK(ctx, runner, spec)
		if err != nil {
			return nil, fmt.Errorf("compile in a box: %w", err)
		}
		if i == 0 {
			continue
		}
		used := cmd.ProcessState.SysUsage().(*syscall.Rusage)
		bareWall = append(bareWall, wall)
		bareCPU = append(bareCPU, time.Duration(used.Utime.Nano()+used.Stime.Nano()))
		boxWall, boxCPU = append(boxWall, rep.Wall+rep.Setup+rep.Teardown), append(boxCPU, rep.CPU)
	}
	return &Compile{millis(Quantile(bareWall, .5)), millis(Quantile(boxWall, .5)), millis(Quantile(bareCPU, .5)), millis(Quantile(boxCPU, .5))}, nil
}
