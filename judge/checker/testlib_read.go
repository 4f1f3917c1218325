package checker

import (
	"bytes"
	"math"
	"regexp"
	"strconv"

	"judgefarm/judge"
)

// testlibToken is the longest token that testlib reads.
const testlibToken = 32 << 20

// pair is the output and the answer as testlib's checkers read them. The first thing
// found ends the comparison: whatever is read afterwards is empty.
type pair struct {
	out, ans *side
	found    *difference
}

// side is one of the two.
type side struct {
	*stream
	pair   *pair
	answer bool

	tokens   int // read so far
	atLine   int // where the last one begins
	atColumn int64
}

// differ notes a difference at the last token.
func (s *side) differ(what string, got, want []byte) *difference {
	d := differ(what, s.stream, got, want)
	if s.tokens > 0 {
		d.token, d.line, d.column = s.tokens, s.atLine, s.atColumn
	}
	return d
}

// wrong notes that what was read of the output is not what was read of the answer.
func (p *pair) wrong(what string, got, want []byte) {
	if p.found == nil {
		p.found = p.out.differ(what, got, want)
	}
}

// broken notes that a side cannot be read: a wrong format of the output, or the
// problem's fault.
func (s *side) broken(what string, got []byte) {
	if s.pair.found == nil {
		s.pair.found = s.differ(what, got, nil)
		s.pair.found.verdict, s.pair.found.answer = judge.PresentationError, s.answer
	}
}

// ended skips white space and reports whether nothing is left to be read.
func (s *side) ended() bool { return s.pair.found != nil || !s.skip(&narrow) }

// word reads a token, which is valid until the side is read again.
func (s *side) word() []byte {
	if s.pair.found != nil {
		return nil
	}
	if !s.skip(&narrow) {
		s.broken("the data ends, more was expected", nil)
		return nil
	}
	s.tokens, s.atLine, s.atColumn = s.tokens+1, s.line, s.column
	tok, whole := s.token()
	if whole {
		s.consumed(len(tok))
		return tok
	}
	var long bytes.Buffer
	for {
		long.Write(tok)
		s.consumed(len(tok))
		if long.Len() > testlibToken {
			s.broken("the token is too long", tok)
			return nil
		}
		if whole {
			return long.Bytes()
		}
		tok, whole = s.token()
	}
}

// whole reads a number of 64 bits, written without plus and leading zeros.
func (s *side) whole() int64 {
	tok := s.word()
	n, ok := wholeNumber(tok)
	if !ok {
		s.broken("the token is no integer of 64 bits", tok)
	}
	return n
}

// small reads a number of 32 bits.
func (s *side) small() int64 {
	tok := s.word()
	n, ok := wholeNumber(tok)
	if !ok || n < math.MinInt32 || n > math.MaxInt32 {
		s.broken("the token is no integer of 32 bits", tok)
	}
	return n
}

func wholeNumber(tok []byte) (n int64, ok bool) {
	digits := bytes.TrimPrefix(tok, []byte("-"))
	if len(tok) > 20 || len(digits) == 0 || digits[0] == '0' && len(tok) > 1 {
		return 0, false
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
	}
	n, err := strconv.ParseInt(string(tok), 10, 64)
	return n, err == nil
}

// dangling is an exponent without digits, which glibc's scanf takes and leaves out.
var dangling = regexp.MustCompile(`[eE][+-]?$`)

// real reads a number as testlib does with glibc's scanf: out of range it is infinite,
// while inf, nan and hexadecimal numbers are none.
func (s *side) real() float64 {
	tok := s.word()
	for _, c := range tok {
		if (c < '0' || c > '9') && bytes.IndexByte([]byte(".eE+-"), c) < 0 {
			s.broken("the token is no number", tok)
			return 0
		}
	}
	text := tok
	if at := dangling.FindIndex(tok); at != nil && bytes.IndexAny(tok, "eE") == at[0] {
		text = tok[:at[0]]
	}
	v, err := strconv.ParseFloat(string(text), 64)
	if err != nil && !math.IsInf(v, 0) {
		s.broken("the token is no number", tok)
	}
	return v
}

// endOfLine is what lineByte returns instead of a byte.
const endOfLine = -1

// lineByte consumes the next byte of a line, or what ends it: a line feed, CR LF or
// the end of data. A carriage return elsewhere is dropped and the byte after it is
// taken as it is, as testlib does; at the end of data that byte is 255.
func (s *side) lineByte() int {
	b := s.peek(2)
	switch {
	case len(b) == 0:
		return endOfLine
	case b[0] == '\n':
		s.advance(1)
		return endOfLine
	case b[0] != '\r':
		s.consumed(1)
		return int(b[0])
	case len(b) == 1:
		s.consumed(1)
		return 255
	case b[1] == '\n':
		s.advance(2)
		return endOfLine
	}
	c := int(b[1])
	s.consumed(2)
	return c
}

// atEnd reports whether no byte is left.
func (s *side) atEnd() bool { return len(s.peek(1)) == 0 }
