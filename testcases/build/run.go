package build

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"strings"

	"judgefarm/judge"
	"judgefarm/judge/checker"
	"judgefarm/judge/compile"
	"judgefarm/judge/sandbox"
	"judgefarm/languages"
	"judgefarm/testcases"
)

// program is one that was compiled.
type program struct {
	lang *languages.Language
	exe  *compile.Executable
}

// task is what a run is for and what it reads.
type task struct {
	what     string         // "input of case tests/07"
	stdin    testcases.Data // nil is empty
	files    []testcases.CaseFile
	args     []string // after the recipe's
	partner  string   // the interactor that it talks to, whole
	solution bool     // may use what the problem allows submissions
}

// compiled is the executable of a program, compiled once in a build.
func (w *work) compiled(ctx context.Context, r *testcases.Recipe, t task) (*program, error) {
	source := w.one(r.Program)
	if p := w.programs[source]; p != nil {
		return p, nil
	}
	lang, err := checker.LanguageOf(w.cfg.Languages, r.Program)
	if err != nil {
		return nil, w.broken(r, t, err.Error(), nil, false)
	}
	res, err := w.cfg.Compiler.Compile(ctx, compile.Request{Language: lang, Files: r.Program.Files, Flags: r.Program.Flags})
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case judge.IsBadRequest(err):
		return nil, w.broken(r, t, err.Error(), nil, false)
	case err != nil:
		return nil, judge.Fail(judge.FailToolchain, fmt.Errorf("compile %s: %w", r.Program.Name, err))
	case res.Executable == nil:
		return nil, w.broken(r, t, fmt.Sprintf("does not compile (%s)", res.Verdict), res.Log, false)
	}
	p := &program{lang, res.Executable}
	w.programs[source] = p
	return p, nil
}

// one is the program that stands for all that are equal: readers of formats share one
// between recipes, and in a packed problem each recipe has its own.
func (w *work) one(p *testcases.Program) *testcases.Program {
	if same := w.equals[p]; same != nil {
		return same
	}
	all := w.named[p.Name]
	i := slices.IndexFunc(all, func(q *testcases.Program) bool { return reflect.DeepEqual(p, q) })
	if i < 0 {
		w.equals[p], w.named[p.Name] = p, append(all, p)
		return p
	}
	w.equals[p] = all[i]
	return all[i]
}

// run finds what a recipe makes in the directory, or makes it.
func (w *work) run(ctx context.Context, r *testcases.Recipe, t task) (testcases.Data, error) {
	p, err := w.compiled(ctx, r, t)
	if err != nil {
		return nil, err
	}
	key, err := w.key(r, p, t)
	if err != nil {
		return nil, judge.Fail(judge.FailProblem, err)
	}
	if d := w.kept(key, r.Output); d != nil {
		w.there++
		return d, w.count(r, t, w.path(key, r.Output), d)
	}
	rep, err := w.execute(ctx, r, p, t)
	if err != nil {
		return nil, err
	}
	if err := w.ended(r, t, rep); err != nil {
		return nil, err
	}
	if file(r.Output) {
		return w.files(r, t, key, rep)
	}
	mine, err := w.keep(r, t, key, "", rep.Stdout.Data)
	if err == nil && w.stderr {
		d, err := w.keep(r, t, key, testcases.Stderr, rep.Stderr.Data)
		if r.Output == testcases.Stderr {
			return d, err
		}
	}
	return mine, err
}

// file reports whether an output of a recipe is a file, and not one of its streams.
func file(output string) bool { return output != "" && output != testcases.Stderr }

// files keeps every file that was asked for: other cases want the others.
func (w *work) files(r *testcases.Recipe, t task, key string, rep *sandbox.Report) (mine testcases.Data, err error) {
	for _, f := range rep.Files {
		switch {
		case f.Err == nil:
			d, err := w.keep(r, t, key, f.Name, f.Data)
			if err != nil {
				return nil, err
			}
			if f.Name == r.Output {
				mine = d
			}
		case f.Name != r.Output:
		case errors.Is(f.Err, fs.ErrNotExist):
			return nil, w.broken(r, t, "wrote no file "+r.Output, rep.Stderr.Data, false)
		default:
			return nil, w.broken(r, t, fmt.Sprintf("wrote a file %s that cannot be taken: %v", r.Output, f.Err), rep.Stderr.Data, false)
		}
	}
	return mine, nil
}

func (w *work) execute(ctx context.Context, r *testcases.Recipe, p *program, t task) (*sandbox.Report, error) {
	spec, err := w.spec(r, p, t)
	if err != nil {
		return nil, err
	}
	if t.stdin != nil {
		in, err := w.open(t.stdin)
		if err != nil {
			return nil, judge.Fail(judge.FailProblem, fmt.Errorf("read what makes the %s: %w", t.what, err))
		}
		defer in.Close()
		spec.Stdin = in
	}
	rep, err := w.cfg.Runner.Run(ctx, spec)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case judge.IsBadRequest(err):
		return nil, w.broken(r, t, err.Error(), nil, false)
	case err != nil:
		return nil, judge.Fail(judge.FailSandbox, fmt.Errorf("make the %s: %w", t.what, err))
	}
	return rep, nil
}

