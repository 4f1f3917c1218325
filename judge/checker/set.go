package checker

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"judgefarm/judge"
	"judgefarm/testcases"
)

// Set is the checkers of a problem: most have one, which rules on every case.
type Set struct {
	own   Checker
	rules []Checker // of testcases.Problem.Rules; nil where all rule
}

// For makes one checker of a problem; Maker.For is one.
type For func(ctx context.Context, p *testcases.Problem, spec judge.CheckerSpec) (Checker, error)

// NewSet makes the checkers of p. A spec that is not nil is the request's, which rules
// on every output in place of all of the problem's.
func NewSet(ctx context.Context, p *testcases.Problem, spec *judge.CheckerSpec, one For) (*Set, error) {
	asked := spec != nil
	if !asked {
		spec = &p.Checker
	}
	own, err := one(ctx, p, *spec)
	if err != nil {
		return nil, err
	}
	s := &Set{own: own}
	for _, r := range p.Rules {
		if asked && !isStatic(r) { // the submission's text is no output
			s.rules = append(s.rules, own)
			continue
		}
		with := *p
		with.CheckerProgram = r.Program
		c, err := one(ctx, &with, r.Checker)
		if err != nil {
			return nil, err
		}
		s.rules = append(s.rules, c)
	}
	if p.EveryRule && !asked {
		return &Set{own: every(append([]Checker{own}, s.rules...))}, nil
	}
	return s, nil
}

// Of is the checker of a case.
func (s *Set) Of(c testcases.Case) Checker {
	if c.Rule > 0 && c.Rule <= len(s.rules) {
		return s.rules[c.Rule-1]
	}
	return s.own
}

// ID names all checkers that may rule, each once, with commas between them.
func (s *Set) ID() string { return ids(append([]Checker{s.own}, s.rules...)) }

func ids(all []Checker) string {
	var names []string
	for _, c := range all {
		if id := c.ID(); !slices.Contains(names, id) {
			names = append(names, id)
		}
	}
	return strings.Join(names, ",")
}

// every accepts what all of its checkers accept. They are asked in order until one
// refuses; problem package format, legacy, "Output validators".
type every []Checker

func (e every) ID() string { return ids(e) }

func (e every) OnError() bool { return slices.ContainsFunc(e, OnError) }

func (e every) Check(ctx context.Context, in Input) (Ruling, error) {
	var all Ruling
	var said []string
	for i, c := range e {
		if in.Facts.Verdict != "" && !OnError(c) {
			continue
		}
		r, err := c.Check(ctx, in)
		if err != nil {
			return Ruling{}, fmt.Errorf("checker %d of %d: %w", i+1, len(e), err)
		}
		if r.Jury != "" {
			said = append(said, r.Jury)
		}
		if r.Share == nil && r.Points == nil && r.Verdict == judge.Accepted {
			r.Share, r.Points = all.Share, all.Points
		}
		if r.Message == "" {
			r.Message = all.Message
		}
		if all = r; r.Verdict != judge.Accepted {
			break
		}
	}
	all.Jury = strings.Join(said, "\n")
	return all, nil
}
