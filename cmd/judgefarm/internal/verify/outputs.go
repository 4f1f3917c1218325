package verify

import (
	"context"
	"io"
	"slices"
	"strings"

	"judgefarm/judge"
	"judgefarm/judge/checker"
	"judgefarm/testcases"
)

// lookAtPrograms runs input validators and checker on the package's data.
func (v *verification) lookAtPrograms(ctx context.Context) error {
	validators, complete, err := v.validators(ctx)
	if err != nil {
		return err
	}
	defer func() {
		for _, one := range validators {
			one.release()
		}
	}()
	tasks := v.inputs(validators, complete)
	more, err := v.outputs(ctx)
	if err != nil {
		return err
	}
	return v.run(ctx, false, append(tasks, more...))
}

// validators compiles the input validators; complete is false where one of them is
// left out.
func (v *verification) validators(ctx context.Context) (all []validator, complete bool, err error) {
	for _, one := range v.p.Jury.Validators {
		made, err := newValidator(ctx, v.cfg, one)
		if err == nil {
			all = append(all, made)
			continue
		}
		if ctx.Err() != nil {
			return all, false, context.Cause(ctx)
		}
		v.blame(one.Program.Name, one.Program.Files, checkInput, err)
	}
	return all, len(all) == len(v.p.Jury.Validators), nil
}

// blame tells an error of a program of the package: a fault of the package where it
// is to blame, else that we could not look.
func (v *verification) blame(at string, sources []judge.File, check string, err error) {
	reason, printed, is := packageFault(err)
	if !is {
		v.found(Failure, check, at, 0, "%v", err)
		return
	}
	file, line := program(at, sources, printed)
	v.found(Fault, check, file, line, "%s%s", reason, quoted(printed))
}

func quoted(printed string) string {
	if printed == "" {
		return ""
	}
	return ": " + firstLines([]byte(printed))
}

// inputsOf are the cases that have input and answer.
func inputsOf(p *testcases.Problem) []testcases.Case {
	return slices.DeleteFunc(p.Cases(), func(c testcases.Case) bool { return c.Static })
}

// inputs are the runs of validators: each must accept every input, and one of them
// must refuse each invalid one, which only all of them together can fail to do.
func (v *verification) inputs(validators []validator, complete bool) []task {
	var tasks []task
	if len(validators) == 0 {
		return nil
	}
	for _, c := range inputsOf(v.p) {
		for _, one := range validators {
			tasks = append(tasks, func(ctx context.Context) error { return v.validInput(ctx, one, c) })
		}
	}
	for _, s := range v.p.Jury.InvalidInputs {
		tasks = append(tasks, func(ctx context.Context) error { return v.invalidInput(ctx, validators, complete, s) })
	}
	return tasks
}

func (v *verification) validInput(ctx context.Context, one validator, c testcases.Case) error {
	a, err := one.look(ctx, c.Input, c, v.p.Jury.ValidatorArgs[c.Name])
	if err != nil {
		return v.failure(ctx, checkInput, one.name(), err)
	}
	v.count(&v.report.Checked.Inputs)
	switch {
	case a.broken != "":
		v.found(Fault, checkInput, one.name(), 0, "%s on case %s", a.broken, c.Name)
	case !a.accepts:
		v.found(Fault, checkInput, v.files.data(c.Input, c.Name, ".in"), lineOf(a.text), "the input validator %s refuses it: %s", one.name(), a.text)
	}
	return nil
}

func (v *verification) invalidInput(ctx context.Context, validators []validator, complete bool, s testcases.Sample) error {
	for _, one := range validators {
		a, err := one.look(ctx, s.Input, testcases.Case{}, s.Args)
		if err != nil {
			return v.failure(ctx, checkInvalidInput, one.name(), err)
		}
		if a.broken != "" {
			v.found(Fault, checkInvalidInput, one.name(), 0, "%s on %s", a.broken, s.Name)
			return nil
		}
		if !a.accepts {
			v.count(&v.report.Checked.InvalidInputs)
			return nil
		}
	}
	if !complete {
		return nil // the one that is left out, which is told, may be the one that refuses it
	}
	v.count(&v.report.Checked.InvalidInputs)
	v.found(Fault, checkInvalidInput, v.files.data(s.Input, s.Name, ".in"), 0, "is an invalid input and every input validator accepts it")
	return nil
}

// failure notes an error of ours, or hands on that ctx ended.
func (v *verification) failure(ctx context.Context, check, file string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	v.found(Failure, check, file, 0, "%v", err)
	return nil
}

func (v *verification) count(n *int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	*n++
}

