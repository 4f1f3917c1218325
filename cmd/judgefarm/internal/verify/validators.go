package verify

import (
	"context"
	"errors"
	"fmt"

	"judgefarm/cmd/judgefarm/internal/verify/internal/ctd"
	"judgefarm/judge"
	"judgefarm/testcases"
)

// newValidator makes an input validator ready.
func newValidator(ctx context.Context, cfg *Config, v testcases.Validator) (validator, error) {
	if v.Program.Protocol == testcases.ProtocolChecktestdata {
		return newScripted(v)
	}
	return newBoxed(ctx, cfg, v)
}

// maxScripted bounds the inputs that scripts look at, which they do in memory.
const maxScripted = 256 << 20

// scripted is a validator in Checktestdata.
type scripted struct {
	at     string
	script *ctd.Script
}

func newScripted(v testcases.Validator) (*scripted, error) {
	if len(v.Program.Files) != 1 {
		return nil, &judge.Failed{Kind: judge.FailProblem, Reason: "is no script of one file"}
	}
	script, err := ctd.Parse(v.Program.Files[0].Data)
	if err != nil {
		return nil, &judge.Failed{Kind: judge.FailProblem, Reason: "cannot be read: " + err.Error(), Err: spoken(v.Program, err)}
	}
	return &scripted{v.Program.Name, script}, nil
}

// spoken names the file of a script before a line of it, as compilers do.
func spoken(p testcases.Program, err error) error {
	var own *ctd.Error
	if !errors.As(err, &own) {
		return err
	}
	return fmt.Errorf("%s:%d: %s", p.Files[0].Name, own.Line, own.Text)
}

func (s *scripted) name() string { return s.at }
func (s *scripted) release()     {}

func (s *scripted) look(ctx context.Context, in testcases.Data, _ testcases.Case, _ []string) (answer, error) {
	b, err := testcases.ReadAll(in, maxScripted)
	if err != nil {
		return answer{}, judge.Fail(judge.FailProblem, err)
	}
	err = s.script.Check(ctx, b)
	var off *ctd.Mismatch
	var own *ctd.Error
	switch {
	case err == nil:
		return answer{accepts: true}, nil
	case errors.As(err, &off):
		return answer{text: off.Error()}, nil
	case errors.As(err, &own):
		return answer{broken: "cannot be run: " + own.Error()}, nil
	}
	return answer{}, err
}
