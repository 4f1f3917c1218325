package checker

import "context"

// lines accepts an output whose lines are those of the answer, where white
// space at the end of a line and empty lines at the end of the text do not
// count. A carriage return at the end of a line is such white space, so CRLF and
// LF are the same. What differs in white space alone is a presentation error.
type lines struct{}

func (lines) ID() string { return "lines@1" }

func (lines) Check(ctx context.Context, in Input) (Ruling, error) {
	return layout(ctx, in, equalLines, true)
}

// equalLines needs no memory of a line: where the bytes of two lines part, the
// trimmed lines are equal exactly when nothing but blanks is left on both.
func equalLines(out, ans *stream) *difference {
	for {
		skipCommon(out, ans)
		got, want := out.chunk(), ans.chunk()
		if len(got) == 0 && len(want) == 0 {
			return nil
		}
		if len(got) > 0 && len(want) > 0 && got[0] == want[0] {
			continue // one chunk was shorter
		}
		more, moreWanted := out.skip(&blank), ans.skip(&blank)
		switch {
		case !more && !moreWanted:
			return nil
		case !more: // the output has ended: only blank lines may be left
			if ans.skip(&space) {
				return differ(endsEarly, out, nil, ans.peek(quoteMax+1))
			}
		case !moreWanted:
			if out.skip(&space) {
				return differ(goesOn, out, out.peek(quoteMax+1), nil)
			}
		case out.chunk()[0] != '\n' || ans.chunk()[0] != '\n':
			return differ("the line differs", out, out.peek(quoteMax+1), ans.peek(quoteMax+1))
		}
	}
}
