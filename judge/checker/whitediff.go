package checker

import (
	"bytes"
	"context"

	"judgefarm/judge"
)

// whiteDiff is the comparison that CMS has where a task brings no checker: lines have
// the same words, and lines at the end that are blank do not count. CMS
// documentation, "White-diff comparator".
type whiteDiff struct{}

func (whiteDiff) ID() string { return "cms/whitediff@1" }

func (whiteDiff) Check(ctx context.Context, in Input) (Ruling, error) {
	diff, err := compare(ctx, in, equalWhite, false)
	if err != nil {
		return Ruling{}, err
	}
	return ruling(diff, judge.WrongAnswer, in.Reveal), nil
}

// equalWhite compares word by word, and line feeds between them.
func equalWhite(out, ans *stream) *difference {
	for {
		more, moreWanted := out.skip(&blank), ans.skip(&blank)
		switch {
		case !more: // only blank lines may be left
			if ans.skip(&space) {
				return differ(endsEarly, out, nil, ans.peek(quoteMax+1))
			}
			return nil
		case !moreWanted:
			if out.skip(&space) {
				return differ(goesOn, out, out.peek(quoteMax+1), nil)
			}
			return nil
		}
		ends, endsWanted := out.chunk()[0] == '\n', ans.chunk()[0] == '\n'
		switch {
		case ends && endsWanted:
			out.advance(1)
			ans.advance(1)
		case ends || endsWanted:
			return differ("the line differs", out, out.peek(quoteMax+1), ans.peek(quoteMax+1))
		default:
			if d := restOfToken(out, ans, bytes.Equal); d != nil {
				return d
			}
		}
	}
}
