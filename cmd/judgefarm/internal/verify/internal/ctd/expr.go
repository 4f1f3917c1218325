package ctd

import "slices"

// expr reads sums. Operators of one rank group from the left.
func (p *parser) expr() (*node, error) {
	return p.binary([]string{"+", "-"}, func() (*node, error) {
		return p.binary([]string{"*", "/", "%"}, func() (*node, error) {
			return p.binary([]string{"^"}, p.factor)
		})
	})
}

func (p *parser) binary(ops []string, operand func() (*node, error)) (*node, error) {
	left, err := operand()
	for err == nil && p.peek().kind == sign && slices.Contains(ops, p.peek().text) {
		t := p.next()
		var right *node
		if right, err = operand(); err == nil {
			left = &node{op: t.text, line: t.line, kids: []*node{left, right}}
		}
	}
	return left, err
}

// factor is a value, a variable, a function, or something in brackets. A minus sign
// takes what follows it with all its powers.
func (p *parser) factor() (*node, error) {
	undo, err := p.deeper()
	if err != nil {
		return nil, err
	}
	defer undo()
	t := p.peek()
	switch {
	case p.take("-"):
		kid, err := p.binary([]string{"^"}, p.factor)
		return &node{op: "negative", line: t.line, kids: []*node{kid}}, err
	case p.take("("):
		e, err := p.expr()
		if err != nil {
			return nil, err
		}
		return e, p.expect(")")
	case p.take("STRLEN"):
		return p.call("STRLEN", t.line)
	case t.kind == name:
		return p.variable()
	case t.kind == integer || t.kind == float || t.kind == text:
		p.at++
		v, err := literal(t)
		return &node{op: "value", line: t.line, val: v}, err
	}
	return nil, p.unexpected("a value")
}

// call reads the one argument of a function.
func (p *parser) call(op string, line int) (*node, error) {
	c := &node{op: op, line: line}
	if err := p.expect("("); err != nil {
		return nil, err
	}
	if err := p.values(c, 1); err != nil {
		return nil, err
	}
	return c, p.expect(")")
}

// variable reads a name with its indices.
func (p *parser) variable() (*node, error) {
	t := p.next()
	if t.kind != name {
		return nil, fail(t.line, "expected a variable, found %v", t)
	}
	v := &node{op: "variable", name: t.text, line: t.line}
	if !p.take("[") {
		return v, nil
	}
	for {
		e, err := p.expr()
		if err != nil {
			return nil, err
		}
		v.kids = append(v.kids, e)
		if !p.take(",") {
			return v, p.expect("]")
		}
	}
}

func (p *parser) addTest(c *node) error {
	t, err := p.test()
	c.kids = append(c.kids, t)
	return err
}

// test reads tests; && and || have one rank.
func (p *parser) test() (*node, error) {
	return p.binary([]string{"&&", "||"}, p.simpleTest)
}

func (p *parser) simpleTest() (*node, error) {
	undo, err := p.deeper()
	if err != nil {
		return nil, err
	}
	defer undo()
	t := p.peek()
	switch {
	case p.take("!"):
		kid, err := p.simpleTest()
		return &node{op: "!", line: t.line, kids: []*node{kid}}, err
	case p.take("ISEOF"):
		return &node{op: "ISEOF", line: t.line}, nil
	case p.take("MATCH"):
		return p.call("MATCH", t.line)
	case p.is("UNIQUE") || p.is("INARRAY"):
		return p.arrays()
	}
	// A bracket may open a test or a part of an expression: only what follows tells.
	start := p.at
	c, first := p.comparison()
	if first == nil || !p.tokensIs(start, "(") {
		return c, first
	}
	p.at = start + 1
	if c, err = p.test(); err != nil {
		return nil, err
	}
	return c, p.expect(")")
}

func (p *parser) tokensIs(at int, text string) bool {
	return p.tokens[at].kind == sign && p.tokens[at].text == text
}

func (p *parser) comparison() (*node, error) {
	left, err := p.expr()
	if err != nil {
		return nil, err
	}
	t := p.peek()
	if t.kind != sign || !slices.Contains([]string{"<", ">", "<=", ">=", "==", "!="}, t.text) {
		return nil, p.unexpected("a comparison")
	}
	p.at++
	right, err := p.expr()
	return &node{op: t.text, line: t.line, kids: []*node{left, right}}, err
}

// arrays reads UNIQUE(a, b...) and INARRAY(value, a).
func (p *parser) arrays() (*node, error) {
	t := p.next()
	c := &node{op: t.text, line: t.line}
	err := p.expect("(")
	if err == nil && c.op == "INARRAY" {
		if err = p.values(c, 1); err == nil {
			err = p.expect(",")
		}
	}
	if err == nil {
		err = p.names(c)
	}
	if err == nil && c.op == "INARRAY" && len(c.kids) != 2 {
		err = fail(c.line, "INARRAY takes a value and a variable")
	}
	if err != nil {
		return nil, err
	}
	if c.op == "INARRAY" {
		p.sought[c.kids[1].name] = true
	}
	return c, p.expect(")")
}
