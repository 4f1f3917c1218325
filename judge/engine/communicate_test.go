package engine

import (
	"context"
	"errors"
	"testing"
	"time"

	"judgefarm/judge"
	"judgefarm/judge/checker"
	"judgefarm/judge/interact"
	"judgefarm/judge/sandbox"
)

// Who is blamed of several programs, for every pair of endings.
func TestWhoseOf(t *testing.T) {
	t.Parallel()
	spent := func(cause sandbox.Cause, exit int, cpu time.Duration) *sandbox.Report {
		return &sandbox.Report{Cause: cause, Exit: exit, CPU: cpu}
	}
	ok, crash, idle, slow := spent(sandbox.CauseExit, 0, 0), spent(sandbox.CauseExit, 1, 0), spent(sandbox.CauseIdle, -1, 0), spent(sandbox.CauseCPU, -1, 2*time.Second)
	half := spent(sandbox.CauseExit, 0, 600*time.Millisecond)
	accepts, refuses := checker.Ruling{Verdict: judge.Accepted}, checker.Ruling{Verdict: judge.WrongAnswer}
	broken := errors.New("broken")
	first, later := true, false
	type one struct {
		rep   *sandbox.Report
		first bool
	}
	type programs []one
	for name, c := range map[string]struct {
		programs programs
		ruling   checker.Ruling
		err      error
		want     blame
		who      int
	}{
		"accepted":                                   {programs{{ok, first}, {ok, later}}, accepts, nil, nobody, 0},
		"refused":                                    {programs{{ok, first}, {ok, first}}, refuses, nil, nobody, 0},
		"all ended for the refusal":                  {programs{{nil, later}, {nil, later}}, refuses, nil, nobody, 0},
		"the second crashed":                         {programs{{ok, first}, {crash, first}}, refuses, nil, blameProgram, 1},
		"both crashed":                               {programs{{crash, first}, {crash, first}}, refuses, nil, blameProgram, 0},
		"a crash after the refusal":                  {programs{{crash, later}, {ok, first}}, refuses, nil, nobody, 0},
		"a crash after it was accepted":              {programs{{ok, later}, {crash, later}}, accepts, nil, blameProgram, 1},
		"a crash, then the manager broke":            {programs{{ok, first}, {crash, first}}, checker.Ruling{}, broken, blameProgram, 1},
		"the manager broke, then a crash":            {programs{{crash, later}, {nil, later}}, checker.Ruling{}, broken, blameInteractor, 0},
		"the manager broke":                          {programs{{ok, first}, {ok, first}}, checker.Ruling{}, broken, blameInteractor, 0},
		"all wait":                                   {programs{{idle, first}, {idle, first}}, refuses, nil, blameProgram, 0},
		"one waits for one that is too slow":         {programs{{idle, first}, {slow, first}}, refuses, nil, blameProgram, 1},
		"one waits for one that crashed":             {programs{{idle, first}, {crash, first}}, refuses, nil, blameProgram, 1},
		"together too slow":                          {programs{{half, first}, {half, first}}, accepts, nil, blameProgram, together},
		"together too slow, and refused":             {programs{{half, first}, {half, first}}, refuses, nil, blameProgram, together},
		"together too slow, one waits":               {programs{{half, first}, {half, first}, {idle, first}}, refuses, nil, blameProgram, together},
		"together too slow, one crashed":             {programs{{half, first}, {half, first}, {crash, first}}, refuses, nil, blameProgram, 2},
		"one is within the limit, one was ended":     {programs{{half, first}, {nil, later}}, refuses, nil, nobody, 0},
		"one waits on after all others are accepted": {programs{{ok, first}, {idle, later}}, accepts, nil, blameProgram, 1},
	} {
		res := &interact.PartyResult{}
		for _, p := range c.programs {
			res.Programs = append(res.Programs, interact.Ended{Report: p.rep, First: p.first})
		}
		got, who := whoseOf(res, c.ruling, c.err, time.Second)
		if got != c.want || who != c.who {
			t.Errorf("%s: got %d, %d, want %d, %d", name, got, who, c.want, c.who)
		}
	}
}

// Boxes are given all at once and in the order of asking; who gave up is in nobody's way.
func TestSpare(t *testing.T) {
	t.Parallel()
	s := &spare{free: 3}
	if err := s.take(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	gaveUp, large, small := make(chan error, 1), make(chan error, 1), make(chan error, 1)
	ask := func(ctx context.Context, n int, told chan error) {
		before := waiting(s)
		go func() { told <- s.take(ctx, n) }()
		for waiting(s) == before { // until it is in the line
			select {
			case err := <-told:
				t.Fatalf("%d boxes were given out of turn: %v", n, err)
			default:
			}
		}
	}
	ask(ctx, 3, gaveUp)
	ask(t.Context(), 3, large)
	ask(t.Context(), 1, small) // there is one, but others came first
	cancel()
	if err := <-gaveUp; !errors.Is(err, context.Canceled) {
		t.Errorf("gave up: got %v", err)
	}
	s.give(2)
	if err := <-large; err != nil {
		t.Errorf("large: %v", err)
	}
	s.give(3)
	if err := <-small; err != nil {
		t.Errorf("small: %v", err)
	}
	if err := s.take(t.Context(), 0); err != nil || s.free != 2 || waiting(s) != 0 {
		t.Errorf("in the end %d are free and %d wait, %v", s.free, waiting(s), err)
	}
	if err := s.take(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before: got %v", err)
	}
}

func waiting(s *spare) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.line)
}
