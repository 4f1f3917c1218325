package engine

import (
	"bytes"
	"cmp"
	"context"
	"io"

	"judgefarm/judge"
	"judgefarm/judge/checker"
	"judgefarm/testcases"
)

// static is a case in which the problem's validator looks at the submission's files.
// Nothing is run, so it has no cause and used nothing.
func (s *session) static(ctx context.Context, c testcases.Case) (run judge.Run, ruling checker.Ruling, err error) {
	run = judge.Run{Name: c.Name, Sample: c.Sample}
	if checker.Plants(s.program) {
		run.Verdict, run.Message = judge.WrongAnswer, "a file must not lie in a folder feedback"
		return run, ruling, nil
	}
	nothing := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(nil)), nil }
	in := s.checkInput(c, nothing, nil)
	in.Passes, in.Measure = false, false
	files, main, _ := s.sourceFiles()
	layout := s.lang.LayMain(files, main)
	in.Facts.Files, in.Facts.Entry = layout.Files, layout.Main
	if class := layout.Words["class"]; s.lang.MainClass != nil && len(class) > 0 {
		in.Facts.Entry = cmp.Or(class[0], layout.Main)
	}
	if ruling, err = s.check.Check(ctx, in); err != nil {
		return judge.Run{}, ruling, s.fault(ctx, judge.FailChecker, err)
	}
	run.Verdict, err = ruled(ruling)
	run.Message = ruling.Message
	return run, ruling, err
}