// spec is how a program runs, but for its standard input.
func (w *work) spec(r *testcases.Recipe, p *program, t task) (sandbox.Spec, error) {
	lim := r.Program.Limits.Or(w.limits(t.solution))
	lim = p.lang.Apply(lim)
	cmd, err := compile.CommandOf(p.lang, p.exe, lim)
	if err != nil {
		return sandbox.Spec{}, judge.Fail(judge.FailToolchain, err)
	}
	spec := sandbox.Spec{
		Args: slices.Concat(cmd.Args, r.Program.Args, r.Args, t.args), Env: cmd.Env, Root: cmd.Root, Mounts: cmd.Mounts, Slack: cmd.Slack,
		Limits: lim, Stderr: sandbox.Stream{Limit: 64 * judge.KiB, Keep: true},
	}
	for _, f := range t.files {
		b, err := testcases.ReadAll(f.Data, int64(maxFile))
		if err != nil {
			return spec, judge.Fail(judge.FailProblem, fmt.Errorf("read what makes the %s: %w", t.what, err))
		}
		spec.Files = append(spec.Files, sandbox.File{Name: f.Name, Data: b})
		spec.Box.Disk += judge.Bytes(len(b)) + 4*judge.KiB
	}
	if len(spec.Files) > 0 || r.Output != "" {
		box := sandbox.BoxLimits{}.Complete(lim)
		spec.Box.Disk += box.Disk
		spec.Box.Inodes = box.Inodes + 2*len(spec.Files)
	}
	if w.stderr && !file(r.Output) {
		spec.Stderr = sandbox.Stream{Limit: maxFile}
	}
	if file(r.Output) {
		spec.Box.FileSize, spec.Box.Disk = maxFile, spec.Box.Disk+2*maxFile
		for _, name := range w.wanted(r) {
			spec.Collect = append(spec.Collect, sandbox.Collect{Name: name, Max: maxFile})
		}
	}
	return spec, nil
}

// limits are those of one run.
func (w *work) limits(solution bool) judge.Limits {
	lim := limits
	if own := w.p.Limits; solution {
		lim.CPU, lim.Memory = max(lim.CPU, 2*own.CPU), max(lim.Memory, own.Memory)
		lim.Wall = max(lim.Wall, 3*lim.CPU)
	}
	return lim
}

// ended tells how a program must not end. A wall limit depends on the load of this
// machine, so that another try may do.
func (w *work) ended(r *testcases.Recipe, t task, rep *sandbox.Report) error {
	lim := r.Program.Limits.Or(w.limits(t.solution))
	why, retry := "", false
	switch rep.Cause {
	case sandbox.CauseExit:
		if rep.Exit == 0 {
			return nil
		}
		why = fmt.Sprintf("exited with status %d", rep.Exit)
	case sandbox.CauseSignal:
		why = fmt.Sprintf("was ended by signal %d", rep.Signal)
	case sandbox.CauseCPU:
		why = fmt.Sprintf("used more than its %v of CPU time", lim.CPU)
	case sandbox.CauseWall, sandbox.CauseIdle:
		why, retry = fmt.Sprintf("took longer than %v", lim.Wall), true
	case sandbox.CauseMemory:
		why = fmt.Sprintf("used more than its %d MiB of memory", lim.Memory/judge.MiB)
	case sandbox.CauseOutput, sandbox.CauseFileSize:
		why = fmt.Sprintf("wrote more than %d bytes", lim.Output)
	case sandbox.CauseExec:
		why = "could not be started: " + rep.Evidence.ExecError
	default:
		why = "was ended: " + string(rep.Cause)
	}
	return w.broken(r, t, why, rep.Stderr.Data, retry)
}

// maxCommand bounds what a reason quotes of a command.
const maxCommand = 200

// broken is a fault of the package. What the program said is for the log alone: it may
// be data.
func (w *work) broken(r *testcases.Recipe, t task, why string, said []byte, retry bool) error {
	command := strings.Join(append([]string{r.Program.Name}, r.Args...), " ")
	if len(command) > maxCommand {
		command = command[:maxCommand] + "..."
	}
	reason := fmt.Sprintf("%s, which makes the %s, %s", command, t.what, why)
	return &judge.Failed{Kind: judge.FailProblem, Reason: reason, Retryable: retry,
		Err: fmt.Errorf("%s; it said %.2000q", reason, said)}
}

// open is data as a file that a box can read from. Data that is no file is copied to
// one without a name.
func (w *work) open(d testcases.Data) (*os.File, error) {
	r, err := d.Open()
	if err != nil {
		return nil, err
	}
	if f, ok := r.(*os.File); ok {
		return f, nil
	}
	defer r.Close()
	f, err := os.CreateTemp(w.dir, temporary)
	if err != nil {
		return nil, err
	}
	_, err = io.Copy(f, r)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err := errors.Join(err, os.Remove(f.Name())); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
