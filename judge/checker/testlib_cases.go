package checker

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
)

// Checkers of outputs that have "Case N:" before what they answer to test case N.

// caseHead reads "Case" and "N:".
func (s *side) caseHead(n int, seen bool) {
	if !seen {
		if tok := s.word(); string(tok) != "Case" {
			s.broken(`the token is not "Case"`, tok)
		}
	}
	if tok := s.word(); string(tok) != fmt.Sprintf("%d:", n) {
		s.broken(fmt.Sprintf(`the token is not "%d:"`, n), tok)
	}
}

// numberOfCases is caseicmp: one number for each test case.
func numberOfCases(p *pair) {
	var want []int64
	for n := 1; !p.ans.ended(); n++ {
		p.ans.caseHead(n, false)
		want = append(want, p.ans.whole())
	}
	n, differs := 0, 0
	for !p.out.ended() {
		n++
		p.out.caseHead(n, false)
		if v := p.out.whole(); n <= len(want) && want[n-1] != v && differs == 0 {
			differs = n
		}
	}
	switch {
	case differs > 0:
		p.wrong(fmt.Sprintf("the number of test case %d differs", differs), nil, nil)
	case n != len(want):
		p.out.broken(fmt.Sprintf("the output has %d test cases, not as many as were expected", n), nil)
	}
}

// eachCase compares sequences, test case by test case. read adds a token of a test
// case to a sum, which is all that is kept of the sequence.
func (p *pair) eachCase(read func(*side, []byte, hash.Hash)) {
	var seen, seenOut bool // "Case" of the next test case was read
	for n := 1; !p.ans.ended(); n++ {
		want := p.ans.oneCase(n, &seen, read)
		got := p.out.oneCase(n, &seenOut, read)
		if !bytes.Equal(want, got) {
			p.wrong(fmt.Sprintf("test case %d differs", n), nil, nil)
		}
	}
}

func (s *side) oneCase(n int, seen *bool, read func(*side, []byte, hash.Hash)) []byte {
	s.caseHead(n, *seen)
	sum := sha256.New()
	for !s.ended() {
		tok := s.word()
		if string(tok) == "Case" {
			*seen = true
			break
		}
		read(s, tok, sum)
	}
	return sum.Sum(nil)
}

// numberOfCase reads a token as a text of C, which a NUL byte ends: so casencmp does.
func (s *side) numberOfCase(tok []byte, sum hash.Hash) {
	number, _, _ := bytes.Cut(tok, []byte{0})
	n, ok := wholeNumber(number)
	if !ok {
		s.broken("the token is no integer of 64 bits", tok)
	}
	sum.Write(binary.BigEndian.AppendUint64(nil, uint64(n)))
}

func (s *side) wordOfCase(tok []byte, sum hash.Hash) {
	sum.Write(binary.BigEndian.AppendUint64(nil, uint64(len(tok))))
	sum.Write(tok)
}
