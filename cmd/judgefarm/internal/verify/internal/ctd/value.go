package ctd

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// value is an integer, a float, which is kept exactly, or a text.
type value struct {
	int   *big.Int
	rat   *big.Rat
	text  string
	isStr bool
}

func intValue(n *big.Int) value { return value{int: n} }
func textValue(s string) value  { return value{text: s, isStr: true} }
func intOf(n int64) value       { return value{int: big.NewInt(n)} }
func (v value) String() string  { return describe(v) }

func ratOf(v value) *big.Rat {
	if v.int != nil {
		return new(big.Rat).SetInt(v.int)
	}
	return v.rat
}

func describe(v value) string {
	switch {
	case v.isStr:
		return strconv.Quote(v.text)
	case v.int != nil:
		return v.int.String()
	}
	f, _ := v.rat.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// maxExponent bounds numbers like 1e1000, whose exact form is as long as that.
const maxExponent = 1000

// literal is the value of a number or text of a script.
func literal(t token) (value, error) {
	switch t.kind {
	case text:
		return textValue(t.text), nil
	case integer:
		n, ok := new(big.Int).SetString(t.text, 10)
		if !ok {
			return value{}, fail(t.line, "%q is no integer", t.text)
		}
		return intValue(n), nil
	}
	r, err := parseFloat(t.text)
	if err != nil {
		return value{}, fail(t.line, "%v", err)
	}
	return value{rat: r}, nil
}

// parseFloat reads a decimal number exactly.
func parseFloat(s string) (*big.Rat, error) {
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		e, err := strconv.Atoi(s[i+1:])
		if err != nil || e > maxExponent || e < -maxExponent {
			return nil, fmt.Errorf("the exponent of %.40q is beyond %d", s, maxExponent)
		}
	}
	r, ok := new(big.Rat).SetString(strings.TrimSuffix(s, "."))
	if !ok {
		return nil, fmt.Errorf("%.40q is no number", s)
	}
	return r, nil
}

// maxBits bounds what arithmetic may grow a number to.
const maxBits = 1 << 16

// arithmetic applies an operator. Integers stay integers.
func arithmetic(op string, a, b value) (value, error) {
	if a.isStr || b.isStr {
		return value{}, fmt.Errorf("%s is for numbers only: %v %s %v", op, a, op, b)
	}
	if op == "^" {
		return power(a, b)
	}
	if a.int != nil && b.int != nil {
		return whole(op, a.int, b.int)
	}
	x, y, r := ratOf(a), ratOf(b), new(big.Rat)
	switch op {
	case "+":
		r.Add(x, y)
	case "-":
		r.Sub(x, y)
	case "*":
		r.Mul(x, y)
	case "/":
		if y.Sign() == 0 {
			return value{}, fmt.Errorf("division by zero")
		}
		r.Quo(x, y)
	default:
		return value{}, fmt.Errorf("%% is for integers only")
	}
	return bounded(value{rat: r})
}

func whole(op string, x, y *big.Int) (value, error) {
	r := new(big.Int)
	switch op {
	case "+":
		r.Add(x, y)
	case "-":
		r.Sub(x, y)
	case "*":
		r.Mul(x, y)
	default:
		if y.Sign() == 0 {
			return value{}, fmt.Errorf("division by zero")
		}
		if op == "/" {
			r.Quo(x, y)
		} else {
			r.Rem(x, y)
		}
	}
	return bounded(intValue(r))
}

func power(a, b value) (value, error) {
	if b.int == nil || b.int.Sign() < 0 || !b.int.IsInt64() {
		return value{}, fmt.Errorf("an exponent must be an integer that is not negative, is %v", b)
	}
	n, r := b.int.Int64(), ratOf(a)
	one := big.NewInt(1)
	if r.IsInt() && r.Num().CmpAbs(one) <= 0 { // 0, 1, -1: as large as it gets
		n = min(n, n%2+2)
	}
	if bits := int64(r.Num().BitLen() + r.Denom().BitLen()); n > maxBits || bits*n > 4*maxBits {
		return value{}, fmt.Errorf("%v^%v is too large", a, b)
	}
	exp := big.NewInt(n)
	if a.int != nil {
		return bounded(intValue(new(big.Int).Exp(a.int, exp, nil)))
	}
	num, den := new(big.Int).Exp(r.Num(), exp, nil), new(big.Int).Exp(r.Denom(), exp, nil)
	return bounded(value{rat: new(big.Rat).SetFrac(num, den)})
}

func bounded(v value) (value, error) {
	if v.int != nil && v.int.BitLen() > 4*maxBits || v.rat != nil && v.rat.Num().BitLen()+v.rat.Denom().BitLen() > 8*maxBits {
		return value{}, fmt.Errorf("a number is too large")
	}
	return v, nil
}

// cost is 1, and for a number as many as it has times 64 bytes. A text is a part of
// the input or of the script, which are bounded themselves.
func (v value) cost() int {
	switch {
	case v.int != nil:
		return 1 + v.int.BitLen()/512
	case v.rat != nil:
		return 1 + (v.rat.Num().BitLen()+v.rat.Denom().BitLen())/512
	}
	return 1
}

// compare is -1, 0 or 1. Texts compare with texts only.
func compare(a, b value) (int, error) {
	switch {
	case a.isStr && b.isStr:
		return strings.Compare(a.text, b.text), nil
	case a.isStr || b.isStr:
		return 0, fmt.Errorf("a text cannot be compared with a number: %v and %v", a, b)
	case a.int != nil && b.int != nil:
		return a.int.Cmp(b.int), nil
	}
	return ratOf(a).Cmp(ratOf(b)), nil
}

// key tells values apart; equal numbers have one key.
func (v value) key() string {
	if v.isStr {
		return "s" + v.text
	}
	return "n" + ratOf(v).RatString()
}
