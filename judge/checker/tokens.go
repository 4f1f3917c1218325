package checker

import (
	"bytes"
	"context"

	"judgefarm/judge"
)

// The texts of differences, shared so that the same thing is called the same.
const (
	endsEarly   = "the output ends, more was expected"
	goesOn      = "the output goes on after what was expected"
	tokenDiffer = "the token differs"
)

// tokens accepts an output whose words between white space are those of the
// answer. Case counts; how much and which white space separates them does not.
type tokens struct{}

func (tokens) ID() string { return "tokens@1" }

func (tokens) Check(ctx context.Context, in Input) (Ruling, error) {
	diff, err := compare(ctx, in, equalTokens, true)
	if err != nil {
		return Ruling{}, err
	}
	return ruling(diff, judge.WrongAnswer, in.Reveal), nil
}

// equalTokens compares token by token.
func equalTokens(out, ans *stream) *difference {
	return eachToken(out, ans, func(got, want []byte) string {
		if bytes.Equal(got, want) {
			return ""
		}
		return tokenDiffer
	}, bytes.Equal)
}

// eachToken walks both sides and asks same about each pair of tokens that fit
// the buffer; same returns what is wrong, or "". Longer tokens must be equal, part
// by part.
func eachToken(out, ans *stream, same func(got, want []byte) string, equal func(got, want []byte) bool) *difference {
	for n := 1; ; n++ {
		more, moreWanted := out.skip(out.gap), ans.skip(ans.gap)
		if !more && !moreWanted {
			return nil
		}
		got, whole := out.token()
		want, wholeWanted := ans.token()
		var what string
		switch {
		case !more:
			what = endsEarly
		case !moreWanted:
			what = goesOn
		case whole && wholeWanted:
			what = same(got, want)
		case whole != wholeWanted || !equal(got, want):
			what = tokenDiffer
		default:
			if d := restOfToken(out, ans, equal); d != nil {
				d.token = n
				return d
			}
			continue
		}
		if what != "" {
			d := differ(what, out, got, want)
			d.token = n
			return d
		}
		out.consumed(len(got))
		ans.consumed(len(want))
	}
}

// restOfToken compares two tokens of which equal buffers full have been seen.
func restOfToken(out, ans *stream, equal func(got, want []byte) bool) *difference {
	for {
		got, whole := out.token()
		want, wholeWanted := ans.token()
		if whole != wholeWanted || !equal(got, want) {
			return differ(tokenDiffer, out, got, want)
		}
		out.consumed(len(got))
		ans.consumed(len(want))
		if whole {
			return nil
		}
	}
}
