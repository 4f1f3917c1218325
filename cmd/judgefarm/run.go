package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"judgefarm/internal/daemon"
	"judgefarm/judge"
	"judgefarm/judge/sandbox"
)

// Exit codes of run that are not the program's own; the man page lists them.
const (
	runSignal   = 128 // plus the signal's number, as shells do
	runUsage    = 201
	runFailed   = 202
	runCPU      = 211
	runWall     = 212
	runMemory   = 213
	runOutput   = 214
	runFileSize = 215
	runSyscall  = 216
	runExec     = 217
)

type runCmd struct {
	Args   []string      `arg:"" name:"program" passthrough:"" help:"Program and arguments, after --. A path outside the system directories is shown to the box under /exe."`
	CPU    time.Duration `help:"CPU time limit, user and system, all processes together." name:"cpu" default:"1s"`
	Wall   time.Duration `help:"Wall time limit; by default the greater of 3 x CPU and CPU + 2s." placeholder:"3s"`
	Memory judge.Bytes   `help:"Memory limit, binary units." default:"256M"`
	Output judge.Bytes   `help:"Limit of standard output, and of standard error." default:"1M"`
	Tasks  int           `help:"Processes and threads at one time." default:"64"`
	Strict bool          `help:"Strict mode: only listed system calls and files; anything else ends the program."`
	Bind   []string      `help:"Host file or directory to show in the box, read-only: SOURCE or SOURCE:TARGET. Repeatable." sep:"none" placeholder:"PATH"`
	Env    []string      `help:"Variable of the box's environment, which has PATH, HOME and TMPDIR of its own. Repeatable." sep:"none" placeholder:"KEY=VALUE"`
	JSON   bool          `help:"Print the report as JSON." name:"json"`
	Report string        `help:"File to write the report to; by default it goes to standard error." placeholder:"FILE"`
	isolationFlag
}

// runReport is what run says of the box: no verdict, since nothing was expected.
type runReport struct {
	Cause    sandbox.Cause    `json:"cause"`
	Exit     *int             `json:"exit,omitempty"`
	Signal   int              `json:"signal,omitempty"`
	Usage    judge.UsageJSON  `json:"usage"`
	User     judge.Millis     `json:"user_ms"`
	System   judge.Millis     `json:"system_ms"`
	Stdout   int64            `json:"stdout_bytes"`
	Stderr   int64            `json:"stderr_bytes"`
	Setup    judge.Millis     `json:"setup_ms"`
	Teardown judge.Millis     `json:"teardown_ms"`
	Limits   judge.LimitsJSON `json:"limits"`
	Enforced judge.Enforced   `json:"enforced"`
	Evidence sandbox.Evidence `json:"evidence"`
	Noise    *judge.Noise     `json:"noise,omitempty"`
}

// Run runs the program once in a box and ends with its exit code. A file of the report
// that cannot be written is told before the program has done what it does.
func (c *runCmd) Run(env *daemon.Env) error {
	spec, err := c.spec()
	if err != nil {
		return err
	}
	out := env.Stderr
	end := func() error { return nil }
	if c.Report != "" {
		f, err := os.Create(c.Report)
		if err != nil {
			return daemon.Usage("--report: %w", err)
		}
		out, end = f, f.Close
	}
	rep, err := c.report(env, spec, out)
	if err := errors.Join(err, end()); err != nil {
		return err
	}
	return daemon.Silent{Code: runCode(rep)}
}

// report runs the program, hands on what it printed and writes the report to out.
func (c *runCmd) report(env *daemon.Env, spec sandbox.Spec, out io.Writer) (*sandbox.Report, error) {
	ctx, stop := env.Context()
	defer stop()
	rep, enforced, err := c.runOnce(ctx, env, spec)
	if err != nil {
		return nil, err
	}
	if _, err := env.Stdout.Write(rep.Stdout.Data); err != nil {
		return nil, fmt.Errorf("write output: %w", err)
	}
	if _, err := env.Stderr.Write(rep.Stderr.Data); err != nil {
		return nil, fmt.Errorf("write error output: %w", err)
	}
	return rep, c.tell(out, describeRun(rep, spec.Limits, enforced))
}

func (c *runCmd) runOnce(ctx context.Context, env *daemon.Env, spec sandbox.Spec) (*sandbox.Report, judge.Enforced, error) {
	box, err := c.openBoxes(env, sandbox.Config{Slots: 1, NoAhead: true})
	if err != nil {
		return nil, judge.Enforced{}, err
	}
	if os.Geteuid() != 0 || c.Isolation == sandbox.Ptrace { // root's other boxes have other users, and see no names
		in, stop, err := handIn(spec.Stdin, mostCopied)
		if err != nil {
			return nil, judge.Enforced{}, errors.Join(err, box.Close())
		}
		defer stop()
		spec.Stdin = in
	}
	rep, err := box.Run(ctx, spec)
	return rep, box.Enforced(), errors.Join(flagNames(err), box.Close())
}

