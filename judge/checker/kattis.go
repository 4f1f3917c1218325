package checker

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"judgefarm/judge"
	"judgefarm/testcases"
)

// kattis is the default output validator of the Kattis problem package format,
// version 2025-09, "Default output validator specification". Where the reference
// validators of the format's systems differ (inf and nan, hexadecimal numbers, 1e,
// values that no double holds, NUL bytes) it refuses.
type kattis struct {
	args                    []string // as given
	caseCounts, spaceCounts bool
	tolerance               *tolerance // nil: numbers are words
}

func newKattis(args []string, options map[string]string) kattis {
	k := kattis{args: args, caseCounts: options["case_sensitive"] != "", spaceCounts: options["space_change_sensitive"] != ""}
	abs, rel := options["float_absolute_tolerance"], options["float_relative_tolerance"]
	if both := options["float_tolerance"]; both != "" {
		abs, rel = both, both
	}
	if abs != "" || rel != "" {
		t := newTolerance(or0(abs), or0(rel))
		k.tolerance = &t
	}
	return k
}

func or0(number string) string {
	if number == "" {
		return "0"
	}
	return number
}

func (kattis) ID() string { return "kattis@1" }

func (k kattis) Check(ctx context.Context, in Input) (Ruling, error) {
	if len(in.Args) > 0 {
		own, faults := testcases.ParseChecker(judge.CheckerSpec{Name: "kattis", Args: slices.Concat(k.args, in.Args)})
		if len(faults) > 0 {
			return Ruling{}, judge.Fail(judge.FailProblem, fmt.Errorf("flags of case %s: %w", in.Case, judge.Refuse(faults...)))
		}
		k = newKattis(nil, own.Options)
	}
	find := func(out, ans *stream) *difference { return eachToken(out, ans, k.same, k.equal) }
	if k.spaceCounts {
		find = k.strict
	}
	diff, err := compare(ctx, in, find, true)
	if err != nil {
		return Ruling{}, err
	}
	return ruling(diff, judge.WrongAnswer, in.Reveal), nil
}

// same compares a token. Only where the answer's is a number is the output's read as
// one.
func (k kattis) same(got, want []byte) string {
	if k.tolerance != nil {
		if w, ok := parseNumber(want); ok {
			g, ok := parseNumber(got)
			switch {
			case !ok:
				return "the token is no decimal number"
			case !k.tolerance.within(g, w):
				return "the number differs by more than the tolerance"
			}
			return ""
		}
	}
	if !k.equal(got, want) {
		return tokenDiffer
	}
	return ""
}

// equal takes upper-case ASCII letters for their lower-case ones unless case counts.
func (k kattis) equal(a, b []byte) bool {
	if k.caseCounts {
		return bytes.Equal(a, b)
	}
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// strict wants the white space of both sides to be the same, before, between and
// after the tokens.
func (k kattis) strict(out, ans *stream) *difference {
	for n := 1; ; n++ {
		if d := sameSpace(out, ans); d != nil {
			return d
		}
		if len(out.peek(1)) == 0 && len(ans.peek(1)) == 0 {
			return nil
		}
		if d := k.oneToken(out, ans, n); d != nil {
			return d
		}
	}
}

func sameSpace(out, ans *stream) *difference {
	for {
		got, want := out.peek(1), ans.peek(1)
		gap := len(got) == 1 && space[got[0]]
		gapWanted := len(want) == 1 && space[want[0]]
		switch {
		case !gap && !gapWanted:
			return nil
		case gap != gapWanted || got[0] != want[0]:
			return differ("the white space differs", out, got, want)
		}
		out.advance(1)
		ans.advance(1)
	}
}

// oneToken compares the tokens that come next; one side may be at its end.
func (k kattis) oneToken(out, ans *stream, n int) *difference {
	got, whole := out.token()
	want, wholeWanted := ans.token()
	what := ""
	switch {
	case len(got) == 0:
		what = endsEarly
	case len(want) == 0:
		what = goesOn
	case whole && wholeWanted:
		what = k.same(got, want)
	case whole != wholeWanted || !k.equal(got, want):
		what = tokenDiffer
	default:
		return restOfToken(out, ans, k.equal)
	}
	if what != "" {
		d := differ(what, out, got, want)
		d.token = n
		return d
	}
	out.consumed(len(got))
	ans.consumed(len(want))
	return nil
}
