package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"judgefarm/cmd/judgefarm/internal/verify"
	"judgefarm/internal/daemon"
	"judgefarm/judge"
	"judgefarm/judge/engine"
	"judgefarm/languages"
	"judgefarm/testcases"
)

// submissionFlags say what is judged and how; judge and submit share them.
type submissionFlags struct {
	Files    []string      `arg:"" name:"file" help:"Source files of one submission, the main file first." type:"existingfile"`
	Language string        `help:"Language id or alias, when the file name does not tell; see judgefarm languages." short:"l"`
	Stdin    string        `help:"File that the program reads, for judging without a problem." type:"existingfile" placeholder:"FILE"`
	Expect   string        `help:"File with the output that is right, for judging without a problem." type:"existingfile" placeholder:"FILE"`
	Checker  string        `help:"Checker, in place of the problem's: tokens, exact, lines, floats or custom, with its arguments after it: \"floats abs=1e-6\"." placeholder:"NAME"`
	CPU      time.Duration `help:"CPU time limit, user and system, all processes together." name:"cpu" placeholder:"1s"`
	Wall     time.Duration `help:"Wall time limit; by default the greater of 3 x CPU and CPU + 2s." placeholder:"3s"`
	Memory   judge.Bytes   `help:"Memory limit, binary units; 0 is the problem's or the default, as for all limits." placeholder:"256M"`
	Output   judge.Bytes   `help:"Limit of standard output, and of standard error." placeholder:"1M"`
	Tasks    int           `help:"Processes and threads at one time." placeholder:"64"`
	Strict   bool          `help:"Strict mode: only listed system calls and files; a program that does anything else is ended with SV."`
	Stop     string        `help:"When remaining cases are skipped: first_fail, hardest_first (the same, with the cases that are likely to fail first), group (where they cannot change the points of their group) or never; by default first_fail, group for problems with points." enum:",first_fail,hardest_first,group,never" default:""`
	JSON     bool          `help:"Print the judgement as JSON." name:"json"`
}

type judgeCmd struct {
	submissionFlags
	Problem    string `help:"Problem package: a directory or an archive of one." placeholder:"DIR"`
	Dialogue   string `help:"File to write what a program and the problem's interactor said to each other to, 1 MiB of each case." type:"path" placeholder:"FILE"`
	SideBySide bool   `help:"Run as many cases at one time as this process may use cores; the verdicts are the same."`
	packageFlags
	limitsFlag
	localFlags
}

// Run judges in this process: the same engine as the farm's.
func (c *judgeCmd) Run(env *daemon.Env) error {
	problem, err := c.problem()
	if err != nil {
		return err
	}
	sub, err := c.submission()
	if err != nil {
		return err
	}
	if _, err := engine.Limits(sub.Limits, problem.Limits); err != nil {
		return flagNames(err)
	}
	if err := c.checkSideBySide(c.SideBySide); err != nil {
		return err
	}
	slots := 1
	if c.SideBySide {
		if slots, err = daemon.Cores(); err != nil {
			return err
		}
	}
	l, err := c.openLocal(env, slots, nil)
	if err != nil {
		return err
	}
	if c.SideBySide {
		l.sideBySide(slots)
	}
	if c.Dialogue != "" {
		l.keep(0, judge.MiB)
	}
	ctx, stop := env.Context()
	defer stop()
	out, err := judgeLocally(ctx, l, engine.Job{Submission: sub, Problem: problem})
	if err := errors.Join(err, l.Close()); err != nil {
		return c.failed(env, err)
	}
	if err := c.writeDialogues(out.Outputs); err != nil {
		return err
	}
	return report(env.Stdout, &out.Judgement, c.JSON)
}

// writeDialogues writes those of all cases that ran, each below the name of its case.
func (c *judgeCmd) writeDialogues(outputs []engine.CaseOutput) error {
	if c.Dialogue == "" {
		return nil
	}
	var all bytes.Buffer
	for _, o := range outputs {
		fmt.Fprintf(&all, "== %s %s\n%s", o.Case, o.Verdict, o.Dialogue)
	}
	if err := os.WriteFile(c.Dialogue, all.Bytes(), 0o600); err != nil {
		return daemon.Usage("--dialogue: %w", err)
	}
	return nil
}

// failed prints the document of a submission that we could not judge, where one was
// asked for; any other error is handed on.
func (c *judgeCmd) failed(env *daemon.Env, err error) error {
	var failed *judge.Failed
	if !c.JSON || !errors.As(err, &failed) {
		return err
	}
	now := time.Now().UTC()
	j := judge.NewJudgement(localID, now)
	j.State, j.Failed, j.Retryable, j.JudgedAt = judge.FailedState, failed, failed.Retryable, &now
	j.Worker, j.Attempt = localWorker, 1
	return report(env.Stdout, &j, true)
}

// What the document of a submission that no farm knows says of itself.
const (
	localID     = "local"
	localWorker = "local"
)

