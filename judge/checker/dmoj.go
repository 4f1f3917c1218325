package checker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"judgefarm/judge"
)

// newDMOJ makes one of the checkers that DMOJ's init.yml calls by name. They accept
// what DMOJ's own accept; https://docs.dmoj.ca describes them.
func newDMOJ(name string, options map[string]string) (Checker, error) {
	switch name {
	case "standard":
		return dmojStandard{}, nil
	case "identical":
		return dmojIdentical{strict: options["no_pe"] != ""}, nil
	case "floats", "floatsabs", "floatsrel":
		return newDMOJFloats(name, options["precision"])
	case "easy":
		return dmojEasy{}, nil
	case "linematches":
		return newDMOJLines("linematches", options), nil
	}
	return dmojLines{name: name, words: options}, nil
}

// dmojID is the version of all of them: they are one body of rules.
func dmojID(name string) string { return "dmoj/" + name + "@1" }

// dmojIdentical accepts the answer byte for byte. What dmojStandard would accept is a
// presentation error unless it is strict.
type dmojIdentical struct{ strict bool }

func (dmojIdentical) ID() string { return dmojID("identical") }

func (c dmojIdentical) Check(ctx context.Context, in Input) (Ruling, error) {
	diff, err := compare(ctx, in, equalBytes, false)
	if err != nil || diff == nil {
		return ruling(diff, "", false), err
	}
	verdict := judge.WrongAnswer
	if !c.strict {
		words, err := compare(ctx, in, sameWordsAndLines, false)
		if err != nil {
			return Ruling{}, err
		}
		if words == nil {
			verdict = judge.PresentationError
			diff.what = "only white space differs from what was expected"
		}
	}
	return ruling(diff, verdict, in.Reveal), nil
}

// dmojEasy counts the bytes that are no white space, letters of either case as one.
type dmojEasy struct{}

func (dmojEasy) ID() string { return dmojID("easy") }

func (dmojEasy) Check(ctx context.Context, in Input) (Ruling, error) {
	diff, err := compare(ctx, in, sameCounts, false)
	if err != nil {
		return Ruling{}, err
	}
	return ruling(diff, judge.WrongAnswer, in.Reveal), nil
}

func sameCounts(out, ans *stream) *difference {
	count := func(s *stream) (n [256]int64) {
		for b := s.chunk(); len(b) > 0; b = s.chunk() {
			for _, c := range b {
				if !space[c] {
					n[lower(c)]++
				}
			}
			s.advance(len(b))
		}
		return n
	}
	if count(out) != count(ans) {
		return differ("the output is not made of the letters that were expected", out, nil, nil)
	}
	return nil
}

// maxWhole bounds each side of a checker that must hold it as a whole.
const maxWhole = 256 * judge.MiB

// sides reads output and answer as a whole.
func sides(ctx context.Context, in Input) (out, ans []byte, err error) {
	if ans, err = whole(ctx, in.Answer); err != nil {
		if ctx.Err() == nil {
			err = judge.Fail(judge.FailProblem, fmt.Errorf("read answer of case %s: %w", in.Case, err))
		}
		return nil, nil, err
	}
	if out, err = whole(ctx, in.Output); err != nil && ctx.Err() == nil {
		err = judge.Fail(judge.FailInternal, fmt.Errorf("read output of case %s: %w", in.Case, err))
	}
	return out, ans, err
}

func whole(ctx context.Context, open opener) ([]byte, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	r, err := open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var b bytes.Buffer
	n, err := io.Copy(&b, io.LimitReader(r, int64(maxWhole)+1))
	if err == nil && judge.Bytes(n) > maxWhole {
		err = errors.New("more than " + strconv.Itoa(int(maxWhole/judge.MiB)) + " MiB are more than this checker holds")
	}
	return b.Bytes(), err
}
