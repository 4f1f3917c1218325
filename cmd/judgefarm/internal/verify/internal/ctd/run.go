// Package ctd runs scripts in Checktestdata, the language in which many packages
// describe their inputs. https://github.com/DOMjudge/checktestdata specifies it. A
// script is not a program of strangers in the usual sense: it has no way to the host,
// and what it may cost is bounded here.
package ctd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
)

// Bounds of a run.
const (
	maxSteps     = 100_000_000 // commands
	maxVariables = 2_000_000   // values kept at one time, by their cost
)

// Mismatch says that the input is not what the script describes.
type Mismatch struct {
	Line, Column int // of the input
	Script       int // line of the script
	Text         string
}

func (m *Mismatch) Error() string {
	return fmt.Sprintf("line %d, column %d: %s (line %d of the script)", m.Line, m.Column, m.Text, m.Script)
}

// Check reports a *Mismatch when the input is not what the script describes, an
// *Error when the script is wrong, or ctx's cause.
func (s *Script) Check(ctx context.Context, input []byte) error {
	return s.check(ctx, input, maxSteps)
}

func (s *Script) check(ctx context.Context, input []byte, most int) error {
	m := &machine{ctx: ctx, most: most, in: input, sought: s.sought, vars: map[string]map[string]value{}, patterns: map[string]*pattern{}, has: map[string]map[string]int{}}
	err := m.block(s.body)
	if err == nil {
		err = m.eof(&node{op: "EOF", line: m.last})
	}
	return err
}

// machine is one run.
type machine struct {
	ctx      context.Context
	in       []byte
	at       int
	vars     map[string]map[string]value // by name, by indices
	count    int                         // cost of the values in vars
	sought   map[string]bool             // variables for which has is kept
	has      map[string]map[string]int   // how often a variable has a value, by key
	patterns map[string]*pattern
	steps    int
	most     int // steps
	last     int // line of the command that ran last
}

// off is a mismatch at a place of the input.
func (m *machine) off(at int, c *node, format string, args ...any) error {
	before := m.in[:at]
	return &Mismatch{
		Line: bytes.Count(before, []byte("\n")) + 1, Column: at - bytes.LastIndexByte(before, '\n'),
		Script: c.line, Text: fmt.Sprintf(format, args...),
	}
}

// wrong is an error of the script where it runs.
func wrong(n *node, err error) error {
	var known *Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	return &Error{n.line, err.Error()}
}

func (m *machine) block(commands []*node) error {
	for _, c := range commands {
		if err := m.command(c); err != nil {
			return err
		}
	}
	return nil
}

func (m *machine) command(c *node) error {
	if err := m.step(c); err != nil {
		return err
	}
	m.last = c.line
	switch c.op {
	case "SPACE":
		return m.literal(c, " ", "a blank")
	case "NEWLINE":
		return m.literal(c, "\n", "the end of the line")
	case "EOF":
		return m.eof(c)
	case "INT":
		return m.integer(c)
	case "FLOAT", "FLOATP":
		return m.float(c)
	case "STRING":
		return m.fixed(c)
	case "REGEX":
		return m.regex(c)
	case "ASSERT":
		ok, err := m.test(c.kids[0])
		if err == nil && !ok {
			err = m.off(m.at, c, "an assertion does not hold")
		}
		return err
	case "SET":
		for i := 0; i < len(c.kids); i += 2 {
			v, err := m.eval(c.kids[i+1])
			if err == nil {
				err = m.set(c.kids[i], v)
			}
			if err != nil {
				return err
			}
		}
		return nil
	case "UNSET":
		for _, v := range c.kids {
			for _, val := range m.vars[v.name] {
				m.count -= val.cost()
			}
			delete(m.vars, v.name)
			delete(m.has, v.name)
		}
		return nil
	case "IF":
		ok, err := m.test(c.kids[0])
		if err != nil {
			return err
		}
		if ok {
			return m.block(c.body)
		}
		return m.block(c.els)
	}
	return m.loop(c)
}

