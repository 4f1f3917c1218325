package ctd

import (
	"fmt"
	"strconv"
	"strings"
)

// Bounds of a script: more is no script that somebody wrote.
const (
	maxScript = 1 << 20 // bytes
	maxDepth  = 100     // of what is nested
	maxDigits = 1000    // of a number
)

// kind is that of a token.
type kind int

const (
	end  kind = iota
	word      // INT, NEWLINE, ...
	name      // of a variable
	integer
	float
	text
	sign // an operator, a bracket or a comma
)

type token struct {
	kind kind
	text string // of a text: what it stands for
	line int
}

func (t token) String() string {
	if t.kind == end {
		return "the end"
	}
	return strconv.Quote(t.text)
}

// Error is what is wrong with a script.
type Error struct {
	Line int
	Text string
}

func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Text) }

func fail(line int, format string, args ...any) error {
	return &Error{line, fmt.Sprintf(format, args...)}
}

// signs are the operators, the longer ones first.
var signs = []string{"<=", ">=", "==", "!=", "&&", "||", "<", ">", "=", "!", "+", "-", "*", "/", "%", "^", "(", ")", "[", "]", ","}

// lex cuts a script into tokens.
func lex(src string) ([]token, error) {
	if len(src) > maxScript {
		return nil, fail(1, "the script has more than %d bytes", maxScript)
	}
	var all []token
	line := 1
	for src != "" {
		c := src[0]
		switch {
		case c == '\n':
			line++
			src = src[1:]
			continue
		case c == ' ' || c == '\t' || c == '\r':
			src = src[1:]
			continue
		case c == '#':
			rest, _, more := strings.Cut(src, "\n")
			src = src[len(rest):]
			if !more {
				src = ""
			}
			continue
		}
		t, n, err := one(src, line)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
		line += strings.Count(src[:n], "\n")
		src = src[n:]
	}
	return append(all, token{end, "", line}), nil
}

// one reads a token of n bytes.
func one(src string, line int) (t token, n int, err error) {
	switch c := src[0]; {
	case c == '"':
		s, n, err := quoted(src, line)
		return token{text, s, line}, n, err
	case digit(c):
		return number(src, line)
	case lower(c):
		n = span(src, func(c byte) bool { return lower(c) || digit(c) })
		return token{name, src[:n], line}, n, nil
	case upper(c):
		n = span(src, upper)
		return token{word, src[:n], line}, n, nil
	}
	for _, s := range signs {
		if strings.HasPrefix(src, s) {
			return token{sign, s, line}, len(s), nil
		}
	}
	return token{}, 0, fail(line, "unexpected %q", src[:1])
}

func digit(c byte) bool { return '0' <= c && c <= '9' }
func lower(c byte) bool { return 'a' <= c && c <= 'z' }
func upper(c byte) bool { return 'A' <= c && c <= 'Z' }

func span(s string, is func(byte) bool) int {
	n := 0
	for n < len(s) && is(s[n]) {
		n++
	}
	return n
}

// number reads an integer or, with a point or an exponent, a float.
func number(src string, line int) (token, int, error) {
	n, k := span(src, digit), integer
	if n < len(src) && src[n] == '.' {
		k = float
		n++
		n += span(src[n:], digit)
	}
	if e := exponent(src[n:]); e > 0 {
		k = float
		n += e
	}
	if n > maxDigits {
		return token{}, 0, fail(line, "a number has more than %d digits", maxDigits)
	}
	return token{k, src[:n], line}, n, nil
}

// exponent is the length of "e-12" at the start of s, or 0.
func exponent(s string) int {
	if s == "" || s[0] != 'e' && s[0] != 'E' {
		return 0
	}
	n := 1
	if n < len(s) && (s[n] == '+' || s[n] == '-') {
		n++
	}
	d := span(s[n:], digit)
	if d == 0 {
		return 0
	}
	return n + d
}

// quoted reads a text with its escapes.
func quoted(src string, line int) (string, int, error) {
	var b strings.Builder
	for i := 1; i < len(src); i++ {
		switch c := src[i]; {
		case c == '"':
			return b.String(), i + 1, nil
		case c == '\\' && i+1 < len(src):
			used, err := escape(&b, src[i+1:], line)
			if err != nil {
				return "", 0, err
			}
			i += used
		default:
			b.WriteByte(c)
		}
	}
	return "", 0, fail(line, "a text has no end")
}

// escape writes what a backslash before s stands for, and tells how much of s it took.
func escape(b *strings.Builder, s string, line int) (int, error) {
	plain := map[byte]string{'n': "\n", 't': "\t", 'r': "\r", 'b': "\b", '"': `"`, '\\': `\`, '\n': ""}
	if text, ok := plain[s[0]]; ok {
		b.WriteString(text)
		return 1, nil
	}
	n := span(s[:min(3, len(s))], func(c byte) bool { return '0' <= c && c <= '7' })
	if n == 0 {
		b.WriteByte('\\')
		return 0, nil
	}
	v, err := strconv.ParseUint(s[:n], 8, 8)
	if err != nil {
		return 0, fail(line, `\%s is no character`, s[:n])
	}
	b.WriteByte(byte(v))
	return n, nil
}
