package bench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"judgefarm/judge"
	"judgefarm/judge/sandbox"
)

// trueSource is the tiny program: start and exit, no library.
const trueSource = "int main(void) { return 0; }\n"

// TrueSource is the program that every load runs, as C source.
func TrueSource() string { return trueSource }

// BuildTrue compiles the static program into dir and returns its path. It needs gcc.
func BuildTrue(ctx context.Context, dir string) (string, error) {
	source, program := filepath.Join(dir, "true.c"), filepath.Join(dir, "true")
	if err := os.WriteFile(source, []byte(trueSource), 0o644); err != nil {
		return "", err
	}
	out, err := exec.CommandContext(ctx, "/usr/bin/gcc", "-O2", "-static", "-o", program, source).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build the program to measure (apt-get install gcc libc6-dev): %w: %s", err, out)
	}
	return program, nil
}

// Bare starts the program and reaps it, without any box: vfork and exec, as
// syscall.ForkExec does it.
func Bare(program string) Load {
	return Load{Name: "bare fork+exec", Do: func(context.Context) error {
		pid, err := syscall.ForkExec(program, []string{"true"}, &syscall.ProcAttr{})
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
func Box(runner sandbox.Runner, program string) Load {
	spec := sandbox.Spec{
		Args:   []string{sandbox.ExeDir + "/" + filepath.Base(program)},
		Mounts: []sandbox.Mount{{Source: filepath.Dir(program), Target: sandbox.ExeDir}},
		Limits: judge.Limits{CPU: 5 * time.Second, Wall: 30 * time.Second}.Complete(),
	}
	return Load{Name: "box", Do: func(ctx context.Context) error {
		rep, err := runner.Run(ctx, spec)
		if err != nil {
			return err
		}
		if rep.Cause != sandbox.CauseExit || rep.Exit != 0 {
			return fmt.Errorf("program ended by %s, status %d: %s", rep.Cause, rep.Exit, rep.Evidence.ExecError)
		}
		return nil
	}}
}
