package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"judgefarm/cmd/judgefarm/internal/bench"
	"judgefarm/internal/daemon"
	"judgefarm/judge"
	"judgefarm/judge/compile"
	"judgefarm/judge/engine"
	"judgefarm/testcases"
)

type benchInteractCmd struct {
	Turns  int         `help:"Numbers that the interactor sends, each of which is answered." default:"100000"`
	Size   judge.Bytes `help:"Output that a checker reads; a tenth of it is measured too." default:"100M"`
	Rounds int         `help:"Rounds, in which the plain pipe and the judge take turns." default:"5"`
	JSON   bool        `help:"Print the tables as JSON." name:"json"`
	localFlags
}

// interactReport is what bench interact prints.
type interactReport struct {
	Cores    int              `json:"cores"`
	Machine  string           `json:"machine"`
	Turns    int              `json:"turns"`
	Dialogue []bench.PipeRow  `json:"dialogue"` // plain, judged, judged with the dialogue kept
	Outputs  []bench.CheckRow `json:"outputs"`
}

// Run measures dialogues and checks of large outputs against the same programs joined
// by plain pipes.
func (c *benchInteractCmd) Run(env *daemon.Env) error {
	if c.Turns < 1 || c.Rounds < 1 || c.Size < judge.MiB || c.Size > 512*judge.MiB {
		return daemon.Usage("--turns and --rounds must be at least 1, --size 1M to 512M")
	}
	ctx, stop := env.Context()
	defer stop()
	n, err := daemon.Cores()
	if err != nil {
		return err
	}
	seen := &bench.Reports{}
	l, err := c.openLocal(env, 1, seen.Wrap)
	if err != nil {
		return err
	}
	b := &interactBench{cmd: c, local: l, seen: seen}
	rep := &interactReport{Cores: n, Machine: runtime.GOOS + "/" + runtime.GOARCH, Turns: c.Turns}
	if err := errors.Join(b.measure(ctx, rep), l.Close()); err != nil {
		return err
	}
	if c.JSON {
		return printJSON(env.Stdout, rep)
	}
	return rep.print(env)
}

type interactBench struct {
	cmd   *benchInteractCmd
	local *local
	seen  *bench.Reports
	dir   string
}

func (b *interactBench) measure(ctx context.Context, rep *interactReport) (err error) {
	if b.dir, err = os.MkdirTemp(b.local.cacheDir, "bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	if rep.Dialogue, err = b.dialogue(ctx); err != nil {
		return fmt.Errorf("measure dialogue: %w", err)
	}
	for _, size := range []judge.Bytes{b.cmd.Size / 10, b.cmd.Size} {
		for _, name := range []string{"tokens", testcases.CustomChecker} {
			row, err := b.output(ctx, name, size)
			if err != nil {
				return fmt.Errorf("measure output: %w", err)
			}
			rep.Outputs = append(rep.Outputs, *row)
		}
	}
	return nil
}

// dialogue measures one interactive case in three ways.
func (b *interactBench) dialogue(ctx context.Context) ([]bench.PipeRow, error) {
	reply, talk, done, err := b.pair(ctx, "reply", "talk")
	if err != nil {
		return nil, err
	}
	defer done()
	input, err := b.file("turns", []byte(fmt.Sprintln(b.cmd.Turns)))
	if err != nil {
		return nil, err
	}
	own, err := ownProgram("talk")
	if err != nil {
		return nil, err
	}
	job, err := benchJob("reply", &testcases.Problem{
		Kind: testcases.Interactive, Interactor: own, Limits: benchLimits(0),
		Groups: benchCase([]byte(fmt.Sprintln(b.cmd.Turns)), testcases.BytesData(nil)),
	})
	if err != nil {
		return nil, err
	}
	cfg := b.local.engine.Config
	cfg.Dialogue = judge.MiB
	kept := engine.New(cfg)
	pair := bench.Pair{First: []string{reply}, Second: []string{talk, input, os.DevNull, b.dir}, Back: true, Exit: 42}
	return bench.Pipes(ctx, b.cmd.Rounds, []bench.PipeLoad{
		{Name: "plain pipes", Do: pair.Run},
		{Name: "judged", Do: judgeTime(b.local.engine, job)},
		{Name: "judged, dialogue kept", Do: judgeTime(kept, job)},
	})
}

// output measures a check of so much output, and the memory that it took.
func (b *interactBench) output(ctx context.Context, checker string, size judge.Bytes) (*bench.CheckRow, error) {
	pour, drain, done, err := b.pair(ctx, "pour", "drain")
	if err != nil {
		return nil, err
	}
	defer done()
	input, err := b.file("size", []byte(fmt.Sprintln(int64(size))))
	if err != nil {
		return nil, err
	}
	p := &testcases.Problem{Checker: judge.CheckerSpec{Name: checker}, Limits: benchLimits(size)}
	answer := testcases.BytesData(nil)
	if checker == testcases.CustomChecker {
		if p.CheckerProgram, err = ownProgram("drain"); err != nil {
			return nil, err
		}
	} else if answer, err = b.answer(size); err != nil {
		return nil, err
	}
	p.Groups = benchCase([]byte(fmt.Sprintln(int64(size))), answer)
	job, err := benchJob("pour", p)
	if err != nil {
		return nil, err
	}
	row := &bench.CheckRow{Checker: checker, Size: size}
	pair := bench.Pair{First: []string{pour}, Stdin: input, Second: []string{drain, input, os.DevNull, b.dir}, Exit: 42}
	judged := judgeTime(b.local.engine, job)
	row.Pipes, err = bench.Pipes(ctx, b.cmd.Rounds, []bench.PipeLoad{
		{Name: "plain pipe", Do: pair.Run},
		{Name: "judged", Do: func(ctx context.Context) (took time.Duration, err error) {
			b.seen.Reset()
			grown, err := bench.Growth(func() error { took, err = judged(ctx); return err })
			row.Own = max(row.Own, grown)
			row.CheckerMemory = max(row.CheckerMemory, b.seen.CheckerMemory())
			return took, err
		}},
	})
	return row, err
}

