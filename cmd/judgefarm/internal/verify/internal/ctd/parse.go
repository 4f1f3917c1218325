package ctd

import "slices"

// node is a command, a test or an expression.
type node struct {
	op   string // INT, REP, ...; &&, ==, MATCH, ...; +, value, variable, ...
	line int
	kids []*node

	val  value   // of a value
	name string  // of a variable or an option
	dest *node   // the variable that a command fills; nil for none
	sep  *node   // of a loop
	body []*node // of a loop, or of IF
	els  []*node // of IF
}

// Script is a program that describes an input.
type Script struct {
	body   []*node
	sought map[string]bool // variables that INARRAY looks through
}

// Parse reads a script. What is wrong with it is an *Error.
func Parse(src []byte) (*Script, error) {
	tokens, err := lex(string(src))
	if err != nil {
		return nil, err
	}
	p := &parser{tokens: tokens, sought: map[string]bool{}}
	body, err := p.block()
	if err == nil && p.peek().kind != end {
		err = p.unexpected("a command")
	}
	if err != nil {
		return nil, err
	}
	return &Script{body, p.sought}, nil
}

type parser struct {
	tokens []token
	at     int
	depth  int
	sought map[string]bool
}

func (p *parser) peek() token { return p.tokens[p.at] }

func (p *parser) next() token {
	t := p.tokens[p.at]
	if t.kind != end {
		p.at++
	}
	return t
}

// is reports whether the next token is this sign or word.
func (p *parser) is(text string) bool {
	t := p.peek()
	return (t.kind == sign || t.kind == word) && t.text == text
}

func (p *parser) take(text string) bool {
	if p.is(text) {
		p.at++
		return true
	}
	return false
}

func (p *parser) expect(text string) error {
	if !p.take(text) {
		return p.unexpected(`"` + text + `"`)
	}
	return nil
}

func (p *parser) unexpected(wanted string) error {
	return fail(p.peek().line, "expected %s, found %v", wanted, p.peek())
}

// deeper guards what nests; the returned function undoes it.
func (p *parser) deeper() (func(), error) {
	p.depth++
	if p.depth > maxDepth {
		return func() {}, fail(p.peek().line, "is nested more than %d deep", maxDepth)
	}
	return func() { p.depth-- }, nil
}

// block reads commands up to END, ELSE or the end.
func (p *parser) block() ([]*node, error) {
	undo, err := p.deeper()
	if err != nil {
		return nil, err
	}
	defer undo()
	var all []*node
	for p.peek().kind == word && !p.is("END") && !p.is("ELSE") {
		c, err := p.command()
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// command reads one command with what belongs to it.
func (p *parser) command() (*node, error) {
	if p.peek().kind != word {
		return nil, p.unexpected("a command")
	}
	t := p.next()
	c := &node{op: t.text, line: t.line}
	switch t.text {
	case "SPACE", "NEWLINE", "EOF":
		return c, nil
	case "INT", "FLOAT", "FLOATP", "STRING", "REGEX", "ASSERT", "SET", "UNSET", "REP", "REPI", "WHILE", "WHILEI", "IF":
	default:
		return nil, fail(t.line, "unknown command %s", t.text)
	}
	if err := p.expect("("); err != nil {
		return nil, err
	}
	if err := p.arguments(c); err != nil {
		return nil, err
	}
	if err := p.expect(")"); err != nil {
		return nil, err
	}
	return c, p.rest(c)
}

// arguments reads what is between the brackets of a command.
func (p *parser) arguments(c *node) error {
	switch c.op {
	case "INT":
		return p.matching(c, 2)
	case "FLOAT":
		return p.matching(c, 2)
	case "FLOATP":
		return p.matching(c, 4)
	case "STRING":
		return p.values(c, 1)
	case "REGEX":
		return p.matching(c, 1)
	case "ASSERT", "IF":
		return p.addTest(c)
	case "SET":
		return p.assignments(c)
	case "UNSET":
		return p.names(c)
	}
	return p.loop(c)
}

func (p *parser) values(c *node, n int) error {
	for i := range n {
		if i > 0 {
			if err := p.expect(","); err != nil {
				return err
			}
		}
		e, err := p.expr()
		if err != nil {
			return err
		}
		c.kids = append(c.kids, e)
	}
	return nil
}

// matching reads n expressions, perhaps the variable to fill, perhaps an option.
func (p *parser) matching(c *node, n int) (err error) {
	if err = p.values(c, n); err != nil || !p.take(",") {
		return err
	}
	if c.dest, err = p.variable(); err != nil || c.op != "FLOAT" && c.op != "FLOATP" || !p.take(",") {
		return err
	}
	if c.name = p.next().text; c.name != "FIXED" && c.name != "SCIENTIFIC" {
		return fail(c.line, "the option must be FIXED or SCIENTIFIC, is %q", c.name)
	}
	return nil
}

func (p *parser) assignments(c *node) error {
	for {
		v, err := p.variable()
		if err == nil {
			err = p.expect("=")
		}
		if err != nil {
			return err
		}
		e, err := p.expr()
		if err != nil {
			return err
		}
		c.kids = append(c.kids, v, e)
		if !p.take(",") {
			return nil
		}
	}
}

// names reads names of variables, without indices.
func (p *parser) names(c *node) error {
	for {
		t := p.next()
		if t.kind != name {
			return fail(t.line, "expected a variable, found %v", t)
		}
		c.kids = append(c.kids, &node{op: "variable", name: t.text, line: t.line})
		if !p.take(",") {
			return nil
		}
	}
}

func (p *parser) loop(c *node) (err error) {
	if c.op == "REPI" || c.op == "WHILEI" {
		if c.dest, err = p.variable(); err == nil {
			err = p.expect(",")
		}
		if err != nil {
			return err
		}
	}
	if c.op == "REP" || c.op == "REPI" {
		err = p.values(c, 1)
	} else {
		err = p.addTest(c)
	}
	if err != nil || !p.take(",") {
		return err
	}
	if c.sep, err = p.command(); err == nil && slices.Contains([]string{"REP", "REPI", "WHILE", "WHILEI", "IF"}, c.sep.op) {
		err = fail(c.sep.line, "%s cannot be a separator", c.sep.op)
	}
	return err
}

// rest reads what follows the brackets of a loop or IF, up to its END.
func (p *parser) rest(c *node) (err error) {
	switch c.op {
	case "REP", "REPI", "WHILE", "WHILEI", "IF":
	default:
		return nil
	}
	if c.body, err = p.block(); err != nil {
		return err
	}
	if c.op == "IF" && p.take("ELSE") {
		if c.els, err = p.block(); err != nil {
			return err
		}
	}
	if !p.take("END") {
		return fail(c.line, "%s has no END", c.op)
	}
	return nil
}