// outputs are the runs of the checker: each answer as an output, and the outputs that
// the package says it must accept or refuse. An interactor's answers are no outputs.
func (v *verification) outputs(ctx context.Context) ([]task, error) {
	if v.p.Kind != testcases.Batch && v.p.Kind != testcases.OutputOnly {
		return nil, nil
	}
	checks, err := checker.NewSet(ctx, v.p, nil, checker.For(v.cfg.Checkers))
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		v.checkerFault(v.p.CheckerProgram, err)
		return nil, nil
	}
	var tasks []task
	cases := inputsOf(v.p)
	if v.p.Passes <= 1 {
		for _, c := range cases {
			tasks = append(tasks, func(ctx context.Context) error { return v.answer(ctx, checks.Of(c), c) })
		}
	}
	for _, s := range v.p.Jury.ValidOutputs {
		tasks = append(tasks, func(ctx context.Context) error { return v.output(ctx, checks.Of(testcases.Case{}), s, true) })
	}
	for _, s := range v.p.Jury.InvalidOutput {
		tasks = append(tasks, func(ctx context.Context) error { return v.output(ctx, checks.Of(testcases.Case{}), s, false) })
	}
	if last := len(cases) - 1; last >= 0 && v.p.RuleOf(cases[last]).Program != nil {
		for what, text := range strange() {
			tasks = append(tasks, func(ctx context.Context) error {
				return v.strange(ctx, checks.Of(cases[last]), cases[last], what, text)
			})
		}
	}
	return tasks, nil
}

// checkerFault notes an error of the problem's checker or interactor.
func (v *verification) checkerFault(own *testcases.Program, err error) {
	if own == nil {
		own = v.p.Interactor
	}
	if own == nil {
		own = &testcases.Program{}
	}
	v.blame(own.Name, own.Files, checkChecker, err)
}

// rule lets the checker rule on an output. It reports false when it could not.
func (v *verification) rule(ctx context.Context, check checker.Checker, c testcases.Case, output testcases.Data) (checker.Ruling, bool, error) {
	r, err := check.Check(ctx, checkerInput(c, output))
	if err == nil {
		return r, true, nil
	}
	if ctx.Err() != nil {
		return r, false, context.Cause(ctx)
	}
	v.checkerFault(v.p.RuleOf(c).Program, err)
	return r, false, nil
}

func checkerInput(c testcases.Case, output testcases.Data) checker.Input {
	return checker.Input{
		Case: c.Name, Input: opener(c.Input), Answer: opener(c.Answer), Output: output.Open, Args: c.CheckerArgs, Reveal: true,
	}
}

func opener(d testcases.Data) func() (io.ReadCloser, error) {
	if d == nil {
		d = testcases.BytesData(nil)
	}
	return d.Open
}

// answer gives a case's answer to the checker as an output.
func (v *verification) answer(ctx context.Context, check checker.Checker, c testcases.Case) error {
	own := v.p.RuleOf(c).Program != nil
	if own && c.Answer.Size() == 0 {
		return nil // the checker needs none
	}
	r, ok, err := v.rule(ctx, check, c, c.Answer)
	if err != nil || !ok {
		return err
	}
	v.count(&v.report.Checked.Answers)
	if r.Verdict == judge.Accepted {
		return nil
	}
	severity := Fault
	if own && !c.Sample && strings.HasPrefix(v.p.Format, "kattis") {
		severity = Warning // of these the format asks it for what is shown only
	}
	v.found(severity, checkAnswer, v.files.data(c.Answer, c.Name, ".ans"), lineOf(r.Message), "the checker gives %s to the answer itself%s", r.Verdict, because(r))
	return nil
}

func because(r checker.Ruling) string {
	text := r.Jury
	if text == "" {
		text = r.Message
	}
	if text == "" {
		return ""
	}
	return ": " + firstLines([]byte(text))
}

// output gives the checker an output that it must accept, or must not.
func (v *verification) output(ctx context.Context, check checker.Checker, s testcases.Sample, valid bool) error {
	c := testcases.Case{Name: s.Name, Input: s.Input, Answer: s.Answer, CheckerArgs: s.Args}
	r, ok, err := v.rule(ctx, check, c, s.Output)
	if err != nil || !ok {
		return err
	}
	v.count(&v.report.Checked.Outputs)
	file := v.files.data(s.Output, s.Name, ".out")
	switch {
	case valid && r.Verdict != judge.Accepted:
		v.found(Fault, checkOutput, file, lineOf(r.Message), "is a valid output and the checker gives it %s%s", r.Verdict, because(r))
	case !valid && r.Verdict == judge.Accepted:
		v.found(Fault, checkOutput, file, 0, "is an invalid output and the checker accepts it")
	}
	return nil
}

// strange outputs should not bring a checker down: somebody will print them, and then
// nobody is judged.
func strange() map[string]string {
	return map[string]string{
		"an empty output": "", "an output of bytes that are no text": "\x00\xff\xfe\r\n\x80", "an output of very long numbers": strings.Repeat("9", 5000) + " -1e999999\n",
	}
}

func (v *verification) strange(ctx context.Context, check checker.Checker, c testcases.Case, what, text string) error {
	own := v.p.RuleOf(c).Program
	r, err := check.Check(ctx, checkerInput(c, testcases.BytesData([]byte(text))))
	if err != nil {
		reason, printed, is := packageFault(err)
		if !is {
			return v.failure(ctx, checkChecker, own.Name, err)
		}
		file, line := program(own.Name, own.Files, printed)
		v.found(Warning, checkChecker, file, line, "%s, given %s%s", reason, what, quoted(printed))
		return nil
	}
	if r.Verdict == judge.Accepted && (r.Share == nil || r.Share.Sign() > 0) && (r.Points == nil || r.Points.Sign() > 0) {
		v.found(Warning, checkChecker, own.Name, 0, "accepts %s on case %s", what, c.Name)
	}
	return nil
}
