package checker

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// eachLine compares line by line; an empty last line of the answer does not count.
func (p *pair) eachLine(same func(first int, ans, out *side) bool) {
	for !p.ans.atEnd() {
		first := p.ans.lineByte()
		if first == endOfLine && p.ans.atEnd() {
			return
		}
		line := p.out.line
		if !same(first, p.ans, p.out) {
			p.wrong("the line differs", nil, nil)
			p.found.line, p.found.column = line, 1
			return
		}
	}
}

// sameLine compares the rest of two lines, byte by byte; want is the first of the
// answer's.
func sameLine(want int, ans, out *side) bool {
	for got := out.lineByte(); ; got, want = out.lineByte(), ans.lineByte() {
		if got != want || got == endOfLine {
			return got == want
		}
	}
}

// sameWords compares the words of two lines, between what C's isspace says.
func sameWords(want int, ans, out *side) bool {
	got := out.lineByte()
	for {
		want, got = firstOfWord(want, ans), firstOfWord(got, out)
		if want == endOfLine || got == endOfLine {
			return want == got
		}
		for !endOfWord(want) && want == got {
			want, got = ans.lineByte(), out.lineByte()
		}
		if !endOfWord(want) || !endOfWord(got) {
			return false
		}
	}
}

func firstOfWord(c int, s *side) int {
	for c != endOfLine && space[c] {
		c = s.lineByte()
	}
	return c
}

func endOfWord(c int) bool { return c == endOfLine || space[c] }

// eachWord is wcmp. It alone compares words of any length, in the memory of streams.
func eachWord(p *pair) {
	p.found = eachToken(p.out.stream, p.ans.stream, func(got, want []byte) string {
		if bytes.Equal(got, want) {
			return ""
		}
		return tokenDiffer
	}, bytes.Equal)
}

// longer is where one of two sequences of equal numbers or words goes on. What goes on
// must be readable first.
func (p *pair) longer(read func(*side)) {
	missing, extra := !p.ans.ended(), false
	for !p.ans.ended() {
		read(p.ans)
	}
	for !p.out.ended() {
		extra = true
		read(p.out)
	}
	switch {
	case missing:
		p.wrong(endsEarly, nil, nil)
	case extra:
		p.wrong(goesOn, nil, nil)
	}
}

func (p *pair) oneNumber(read func(*side) int64) {
	if want, got := read(p.ans), read(p.out); want != got {
		p.wrong("the number differs", decimal(got), decimal(want))
	}
}

func eachNumber(p *pair) {
	for !p.ans.ended() && !p.out.ended() {
		p.oneNumber((*side).whole)
	}
	p.longer(func(s *side) { s.whole() })
}

// unordered is uncmp. Of an output that has more numbers than the answer no more are
// kept.
func unordered(p *pair) {
	var want, got []int64
	for !p.ans.ended() {
		want = append(want, p.ans.whole())
	}
	n := 0
	for ; !p.out.ended(); n++ {
		if v := p.out.whole(); n < len(want) {
			got = append(got, v)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	switch {
	case n != len(want):
		p.wrong(fmt.Sprintf("the output has %d numbers, not as many as were expected", n), nil, nil)
	case !slices.Equal(want, got):
		p.wrong("the numbers are others than were expected", nil, nil)
	}
}

// hugeNumber is hcmp.
func hugeNumber(p *pair) {
	want := bytes.Clone(p.ans.word())
	got := bytes.Clone(p.out.word())
	if !huge(want) {
		p.ans.broken("the token is no integer", want)
	}
	if !p.ans.ended() {
		p.ans.broken("there is more than one token", nil)
	}
	if !huge(got) {
		p.out.broken("the token is no integer", got)
	}
	if !bytes.Equal(got, want) {
		p.wrong("the number differs", got, want)
	}
}

// huge accepts 0, and digits without leading zeros after at most a minus.
func huge(tok []byte) bool {
	digits := bytes.TrimPrefix(tok, []byte("-"))
	return string(tok) == "0" || len(digits) > 0 && digits[0] != '0' &&
		!slices.ContainsFunc(digits, func(c byte) bool { return c < '0' || c > '9' })
}

// closeTo reports whether an output's number will do for the answer's. It reckons in
// doubles, as the checkers it stands for: their error is part of what they accept.
type closeTo func(want, got float64) bool

// within is an absolute tolerance. Infinities differ by no number, which is not more.
func within(eps float64) closeTo {
	return func(want, got float64) bool { return !(math.Abs(want-got) > eps+1e-15) }
}

// near is an absolute or relative tolerance.
func near(eps float64) closeTo {
	eps += 1e-15
	return func(want, got float64) bool {
		switch {
		case math.IsInf(want, 0) || math.IsInf(got, 0):
			return want == got
		case math.Abs(got-want) <= eps:
			return true
		}
		a, b := want*(1-eps), want*(1+eps)
		return got >= min(a, b) && got <= max(a, b)
	}
}

func (p *pair) oneReal(same closeTo) {
	if want, got := p.ans.real(), p.out.real(); !same(want, got) {
		p.wrong("the number differs by more than the tolerance", shortest(got), shortest(want))
	}
}

func (p *pair) eachReal(same closeTo) {
	for !p.ans.ended() {
		p.oneReal(same)
	}
}

func yesno(p *pair) {
	want := upper(p.ans.word())
	got := upper(p.out.word())
	if want != "YES" && want != "NO" {
		p.ans.broken("the token is neither YES nor NO", []byte(want))
	}
	if got != "YES" && got != "NO" {
		p.out.broken("the token is neither YES nor NO", []byte(got))
	}
	if got != want {
		p.wrong(tokenDiffer, []byte(got), []byte(want))
	}
}

func manyYesno(p *pair) {
	for !p.ans.ended() && !p.out.ended() {
		yesno(p)
	}
	p.longer(func(s *side) { s.word() })
}

// upper turns the first bytes of a token into capitals; more than quoteMax tell
// nothing but that it is neither yes nor no.
func upper(tok []byte) string { return string(bytes.ToUpper(clip(tok))) }

func decimal(n int64) []byte { return strconv.AppendInt(nil, n, 10) }

func shortest(v float64) []byte { return strconv.AppendFloat(nil, v, 'g', -1, 64) }
