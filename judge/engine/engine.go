package engine

import (
	"context"
	"fmt"
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

// Config is what an engine judges with. Every field but Slots and Clock is required.
type Config struct {
	Runner    sandbox.Runner
	Compiler  Compiler
	Languages *languages.Set
	Checkers  Checkers
	// Talkers makes the interactors of problems, which run in boxes of Interactors: a
	// runner of their own, so that no slot waits for a slot. Without both, interactive
	// problems are refused.
	Talkers     Talkers
	Interactors sandbox.Runner
	// Spare is how many boxes Interactors has beyond one for each of Runner's: further
	// processes of problems that have several run there. Those that have more are refused.
	Spare int
	// Slots, where set, are the places of the Runner: a submission waits for one of
	// them, and runs its cases side by side in those that nobody else wants. nil: the
	// cases run one after another, and nobody waits here.
	Slots *Slots
	// Dir is for named pipes, and for outputs of more than sandbox.SpillAfter while they
	// are ruled on; "" is the system's temporary directory.
	Dir        string
	Dialogue   judge.Bytes      // how much of a dialogue with an interactor is kept; 0 is nothing, and faster
	KeepOutput judge.Bytes      // most bytes of a run's output in Outcome; 0 is DefaultKeepOutput
	Clock      func() time.Time // nil is time.Now
}

// Compiler is what the engine needs of judge/compile.
type Compiler interface {
	Compile(ctx context.Context, req compile.Request) (*compile.Result, error)
	// Check reads the sources of a language that has a check and no compiler.
	Check(ctx context.Context, req compile.Request) (*compile.Result, error)
	Inspect(ctx context.Context, lang *languages.Language) (judge.LanguageRef, error)
}

// Checkers makes the checker of a problem; spec is the problem's own or the
// submission's. It returns a *judge.BadRequest for a spec that names none.
type Checkers func(ctx context.Context, p *testcases.Problem, spec judge.CheckerSpec) (checker.Checker, error)

// Talkers makes the interactor of a problem.
type Talkers func(ctx context.Context, p *testcases.Problem) (*checker.Interactor, error)

// Engine judges submissions. It is safe for concurrent use.
type Engine struct {
	Config
	spare *spare
	hard  *hardness
}

var _ Judge = (*Engine)(nil)

// New returns an engine.
func New(cfg Config) *Engine {
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if cfg.KeepOutput == 0 {
		cfg.KeepOutput = DefaultKeepOutput
	}
	return &Engine{cfg, &spare{free: cfg.Spare}, &hardness{problems: map[string]*seen{}}}
}

// session is one submission on its way through Judge.
type session struct {
	*Engine
	job     Job
	watch   Watcher
	lang    *languages.Language
	lim     judge.Limits // of the run, the language's allowances of time and tasks included
	checks  *checker.Set
	check   checker.Checker     // of the case, see forCase
	talker  *checker.Interactor // of an interactive problem
	exe     *compile.Executable // nil when nothing is to be run
	spec    sandbox.Spec        // of every run but for its input
	program []judge.File        // what of the submission is compiled
	sources []sandbox.File      // see besides
	// outputs are what was handed in, by case; nil is a submission of a program alone.
	outputs map[string][]byte
	most    map[string]judge.Score // the largest threshold of a case's groups; nil: there are none
	out     *Outcome
}

// Judge implements the Judge interface. Bad requests come before anything runs.
func (e *Engine) Judge(ctx context.Context, job Job, watch Watcher) (*Outcome, error) {
	began := e.Clock()
	s := &session{Engine: e, job: job, watch: watch, out: &Outcome{Judgement: judge.NewJudgement(job.Submission.ID, began)}}
	if err := s.admit(ctx); err != nil {
		return nil, err
	}
	if e.Slots != nil {
		if err := e.Slots.take(ctx); err != nil {
			return nil, err
		}
		defer e.Slots.give()
	}
	j := &s.out.Judgement
	if s.outputs == nil || len(s.program) > 0 {
		if err := s.compile(ctx); err != nil {
			return nil, err
		}
	}
	if s.exe != nil {
		defer s.exe.Release()
	}
	if j.Verdict == nil { // it compiled, or there was nothing to compile
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
	if p.Pending() {
		return &judge.Failed{Kind: judge.FailProblem, Reason: "inputs or answers of the problem are still to be made"}
	}
	lang, ok := s.Languages.Find(sub.Language)
	if !ok {
		return judge.Refuse(&judge.FieldError{Field: "language", Reason: fmt.Sprintf("no language is called %q", sub.Language)})
	}
	if err := allowed(sub, p, lang); err != nil {
		return err
	}
	stated, err := Limits(sub.Limits, p.Limits)
	if err != nil {
		return err
	}
	s.most, s.program = thresholds(p), sub.Files
	s.lang, s.lim = lang, stretch(lang.Apply(stated), p.TimeFactors[lang.ID])
	if s.checks, err = checker.NewSet(ctx, p, sub.Checker, checker.For(s.Checkers)); err != nil {
		return err
	}
	if err := s.admitKind(ctx); err != nil {
		return err
	}
	ref, err := s.Compiler.Inspect(ctx, lang)
	if err != nil {
		return judge.Fail(judge.FailToolchain, err)
	}
	applied, enforced := s.applied().JSON(), s.Runner.Enforced()
	j.Language, j.Limits, j.Enforced = &ref, &applied, &enforced
	j.Problem = &judge.ProblemRef{ID: p.ID, Digest: p.Digest}
	j.Checker, j.Labels = s.checks.ID(), sub.Labels
	if s.talker != nil {
		j.Checker = s.talker.ID()
	}
	return nil
}

// admitKind sees to what the problem's kind needs.
func (s *session) admitKind(ctx context.Context) (err error) {
	p := s.job.Problem
	talks := p.Kind == testcases.Interactive || p.Kind == testcases.Communication
	switch {
	case p.Mixed():
		s.program, s.outputs, err = p.Split(s.job.Submission.Files)
		if err == nil && s.lang.Verbatim && len(s.program) > 0 {
			err = judge.Refuse(&judge.FieldError{Field: "language", Reason: fmt.Sprintf("must be that of %.64q, which is the output of no case", s.program[0].Name)})
		}
	case hands(p, s.lang):
		s.program = nil
		s.outputs, err = p.Outputs(s.job.Submission.Files)
	case p.Kind == testcases.Batch || p.Kind == testcases.OutputOnly:
	case talks && s.Talkers != nil && s.Interactors != nil && p.Processes <= s.Spare+1:
		if p.NamedPipes && s.lim.Ptrace {
			return judge.Refuse(&judge.FieldError{Field: "limits.ptrace", Reason: "is not for this problem, whose programs open named pipes"})
		}
		s.talker, err = s.Talkers(ctx, p)
	default:
		reason := fmt.Sprintf("problems of the kind %s", p.Kind)
		if p.Processes > 1 {
			reason += fmt.Sprintf(" with %d processes", p.Processes)
		}
		err = &judge.Failed{Kind: judge.FailProblem, Reason: reason + " are not supported here"}
	}
	return err
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

// total gives the judgement its verdict and score.
func (s *session) total(ctx context.Context, results map[string]earned) error {
	j, p := &s.out.Judgement, s.job.Problem
	if !p.Scores() {
		verdict, score := total(j.Cases), share(j.Cases)
		j.Verdict, j.Score = &verdict, &score
		return nil
	}
	t := &tally{results: results, grade: s.grade}
	got, most, err := t.totalOf(ctx, p)
	if err != nil {
		return err
	}
	t.exact.Total, s.out.Points = Scored{got.score, most}, &t.exact
	score, reach := got.score.Float(), most.Float()
	j.Verdict, j.Score, j.MaxScore, j.Groups = &got.verdict, &score, &reach, t.groups
	return nil
}

// cut bounds what a document shows of a stream.
func cut(b []byte) []byte { return b[:min(len(b), shownBytes)] }
