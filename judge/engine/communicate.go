package engine

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"judgefarm/judge"
	"judgefarm/judge/checker"
	"judgefarm/judge/interact"
	"judgefarm/judge/sandbox"
	"judgefarm/testcases"
)

// communicate runs the problem's manager against copies of the program.
func (s *session) communicate(ctx context.Context, c testcases.Case, files []sandbox.File) (judge.Run, checker.Ruling, *sandbox.Report, error) {
	failed := func(kind judge.FailureKind, err error) (judge.Run, checker.Ruling, *sandbox.Report, error) {
		return judge.Run{}, checker.Ruling{}, nil, s.fault(ctx, kind, err)
	}
	n := max(s.job.Problem.Processes, 1)
	if err := s.spare.take(ctx, n-1); err != nil {
		return failed(judge.FailSandbox, err)
	}
	defer s.spare.give(n - 1)
	talk, err := s.talker.Begin(ctx, s.checkInput(c, c.Answer.Open, nil), s.lim)
	if err != nil {
		return failed(judge.FailChecker, err)
	}
	defer talk.End()
	talk.Stretch(n, s.lim)
	m, err := s.meet(ctx, s.party(c, files, n, talk), talk)
	if err == nil && m.blamed == blameInteractor && ctx.Err() == nil {
		if err := talk.Again(); err != nil {
			return failed(judge.FailChecker, err)
		}
		counted := s.party(c, files, n, talk) // as converse does
		counted.Most, counted.Final = s.lim.Output, final(talk, true)
		m, err = s.meet(ctx, counted, talk)
		if err == nil && m.res.Flood {
			return s.flooded(c, "manager"), checker.Ruling{}, nil, nil
		}
	}
	switch {
	case err != nil:
		return judge.Run{}, checker.Ruling{}, nil, err
	case m.blamed == blameInteractor:
		return failed(judge.FailChecker, m.broken)
	}
	run, rep := s.describeAll(c, m.res, m.who)
	switch {
	case m.blamed == blameProgram:
		run.Verdict, err = rule(rep, checker.Ruling{})
		return run, checker.Ruling{}, rep, err
	default:
		run.Verdict, err = ruled(m.ruling)
		run.Message = m.ruling.Message
		return run, m.ruling, rep, err
	}
}

// met is what came of a party: the manager's ruling or what broke it, and who of the
// programs is blamed.
type met struct {
	res    *interact.PartyResult
	ruling checker.Ruling
	broken error
	blamed blame
	who    int
}

// meet runs everybody and says whose word counts.
func (s *session) meet(ctx context.Context, p interact.Party, talk *checker.Talk) (met, error) {
	res, err := p.Run(ctx)
	if err != nil {
		return met{}, s.fault(ctx, judge.FailSandbox, err)
	}
	for _, p := range res.Programs {
		if p.Report != nil {
			if err := s.started(p.Report); err != nil {
				return met{}, s.fault(ctx, judge.FailToolchain, err)
			}
		}
	}
	m := met{res: res}
	m.ruling, _, m.broken = talk.Rule(res.Manager)
	m.blamed, m.who = whoseOf(res, m.ruling, m.broken, s.lim.CPU)
	return m, nil
}

// party is everybody, ready to run. The first program has the case's own slot.
func (s *session) party(c testcases.Case, files []sandbox.File, n int, talk *checker.Talk) interact.Party {
	p := interact.Party{
		Manager: talk.Spec, ManagerRunner: s.Interactors, Streams: !s.job.Problem.NamedPipes, Dir: s.Dir,
		Final: final(talk, false),
	}
	p.Manager.Args = slices.Clone(p.Manager.Args)
	for i := range n {
		p.Manager.Args = append(p.Manager.Args, interact.FromProgram(i), interact.ToProgram(i))
		spec := s.spec
		spec.Args = slices.Concat(spec.Args, c.Args)
		if s.job.Problem.NamedPipes {
			spec.Args = append(spec.Args, interact.ToProgram(i), interact.FromProgram(i))
		}
		if n > 1 {
			spec.Args = append(spec.Args, strconv.Itoa(i))
		}
		spec.Files, spec.Box = files, room(files)
		runner := s.Interactors
		if i == 0 {
			runner = s.Runner
		}
		p.Programs, p.Runners = append(p.Programs, spec), append(p.Runners, runner)
	}
	return p
}

// together says that the limit of CPU time, which is of all processes together, was
// reached, and not of one.
const together = -1

// whoseOf is whose of several programs: who of them is blamed. Of those whose end
// counts the first by number is, but one that waited is only where no other was too
// slow or worse: it may have waited for that one.
func whoseOf(res *interact.PartyResult, ruling checker.Ruling, broken error, cpu time.Duration) (blame, int) {
	var spent time.Duration
	waited := len(res.Programs)
	for i, p := range res.Programs {
		if p.Report == nil {
			continue
		}
		spent += p.Report.CPU
		one := &interact.Result{Program: p.Report, ProgramFirst: p.First}
		if whose(one, ruling, broken) != blameProgram {
			continue
		}
		if cause := p.Report.Cause; cause != sandbox.CauseIdle && cause != sandbox.CauseWall {
			return blameProgram, i
		}
		waited = min(waited, i)
	}
	switch {
	case spent > cpu:
		return blameProgram, together
	case waited < len(res.Programs):
		return blameProgram, waited
	case broken != nil:
		return blameInteractor, 0
	}
	return nobody, 0
}

// describeAll is what documents say of several processes: CPU time of all together,
// the longest wall time and the largest memory of one, and the end of the one that is
// asked for. The report is nil where every program was ended for the manager's ruling.
func (s *session) describeAll(c testcases.Case, res *interact.PartyResult, who int) (judge.Run, *sandbox.Report) {
	var sum sandbox.Report
	var shown *sandbox.Report
	for i, p := range res.Programs {
		if p.Report == nil {
			continue
		}
		sum.CPU += p.Report.CPU
		sum.Wall, sum.Memory = max(sum.Wall, p.Report.Wall), max(sum.Memory, p.Report.Memory)
		if shown == nil || i == who {
			shown = p.Report
		}
	}
	if shown == nil {
		return judge.Run{Name: c.Name, Sample: c.Sample}, nil
	}
	rep := *shown
	rep.CPU, rep.Wall, rep.Memory = sum.CPU, sum.Wall, sum.Memory
	if who == together {
		rep.Cause = sandbox.CauseCPU
	}
	run := s.describe(c, &rep)
	switch {
	case who == together && len(res.Programs) > 1:
		run.Message += fmt.Sprintf(" of all %d processes together", len(res.Programs))
	case len(res.Programs) > 1:
		run.Message = fmt.Sprintf("process %d: %s", who, run.Message)
	}
	return run, &rep
}
