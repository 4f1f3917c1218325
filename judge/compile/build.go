package compile

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"judgefarm/judge"
	"judgefarm/judge/sandbox"
	"judgefarm/languages"
)

// built is the product of one compile, not yet stored.
type built struct {
	meta    meta
	files   []sandbox.Collected // below the executable's directory
	lasting bool                // the same sources would give the same again
}

// inodes bounds the files of a compiler's box: a Go build cache has some hundreds.
const inodes = 16384

// build runs the compiler. Without one the executable is the sources.
func (c *Compiler) build(ctx context.Context, w *work) (built, error) {
	if w.lang.Compile == nil {
		b := built{lasting: true}
		for _, f := range w.layout.Files {
			b.files = append(b.files, sandbox.Collected{Name: f.Name, Mode: 0o644, Data: f.Data})
		}
		return b, nil
	}
	prepared := w.prepared
	if w.wants && prepared == "" {
		dir, release, err := c.prepareOrWarn(ctx, w.toolchain)
		if err != nil {
			return built{}, err
		}
		defer release()
		prepared = dir
	}
	return c.runStep(ctx, w, w.lang.Compile, prepared)
}

// runStep runs a compiler, or what is prepared for one, and rules on it. prepared
// is the host directory that it sees at languages.PreparedDir, "" for none.
func (c *Compiler) runStep(ctx context.Context, w *work, step *languages.Step, prepared string) (built, error) {
	rep, err := c.execute(ctx, w, step, compilerSpec(w, step, prepared))
	if err != nil {
		return built{}, err
	}
	return ruleOn(step, rep), nil
}

// execute runs a program of the toolchain. One that cannot be started is our failure.
func (c *Compiler) execute(ctx context.Context, w *work, step *languages.Step, spec sandbox.Spec) (*sandbox.Report, error) {
	rep, err := c.cfg.Runner.Run(ctx, spec)
	if err != nil {
		return nil, runnerError(ctx, err)
	}
	if rep.Cause == sandbox.CauseExec {
		return nil, &judge.Failed{Kind: judge.FailToolchain, Retryable: true, Reason: fmt.Sprintf(
			"language %s: %s cannot be executed: %s", w.lang.ID, step.Args[0], rep.Evidence.ExecError)}
	}
	return rep, nil
}

func compilerSpec(w *work, step *languages.Step, prepared string) sandbox.Spec {
	lim := step.Limits
	args := languages.Prepared(step.Args, prepared != "")
	env := languages.Prepared(step.Env, prepared != "")
	spec := toolSpec(w.lang, w.toolchain, w.layout.Words.Expand(args), env, lim)
	if prepared != "" {
		spec.Mounts = append(spec.Mounts, sandbox.Mount{Source: prepared, Target: languages.PreparedDir})
	}
	for _, f := range w.layout.Files {
		spec.Files = append(spec.Files, sandbox.File{Name: f.Name, Data: f.Data})
	}
	name := strings.TrimSuffix(step.Output, "/")
	if name == "" {
		name = "."
	}
	spec.Collect = []sandbox.Collect{{Name: name, Max: lim.Artifact.Bytes(), Dir: keepsDir(step)}}
	return spec
}

// toolSpec runs a program of the toolchain, its output merged and cut at the log
// limit without ending it.
func toolSpec(l *languages.Language, tc *languages.Toolchain, args, env []string, lim *languages.StepLimits) sandbox.Spec {
	limits := judge.Limits{
		CPU: lim.CPU, Wall: lim.Wall, Memory: lim.Memory.Bytes(), Output: lim.Log.Bytes(), Tasks: lim.Tasks,
	}
	words := languages.LimitWords(limits, 0)
	return sandbox.Spec{
		Args: words.Expand(args), Env: words.Expand(environment(l, env)),
		Root: tc.Root, Mounts: mounts(l),
		Stdout: sandbox.Stream{Keep: true},
		Stderr: sandbox.Stream{Merge: true, Keep: true},
		Limits: limits,
		Box:    sandbox.BoxLimits{FileSize: lim.Disk.Bytes(), Disk: lim.Disk.Bytes(), Inodes: inodes, OpenFiles: 1024},
	}
}

// runnerError tells whose fault a box was that did not run. A spec that cannot be
// run comes from the definition: the submission's files were checked before.
func runnerError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if judge.IsBadRequest(err) {
		return &judge.Failed{Kind: judge.FailToolchain, Reason: err.Error(), Retryable: true, Err: err}
	}
	return judge.Fail(judge.FailSandbox, err)
}

// ruleOn gives the verdict of a compiler's run. Reaching a time limit is CTL, all
// else that keeps it from an executable is CE, with a line that says what.
func ruleOn(step *languages.Step, rep *sandbox.Report) built {
	b := built{lasting: true, meta: meta{
		Log: rep.Stdout.Data, LogTotal: rep.Stdout.Total,
		Usage: judge.Usage{CPU: rep.CPU, Wall: rep.Wall, Memory: rep.Memory},
	}}
	refuse := func(v judge.Verdict, format string, args ...any) {
		b.meta.Verdict = v
		b.meta.addLine(step.Limits.Log.Bytes(), fmt.Sprintf(format, args...))
	}
	lim := step.Limits
	switch rep.Cause {
	case sandbox.CauseExit:
		if rep.Exit != 0 {
			b.meta.Verdict = judge.CompileError
			return b
		}
	case sandbox.CauseCPU:
		refuse(judge.CompileTimeLimit, "the compiler reached its CPU limit of %v", lim.CPU)
	case sandbox.CauseWall, sandbox.CauseIdle:
		refuse(judge.CompileTimeLimit, "the compiler reached its wall limit of %v", lim.Wall)
		b.lasting = false
	case sandbox.CauseMemory:
		refuse(judge.CompileError, "the compiler reached its memory limit of %d MiB", lim.Memory.Bytes()/judge.MiB)
	case sandbox.CauseFileSize:
		refuse(judge.CompileError, "the compiler wrote a file of more than %d MiB", lim.Disk.Bytes()/judge.MiB)
	case sandbox.CauseSyscall:
		refuse(judge.CompileError, "the compiler was ended for a forbidden system call")
	default:
		refuse(judge.CompileError, "the compiler was ended by signal %d", rep.Signal)
	}
	if b.meta.Verdict == "" {
		if reason := b.keep(step, rep.Files); reason != "" {
			refuse(judge.CompileError, "no executable: %s", reason)
		}
	}
	return b
}

// keep takes the collected files, named relative to the directory that is kept.
// It returns why they are no executable, or "".
func (b *built) keep(step *languages.Step, files []sandbox.Collected) string {
	prefix := ""
	if keepsDir(step) && step.Output != "" {
		prefix = step.Output
	}
	for _, f := range files {
		if f.Err != nil {
			b.files = nil
			return fmt.Sprintf("%s: %v", f.Name, reasonOf(f.Err))
		}
		f.Name = strings.TrimPrefix(f.Name, prefix)
		if err := judge.CheckFileName(f.Name); err != nil {
			b.files = nil
			return fmt.Sprintf("%q: %v", f.Name, err)
		}
		b.files = append(b.files, f)
	}
	if len(b.files) == 0 {
		return "the compiler made no file"
	}
	slices.SortFunc(b.files, func(x, y sandbox.Collected) int { return strings.Compare(x.Name, y.Name) })
	return ""
}

func reasonOf(err error) error {
	if isNotExist(err) {
		return fs.ErrNotExist
	}
	return err
}

func keepsDir(step *languages.Step) bool {
	return step.Output == "" || strings.HasSuffix(step.Output, "/")
}
