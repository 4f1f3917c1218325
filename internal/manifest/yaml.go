package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"judgefarm/judge"
)

// maxYAML bounds the files that describe a package.
const maxYAML = 256 << 10

// Document is a YAML file that is read key by key, so that each fault is told with
// its line.
type Document struct {
	f    *Folder
	Name string
	Root *yaml.Node // nil when the file is empty or was refused
}

// YAML reads a file of the package.
func (f *Folder) YAML(name string) Document { return f.YAMLWith(name, nil) }

// YAMLWith reads a file of the package whose text is changed before it is read; nil
// changes nothing. Lines are told as they are in the changed text.
func (f *Folder) YAMLWith(name string, change func([]byte) []byte) Document {
	d := Document{f: f, Name: name}
	b, ok := f.Read(name, maxYAML)
	if !ok {
		return d
	}
	if change != nil {
		b = change(b)
	}
	dec := yaml.NewDecoder(bytes.NewReader(b))
	var root, second yaml.Node
	switch err := dec.Decode(&root); {
	case errors.Is(err, io.EOF):
		return d
	case err != nil:
		f.Refuse(name, "is not YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
		return d
	}
	if err := dec.Decode(&second); !errors.Is(err, io.EOF) {
		f.Refuse(name, "must be one YAML document")
		return d
	}
	d.Root = root.Content[0]
	return d
}

// meant is the node that an alias stands for. Nothing is expanded: a node is looked at
// as often as a reader asks for it, so no document grows beyond its text.
func meant(n *yaml.Node) *yaml.Node {
	if n != nil && n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// Refuse adds a fault at the node's line.
func (d Document) Refuse(n *yaml.Node, format string, args ...any) {
	d.f.Refuse(d.Name, "line %d: %s", n.Line, fmt.Sprintf(format, args...))
}

// Note adds what is odd at the node's line.
func (d Document) Note(n *yaml.Node, format string, args ...any) {
	d.f.Note(d.Name, "line %d: %s", n.Line, fmt.Sprintf(format, args...))
}

// Null reports whether there is no value.
func Null(n *yaml.Node) bool {
	n = meant(n)
	return n == nil || n.Kind == yaml.ScalarNode && n.Tag == "!!null"
}

// Each calls f for every key of a mapping, in order. No value is an empty mapping.
func (d Document) Each(n *yaml.Node, what string, f func(key string, k, v *yaml.Node)) {
	if Null(n) {
		return
	}
	n = meant(n)
	if n.Kind != yaml.MappingNode {
		d.Refuse(n, "%s must be a mapping of keys to values", what)
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Kind != yaml.ScalarNode {
			d.Refuse(k, "%s must have plain keys", what)
			continue
		}
		if seen[k.Value] {
			d.Refuse(k, "key %.64q is there twice", k.Value)
			continue
		}
		seen[k.Value] = true
		f(k.Value, k, v)
	}
}

// Text reads a scalar.
func (d Document) Text(n *yaml.Node, what string) string {
	n = meant(n)
	if n.Kind != yaml.ScalarNode || Null(n) {
		d.Refuse(n, "%s must be a text", what)
		return ""
	}
	return n.Value
}

// Kind is the node's, of what an alias stands for.
func Kind(n *yaml.Node) yaml.Kind { return meant(n).Kind }

// List reads a list of scalars, or one scalar as a list of one.
func (d Document) List(n *yaml.Node, what string) []string {
	n = meant(n)
	if n.Kind == yaml.ScalarNode {
		return []string{d.Text(n, what)}
	}
	if n.Kind != yaml.SequenceNode {
		d.Refuse(n, "%s must be a list", what)
		return nil
	}
	var all []string
	for _, item := range n.Content {
		all = append(all, d.Text(item, what))
	}
	return all
}

// Score reads a decimal number.
func (d Document) Score(n *yaml.Node, what string) judge.Score {
	s, err := judge.ParseScore(d.Text(n, what))
	if err != nil {
		d.Refuse(n, "%s %v", what, err)
	}
	return s
}

// Count reads a whole number from least to most.
func (d Document) Count(n *yaml.Node, what string, least, most int) int {
	v, err := strconv.Atoi(d.Text(n, what))
	if err != nil || v < least || v > most {
		d.Refuse(n, "%s must be a whole number from %d to %d, is %.64q", what, least, most, n.Value)
		return least
	}
	return v
}

// Bool reads true or false.
func (d Document) Bool(n *yaml.Node, what string) bool {
	v := d.Text(n, what)
	if v != "true" && v != "false" {
		d.Refuse(n, "%s must be true or false, is %.64q", what, v)
	}
	return v == "true"
}
