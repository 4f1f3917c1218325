package ctd

import (
	"fmt"
	"math/big"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
)

func (m *machine) rest() []byte { return m.in[m.at:] }

// found shows the next bytes of the input.
func (m *machine) found() string {
	if m.at == len(m.in) {
		return "the end of the input"
	}
	return strconv.Quote(string(m.in[m.at:min(m.at+20, len(m.in))]))
}

func (m *machine) literal(c *node, text, what string) error {
	if !strings.HasPrefix(string(m.in[m.at:min(m.at+len(text), len(m.in))]), text) {
		return m.off(m.at, c, "expected %s, found %s", what, m.found())
	}
	m.at += len(text)
	return nil
}

func (m *machine) eof(c *node) error {
	if m.at < len(m.in) {
		return m.off(m.at, c, "expected the end of the input, found %s", m.found())
	}
	return nil
}

func (m *machine) fixed(c *node) error {
	v, err := m.eval(c.kids[0])
	if err != nil {
		return err
	}
	if !v.isStr {
		return fail(c.line, "STRING is for texts, not for %v", v)
	}
	return m.literal(c, v.text, strconv.Quote(v.text))
}

// bounds are the two ends of a range, inclusive.
func (m *machine) bounds(c *node) (low, high value, err error) {
	if low, err = m.eval(c.kids[0]); err == nil {
		high, err = m.eval(c.kids[1])
	}
	if err == nil && (low.isStr || high.isStr) {
		err = fail(c.line, "the range of %s must be numbers", c.op)
	}
	return low, high, err
}

// inside checks a number that was read at a place, and keeps it.
func (m *machine) inside(c *node, at int, v value) error {
	low, high, err := m.bounds(c)
	if err != nil {
		return err
	}
	below, err1 := compare(v, low)
	above, err2 := compare(v, high)
	if err1 != nil || err2 != nil {
		return fail(c.line, "the range of %s must be numbers", c.op)
	}
	if below < 0 || above > 0 {
		return m.off(at, c, "%s is not from %v to %v", string(m.in[at:min(m.at, at+60)]), low, high)
	}
	if c.dest != nil {
		return m.set(c.dest, v)
	}
	return nil
}

// maxNumber bounds the digits of a number of the input.
const maxNumber = 100_000

// integer matches 0 or -?[1-9][0-9]*.
func (m *machine) integer(c *node) error {
	at := m.at
	n := 0
	if len(m.rest()) > 0 && m.rest()[0] == '-' {
		n = 1
	}
	digits := span(string(m.in[at+n:min(at+n+maxNumber+1, len(m.in))]), digit)
	text := string(m.in[at : at+n+digits])
	switch {
	case digits == 0:
		return m.off(at, c, "expected an integer, found %s", m.found())
	case digits > maxNumber:
		return m.off(at, c, "an integer has more than %d digits", maxNumber)
	case digits > 1 && text[n] == '0':
		return m.off(at, c, "an integer has a zero before it: %.60s", text)
	case text == "-0":
		return m.off(at, c, "-0 is no integer")
	}
	v, ok := new(big.Int).SetString(text, 10)
	if !ok {
		return m.off(at, c, "expected an integer, found %s", m.found())
	}
	m.at += len(text)
	return m.inside(c, at, intValue(v))
}

// floatForm is how floats are written.
var floatForm = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(?:\.([0-9]+))?([eE][+-]?(?:0|[1-9][0-9]*))?`)

func (m *machine) float(c *node) error {
	at := m.at
	window := m.in[at:min(at+maxNumber, len(m.in))]
	f := floatForm.FindSubmatch(window)
	if f == nil {
		return m.off(at, c, "expected a number, found %s", m.found())
	}
	text, exp := string(f[0]), string(f[3])
	switch after := window[len(text):]; {
	case c.name == "FIXED" && exp != "":
		text, exp = strings.TrimSuffix(text, exp), "" // what follows does not match what comes next
	case c.name == "SCIENTIFIC" && exp == "":
		return m.off(at, c, "expected an exponent after %.60s", text)
	case len(after) > 0 && (digit(after[0]) || after[0] == '.' || c.name == "" && exp == "" && (after[0] == 'e' || after[0] == 'E')):
		return m.off(at, c, "is no number: %.60s", string(window[:min(len(window), len(text)+10)]))
	}
	if c.op == "FLOATP" {
		if err := m.decimals(c, at, string(f[1]), string(f[2]), exp); err != nil {
			return err
		}
	}
	r, err := parseFloat(text)
	if err != nil {
		return m.off(at, c, "%v", err)
	}
	m.at += len(text)
	return m.inside(c, at, value{rat: r})
}

// decimals checks the places after the point.
func (m *machine) decimals(c *node, at int, before, after, exp string) error {
	var ends [2]int
	for i, k := range c.kids[2:4] {
		v, err := m.eval(k)
		if err != nil {
			return err
		}
		if v.int == nil || v.int.Sign() < 0 || v.int.BitLen() > 31 {
			return fail(c.line, "the decimals of FLOATP must be integers that are not negative, are %v", v)
		}
		ends[i] = int(v.int.Int64())
	}
	if exp != "" && (len(before) != 1 || before == "0" || after == "") {
		return m.off(at, c, "a number with an exponent must have one digit, which is not zero, before the point")
	}
	if len(after) < ends[0] || len(after) > ends[1] {
		return m.off(at, c, "a number has %d decimals, not %d to %d", len(after), ends[0], ends[1])
	}
	return nil
}

// pattern is a compiled regular expression, or why there is none.
type pattern struct {
	re  *regexp.Regexp
	err error
}

// compiled reads an extended regular expression: the longest match counts, a dot
// matches the end of a line too, and so ^ and $ are those of the whole input.
func compiled(expr string) *pattern {
	tree, err := syntax.Parse(expr, syntax.DotNL|syntax.OneLine)
	if err != nil {
		return &pattern{err: fmt.Errorf("%.100q is no regular expression: %w", expr, err)}
	}
	re, err := regexp.Compile(`\A(?:` + tree.String() + `)`)
	if err != nil {
		return &pattern{err: fmt.Errorf("%.100q is no regular expression: %w", expr, err)}
	}
	re.Longest()
	return &pattern{re: re}
}

func (m *machine) regex(c *node) error {
	v, err := m.eval(c.kids[0])
	if err != nil {
		return err
	}
	if !v.isStr {
		return fail(c.line, "REGEX is for texts, not for %v", v)
	}
	p := m.patterns[v.text]
	if p == nil {
		p = compiled(v.text)
		m.patterns[v.text] = p
	}
	if p.err != nil {
		return wrong(c, p.err)
	}
	found := p.re.FindIndex(m.rest())
	if found == nil {
		return m.off(m.at, c, "expected a match of %.100q, found %s", v.text, m.found())
	}
	text := string(m.in[m.at : m.at+found[1]])
	m.at += found[1]
	if c.dest != nil {
		return m.set(c.dest, textValue(text))
	}
	return nil
}
