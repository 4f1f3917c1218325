package languages

import (
	"bytes"
	"fmt"
	"regexp"

	"go.yaml.in/yaml/v3"
)

// Pattern is a regular expression (RE2) of a definition. Of a file only the first
// patternBytes are looked at.
type Pattern struct{ re *regexp.Regexp }

// patternBytes bounds what one match costs.
const patternBytes = 64 << 10

// Match reports whether the expression is found in the data's first 64 KiB.
func (p *Pattern) Match(data []byte) bool { return p.re.Match(data[:min(len(data), patternBytes)]) }

// groups are what the expression's groups held, joined, of each match in the first 64 KiB.
func (p *Pattern) groups(data []byte) (all []string) {
	for _, m := range p.re.FindAllSubmatch(data[:min(len(data), patternBytes)], -1) {
		all = append(all, string(bytes.Join(m[1:], []byte{0})))
	}
	return all
}

// String is the expression as it was written.
func (p *Pattern) String() string { return p.re.String() }

// MarshalText makes JSON show the expression.
func (p *Pattern) MarshalText() ([]byte, error) { return []byte(p.re.String()), nil }

// UnmarshalYAML compiles the expression.
func (p *Pattern) UnmarshalYAML(node *yaml.Node) error {
	re, err := regexp.Compile(node.Value)
	if err == nil && (node.Kind != yaml.ScalarNode || node.Value == "") {
		err = fmt.Errorf("must be a regular expression")
	}
	if err != nil {
		return &yaml.TypeError{Errors: []string{fmt.Sprintf("line %d: %v", node.Line, err)}}
	}
	p.re = re
	return nil
}
