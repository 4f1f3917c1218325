package checker

import (
	"bytes"
	"context"

	"judgefarm/judge"
)

// exact accepts an output that is the answer, byte for byte. One that differs
// in white space alone is a presentation error.
type exact struct{}

func (exact) ID() string { return "exact@1" }

func (exact) Check(ctx context.Context, in Input) (Ruling, error) {
	return layout(ctx, in, equalBytes, false)
}

// layout applies a rule that minds white space, and tells outputs that differ in
// nothing else by a second look. See compare for textOnly.
func layout(ctx context.Context, in Input, find rule, textOnly bool) (Ruling, error) {
	diff, err := compare(ctx, in, find, textOnly)
	if err != nil {
		return Ruling{}, err
	}
	if diff == nil {
		return ruling(nil, "", false), nil
	}
	verdict := judge.WrongAnswer
	words, err := compare(ctx, in, equalTokens, textOnly)
	if err != nil {
		return Ruling{}, err
	}
	if words == nil {
		verdict = judge.PresentationError
		diff.what = "only white space differs from what was expected"
	}
	return ruling(diff, verdict, in.Reveal), nil
}

func equalBytes(out, ans *stream) *difference {
	for {
		skipCommon(out, ans)
		got, want := out.chunk(), ans.chunk()
		switch {
		case len(got) == 0 && len(want) == 0:
			return nil
		case len(got) == 0:
			return differ(endsEarly, out, nil, ans.peek(quoteMax+1))
		case len(want) == 0:
			return differ(goesOn, out, out.peek(quoteMax+1), nil)
		case got[0] != want[0]:
			return differ("the byte differs", out, out.peek(quoteMax+1), ans.peek(quoteMax+1))
		}
	}
}

// skipCommon consumes equal bytes of both chunks, up to the first that differs
// or the end of the shorter chunk.
func skipCommon(out, ans *stream) {
	got, want := out.chunk(), ans.chunk()
	n := min(len(got), len(want))
	if !bytes.Equal(got[:n], want[:n]) {
		i := 0
		for got[i] == want[i] {
			i++
		}
		n = i
	}
	out.advance(n)
	ans.advance(n)
}