func judgeLocally(ctx context.Context, l *local, job engine.Job) (*engine.Outcome, error) {
	lang, ok := languageFor(l.languages, job.Submission.Language, job.Submission.Files)
	if !ok {
		return nil, unknownLanguage(job.Submission)
	}
	job.Submission.Language = lang.ID
	problem, err := l.built(ctx, job.Problem)
	if err != nil {
		return nil, err
	}
	job.Problem = problem
	out, err := l.engine.Judge(ctx, job, engine.Watcher{})
	if err != nil {
		return nil, flagNames(err)
	}
	out.Judgement.Worker, out.Judgement.Attempt = localWorker, 1
	return out, nil
}

// report prints a final judgement and turns it into the command's end.
func report(w io.Writer, j *judge.Judgement, asJSON bool) error {
	show := func() error { return printJudgement(w, j) }
	if asJSON {
		show = func() error { return printJSON(w, j) }
	}
	if err := show(); err != nil {
		return err
	}
	switch {
	case j.State == judge.FailedState && j.Failed != nil:
		return j.Failed
	case j.Verdict == nil || *j.Verdict != judge.Accepted:
		return daemon.ErrNotAccepted
	}
	return nil
}

// problem opens the package, or makes an anonymous problem of --stdin and --expect.
func (c *judgeCmd) problem() (*testcases.Problem, error) {
	if c.Problem != "" {
		if c.Stdin != "" || c.Expect != "" {
			return nil, daemon.Usage("--problem brings its own cases: leave out --stdin and --expect")
		}
		p, err := c.limited(c.options()).Open(c.Problem)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			return nil, daemon.Usage("--problem: %w", err)
		}
		return p, err
	}
	test, err := c.test()
	if err != nil {
		return nil, err
	}
	return testcases.Inline(testcases.InlineConfig{Tests: []testcases.InlineTest{testcases.InlineTest(test)}})
}

// test reads --stdin and --expect.
func (c *submissionFlags) test() (judge.Test, error) {
	if c.Expect == "" {
		return judge.Test{}, daemon.Usage("state --problem, or --expect FILE (and --stdin FILE) to judge without one")
	}
	var (
		t   judge.Test
		err error
	)
	if c.Stdin != "" {
		if t.Stdin, err = readFile("--stdin", c.Stdin, maxData); err != nil {
			return t, err
		}
	}
	t.Expected, err = readFile("--expect", c.Expect, maxData)
	return t, err
}

// submission reads the source files. Files of one directory keep their base names.
func (c *submissionFlags) submission() (judge.Submission, error) {
	sub := judge.Submission{
		ID: localID, Language: c.Language, Limits: c.limits(), Stop: judge.Stop(c.Stop), Checker: c.checker(),
	}
	seen := map[string]bool{}
	for _, path := range c.Files {
		data, err := readFile("<file>", path, maxSource)
		if err != nil {
			return sub, err
		}
		name := filepath.Base(path)
		if seen[name] {
			return sub, daemon.Usage("two files are called %s", name)
		}
		seen[name] = true
		sub.Files = append(sub.Files, judge.File{Name: name, Data: data})
	}
	return sub, nil
}

func (c *submissionFlags) limits() judge.Limits {
	return judge.Limits{CPU: c.CPU, Wall: c.Wall, Memory: c.Memory, Output: c.Output, Tasks: c.Tasks, Ptrace: c.Strict}
}

func (c *submissionFlags) checker() *judge.CheckerSpec {
	words := strings.Fields(c.Checker)
	if len(words) == 0 {
		return nil
	}
	return &judge.CheckerSpec{Name: words[0], Args: words[1:]}
}

// languageFor finds the stated language, or the one of the files' names and content.
func languageFor(set *languages.Set, stated string, files []judge.File) (*languages.Language, bool) {
	return verify.LanguageFor(set, stated, files)
}

func unknownLanguage(sub judge.Submission) error {
	if sub.Language != "" {
		return daemon.Usage("--language: no language is called %q; judgefarm languages lists them", sub.Language)
	}
	return daemon.Usage("--language: the name %s does not tell the language; state it", sub.Files[0].Name)
}

// flagNames turns the document's names of limits into the flags that set them.
func flagNames(err error) error {
	var bad *judge.BadRequest
	if !errors.As(err, &bad) {
		return err
	}
	flags := map[string]string{
		"limits.cpu_ms": "--cpu", "limits.wall_ms": "--wall", "limits.memory_kib": "--memory",
		"limits.output_kib": "--output", "limits.tasks": "--tasks",
		"checker.name": "--checker", "checker.args": "--checker",
		"language": "--language", "problem": "--problem", "stop": "--stop", "labels": "--label", "pin": "--pin",
	}
	renamed := &judge.BadRequest{}
	for _, f := range bad.Faults {
		field := f.Field
		if strings.HasPrefix(field, "checker.") {
			field = "checker.name" // one flag takes name and arguments
		}
		if strings.HasPrefix(field, "mounts[") {
			field = "--bind"
		}
		if flag, ok := flags[field]; ok {
			field = flag
		}
		renamed.Faults = append(renamed.Faults, &judge.FieldError{Field: field, Reason: f.Reason})
	}
	return renamed
}
