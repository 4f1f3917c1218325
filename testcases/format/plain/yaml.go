package plain

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"judgefarm/judge"
)

// maxYAML bounds the files that describe a package.
const maxYAML = 64 << 10

// document is a YAML file that is read key by key, so that each fault is told
// with its line. Anchors and aliases are refused: no such file needs them.
type document struct {
	r    *reader
	name string
}

// parse returns the top mapping; nil when the file is empty or was refused.
func (r *reader) parse(name string) (document, *yaml.Node) {
	d := document{r, name}
	b, ok := r.read(name, maxYAML)
	if !ok {
		return d, nil
	}
	dec := yaml.NewDecoder(bytes.NewReader(b))
	var root, second yaml.Node
	switch err := dec.Decode(&root); {
	case errors.Is(err, io.EOF):
		return d, nil
	case err != nil:
		r.refuse(name, "is not YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
		return d, nil
	}
	if err := dec.Decode(&second); !errors.Is(err, io.EOF) {
		r.refuse(name, "must be one YAML document")
		return d, nil
	}
	return d, root.Content[0]
}

// refuse names the line of the node.
func (d document) refuse(n *yaml.Node, format string, args ...any) {
	d.r.refuse(d.name, "line %d: %s", n.Line, fmt.Sprintf(format, args...))
}

// each calls f for every key of a mapping. A null node is an empty mapping.
func (d document) each(n *yaml.Node, what string, f func(key string, k, v *yaml.Node)) {
	if n == nil || n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return
	}
	if n.Kind != yaml.MappingNode {
		d.refuse(n, "%s must be a mapping of keys to values", what)
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Kind != yaml.ScalarNode {
			d.refuse(k, "%s must have plain keys", what)
			continue
		}
		if seen[k.Value] {
			d.refuse(k, "key %.64q is there twice", k.Value)
			continue
		}
		seen[k.Value] = true
		f(k.Value, k, v)
	}
}

// text reads a scalar.
func (d document) text(n *yaml.Node, what string) string {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		d.refuse(n, "%s must be a text", what)
		return ""
	}
	return n.Value
}

// list reads a list of scalars, or one scalar as a list of one.
func (d document) list(n *yaml.Node, what string) []string {
	if n.Kind == yaml.ScalarNode {
		return []string{d.text(n, what)}
	}
	if n.Kind != yaml.SequenceNode {
		d.refuse(n, "%s must be a list", what)
		return nil
	}
	var all []string
	for _, item := range n.Content {
		all = append(all, d.text(item, what))
	}
	return all
}

// duration reads "1.5s" or "500ms"; a bare number has no unit and is refused.
func (d document) duration(n *yaml.Node, what string) time.Duration {
	v, err := time.ParseDuration(d.text(n, what))
	if err != nil || v <= 0 {
		d.refuse(n, "%s must be a time with its unit, such as 1s or 500ms, is %.64q", what, n.Value)
		return 0
	}
	return v
}

// size reads a binary size: bytes, or with K, M or G.
func (d document) size(n *yaml.Node, what string) judge.Bytes {
	v, ok := parseSize(d.text(n, what))
	if !ok {
		d.refuse(n, "%s must be a size such as 256M or 1G (binary), is %.64q", what, n.Value)
	}
	return v
}

func parseSize(s string) (judge.Bytes, bool) {
	unit := judge.Bytes(1)
	for suffix, u := range map[string]judge.Bytes{"K": judge.KiB, "M": judge.MiB, "G": judge.GiB} {
		if rest, ok := strings.CutSuffix(s, suffix); ok {
			s, unit = rest, u
			break
		}
	}
	v, err := strconv.ParseInt(s, 10, 64)
	if err != nil || v <= 0 || v > 1<<50/int64(unit) {
		return 0, false
	}
	return judge.Bytes(v) * unit, true
}

// count reads a positive whole number.
func (d document) count(n *yaml.Node, what string) int {
	v, err := strconv.Atoi(d.text(n, what))
	if err != nil || v <= 0 {
		d.refuse(n, "%s must be a whole number above 0, is %.64q", what, n.Value)
		return 0
	}
	return v
}
