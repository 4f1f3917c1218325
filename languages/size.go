package languages

import (
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"judgefarm/judge"
)

// Size is a judge.Bytes that a definition writes as a whole number with an
// optional binary suffix: 512, 64K, 256M, 1G.
type Size judge.Bytes

// Bytes converts.
func (s Size) Bytes() judge.Bytes { return judge.Bytes(s) }

// UnmarshalYAML reads a size.
func (s *Size) UnmarshalYAML(node *yaml.Node) error {
	size, err := parseSize(node.Value)
	if err != nil || node.Kind != yaml.ScalarNode {
		return &yaml.TypeError{Errors: []string{fmt.Sprintf("line %d: size must be like 64K, 256M or 1G, is %q", node.Line, node.Value)}}
	}
	*s = size
	return nil
}

func parseSize(text string) (Size, error) {
	unit := judge.Bytes(1)
	digits := text
	for suffix, u := range map[string]judge.Bytes{"K": judge.KiB, "M": judge.MiB, "G": judge.GiB} {
		if rest, ok := strings.CutSuffix(text, suffix); ok {
			digits, unit = rest, u
		}
	}
	n, err := strconv.ParseUint(digits, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("parse size %q: %w", text, err)
	}
	return Size(judge.Bytes(n) * unit), nil
}
