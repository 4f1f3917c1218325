package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"judgefarm/judge"
	"judgefarm/judge/checker"
	"judgefarm/judge/sandbox"
	"judgefarm/testcases"
)

// runCase gives one case its boxes and its verdict. A case of several passes is the
// first that is not accepted, else the last; its usage is the largest of any, since
// limits hold for each pass by itself.
func (s *session) runCase(ctx context.Context, c testcases.Case) ran {
	s, err := s.forCase(c)
	if err != nil {
		return ran{err: err}
	}
	files, err := caseFiles(c)
	if err != nil {
		return ran{err: err}
	}
	for _, own := range s.sources {
		if !slices.ContainsFunc(files, func(f sandbox.File) bool { return clash(f.Name, own.Name) }) {
			files = append(files, own)
		}
	}
	var feedback []sandbox.File
	var usage most
	for pass := 1; ; pass++ {
		one, err := s.pass(ctx, c, files, feedback)
		if err != nil {
			return ran{err: err}
		}
		got, ruling := one.run, one.ruling
		s.compare(&got, ruling)
		got.Message = s.hinted(c, got.Verdict, got.Message)
		usage.add(one.rep)
		if ruling.Next == nil || got.Verdict != judge.Accepted {
			got.Usage = usage.JSON()
			kept, err := s.keep(c, &got, one.rep, one.output)
			kept.Dialogue, kept.Jury = one.dialogue, ruling.Jury
			one.output.close()
			return ran{run: got, output: kept, earned: earned{got.Verdict, ruling.Share, ruling.Points}, err: err}
		}
		one.output.close()
		if passes := max(s.job.Problem.Passes, 1); pass == passes {
			return ran{err: &judge.Failed{Kind: judge.FailChecker,
				Reason: fmt.Sprintf("the checker asked for more than %d passes on case %s", passes, c.Name)}}
		}
		c.Input, feedback = testcases.BytesData(ruling.Next), ruling.Feedback // the checker's input too
	}
}

// forCase is the session with the checker and the limits of one case.
func (s *session) forCase(c testcases.Case) (*session, error) {
	own := *s
	own.check = s.checks.Of(c)
	if c.Limits == (judge.Limits{}) {
		return &own, nil
	}
	stated, err := Limits(s.job.Submission.Limits, c.Limits.Or(s.job.Problem.Limits))
	if err != nil {
		return nil, judge.Fail(judge.FailProblem, fmt.Errorf("limits of case %s: %w", c.Name, err))
	}
	own.lim = stretch(s.lang.Apply(stated), s.job.Problem.TimeFactors[s.lang.ID])
	own.spec.Limits = own.lim
	return &own, nil
}

// most is the largest usage of several runs.
type most struct{ judge.Usage }

func (m *most) add(rep *sandbox.Report) {
	if rep != nil {
		m.CPU, m.Wall, m.Memory = max(m.CPU, rep.CPU), max(m.Wall, rep.Wall), max(m.Memory, rep.Memory)
	}
}

// onePass is what came of one run of the program.
type onePass struct {
	run    judge.Run
	ruling checker.Ruling
	rep    *sandbox.Report // nil when the interactor's verdict ended it, or nothing was run
	output produced
	// dialogue is what an interactive run's sides said, where that is kept.
	dialogue []byte
}

func (s *session) pass(ctx context.Context, c testcases.Case, files, feedback []sandbox.File) (p onePass, err error) {
	switch {
	case c.Static:
		p.run, p.ruling, err = s.static(ctx, c)
		return p, err
	case s.ready(c):
		p.run, p.ruling, err = s.handedIn(ctx, c)
		return p, err
	case s.job.Problem.Kind == testcases.Communication:
		p.run, p.ruling, p.rep, err = s.communicate(ctx, c, files)
		return p, err
	case s.talker != nil:
		return s.converse(ctx, c, files, feedback)
	}
	if p.rep, p.output, err = s.execute(ctx, c, files); err != nil {
		return p, err
	}
	if p.run, p.ruling, err = s.ruleOn(ctx, c, p.rep, p.output, feedback); err != nil {
		p.output.close()
	}
	return p, err
}

// keep notes what was printed, for the artifacts and where it may be shown.
func (s *session) keep(c testcases.Case, run *judge.Run, rep *sandbox.Report, out produced) (CaseOutput, error) {
	if rep == nil {
		return CaseOutput{Case: c.Name, Verdict: run.Verdict}, nil
	}
	if s.reveals(c) {
		run.Stdout = judge.TextOf(cut(rep.Stdout.Data), rep.Stdout.Total)
		run.Stderr = judge.TextOf(cut(rep.Stderr.Data), rep.Stderr.Total)
	}
	kept, total, err := out.first(s.KeepOutput)
	if err != nil {
		return CaseOutput{}, judge.Fail(judge.FailStorage, fmt.Errorf("read output: %w", err))
	}
	return CaseOutput{Case: c.Name, Verdict: run.Verdict, Stdout: kept, StdoutTotal: total, Stderr: rep.Stderr.Data}, nil
}

