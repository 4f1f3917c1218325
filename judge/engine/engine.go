package engine

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"judgefarm/judge"
	"judgefarm/judge/checker"
	"judgefarm/judge/compile"
	"judgefarm/judge/sandbox"
	"judgefarm/languages"
	"judgefarm/testcases"
)

// shownBytes bounds each stream of a run in a document; artifacts keep more.
const shownBytes = 64 << 10

// Config is what an engine judges with. Every field but Clock is required.
type Config struct {
	Runner    sandbox.Runner
	Compiler  Compiler
	Languages *languages.Set
	Checkers  Checkers
	Clock     func() time.Time // nil is time.Now
}

// Compiler is what the engine needs of judge/compile.
type Compiler interface {
	Compile(ctx context.Context, req compile.Request) (*compile.Result, error)
	Inspect(ctx context.Context, lang *languages.Language) (judge.LanguageRef, error)
}

// Checkers makes the checker of a problem; spec is the problem's own or the
// submission's. It returns a *judge.BadRequest for a spec that names none.
type Checkers func(ctx context.Context, p *testcases.Problem, spec judge.CheckerSpec) (checker.Checker, error)

// Engine judges submissions. It is safe for concurrent use.
type Engine struct{ Config }

var _ Judge = (*Engine)(nil)

// New returns an engine.
func New(cfg Config) *Engine {
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	return &Engine{cfg}
}

// session is one submission on its way through Judge.
type session struct {
	*Engine
	job   Job
	watch Watcher
	lang  *languages.Language
	lim   judge.Limits // of the run, the language's allowances of time and tasks included
	check checker.Checker
	exe   *compile.Executable // nil when nothing is to be run
	spec  sandbox.Spec        // of every run but for its input
	out   *Outcome
}

// Judge implements the Judge interface. Bad requests come before anything runs.
func (e *Engine) Judge(ctx context.Context, job Job, watch Watcher) (*Outcome, error) {
	began := e.Clock()
	s := &session{Engine: e, job: job, watch: watch, out: &Outcome{Judgement: judge.NewJudgement(job.Submission.ID, began)}}
	if err := s.admit(ctx); err != nil {
		return nil, err
	}
	j := &s.out.Judgement
	if err := s.compile(ctx); err != nil {
		return nil, err
	}
	if s.exe != nil {
		defer s.exe.Release()
		if err := s.runAll(ctx); err != nil {
			return nil, err
		}
	}
	ended := e.Clock()
	j.Timing.Overhead = max(0, judge.MillisOf(ended.Sub(began))-j.Timing.Compile-j.Timing.Run)
	j.State = judge.Judged
	now := ended.UTC()
	j.JudgedAt = &now
	return s.out, nil
}

// admit settles language, limits and checker and fills what the document says of them.
func (s *session) admit(ctx context.Context) error {
	sub, p, j := s.job.Submission, s.job.Problem, &s.out.Judgement
	lang, ok := s.Languages.Find(sub.Language)
	if !ok {
		return judge.Refuse(&judge.FieldError{Field: "language", Reason: fmt.Sprintf("no language is called %q", sub.Language)})
	}
	stated, err := Limits(sub.Limits, p.Limits)
	if err != nil {
		return err
	}
	spec := p.Checker
	if sub.Checker != nil {
		spec = *sub.Checker
	}
	s.lang, s.lim = lang, lang.Apply(stated)
	if s.check, err = s.Checkers(ctx, p, spec); err != nil {
		return err
	}
	ref, err := s.Compiler.Inspect(ctx, lang)
	if err != nil {
		return judge.Fail(judge.FailToolchain, err)
	}
	applied, enforced := s.applied().JSON(), s.Runner.Enforced()
	j.Language, j.Limits, j.Enforced = &ref, &applied, &enforced
	j.Problem = &judge.ProblemRef{ID: p.ID, Digest: p.Digest}
	j.Checker, j.Labels = s.check.ID(), sub.Labels
	return nil
}

// applied is what the box enforces: the limits of the run and what the language's
// runtime needs for itself on top.
func (s *session) applied() judge.Limits {
	lim := s.lim
	lim.Memory += s.lang.Slack()
	return lim
}

// Limits combines what a request and a problem state: the request's word counts,
// field by field, then the problem's, then the defaults. A request that states a
// CPU limit but no wall limit gets a wall limit derived from it, not the
// problem's. Faults are a *judge.BadRequest.
func Limits(request, problem judge.Limits) (judge.Limits, error) {
	if request.CPU != 0 && request.Wall == 0 {
		problem.Wall = 0
	}
	lim := request.Or(problem).Complete()
	return lim, judge.Refuse(lim.Validate("limits.")...)
}

