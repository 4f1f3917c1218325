package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"judgefarm/judge"
	"judgefarm/judge/sandbox"
)

// BareC starts a program from C by vfork and exec: the least that a start costs.
// driver is the compiled bare.c.
func BareC(driver, program string) Load { return Command("bare (C vfork+exec)", driver, program) }

// Command is any command, started from C and reaped. {w} in an argument is the number
// of the worker that runs it.
func Command(name, driver string, args ...string) Load {
	return Load{Name: name, Batch: func(ctx context.Context, runs, workers int) ([]time.Duration, float64, error) {
		var stderr bytes.Buffer
		cmd := exec.CommandContext(ctx, driver, append([]string{strconv.Itoa(runs), strconv.Itoa(workers)}, args...)...)
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			return nil, 0, fmt.Errorf("%w: %.500s", err, stderr.Bytes())
		}
		return parseBatch(string(out))
	}}
}

func parseBatch(text string) (took []time.Duration, rate float64, err error) {
	var all time.Duration
	for i, line := range strings.Fields(text) {
		ns, err := strconv.ParseInt(line, 10, 64)
		if err != nil {
			return nil, 0, err
		}
		if i == 0 {
			all = time.Duration(ns)
		} else {
			took = append(took, time.Duration(ns))
		}
	}
	return took, float64(len(took)) / all.Seconds(), nil
}

// Start starts the program by os.StartProcess and reaps it.
func Start(program string) Load {
	return Load{Name: "os.StartProcess", Do: func(context.Context) error {
		p, err := os.StartProcess(program, []string{program}, &os.ProcAttr{})
		if err != nil {
			return err
		}
		state, err := p.Wait()
		if err == nil && !state.Success() {
			err = errors.New(state.String())
		}
		return err
	}}
}

// Bare starts the program from Go and reaps it, without any box: vfork and exec, as
// syscall.ForkExec does it.
func Bare(program string) Load {
	return Load{Name: "bare fork+exec", Do: func(context.Context) error {
		pid, err := syscall.ForkExec(program, []string{program}, &syscall.ProcAttr{})
		if err != nil {
			return err
		}
		var status syscall.WaitStatus
		for {
			_, err = syscall.Wait4(pid, &status, 0, nil)
			if err != syscall.EINTR {
				break
			}
		}
		if err == nil && status != 0 {
			err = fmt.Errorf("exit status %d", status)
		}
		return err
	}}
}

// Box runs the program in a box of its own.
func Box(runner sandbox.Runner, program string, args ...string) Load {
	spec := specOf(program, args...)
	return Load{Name: "box", Do: func(ctx context.Context) error {
		_, err := runOK(ctx, runner, spec)
		return err
	}}
}

// StrictBox is Box in strict mode, every call that is not harmless traced.
func StrictBox(runner sandbox.Runner, program string, args ...string) Load {
	spec := specOf(program, args...)
	spec.Limits.Ptrace = true
	return Load{Name: "box, strict", Do: func(ctx context.Context) error {
		_, err := runOK(ctx, runner, spec)
		return err
	}}
}

// specOf shows the directory of a program at ExeDir, where it does not lie in one
// that boxes see anyway.
func specOf(program string, args ...string) sandbox.Spec {
	spec := sandbox.Spec{
		Args:   append([]string{program}, args...),
		Env:    []string{"PATH=/usr/bin:/bin"},
		Limits: judge.Limits{CPU: 5 * time.Second, Wall: 30 * time.Second}.Complete(),
	}
	if !strings.HasPrefix(program, "/usr/") {
		spec.Args[0] = sandbox.ExeDir + "/" + filepath.Base(program)
		spec.Mounts = []sandbox.Mount{{Source: filepath.Dir(program), Target: sandbox.ExeDir}}
	}
	return spec
}

func runOK(ctx context.Context, runner sandbox.Runner, spec sandbox.Spec) (*sandbox.Report, error) {
	rep, err := runner.Run(ctx, spec)
	if err != nil {
		return nil, err
	}
	if rep.Cause != sandbox.CauseExit || rep.Exit != 0 {
		return nil, fmt.Errorf("program ended by %s, status %d: %s %.200s", rep.Cause, rep.Exit, rep.Evidence.ExecError, rep.Stderr.Data)
	}
	return rep, nil
}
