package polygon

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"judgefarm/internal/manifest"
	"judgefarm/judge"
)

// Bounds of problem.xml.
const (
	maxXML   = 16 << 20
	maxDepth = 32
	maxNodes = 500_000 // elements and attributes: 50,000 tests have 9 each
)

// node is an element of problem.xml. Elements are looked at one by one, so that each
// fault is told with its line.
type node struct {
	name  string
	attrs map[string]string
	text  []byte
	kids  []*node
	line  int
}

// parse reads a whole document. encoding/xml knows no entities but the five of XML,
// so nothing grows beyond its text.
func parse(b []byte) (*node, error) {
	d := xml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(b, []byte("\ufeff"))))
	var open []*node
	var root *node
	nodes := 0
	for {
		token, err := d.Token()
		line, _ := d.InputPos()
		switch {
		case errors.Is(err, io.EOF) && root != nil:
			return root, nil
		case err != nil:
			text := strings.TrimPrefix(err.Error(), "xml: ")
			if syntax, ok := errors.AsType[*xml.SyntaxError](err); ok {
				text = syntax.Msg
			}
			return nil, fmt.Errorf("line %d: is not XML: %s", line, text)
		}
		switch t := token.(type) {
		case xml.StartElement:
			n := &node{name: t.Name.Local, attrs: map[string]string{}, line: line}
			for _, a := range t.Attr {
				n.attrs[a.Name.Local] = a.Value
			}
			switch nodes += 1 + len(t.Attr); {
			case nodes > maxNodes:
				return nil, fmt.Errorf("line %d: has more than %d elements and attributes", line, maxNodes)
			case len(open) >= maxDepth:
				return nil, fmt.Errorf("line %d: has elements in more than %d others", line, maxDepth)
			case len(open) > 0:
				above := open[len(open)-1]
				above.kids = append(above.kids, n)
			case root != nil:
				return nil, fmt.Errorf("line %d: has a second element beside <%.64s>", line, root.name)
			default:
				root = n
			}
			open = append(open, n)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			if len(open) > 0 {
				above := open[len(open)-1]
				above.text = append(above.text, t...)
			}
		}
	}
}

// all are the elements of this name below n; n may be nil.
func (n *node) all(name string) []*node {
	var found []*node
	if n != nil {
		for _, k := range n.kids {
			if k.name == name {
				found = append(found, k)
			}
		}
	}
	return found
}

// at is the first element at a path of names below n, nil where there is none.
func (n *node) at(path ...string) *node {
	for _, name := range path {
		found := n.all(name)
		if len(found) == 0 {
			return nil
		}
		n = found[0]
	}
	return n
}

// attr is an attribute without the blanks around it; "" where it is absent.
func (n *node) attr(name string) string {
	if n == nil {
		return ""
	}
	return strings.TrimSpace(n.attrs[name])
}

// content is the text of an element, without the blanks around it.
func (n *node) content() string {
	if n == nil {
		return ""
	}
	return strings.TrimSpace(string(n.text))
}

// document ties elements to the faults of the package.
type document struct {
	*manifest.Folder
}

func (d document) refuse(n *node, format string, args ...any) {
	d.Refuse(manifestName, "line %d: %s", n.line, fmt.Sprintf(format, args...))
}

func (d document) note(n *node, format string, args ...any) {
	d.Note(manifestName, "line %d: %s", n.line, fmt.Sprintf(format, args...))
}

// flag reads an attribute that is true or false.
func (d document) flag(n *node, name string) bool {
	switch v := n.attr(name); v {
	case "true":
		return true
	case "", "false":
	default:
		d.refuse(n, "%s must be true or false, is %.64q", name, v)
	}
	return false
}

// score reads an attribute that is a number of points; nil where it is absent.
func (d document) score(n *node, name string) *judge.Score {
	v := n.attr(name)
	if v == "" {
		return nil
	}
	s, err := judge.ParseScore(v)
	if err == nil && s.Sign() < 0 {
		err = fmt.Errorf("must not be negative, is %.64q", v)
	}
	if err != nil {
		d.refuse(n, "%s %v", name, err)
		return nil
	}
	return &s
}