// compile fills the compile part; without an executable it gives the verdict too.
func (s *session) compile(ctx context.Context) error {
	j := &s.out.Judgement
	res, err := s.Compiler.Compile(ctx, compile.Request{Language: s.lang, Files: s.job.Submission.Files})
	if err != nil {
		return err
	}
	j.Timing.Compile = judge.MillisOf(res.Took)
	s.out.CompileLog = res.Log
	if s.lang.Compile != nil || res.Verdict != "" {
		j.Compile = &judge.Compile{
			Verdict: res.Verdict, Usage: res.Usage.JSON(), Cached: res.Cached,
			Log: judge.TextOf(res.Log, max(res.LogTotal, int64(len(res.Log)))),
		}
		if s.watch.Compiled != nil {
			s.watch.Compiled(j.Compile)
		}
	}
	if s.exe = res.Executable; s.exe != nil {
		return s.prepare()
	}
	verdict, score := res.Verdict, 0.0
	j.Verdict, j.Score = &verdict, &score
	return nil
}

// prepare makes what all runs share. A failure gives the executable back.
func (s *session) prepare() error {
	cmd, err := compile.CommandOf(s.lang, s.exe, s.lim)
	if err != nil {
		s.exe.Release()
		return judge.Fail(judge.FailToolchain, err)
	}
	s.spec = sandbox.Spec{
		Args: cmd.Args, Env: cmd.Env, Root: cmd.Root, Mounts: cmd.Mounts,
		Limits: s.lim, Slack: cmd.Slack,
	}
	return nil
}

// runAll runs the cases in order and gives verdict and score.
func (s *session) runAll(ctx context.Context) error {
	j, cases := &s.out.Judgement, s.job.Problem.Cases()
	skip := false
	for i, c := range cases {
		run := judge.Run{Name: c.Name, Verdict: judge.Skipped, Sample: c.Sample}
		if !skip {
			var err error
			if run, err = s.runCase(ctx, c); err != nil {
				return fmt.Errorf("run case %s: %w", c.Name, err)
			}
			j.Timing.Run += run.Usage.Wall
		}
		j.Cases = append(j.Cases, run)
		if s.watch.Case != nil {
			s.watch.Case(i, len(cases), run)
		}
		skip = skip || run.Verdict != judge.Accepted && s.job.Submission.Stop != judge.StopNever
	}
	verdict, score := total(j.Cases), share(j.Cases)
	j.Verdict, j.Score = &verdict, &score
	return nil
}

// runCase gives one run its box and its verdict.
func (s *session) runCase(ctx context.Context, c testcases.Case) (judge.Run, error) {
	input, err := stdin(c.Input)
	if err != nil {
		return judge.Run{}, judge.Fail(judge.FailProblem, err)
	}
	defer input.Close()
	spec := s.spec
	spec.Stdin = input
	rep, err := s.Runner.Run(ctx, spec)
	if err != nil {
		if ctx.Err() != nil {
			return judge.Run{}, context.Cause(ctx)
		}
		return judge.Run{}, judge.Fail(judge.FailSandbox, err)
	}
	run, err := s.ruleOn(ctx, c, rep)
	if err != nil {
		return judge.Run{}, err
	}
	reveal := c.Sample || s.job.Problem.Inline
	if reveal {
		run.Stdout = judge.TextOf(cut(rep.Stdout.Data), rep.Stdout.Total)
		run.Stderr = judge.TextOf(cut(rep.Stderr.Data), rep.Stderr.Total)
	}
	s.out.Outputs = append(s.out.Outputs, CaseOutput{
		Case: c.Name, Verdict: run.Verdict, Stdout: rep.Stdout.Data, Stderr: rep.Stderr.Data,
	})
	return run, nil
}

// ruleOn lets the checker speak where it may and gives the verdict.
func (s *session) ruleOn(ctx context.Context, c testcases.Case, rep *sandbox.Report) (judge.Run, error) {
	if ours := !strings.HasPrefix(s.spec.Args[0], sandbox.ExeDir+"/"); ours && rep.Cause == sandbox.CauseExec {
		return judge.Run{}, judge.Fail(judge.FailToolchain, fmt.Errorf("start %s: %s", s.spec.Args[0], rep.Evidence.ExecError))
	}
	run := judge.Run{
		Name: c.Name, Sample: c.Sample, Cause: string(rep.Cause), Message: explain(rep, s.applied()),
		Usage: judge.Usage{CPU: rep.CPU, Wall: rep.Wall, Memory: rep.Memory}.JSON(),
	}
	if rep.Exit >= 0 {
		exit := rep.Exit
		run.Exit = &exit
	}
	if rep.Signal != 0 {
		run.Signal = signalName(rep.Signal)
	}
	var ruling checker.Ruling
	if needsRuling(rep) {
		var err error
		ruling, err = s.check.Check(ctx, checker.Input{
			Case: c.Name, Input: c.Input.Open, Answer: c.Answer.Open,
			Output: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(rep.Stdout.Data)), nil },
			Reveal: c.Sample || s.job.Problem.Inline,
		})
		if err != nil {
			if ctx.Err() != nil {
				return judge.Run{}, context.Cause(ctx)
			}
			return judge.Run{}, judge.Fail(judge.FailChecker, err)
		}
		run.Message = ruling.Message
	}
	var err error
	run.Verdict, err = rule(rep, ruling)
	return run, err
}

// cut bounds what a document shows of a stream.
func cut(b []byte) []byte { return b[:min(len(b), shownBytes)] }
