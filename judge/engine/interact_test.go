package engine

import (
	"errors"
	"testing"

	"judgefarm/judge"
	"judgefarm/judge/checker"
	"judgefarm/judge/interact"
	"judgefarm/judge/sandbox"
)

// Every pair of endings, in either order.
func TestWhose(t *testing.T) {
	t.Parallel()
	ok := &sandbox.Report{Cause: sandbox.CauseExit}
	crash := &sandbox.Report{Cause: sandbox.CauseExit, Exit: 1}
	slow := &sandbox.Report{Cause: sandbox.CauseIdle, Signal: 9, Exit: -1}
	accepts, refuses := checker.Ruling{Verdict: judge.Accepted}, checker.Ruling{Verdict: judge.WrongAnswer}
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		program *sandbox.Report
		first   bool
		ruling  checker.Ruling
		err     error
		want    blame
	}{
		"accepted":                           {ok, true, accepts, nil, nobody},
		"accepted, interactor first":         {ok, false, accepts, nil, nobody},
		"refused":                            {ok, true, refuses, nil, nobody},
		"refused, interactor first":          {ok, false, refuses, nil, nobody},
		"ended for the refusal":              {nil, false, refuses, nil, nobody},
		"crash, then refused":                {crash, true, refuses, nil, blameProgram},
		"refused, then crash":                {crash, false, refuses, nil, nobody},
		"crash, then accepted":               {crash, true, accepts, nil, blameProgram},
		"accepted, then crash":               {crash, false, accepts, nil, blameProgram},
		"crash, then interactor broken":      {crash, true, checker.Ruling{}, broken, blameProgram},
		"interactor broken, then crash":      {crash, false, checker.Ruling{}, broken, blameInteractor},
		"program ends, interactor broken":    {ok, true, checker.Ruling{}, broken, blameInteractor},
		"interactor broken, program ended":   {nil, false, checker.Ruling{}, broken, blameInteractor},
		"both wait, the program's time ends": {slow, true, refuses, nil, blameProgram},
		"accepted, the program goes on":      {slow, false, accepts, nil, blameProgram},
	} {
		if got := whose(&interact.Result{Program: c.program, ProgramFirst: c.first}, c.ruling, c.err); got != c.want {
			t.Errorf("%s: got %d, want %d", name, got, c.want)
		}
	}
}
