package dmoj

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"judgefarm/internal/manifest"
	"judgefarm/judge"
)

// values is a mapping of a YAML file. What it does not state is its parent's: a case
// has what its batch states, and that what the file does.
type values struct {
	r      *reader
	d      manifest.Document
	at     *yaml.Node
	own    map[string]entry
	order  []string
	parent *values
}

type entry struct{ key, value *yaml.Node }

// Bounds of what "<<" and aliases may make of a small file.
const (
	maxMerges = 16   // mappings that take in others that take in others
	maxKeys   = 1000 // that are looked at for one mapping
	maxItems  = 1000 // of a list of arguments
)

// open reads a mapping with those that it takes in by "<<". DMOJ reads keys with
// hyphens as those with underscores.
func (r *reader) open(d manifest.Document, n *yaml.Node, what string, parent *values) *values {
	v := &values{r: r, d: d, at: n, own: map[string]entry{}, parent: parent}
	left := maxKeys
	v.fill(n, what, 0, &left)
	return v
}

// fill takes in the keys of a mapping, of which so many are left.
func (v *values) fill(n *yaml.Node, what string, depth int, left *int) {
	if *left < 0 || n == nil { // told already, or nothing is stated
		return
	}
	if *left -= 1 + len(resolve(n).Content)/2; *left < 0 || depth > maxMerges {
		v.d.Refuse(n, "more than %d mappings take in each other, or have more than %d keys together", maxMerges, maxKeys)
		*left = -1
		return
	}
	var merged []*yaml.Node
	v.d.Each(n, what, func(key string, k, val *yaml.Node) {
		if k.Tag == "!!merge" || key == "<<" {
			merged = append(merged, val)
			return
		}
		if key = strings.ReplaceAll(key, "-", "_"); v.own[key].key == nil {
			v.own[key] = entry{k, val}
			v.order = append(v.order, key)
		}
	})
	for _, m := range merged {
		if manifest.Kind(m) == yaml.SequenceNode {
			for _, one := range items(m) {
				v.fill(one, "<<", depth+1, left)
			}
			continue
		}
		v.fill(m, "<<", depth+1, left)
	}
}

// items are those of a list, or of what an alias stands for.
func items(n *yaml.Node) []*yaml.Node {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.SequenceNode {
		return nil
	}
	return n.Content
}

// get returns the value of a key, the parent's where it is not stated; nil is none.
func (v *values) get(key string) *yaml.Node {
	for ; v != nil; v = v.parent {
		if e, ok := v.own[key]; ok {
			if manifest.Null(e.value) {
				return nil
			}
			return e.value
		}
	}
	return nil
}

// local reports whether a case or its batch states the key, whatever the file does.
func (v *values) local(key string) bool {
	for ; v.parent != nil; v = v.parent {
		if _, ok := v.own[key]; ok {
			return true
		}
	}
	return false
}

// text is a scalar; "" is none.
func (v *values) text(key string) string {
	n := v.get(key)
	if n == nil {
		return ""
	}
	return v.d.Text(n, key)
}

// truth is a boolean in any of YAML's spellings; absent is false.
func (v *values) truth(key string, absent bool) bool {
	n := v.get(key)
	if n == nil {
		return absent
	}
	switch said := strings.ToLower(v.d.Text(n, key)); said {
	case "true", "yes", "on", "1":
		return true
	case "false", "no", "off", "0":
		return false
	default:
		v.d.Refuse(n, "%s must be true or false, is %.64q", key, said)
		return absent
	}
}

// score is a decimal number that is not less than 0.
func (v *values) score(key string, absent judge.Score) judge.Score {
	n := v.get(key)
	if n == nil {
		return absent
	}
	s := v.d.Score(n, key)
	if s.Sign() < 0 {
		v.d.Refuse(n, "%s must not be less than 0, is %v", key, s)
		return absent
	}
	return s
}

// list is one text or a list of texts.
func (v *values) list(key string) []string {
	n := v.get(key)
	if n == nil {
		return nil
	}
	all := v.d.List(n, key)
	if len(all) > maxItems {
		v.d.Refuse(n, "%s must be at most %d, are %d", key, maxItems, len(all))
		return nil
	}
	return all
}

// count is a whole number.
func (v *values) count(key string, absent, least, most int) int {
	n := v.get(key)
	if n == nil {
		return absent
	}
	return v.d.Count(n, key, least, most)
}

// keys says what is done with a key.
type keys map[string]string

// What look does with a key that is no concern of the place where it stands.
const (
	fine    = ""        // it is read, or changes no verdict
	topOnly = "topOnly" // it is one for all cases
)

// look tells what of a mapping is not read: a key that runs code, one that is
// supported for the whole problem only, and one that the format does not know.
func (v *values) look(known keys) {
	for _, key := range v.order {
		e := v.own[key]
		use, ok := known[key]
		switch {
		case strings.HasSuffix(key, "+"):
			v.d.Refuse(e.key, "%.64q is a dynamic key, Python code that makes a value, which is not supported: write the value", key)
		case !ok:
			v.d.Note(e.key, "unknown key %.64q is not read", key)
		case use == topOnly && !manifest.Null(e.value):
			v.d.Refuse(e.key, "%s is supported for the whole problem, not for single cases: state it at the top of %s", key, manifestName)
		case use != fine && use != topOnly:
			v.d.Refuse(e.key, "%s", use)
		}
	}
}

// topKeys are those of init.yml itself.
var topKeys = keys{
	"test_cases": fine, "pretest_test_cases": fine, "archive": fine, "points": fine, "in": fine, "out": fine,
	"checker": fine, "generator": fine, "generator_args": fine, "generator_in": fine, "validator": fine,
	"interactive": fine, "custom_judge": fine, "signature_grader": fine, "unbuffered": fine, "binary_data": fine,
	"hints": fine, "symlinks": fine, "file_io": fine, "wall_time_factor": fine, "output_limit_length": fine,
	"output_prefix_length": fine, "short_circuit": fine, "time_limit": fine, "memory_limit": fine,
	"dependencies": "dependencies are those of one batch: state them there",
}

// caseKeys are those of a case, batchKeys those of a batch.
var (
	caseKeys = keys{
		"in": fine, "out": fine, "points": fine, "binary_data": fine, "generator": fine, "generator_args": fine, "generator_in": fine,
		"output_prefix_length": fine, "short_circuit": fine, "checker": fine, "symlinks": fine, "wall_time_factor": fine, "output_limit_length": fine,
		"file_io": topOnly, "time_limit": topOnly, "memory_limit": topOnly, "unbuffered": topOnly, "interactive": topOnly, "custom_judge": topOnly,
		"signature_grader": topOnly, "batched": "batches must not be nested", "dependencies": "dependencies are those of a batch, not of a case",
	}
	batchKeys = func() keys {
		all := keys{"batched": fine, "dependencies": fine}
		for key, use := range caseKeys {
			if _, ok := all[key]; !ok {
				all[key] = use
			}
		}
		return all
	}()
)

// number is a scalar as a whole number of any sign, where it is one.
func number(n *yaml.Node) (int, bool) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	i, err := strconv.Atoi(n.Value)
	return i, n.Kind == yaml.ScalarNode && err == nil
}

// only reports whether v has keys beside these, and notes them.
func (v *values) only(what string, known ...string) {
	for _, key := range v.order {
		if !slices.Contains(known, key) {
			v.d.Note(v.own[key].key, "unknown key %.64q of %s is not read", key, what)
		}
	}
}