// answer is what pour prints, as a file: a test's answers lie on disk too.
func (b *interactBench) answer(size judge.Bytes) (testcases.Data, error) {
	name := filepath.Join(b.dir, fmt.Sprintf("answer-%d", size))
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	err = bench.Pour(f, int64(size))
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	return testcases.FileData(name)
}

func (b *interactBench) file(name string, data []byte) (string, error) {
	name = filepath.Join(b.dir, name)
	return name, os.WriteFile(name, data, 0o644)
}

// pair compiles two programs as submissions are compiled and returns where they lie:
// the same that run in the boxes.
func (b *interactBench) pair(ctx context.Context, first, second string) (one, two string, done func(), err error) {
	var all []*compile.Executable
	done = func() {
		for _, e := range all {
			e.Release()
		}
	}
	lang, _ := b.local.languages.Find("c")
	for _, name := range []string{first, second} {
		text, err := bench.Source(name)
		if err != nil {
			return "", "", done, err
		}
		res, err := b.local.compiler.Compile(ctx, compile.Request{Language: lang, Files: []judge.File{{Name: name + ".c", Data: text}}})
		if err != nil {
			return "", "", done, err
		}
		if res.Executable == nil {
			return "", "", done, fmt.Errorf("compile %s: %s", name, res.Log)
		}
		all = append(all, res.Executable)
	}
	return filepath.Join(all[0].Dir, "prog"), filepath.Join(all[1].Dir, "prog"), done, nil
}

func ownProgram(name string) (*testcases.Program, error) {
	text, err := bench.Source(name)
	return &testcases.Program{
		Name: name, Language: "c", Protocol: testcases.ProtocolKattis, Files: []judge.File{{Name: name + ".c", Data: text}},
		Limits: judge.Limits{CPU: time.Minute, Wall: 10 * time.Minute},
	}, err
}

func benchLimits(output judge.Bytes) judge.Limits {
	return judge.Limits{CPU: time.Minute, Wall: 10 * time.Minute, Output: max(output, judge.MiB)}
}

func benchCase(input []byte, answer testcases.Data) []testcases.Group {
	return []testcases.Group{{Name: "secret", Cases: []testcases.Case{{Name: "secret/1", Input: testcases.BytesData(input), Answer: answer}}}}
}

func benchJob(name string, p *testcases.Problem) (engine.Job, error) {
	text, err := bench.Source(name)
	if err := errors.Join(err, p.Seal()); err != nil {
		return engine.Job{}, err
	}
	return engine.Job{Problem: p, Submission: judge.Submission{
		ID: "bench", Language: "c", Files: []judge.File{{Name: name + ".c", Data: text}},
	}}, nil
}

// judgeTime judges and returns how long it took without compiling: boxes, files and
// rulings are in it.
func judgeTime(e *engine.Engine, job engine.Job) func(context.Context) (time.Duration, error) {
	return func(ctx context.Context) (time.Duration, error) {
		began := time.Now()
		out, err := e.Judge(ctx, job, engine.Watcher{})
		took := time.Since(began)
		if err != nil {
			return 0, err
		}
		if err := wantAccepted(&out.Judgement); err != nil {
			return 0, fmt.Errorf("%w: %+v", err, out.Judgement.Cases)
		}
		return took - out.Judgement.Timing.Compile.Duration(), nil
	}
}

func (rep *interactReport) print(env *daemon.Env) error {
	var lines []string
	for _, r := range rep.Dialogue {
		lines = append(lines, fmt.Sprintf("%s\t%.1f ms\t%.2f us\tx%.2f", r.Name, r.Median, 1000*r.Median/float64(rep.Turns), r.Ratio))
	}
	if err := printTable(env.Stdout, fmt.Sprintf("%d TURNS | MEDIAN | A TURN | RATIO", rep.Turns), lines); err != nil {
		return err
	}
	fmt.Fprintln(env.Stdout)
	lines = nil
	for _, r := range rep.Outputs {
		checker := "-"
		if r.Checker == testcases.CustomChecker {
			checker = fmt.Sprintf("%.1f MiB", mib(r.CheckerMemory))
		}
		lines = append(lines, fmt.Sprintf("%s\t%.0f MiB\t%.1f ms\t%.1f ms\tx%.2f\t%.1f MiB\t%s",
			r.Checker, mib(r.Size), r.Pipes[0].Median, r.Pipes[1].Median, r.Pipes[1].Ratio, mib(r.Own), checker))
	}
	return printTable(env.Stdout, "CHECKER | OUTPUT | PLAIN PIPE | JUDGED | RATIO | JUDGEFARM GREW BY | CHECKER'S MEMORY", lines)
}

func mib(b judge.Bytes) float64 { return float64(b) / float64(judge.MiB) }
