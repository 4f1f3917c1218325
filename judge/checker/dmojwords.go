package checker

import (
	"bytes"
	"context"

	"judgefarm/judge"
)

// dmojStandard accepts an output whose words are those of the answer, with a new line
// between two of them exactly where the answer has one. How much white space there is
// does not count, nor does any before the first word or after the last.
type dmojStandard struct{}

func (dmojStandard) ID() string { return dmojID("standard") }

func (dmojStandard) Check(ctx context.Context, in Input) (Ruling, error) {
	diff, err := compare(ctx, in, sameWordsAndLines, false)
	if err != nil {
		return Ruling{}, err
	}
	return ruling(diff, judge.WrongAnswer, in.Reveal), nil
}

func sameWordsAndLines(out, ans *stream) *difference {
	for n := 1; ; n++ {
		line, more := gap(out)
		lineWanted, moreWanted := gap(ans)
		if !more && !moreWanted {
			return nil
		}
		got, whole := out.token()
		want, wholeWanted := ans.token()
		what := ""
		switch {
		case !more:
			what = endsEarly
		case !moreWanted:
			what = goesOn
		case n > 1 && line != lineWanted:
			what = "the line breaks differ"
		case whole != wholeWanted || !bytes.Equal(got, want):
			what = tokenDiffer
		case !whole:
			if d := restOfToken(out, ans, bytes.Equal); d != nil {
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

// gap consumes white space: whether there was a line end in it, and whether more
// follows.
func gap(s *stream) (line, more bool) {
	for b := s.chunk(); len(b) > 0; b = s.chunk() {
		n := 0
		for n < len(b) && space[b[n]] {
			line = line || lineEnd[b[n]]
			n++
		}
		s.advance(n)
		if n < len(b) {
			return line, true
		}
	}
	return line, false
}

// What DMOJ takes for the end of a line, and for white space within one.
var (
	lineEnd = [256]bool{'\n': true, '\r': true}
	inLine  = [256]bool{' ': true, '\t': true, '\v': true, '\f': true}
)
