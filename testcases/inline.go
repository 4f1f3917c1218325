package testcases

import (
	"strconv"

	"judgefarm/judge"
)

// InlineTest is one test that came with a request: what the program reads and
// what it should print.
type InlineTest struct{ Stdin, Expected []byte }

// InlineConfig says what an anonymous problem is made of.
type InlineConfig struct {
	Limits  judge.Limits      // zero fields unstated
	Checker judge.CheckerSpec // no name is the default checker, tokens
	Tests   []InlineTest      // at least one; kept, not copied
}

// Inline builds the anonymous problem of a request's own tests: cases "1", "2"
// and so on in one group, in the order given. Equal tests, limits and checker
// give an equal digest. A *judge.BadRequest names each fault.
func Inline(cfg InlineConfig) (*Problem, error) {
	g := Group{Name: "tests", Cases: make([]Case, len(cfg.Tests))}
	for i, t := range cfg.Tests {
		g.Cases[i] = Case{
			Name:  strconv.Itoa(i + 1),
			Input: BytesData(t.Stdin), Answer: BytesData(t.Expected),
		}
	}
	p := &Problem{Limits: cfg.Limits, Checker: cfg.Checker, Groups: []Group{g}, Inline: true}
	if len(cfg.Tests) == 0 {
		faults := []*judge.FieldError{{Field: "tests", Reason: "must hold at least one test"}}
		_, more := ParseChecker(cfg.Checker)
		return nil, judge.Refuse(append(faults, more...)...)
	}
	if err := p.Seal(); err != nil {
		return nil, err
	}
	return p, nil
}
