package plain

import (
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"judgefarm/internal/manifest"
	"judgefarm/judge"
)

// document is a YAML file of the package, with the units that only this format has.
type document struct {
	manifest.Document
	r *reader
}

func (r *reader) yaml(name string) document { return document{r.YAML(name), r} }

// duration reads "1.5s" or "500ms"; a bare number has no unit and is refused.
func (d document) duration(n *yaml.Node, what string) time.Duration {
	v, err := time.ParseDuration(d.Text(n, what))
	if err != nil || v <= 0 {
		d.Refuse(n, "%s must be a time with its unit, such as 1s or 500ms, is %.64q", what, n.Value)
		return 0
	}
	return v
}

// size reads a binary size: bytes, or with K, M or G.
func (d document) size(n *yaml.Node, what string) judge.Bytes {
	v, ok := parseSize(d.Text(n, what))
	if !ok {
		d.Refuse(n, "%s must be a size such as 256M or 1G (binary), is %.64q", what, n.Value)
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
