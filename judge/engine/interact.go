package engine

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"

	"judgefarm/judge"
	"judgefarm/judge/checker"
	"judgefarm/judge/interact"
	"judgefarm/judge/sandbox"
	"judgefarm/testcases"
)

// converse runs the program against the problem's interactor, once.
func (s *session) converse(ctx context.Context, c testcases.Case, files, feedback []sandbox.File) (onePass, error) {
	talk, err := s.talker.Begin(ctx, s.checkInput(c, c.Answer.Open, feedback), s.lim)
	if err != nil {
		return onePass{}, s.fault(ctx, judge.FailChecker, err)
	}
	defer talk.End()
	spec := s.spec
	spec.Args = slices.Concat(spec.Args, c.Args)
	spec.Files, spec.Box = files, room(files)
	dialogue := interact.Session{
		ProgramRunner: s.Runner, InteractorRunner: s.Interactors, Program: spec, Interactor: talk.Spec, Record: s.Dialogue,
		Final: final(talk, false),
	}
	res, err := dialogue.Run(ctx)
	if err != nil {
		return onePass{}, s.fault(ctx, judge.FailSandbox, err)
	}
	p, ruling, err := s.heard(ctx, c, talk, res)
	if err != nil && ctx.Err() == nil {
		// Once more, counted: only then, since counting costs every turn of a dialogue.
		dialogue.Most, dialogue.Final = s.lim.Output, final(talk, true)
		if res, err = dialogue.Run(ctx); err != nil {
			return onePass{}, s.fault(ctx, judge.FailSandbox, err)
		}
		if res.Flood {
			return onePass{run: s.flooded(c, "interactor"), dialogue: res.Dialogue}, nil
		}
		p, ruling, err = s.heard(ctx, c, talk, res)
	}
	p.ruling, p.dialogue = ruling, res.Dialogue
	return p, err
}

// final says whether the program is ended when its interactor or manager is: once it
// was refused, and where its words are not counted also once the other one broke. When
// they are, what it would still say shows whether it drowned the other one.
func final(talk *checker.Talk, counted bool) func(*sandbox.Report) bool {
	return func(rep *sandbox.Report) bool {
		r, _, err := talk.Rule(rep)
		if err != nil {
			return !counted
		}
		return r.Verdict != judge.Accepted
	}
}

// flooded is the run of a program that said more than its limit to a broken listener,
// and has itself to blame.
func (s *session) flooded(c testcases.Case, listener string) judge.Run {
	return judge.Run{Name: c.Name, Sample: c.Sample, Verdict: judge.OutputLimit,
		Message: fmt.Sprintf("told the %s more than %d bytes", listener, s.lim.Output)}
}

// heard rules on a dialogue that is over.
func (s *session) heard(ctx context.Context, c testcases.Case, talk *checker.Talk, res *interact.Result) (p onePass, ruling checker.Ruling, err error) {
	p.rep, p.run = res.Program, judge.Run{Name: c.Name, Sample: c.Sample}
	if res.Program != nil {
		if err := s.started(res.Program); err != nil {
			return p, ruling, err
		}
		p.run = s.describe(c, res.Program)
	}
	ruling, notes, broken := talk.Rule(res.Interactor)
	switch whose(res, ruling, broken) {
	case blameProgram:
		p.run.Verdict, err = rule(res.Program, checker.Ruling{})
		return p, checker.Ruling{}, err
	case blameInteractor:
		return p, ruling, s.fault(ctx, judge.FailChecker, broken)
	}
	if s.job.Problem.ChecksNotes() && ruling.Verdict == judge.Accepted {
		open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(notes)), nil }
		if ruling, err = s.check.Check(ctx, s.checkInput(c, open, nil)); err != nil {
			return p, ruling, s.fault(ctx, judge.FailChecker, err)
		}
	}
	p.run.Verdict, p.run.Message = ruling.Verdict, ruling.Message
	return p, ruling, nil
}

// fault is ctx's cause when that is why, else a failure of ours.
func (s *session) fault(ctx context.Context, kind judge.FailureKind, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if judge.IsBadRequest(err) { // a box that no host makes: the problem wants too much
		f := judge.Fail(judge.FailProblem, err)
		f.Retryable = false
		return f
	}
	return judge.Fail(kind, err)
}

func (s *session) checkInput(c testcases.Case, output func() (io.ReadCloser, error), feedback []sandbox.File) checker.Input {
	return checker.Input{
		Case: c.Name, Input: c.Input.Open, Answer: c.Answer.Open, Output: output, Args: c.CheckerArgs,
		Passes: s.job.Problem.Passes > 1, Feedback: feedback, Reveal: s.reveals(c),
		Measure: s.most != nil, Facts: s.facts(),
	}
}

// facts are those of the submission.
func (s *session) facts() checker.Facts {
	f := checker.Facts{Problem: s.job.Problem.ID, Language: s.lang}
	sub := s.job.Submission
	for i, file := range sub.Files {
		if i == 0 || file.Name == sub.Main {
			f.Source = file.Data
		}
	}
	return f
}

// blame says whose word counts after a dialogue.
type blame int

const (
	nobody          blame = iota // the interactor's ruling stands
	blameProgram                 // how the program ended
	blameInteractor              // it is broken: our failure
)

// whose is the table of docs/verdicts.md, "Interactive problems".
func whose(res *interact.Result, ruling checker.Ruling, broken error) blame {
	wrong := res.Program != nil && !needsRuling(res.Program)
	switch {
	case wrong && (res.ProgramFirst || broken == nil && ruling.Verdict == judge.Accepted):
		// What the interactor makes of a dialogue that the program broke off, or
		// accepted before the program came to grief, does not help the program.
		return blameProgram
	case broken != nil:
		return blameInteractor
	}
	return nobody
}