// reveals reports whether the case's data may be shown to the submitter.
func (s *session) reveals(c testcases.Case) bool { return c.Sample || s.job.Problem.Inline }

// ruleOn lets the checker speak where it may and gives the verdict.
func (s *session) ruleOn(ctx context.Context, c testcases.Case, rep *sandbox.Report, out produced, feedback []sandbox.File) (judge.Run, checker.Ruling, error) {
	var ruling checker.Ruling
	if err := s.started(rep); err != nil {
		return judge.Run{}, ruling, err
	}
	run := s.describe(c, rep)
	switch {
	case !needsRuling(rep) && checker.OnError(s.check) && rep.Cause != sandbox.CauseOutput:
		var err error
		if ruling, err = s.askOnError(ctx, c, rep, out); err != nil {
			return judge.Run{}, ruling, err
		}
	case !needsRuling(rep):
	case out.large:
		run.Verdict, run.Message = judge.OutputLimit, fmt.Sprintf("output over %d bytes", s.lim.Output)
		return run, ruling, nil
	case out.absent != "":
		run.Verdict, run.Message = judge.WrongAnswer, "the program "+out.absent
		return run, ruling, nil
	default:
		var err error
		if ruling, err = s.ask(ctx, c, rep, out, feedback, ""); err != nil {
			return judge.Run{}, ruling, err
		}
		run.Message = ruling.Message
	}
	var err error
	run.Verdict, err = rule(rep, ruling)
	return run, ruling, err
}

// hinted adds the hint of a case that was not accepted, where it may be shown.
func (s *session) hinted(c testcases.Case, v judge.Verdict, message string) string {
	if v != judge.Accepted && c.Hint != "" && s.reveals(c) {
		return strings.TrimSpace(message + "\n" + c.Hint)
	}
	return message
}

// ask lets the checker rule on what a run printed. ended is the verdict of a run that
// ended wrongly.
func (s *session) ask(ctx context.Context, c testcases.Case, rep *sandbox.Report, out produced, feedback []sandbox.File, ended judge.Verdict) (checker.Ruling, error) {
	in := s.checkInput(c, out.open, feedback)
	in.Facts.CPU, in.Facts.Wall, in.Facts.Memory, in.Facts.Verdict = rep.CPU, rep.Wall, rep.Memory, ended
	ruling, err := s.check.Check(ctx, in)
	if err != nil {
		return checker.Ruling{}, s.fault(ctx, judge.FailChecker, err)
	}
	return ruling, nil
}

// askOnError lets the checker give points to a run that ended wrongly.
func (s *session) askOnError(ctx context.Context, c testcases.Case, rep *sandbox.Report, out produced) (checker.Ruling, error) {
	ended, err := rule(rep, checker.Ruling{})
	if err != nil {
		return checker.Ruling{}, err
	}
	asked, err := s.ask(ctx, c, rep, out, nil, ended)
	if err != nil {
		return checker.Ruling{}, err
	}
	if asked.Verdict == judge.Accepted && asked.Share == nil && asked.Points == nil {
		all := judge.ScoreOf(1)
		asked.Share = &all
	}
	return checker.Ruling{Share: asked.Share, Points: asked.Points}, nil
}

// started makes a program of ours that could not be started our failure.
func (s *session) started(rep *sandbox.Report) error {
	if ours := !strings.HasPrefix(s.spec.Args[0], sandbox.ExeDir+"/"); ours && rep.Cause == sandbox.CauseExec {
		return judge.Fail(judge.FailToolchain, fmt.Errorf("start %s: %s", s.spec.Args[0], rep.Evidence.ExecError))
	}
	return nil
}

// describe is what documents say of a run but for its verdict.
func (s *session) describe(c testcases.Case, rep *sandbox.Report) judge.Run {
	run := judge.Run{
		Name: c.Name, Sample: c.Sample, Cause: string(rep.Cause), Message: explain(rep, s.applied()),
		Usage: judge.Usage{CPU: rep.CPU, Wall: rep.Wall, Memory: rep.Memory}.JSON(), Noise: rep.Noise.JSON(),
		Syscall: forbidden(rep, s.reveals(c)),
	}
	if rep.Exit >= 0 {
		exit := rep.Exit
		run.Exit = &exit
	}
	if rep.Signal != 0 {
		run.Signal = signalName(rep.Signal)
	}
	return run
}