// step counts, and ends what takes too long.
func (m *machine) step(c *node) error {
	if m.steps++; m.steps > m.most {
		return fail(c.line, "the script takes more than %d steps", m.most)
	}
	if m.steps%4096 == 0 && m.ctx.Err() != nil {
		return context.Cause(m.ctx)
	}
	return nil
}

// loop runs REP, REPI, WHILE and WHILEI.
func (m *machine) loop(c *node) error {
	times := uint64(math.MaxUint64)
	if c.op == "REP" || c.op == "REPI" {
		v, err := m.eval(c.kids[0])
		if err != nil {
			return err
		}
		if v.int == nil || v.int.Sign() < 0 || v.int.BitLen() > 32 {
			return fail(c.line, "%s must count up to an integer of 32 bits, is %v", c.op, v)
		}
		times = v.int.Uint64()
	}
	for i := uint64(0); ; i++ {
		if c.dest != nil {
			if err := m.set(c.dest, intValue(new(big.Int).SetUint64(i))); err != nil {
				return err
			}
		}
		more := i < times
		if times == math.MaxUint64 {
			var err error
			if more, err = m.test(c.kids[0]); err != nil {
				return err
			}
		}
		if !more {
			return nil
		}
		if err := m.step(c); err != nil { // a loop may be empty
			return err
		}
		if i > 0 && c.sep != nil {
			if err := m.command(c.sep); err != nil {
				return err
			}
		}
		if err := m.block(c.body); err != nil {
			return err
		}
	}
}

// index is the key of a variable's indices.
func (m *machine) index(v *node) (string, error) {
	if len(v.kids) == 0 {
		return "", nil
	}
	var b strings.Builder
	for _, k := range v.kids {
		n, err := m.eval(k)
		if err != nil {
			return "", err
		}
		if n.int == nil {
			return "", fail(v.line, "an index must be an integer, is %v", n)
		}
		b.WriteString(n.int.String())
		b.WriteByte(',')
	}
	return b.String(), nil
}

func (m *machine) set(v *node, val value) error {
	key, err := m.index(v)
	if err != nil {
		return err
	}
	if m.vars[v.name] == nil {
		m.vars[v.name] = map[string]value{}
	}
	was, known := m.vars[v.name][key]
	if known {
		m.count -= was.cost()
	}
	if m.count += val.cost(); m.count > maxVariables {
		return fail(v.line, "the script keeps more than %d values", maxVariables)
	}
	m.vars[v.name][key] = val
	if m.sought[v.name] {
		if m.has[v.name] == nil {
			m.has[v.name] = map[string]int{}
		}
		if known {
			if m.has[v.name][was.key()]--; m.has[v.name][was.key()] == 0 {
				delete(m.has[v.name], was.key())
			}
		}
		m.has[v.name][val.key()]++
	}
	return nil
}

// eval computes an expression.
func (m *machine) eval(n *node) (value, error) {
	switch n.op {
	case "value":
		return n.val, nil
	case "variable":
		key, err := m.index(n)
		if err != nil {
			return value{}, err
		}
		v, ok := m.vars[n.name][key]
		if !ok {
			return value{}, fail(n.line, "variable %s[%s] has no value", n.name, strings.TrimSuffix(key, ","))
		}
		return v, nil
	}
	args := make([]value, len(n.kids))
	for i, k := range n.kids {
		v, err := m.eval(k)
		if err != nil {
			return value{}, err
		}
		args[i] = v
		m.steps += v.cost() - 1 // long numbers take long
	}
	switch n.op {
	case "STRLEN":
		if !args[0].isStr {
			return value{}, fail(n.line, "STRLEN is for texts, not for %v", args[0])
		}
		return intOf(int64(len(args[0].text))), nil
	case "negative":
		v, err := arithmetic("-", intOf(0), args[0])
		return v, wrong(n, err)
	}
	v, err := arithmetic(n.op, args[0], args[1])
	return v, wrong(n, err)
}
