package engine

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"judgefarm/judge"
	"judgefarm/judge/checker"
	"judgefarm/languages"
	"judgefarm/testcases"
)

// hands reports whether the submission is outputs and nothing else: in a problem that
// takes outputs, where its language says that files are taken as they are. A
// program that somebody sends there is run, and what it prints is the output.
func hands(p *testcases.Problem, lang *languages.Language) bool {
	return lang.Verbatim && (p.Kind == testcases.OutputOnly || p.Mixed())
}

// ready reports whether a case has its output, or will not have one, without a run.
func (s *session) ready(c testcases.Case) bool {
	if s.outputs == nil {
		return false
	}
	_, there := s.outputs[c.Name]
	return there || s.exe == nil || c.Handed == testcases.HandedOnly
}

// handedIn is a case whose output came with the submission. Nothing is run, so it has
// no cause and used nothing.
func (s *session) handedIn(ctx context.Context, c testcases.Case) (run judge.Run, ruling checker.Ruling, err error) {
	run = judge.Run{Name: c.Name, Sample: c.Sample}
	data, ok := s.outputs[c.Name]
	switch {
	case !ok && s.job.Problem.Kind != testcases.OutputOnly && c.Handed != testcases.HandedOnly:
		run.Verdict, run.Message = judge.WrongAnswer, "no program was handed in"
		return run, ruling, nil
	case !ok:
		run.Verdict, run.Message = judge.WrongAnswer, fmt.Sprintf("no file %s was handed in", testcases.OutputName(c))
		return run, ruling, nil
	case judge.Bytes(len(data)) > s.lim.Output:
		run.Verdict, run.Message = judge.OutputLimit, fmt.Sprintf("output over %d bytes", s.lim.Output)
		return run, ruling, nil
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
	if ruling, err = s.check.Check(ctx, s.checkInput(c, open, nil)); err != nil {
		return judge.Run{}, ruling, s.fault(ctx, judge.FailChecker, err)
	}
	run.Verdict, err = ruled(ruling)
	run.Message = ruling.Message
	return run, ruling, err
}
