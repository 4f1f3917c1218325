package checker

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"judgefarm/judge"
)

// dmojFloats compares line by line and word by word; lines without a byte in them do
// not count. Where the answer's word is a number, the output's must be one within
// 10^-precision. As DMOJ defines it, that is arithmetic of doubles, and a number is
// what Python reads as one: inf is, and equals itself where errors are relative.
type dmojFloats struct {
	name    string
	epsilon float64
}

// maxPrecision keeps 10^-precision a double.
const maxPrecision = 300

func newDMOJFloats(name, precision string) (Checker, error) {
	if precision == "" {
		precision = "6"
	}
	n, err := strconv.Atoi(precision)
	if err != nil || n > maxPrecision {
		return nil, judge.Refuse(&judge.FieldError{Field: "checker.args",
			Reason: fmt.Sprintf("precision must be a whole number from 0 to %d, is %.64q", maxPrecision, precision)})
	}
	epsilon, err := strconv.ParseFloat("1e-"+strconv.Itoa(n), 64)
	if err != nil {
		return nil, fmt.Errorf("make checker %s: %w", name, err)
	}
	return dmojFloats{name, epsilon}, nil
}

func (c dmojFloats) ID() string { return dmojID(c.name) }

func (c dmojFloats) Check(ctx context.Context, in Input) (Ruling, error) {
	diff, err := compare(ctx, in, c.sameLines, false)
	if err != nil {
		return Ruling{}, err
	}
	return ruling(diff, judge.WrongAnswer, in.Reveal), nil
}

func (c dmojFloats) sameLines(out, ans *stream) *difference {
	for {
		more, moreWanted := out.skip(&lineEnd), ans.skip(&lineEnd)
		switch {
		case !more && !moreWanted:
			return nil
		case !more:
			return differ(endsEarly, out, nil, ans.peek(quoteMax+1))
		case !moreWanted:
			return differ(goesOn, out, out.peek(quoteMax+1), nil)
		}
		if d := c.sameLine(out, ans); d != nil {
			return d
		}
	}
}

// sameLine compares up to the end of the line that both are in.
func (c dmojFloats) sameLine(out, ans *stream) *difference {
	for {
		more := out.skip(&inLine) && !lineEnd[out.peek(1)[0]]
		moreWanted := ans.skip(&inLine) && !lineEnd[ans.peek(1)[0]]
		if !more && !moreWanted {
			return nil
		}
		if more != moreWanted {
			return differ("the line has not as many words as was expected", out, out.peek(quoteMax+1), ans.peek(quoteMax+1))
		}
		got, whole := out.token()
		want, wholeWanted := ans.token()
		what := ""
		switch {
		case whole && wholeWanted:
			what = c.same(got, want)
		case whole != wholeWanted || !bytes.Equal(got, want):
			what = tokenDiffer
		default:
			if d := restOfToken(out, ans, bytes.Equal); d != nil {
				return d
			}
			continue
		}
		if what != "" {
			return differ(what, out, got, want)
		}
		out.consumed(len(got))
		ans.consumed(len(want))
	}
}

func (c dmojFloats) same(got, want []byte) string {
	w, ok := pythonFloat(want)
	if !ok {
		if !bytes.Equal(got, want) {
			return tokenDiffer
		}
		return ""
	}
	g, ok := pythonFloat(got)
	if !ok {
		return "the token is no number"
	}
	if !c.within(g, w) {
		return "the number differs by more than the tolerance"
	}
	return ""
}

// within is false wherever not a number takes part.
func (c dmojFloats) within(got, want float64) bool {
	absolute := math.Abs(got-want) <= c.epsilon
	switch c.name {
	case "floatsabs":
		return absolute
	case "floatsrel":
		a, b := want*(1-c.epsilon), want*(1+c.epsilon)
		return min(a, b) <= got && got <= max(a, b)
	}
	return absolute || math.Abs(want) >= c.epsilon && math.Abs(1-got/want) <= c.epsilon
}

// pythonFloat reads what Python's float() takes, white space around it aside: decimal
// digits with single underscores between them, and the words for infinity and not a
// number. What no double holds is infinite or 0.
func pythonFloat(tok []byte) (float64, bool) {
	body := tok[sign(tok, 0):]
	switch strings.ToLower(string(body[:min(len(body), len("infinity")+1)])) {
	case "inf", "infinity":
		if tok[0] == '-' {
			return math.Inf(-1), true
		}
		return math.Inf(1), true
	case "nan":
		return math.NaN(), true
	}
	plain := make([]byte, 0, len(tok))
	for i, c := range tok {
		switch {
		case c == '_':
			if i == 0 || i+1 == len(tok) || !isDigit(tok[i-1]) || !isDigit(tok[i+1]) {
				return 0, false
			}
		case isDigit(c) || strings.IndexByte("+-.eE", c) >= 0:
			plain = append(plain, c)
		default:
			return 0, false
		}
	}
	v, err := strconv.ParseFloat(string(plain), 64)
	if err != nil && !math.IsInf(v, 0) {
		return 0, false
	}
	return v, true
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
