package checker

import (
	"math"
	"math/big"
	"strconv"
)

// The grammar of a number, as docs/checkers.md states it:
//
//	[+-]? ( digits [. digits?]? | . digits ) ( [eE] [+-]? digits )?
//
// at most maxNumber bytes long, and either zero or of a magnitude from 1e-307 to
// below 1e309. That is what every language's printf makes of a finite double.
// Anything else (nan, inf, 0x10, 1_0, 100e, 0e+, 1e-4000) is a word.
const (
	maxNumber   = 1024
	minExponent = -307
	maxExponent = 308
)

// number is a token that follows the grammar. Its value is the text's, exactly.
type number struct {
	text []byte // the token itself: valid as long as that
	zero bool
}

// parseNumber reads a token; ok is false for a word.
func parseNumber(tok []byte) (n number, ok bool) {
	if len(tok) > maxNumber {
		return number{}, false
	}
	i := sign(tok, 0)
	start := i
	whole := digits(tok, i)
	i += whole
	fraction := 0
	if i < len(tok) && tok[i] == '.' {
		fraction = digits(tok, i+1)
		i += 1 + fraction
	}
	if whole+fraction == 0 {
		return number{}, false
	}
	lead, zero := leading(tok[start:i], whole)
	exp, ok := exponent(tok[i:])
	if !ok {
		return number{}, false
	}
	if !zero && (lead+exp < minExponent || lead+exp > maxExponent) {
		return number{}, false
	}
	return number{text: tok, zero: zero}, true
}

func sign(tok []byte, i int) int {
	if i < len(tok) && (tok[i] == '+' || tok[i] == '-') {
		return i + 1
	}
	return i
}

func digits(tok []byte, i int) int {
	n := 0
	for i+n < len(tok) && '0' <= tok[i+n] && tok[i+n] <= '9' {
		n++
	}
	return n
}

// leading returns the power of ten of the first digit that is not zero.
func leading(mantissa []byte, whole int) (power int, zero bool) {
	power = whole - 1
	for _, c := range mantissa {
		switch c {
		case '.':
			continue
		case '0':
			power--
		default:
			return power, false
		}
	}
	return 0, true
}

// exponent reads the exponent part, which must be all of the rest. It stops
// counting far outside the range of numbers.
func exponent(rest []byte) (exp int, ok bool) {
	if len(rest) == 0 {
		return 0, true
	}
	if rest[0] != 'e' && rest[0] != 'E' {
		return 0, false
	}
	i := sign(rest, 1)
	n := digits(rest, i)
	if n == 0 || i+n != len(rest) {
		return 0, false
	}
	for _, c := range rest[i:] {
		exp = min(exp*10+int(c-'0'), 1_000_000)
	}
	if rest[1] == '-' {
		exp = -exp
	}
	return exp, true
}

// rat is the exact value. Zero is made apart: 0e1000000 must not build a million
// digits.
func (n number) rat() *big.Rat {
	r := new(big.Rat)
	if !n.zero {
		if _, ok := r.SetString(string(n.text)); !ok {
			panic("checker: the grammar let through " + strconv.Quote(string(n.text)))
		}
	}
	return r
}

func (n number) float() float64 {
	if n.zero {
		return 0
	}
	f, _ := strconv.ParseFloat(string(n.text), 64) // out of range is infinite, which near does not trust
	return f
}

// tolerance is how far a number may be from the answer's: by abs, or by rel of
// the answer's magnitude, whichever allows more.
type tolerance struct {
	abs, rel           *big.Rat
	absFloat, relFloat float64
}

func newTolerance(abs, rel string) tolerance {
	a, _ := parseNumber([]byte(abs))
	r, _ := parseNumber([]byte(rel))
	return tolerance{abs: a.rat(), rel: r.rat(), absFloat: a.float(), relFloat: r.float()}
}

// within reports |got - want| <= max(abs, rel * |want|), exactly. Doubles decide
// where their own error cannot matter, which is nearly always; rationals else.
func (t tolerance) within(got, want number) bool {
	g, w := got.float(), want.float()
	diff, allowed := math.Abs(g-w), max(t.absFloat, t.relFloat*math.Abs(w))
	// Each of the few roundings above is off by at most 2^-53 of its operands; 2^-48
	// of all of them and the smallest magnitudes is a bound with room to spare.
	err := (math.Abs(g)+math.Abs(w)+diff+allowed)*0x1p-48 + 1e-300
	switch {
	case math.IsInf(err, 0) || math.IsNaN(diff):
	case diff+err < allowed:
		return true
	case diff-err > allowed:
		return false
	}
	exact := new(big.Rat).Sub(got.rat(), want.rat())
	bound := want.rat()
	bound.Mul(bound.Abs(bound), t.rel)
	if bound.Cmp(t.abs) < 0 {
		bound = t.abs
	}
	return exact.Abs(exact).Cmp(bound) <= 0
}
