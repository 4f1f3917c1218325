package build

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"judgefarm/judge"
	"judgefarm/judge/checker"
	"judgefarm/judge/interact"
	"judgefarm/testcases"
)

// dialogue makes the answer of an interactive problem: what the interactor of testlib
// notes while it talks to the main solution. It sees an empty answer meanwhile.
func (w *work) dialogue(ctx context.Context, c *testcases.Case, t task) (testcases.Data, error) {
	r := c.AnswerFrom
	if w.cfg.Talkers == nil || w.p.Interactor.Protocol != testcases.ProtocolTestlib || r.Stdin != nil {
		return nil, w.broken(r, t, "would have to talk to an interactor that notes nothing", nil, false)
	}
	p, err := w.compiled(ctx, r, t)
	if err != nil {
		return nil, err
	}
	maker := checker.Maker{Runner: w.cfg.Talkers, Compiler: w.cfg.Compiler, Languages: w.cfg.Languages, Dir: w.dir}
	talker, err := maker.Interactor(ctx, w.p)
	if err != nil {
		return nil, err
	}
	source, err := json.Marshal(w.p.Interactor)
	if err != nil {
		return nil, judge.Fail(judge.FailInternal, err)
	}
	t.partner = talker.ID() + string(source)
	key, err := w.key(r, p, t)
	if err != nil {
		return nil, judge.Fail(judge.FailProblem, err)
	}
	if d := w.kept(key, ""); d != nil {
		w.there++
		return d, w.count(r, t, w.path(key, ""), d)
	}
	notes, err := w.talk(ctx, talker, c, p, t)
	if err != nil {
		return nil, err
	}
	return w.keep(r, t, key, "", notes)
}

func (w *work) talk(ctx context.Context, talker *checker.Interactor, c *testcases.Case, p *program, t task) ([]byte, error) {
	r := c.AnswerFrom
	nothing := func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("")), nil }
	spec, err := w.spec(r, p, t)
	if err != nil {
		return nil, err
	}
	talk, err := talker.Begin(ctx, checker.Input{Case: c.Name, Input: c.Input.Open, Answer: nothing, Args: c.CheckerArgs}, spec.Limits)
	if err != nil {
		return nil, err
	}
	defer talk.End()
	res, err := interact.Session{ProgramRunner: w.cfg.Runner, InteractorRunner: w.cfg.Talkers, Program: spec, Interactor: talk.Spec}.Run(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, judge.Fail(judge.FailSandbox, fmt.Errorf("make the %s: %w", t.what, err))
	}
	ruling, notes, err := talk.Rule(res.Interactor)
	if err := w.ended(r, t, res.Program); err != nil {
		return nil, err
	}
	if err != nil {
		return nil, err
	}
	if ruling.Verdict != judge.Accepted {
		return nil, w.broken(r, t, "was refused by the interactor", []byte(ruling.Jury), false)
	}
	return notes, nil
}