// spec is the box that the flags ask for; faults name the flags.
func (c *runCmd) spec() (sandbox.Spec, error) {
	lim := judge.Limits{CPU: c.CPU, Wall: c.Wall, Memory: c.Memory, Output: c.Output, Tasks: c.Tasks, Ptrace: c.Strict}.Complete()
	if err := judge.Refuse(lim.Validate("limits.")...); err != nil {
		return sandbox.Spec{}, flagNames(err)
	}
	args := c.Args
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return sandbox.Spec{}, daemon.Usage("name the program to run, after --")
	}
	spec := sandbox.Spec{
		Args: append([]string(nil), args...), Env: append([]string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + sandbox.WorkDir, "TMPDIR=/tmp"}, c.Env...),
		Stdin: os.Stdin, Limits: lim,
	}
	for _, e := range c.Env {
		if key, _, ok := strings.Cut(e, "="); !ok || key == "" {
			return spec, daemon.Usage("--env: must be KEY=VALUE, is %q", e)
		}
	}
	for _, b := range c.Bind {
		m, err := bindOf(b)
		if err != nil {
			return spec, err
		}
		spec.Mounts = append(spec.Mounts, m)
	}
	return spec, showProgram(&spec)
}

// bindOf reads SOURCE or SOURCE:TARGET.
func bindOf(text string) (sandbox.Mount, error) {
	source, target, _ := strings.Cut(text, ":")
	abs, err := filepath.Abs(source)
	if err != nil || source == "" {
		return sandbox.Mount{}, daemon.Usage("--bind: must be SOURCE or SOURCE:TARGET, is %q", text)
	}
	if target == "" {
		target = abs
	}
	if !filepath.IsAbs(target) {
		return sandbox.Mount{}, daemon.Usage("--bind: target %q must be an absolute path", target)
	}
	return sandbox.Mount{Source: abs, Target: filepath.Clean(target)}, nil
}

// showProgram binds a program that is no part of the system into the box.
func showProgram(spec *sandbox.Spec) error {
	name := spec.Args[0]
	if !strings.Contains(name, "/") {
		return nil // sought in the box's PATH
	}
	abs, err := filepath.Abs(name)
	if err != nil {
		return daemon.Usage("program %s: %w", name, err)
	}
	for _, m := range append(sandbox.DefaultSystem(), spec.Mounts...) {
		if abs == m.Target || strings.HasPrefix(abs, m.Target+"/") {
			spec.Args[0] = abs
			return nil
		}
	}
	if info, err := os.Stat(abs); err != nil || !info.Mode().IsRegular() {
		return daemon.Usage("program %s: is no file that can be run", name)
	}
	spec.Args[0] = sandbox.ExeDir + "/" + filepath.Base(abs)
	spec.Mounts = append(spec.Mounts, sandbox.Mount{Source: abs, Target: spec.Args[0]})
	return nil
}

func describeRun(rep *sandbox.Report, lim judge.Limits, enforced judge.Enforced) *runReport {
	r := &runReport{
		Cause: rep.Cause, Signal: rep.Signal,
		Usage: judge.Usage{CPU: rep.CPU, Wall: rep.Wall, Memory: rep.Memory}.JSON(),
		User:  judge.MillisOf(rep.User), System: judge.MillisOf(rep.System),
		Stdout: rep.Stdout.Total, Stderr: rep.Stderr.Total,
		Setup: judge.MillisOf(rep.Setup), Teardown: judge.MillisOf(rep.Teardown),
		Limits: lim.JSON(), Enforced: enforced, Evidence: rep.Evidence, Noise: rep.Noise.JSON(),
	}
	if rep.Exit >= 0 {
		r.Exit = &rep.Exit
	}
	return r
}

// tell writes the report as it was asked for.
func (c *runCmd) tell(out io.Writer, r *runReport) error {
	if c.JSON || c.Report != "" {
		return printJSON(out, r)
	}
	ended := string(r.Cause)
	switch {
	case r.Exit != nil:
		ended = fmt.Sprintf("%s, status %d", r.Cause, *r.Exit)
	case r.Evidence.Syscall != "":
		ended = fmt.Sprintf("%s: %s", r.Cause, r.Evidence.Syscall)
	case r.Signal != 0:
		ended = fmt.Sprintf("%s, signal %d", r.Cause, r.Signal)
	case r.Evidence.ExecError != "":
		ended = fmt.Sprintf("%s: %s", r.Cause, r.Evidence.ExecError)
	}
	_, err := fmt.Fprintf(out, "judgefarm: ended by %s; CPU %.3f ms (user %.3f, system %.3f), wall %.3f ms, memory %d KiB\n",
		ended, float64(r.Usage.CPU), float64(r.User), float64(r.System), float64(r.Usage.Wall), r.Usage.Memory)
	return err
}

// runCode is the exit code of a run.
func runCode(rep *sandbox.Report) int {
	switch rep.Cause {
	case sandbox.CauseExit:
		return rep.Exit
	case sandbox.CauseSignal:
		return runSignal + rep.Signal
	case sandbox.CauseCPU:
		return runCPU
	case sandbox.CauseWall, sandbox.CauseIdle:
		return runWall
	case sandbox.CauseMemory:
		return runMemory
	case sandbox.CauseOutput:
		return runOutput
	case sandbox.CauseFileSize:
		return runFileSize
	case sandbox.CauseSyscall:
		return runSyscall
	case sandbox.CauseExec:
		return runExec
	}
	return runFailed
}

// runExitCode is run's word on errors: 0 to 200 belong to the program.
func runExitCode(err error) int {
	var silent daemon.Silent
	switch {
	case err == nil:
		return 0
	case errors.As(err, &silent):
		return silent.Code
	case daemon.ExitCode(err) == daemon.ExitUsage:
		return runUsage
	}
	return runFailed
}
