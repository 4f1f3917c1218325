package checker

import (
	"bytes"
	"math/big"
	"strings"
	"testing"
)

func TestParseNumber(t *testing.T) {
	t.Parallel()
	numbers := []string{
		"0", "-0", "+5", "007", "1.", ".5", "-.5", "1.25", "1e5", "1E+5", "1.e-5", "0e999999999", "0.0e-5",
		"9007199254740993", "1e308", "9e308", "1e-307", "0." + strings.Repeat("0", 400) + "1e400",
	}
	words := []string{
		"", "+", "-", ".", "-.", "e5", "1e", "100e", "0e+", "0e-", "1e5.0", "1e5e5", "0x0", "0x1p3", "1_0", "1,5", "--1", "+-1",
		"nan", "NaN", "inf", "-Infinity", "1.2.3", "1f", "1\x00", "\x001", " 1", "\uff11", "1e-4000", "1e309", "1e-308", "1e99999999999999999999",
		strings.Repeat("1", maxNumber+1),
	}
	for _, s := range numbers {
		n, ok := parseNumber([]byte(s))
		if !ok {
			t.Errorf("%.40q: got a word, want a number", s)
			continue
		}
		want, _ := new(big.Rat).SetString(strings.Replace(s, "999999999", "0", 1))
		if want == nil || n.rat().Cmp(want) != 0 {
			t.Errorf("%.40q: got %s, want %s", s, n.rat(), want)
		}
	}
	for _, s := range words {
		if n, ok := parseNumber([]byte(s)); ok {
			t.Errorf("%.40q: got number %s, want a word", s, n.text)
		}
	}
}

func TestWithin(t *testing.T) {
	t.Parallel()
	tests := []struct {
		abs, rel, want, got string
		within              bool
	}{
		{"1e-6", "0", "1", "1.000001", true}, // at the tolerance is within
		{"1e-6", "0", "1", "1.0000010000000000000001", false},
		{"0", "1e-6", "1000000", "1000001", true},
		{"0", "1e-6", "1000000", "1000001.0000000000000001", false},
		{"0", "1e-6", "-1000000", "-1000001", true},
		{"0", "1e-6", "0", "1e-300", false}, // relative to the answer alone
		{"1e-6", "1e-6", "0", "1e-6", true},
		{"0", "0", "9007199254740993", "9007199254740992", false}, // one double for both
		{"0", "0", "9007199254740993", "9007199254740993.0", true},
		{"0", "0", "0.1", "0.1000000000000000055511151231257827", false},
		{"1", "0", "123456789012345678901234567890", "123456789012345678901234567891", true},
		{"1", "0", "123456789012345678901234567890", "123456789012345678901234567892", false},
		{"1e-6", "1e-6", "9e308", "9.000001e308", true}, // above the largest double
		{"1e-6", "1e-6", "9e308", "9.1e308", false},
		{"1e-6", "1e-6", "9e308", "-9e308", false},
		{"0", "1e-6", "1e-307", "1.0000001e-307", true},
		{"0", "1e-6", "1e-307", "2e-307", false},
		{"0", "0", "0", "-0", true},
	}
	for _, tt := range tests {
		want, _ := parseNumber([]byte(tt.want))
		got, _ := parseNumber([]byte(tt.got))
		if within := newTolerance(tt.abs, tt.rel).within(got, want); within != tt.within {
			t.Errorf("abs %s rel %s: want %s, got %s: within is %v", tt.abs, tt.rel, tt.want, tt.got, within)
		}
	}
}

// Everything that the grammar takes has one exact value, and doubles never
// decide otherwise than that value does.
func FuzzNumber(f *testing.F) {
	for _, s := range []string{"0", "1e-6", "-.5e+3", "100e", "0x0", "1_0", "nan", "1e308", "9007199254740993"} {
		f.Add([]byte(s), []byte("1"))
	}
	tol := newTolerance("1e-6", "1e-6")
	f.Fuzz(func(t *testing.T, a, b []byte) {
		x, okX := parseNumber(a)
		y, okY := parseNumber(b)
		if !okX || !okY {
			return
		}
		diff := new(big.Rat).Sub(x.rat(), y.rat())
		bound := y.rat()
		bound.Mul(bound.Abs(bound), tol.rel)
		if bound.Cmp(tol.abs) < 0 {
			bound = tol.abs
		}
		if got, want := tol.within(x, y), diff.Abs(diff).Cmp(bound) <= 0; got != want {
			t.Errorf("%s and %s: within is %v, want %v", a, b, got, want)
		}
	})
}

// The streaming rules agree with what the standard library says of the whole.
func FuzzTokens(f *testing.F) {
	f.Add([]byte("1 2\n3"), []byte("1  2 3\r\n"))
	f.Add([]byte("a\x00"), []byte("a"))
	f.Add([]byte("a \t\nb\n\n"), []byte("a\nb"))
	f.Fuzz(func(t *testing.T, ans, out []byte) {
		check := func(name string, find rule, want bool) {
			diff := find(memory(t, out), memory(t, ans))
			if got := diff == nil; got != want {
				t.Errorf("%s: answer %q, output %q: equal is %v, want %v", name, ans, out, got, want)
			}
		}
		isSpace := func(r rune) bool { return r < 256 && space[r] }
		words := func(b []byte) []byte { return bytes.Join(bytes.FieldsFunc(latin1(b), isSpace), []byte{' '}) }
		check("tokens", equalTokens, bytes.Equal(words(ans), words(out)))
		check("exact", equalBytes, bytes.Equal(ans, out))
		check("lines", equalLines, bytes.Equal(trimmed(ans), trimmed(out)))
	})
}

// latin1 makes one rune of each byte.
func latin1(b []byte) []byte {
	runes := make([]rune, len(b))
	for i, c := range b {
		runes[i] = rune(c)
	}
	return []byte(string(runes))
}

func trimmed(b []byte) []byte {
	var all [][]byte
	for line := range bytes.SplitSeq(b, []byte{'\n'}) {
		all = append(all, bytes.TrimRight(line, " \t\v\f\r"))
	}
	return bytes.TrimRight(bytes.Join(all, []byte{'\n'}), "\n")
}
