package judge

import (
	"fmt"
	"math/big"
	"strings"
)

// Score is an exact number of points, or a share of them. The zero value is 0. It
// is immutable: the methods return new values. Arithmetic is that of fractions, so
// a third of 100 points, three times, is 100.
type Score struct{ rat *big.Rat } // nil is 0

// Bounds of what ParseScore reads: more digits or a larger exponent mean nothing
// for points, and would cost time without end.
const (
	maxScoreText     = 100
	maxScoreExponent = 60
)

// ParseScore reads a decimal number: digits with at most one point among them, a
// sign, an exponent of at most 60. It refuses NaN, infinities, hexadecimal numbers
// and fractions, which no format of problems writes.
func ParseScore(text string) (Score, error) {
	refused := fmt.Errorf("must be a decimal number, is %.64q", text)
	if text == "" || len(text) > maxScoreText {
		return Score{}, refused
	}
	mantissa, exponent, scaled := strings.Cut(strings.ToLower(text), "e")
	digits := strings.TrimLeft(mantissa, "+-")
	if len(mantissa)-len(digits) > 1 || strings.Trim(digits, "0123456789.") != "" ||
		strings.Count(digits, ".") > 1 || strings.Trim(digits, ".") == "" {
		return Score{}, refused
	}
	if scaled {
		var e int
		if n, err := fmt.Sscanf(exponent+" ", "%d ", &e); n != 1 || err != nil ||
			strings.Trim(strings.TrimLeft(exponent, "+-"), "0123456789") != "" || e > maxScoreExponent || e < -maxScoreExponent {
			return Score{}, refused
		}
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return Score{}, refused
	}
	return Score{r}, nil
}

// ScoreOf is a whole number of points.
func ScoreOf(n int64) Score { return Score{big.NewRat(n, 1)} }

// ShareOf is the fraction a/b; b must not be 0.
func ShareOf(a, b int64) Score { return Score{big.NewRat(a, b)} }

func (s Score) value() *big.Rat {
	if s.rat == nil {
		return new(big.Rat)
	}
	return s.rat
}

// Add returns s + t.
func (s Score) Add(t Score) Score { return Score{new(big.Rat).Add(s.value(), t.value())} }

// Sub returns s - t.
func (s Score) Sub(t Score) Score { return Score{new(big.Rat).Sub(s.value(), t.value())} }

// Mul returns s x t.
func (s Score) Mul(t Score) Score { return Score{new(big.Rat).Mul(s.value(), t.value())} }

// Div returns s / n; n must not be 0.
func (s Score) Div(n int64) Score { return Score{new(big.Rat).Quo(s.value(), big.NewRat(n, 1))} }

// Over returns s / t; t must not be 0.
func (s Score) Over(t Score) Score { return Score{new(big.Rat).Quo(s.value(), t.value())} }

// Cmp returns -1, 0 or 1 as s is less than, equal to or greater than t.
func (s Score) Cmp(t Score) int { return s.value().Cmp(t.value()) }

// Sign returns -1, 0 or 1.
func (s Score) Sign() int { return s.value().Sign() }

// Float is the nearest double, for documents.
func (s Score) Float() float64 {
	f, _ := s.value().Float64()
	return f
}

// String is exact where the number has a decimal form of at most 30 places; else
// it is rounded to 12.
func (s Score) String() string {
	if places, exact := s.value().FloatPrec(); exact && places <= 30 {
		return s.value().FloatString(places)
	}
	return s.value().FloatString(12)
}

// MarshalText gives the exact form, a fraction where it must be, so that scores
// can be part of a digest.
func (s Score) MarshalText() ([]byte, error) { return []byte(s.value().RatString()), nil }

// maxExactText bounds what UnmarshalText reads.
const maxExactText = 1000

// UnmarshalText reads what MarshalText gave: a whole number or a fraction.
func (s *Score) UnmarshalText(text []byte) error {
	number, below, fraction := strings.Cut(string(text), "/")
	digits := strings.TrimPrefix(number, "-")
	r, ok := new(big.Rat), false
	if len(text) <= maxExactText && digits != "" && strings.Trim(digits+below, "0123456789") == "" && (!fraction || strings.Trim(below, "0") != "") {
		r, ok = r.SetString(string(text))
	}
	if !ok {
		return fmt.Errorf("must be a whole number or a fraction, is %.64q", text)
	}
	s.rat = r
	return nil
}
