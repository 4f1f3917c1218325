// Package checkertest is the suite that every checker passes. It is for tests
// only.
package checkertest

import (
	"context"
	"errors"
	"io"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"judgefarm/judge"
	"judgefarm/judge/checker"
)

// Suite is a checker and outputs whose rulings are known. Answer and Input hold
// the word "hidden", which no message may show unless data may be revealed.
type Suite struct {
	New           func(t *testing.T) checker.Checker
	Input, Answer string
	Right, Wrong  string // outputs that are accepted and refused
}

// Run runs the suite.
func Run(t *testing.T, s Suite) {
	t.Run("ID", s.id)
	t.Run("Rulings", s.rulings)
	t.Run("NoReveal", s.noReveal)
	t.Run("Concurrent", s.concurrent)
	t.Run("ContextEnds", s.contextEnds)
	t.Run("DataFails", s.dataFails)
}

func (s Suite) id(t *testing.T) {
	if id := s.New(t).ID(); !regexp.MustCompile(`^[a-z0-9/]+@[1-9][0-9]*(\+[^ ]+)?$`).MatchString(id) {
		t.Errorf("got id %q, want name@version or name@version+what", id)
	}
}

// rulings asks twice, and sees that everything that was opened is closed.
func (s Suite) rulings(t *testing.T) {
	c := s.New(t)
	for output, want := range map[string]judge.Verdict{s.Right: judge.Accepted, s.Wrong: judge.WrongAnswer, "": judge.WrongAnswer} {
		var open atomic.Int64
		in := s.input(output, &open)
		first, err := c.Check(t.Context(), in)
		if err != nil {
			t.Fatalf("output %q: %v", output, err)
		}
		if first.Verdict != want {
			t.Errorf("output %q: got %s, want %s", output, first.Verdict, want)
		}
		if want != judge.Accepted && first.Message == "" {
			t.Errorf("output %q: refused without a message", output)
		}
		if again, err := c.Check(t.Context(), in); err != nil || !reflect.DeepEqual(again, first) {
			t.Errorf("output %q: got %v, %v the second time, %v the first", output, again, err, first)
		}
		if n := open.Load(); n != 0 {
			t.Errorf("output %q: %d readers are still open", output, n)
		}
	}
}

func (s Suite) noReveal(t *testing.T) {
	c := s.New(t)
	for _, output := range []string{s.Wrong, "", s.Answer + " hidden more", "not hidden " + s.Answer} {
		got, err := c.Check(t.Context(), s.input(output, nil))
		if err != nil {
			t.Fatalf("output %q: %v", output, err)
		}
		if strings.Contains(got.Message, "hidden") {
			t.Errorf("output %q: message shows hidden data: %s", output, got.Message)
		}
	}
}

func (s Suite) concurrent(t *testing.T) {
	c := s.New(t)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			output, want := s.Right, judge.Accepted
			if i%2 == 1 {
				output, want = s.Wrong, judge.WrongAnswer
			}
			got, err := c.Check(t.Context(), s.input(output, nil))
			if err != nil || got.Verdict != want {
				t.Errorf("output %q: got %s, %v, want %s", output, got.Verdict, err, want)
			}
		})
	}
	wg.Wait()
}

func (s Suite) contextEnds(t *testing.T) {
	c := s.New(t)
	cause := errors.New("drained")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if got, err := c.Check(ctx, s.input(s.Right, nil)); !errors.Is(err, cause) {
		t.Errorf("got %v, %v, want the cause", got, err)
	}
}

// dataFails sees that data of ours that cannot be read is never a ruling.
func (s Suite) dataFails(t *testing.T) {
	c := s.New(t)
	broken := errors.New("disk broken")
	opens := func() (io.ReadCloser, error) { return nil, broken }
	reads := func() (io.ReadCloser, error) {
		return io.NopCloser(io.MultiReader(strings.NewReader(s.Right[:1]), failing{broken})), nil
	}
	for name, open := range map[string]func() (io.ReadCloser, error){"open": opens, "read": reads} {
		in := s.input(s.Right, nil)
		in.Answer = open
		var failed *judge.Failed
		if got, err := c.Check(t.Context(), in); !errors.As(err, &failed) || failed.Kind != judge.FailProblem || !errors.Is(err, broken) {
			t.Errorf("%s answer: got %v, %v, want a failure of the problem", name, got, err)
		}
		in = s.input(s.Right, nil)
		in.Output = open
		if got, err := c.Check(t.Context(), in); !errors.As(err, &failed) || !errors.Is(err, broken) {
			t.Errorf("%s output: got %v, %v, want a failure", name, got, err)
		}
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func (s Suite) input(output string, open *atomic.Int64) checker.Input {
	in := Input(s.Answer, output)
	in.Input = text(s.Input, open)
	in.Answer, in.Output = text(s.Answer, open), text(output, open)
	return in
}

// Input is a case with an answer and an output in memory, and no input.
func Input(answer, output string) checker.Input {
	return checker.Input{Case: "secret/1", Input: text("", nil), Answer: text(answer, nil), Output: text(output, nil)}
}

func text(s string, open *atomic.Int64) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) {
		if open != nil {
			open.Add(1)
		}
		return &reader{strings.NewReader(s), open}, nil
	}
}

// reader counts itself out when it is closed.
type reader struct {
	io.Reader
	open *atomic.Int64
}

func (r *reader) Close() error {
	if r.open != nil {
		r.open.Add(-1)
	}
	return nil
}
