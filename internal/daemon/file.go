package daemon

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"sort"
	"strings"

	"github.com/alecthomas/kong"
	"go.yaml.in/yaml/v3"
)

// fileValues are the values of a configuration file as text by flag name. Texts go
// through the same mappers as flags do, so a value means the same everywhere.
type fileValues struct {
	path   string
	byFlag map[string]fileValue
}

type fileValue struct {
	line  int
	given any // string, or []any of strings for a list that no separator splits
}

// readFile reads a YAML file whose keys are names of flags; nested maps join with
// a dash, so "s3: {bucket: b}" is --s3-bucket. One file may serve all commands: a
// key is known when any command has the flag. Everything else is an error that
// names the line and the key; all such faults are told at once.
func readFile(path string, model *kong.Application) (*fileValues, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read --config: %w", err)
	}
	defer f.Close()
	r := &fileReader{path: path, flags: map[string]*kong.Flag{}, values: map[string]fileValue{}}
	r.learn(model.Node)

	var doc yaml.Node
	dec := yaml.NewDecoder(f)
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return &fileValues{path: path}, nil // empty, or comments only
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read %s: must hold one YAML document", path)
	}
	r.walk("", doc.Content[0])
	if err := errors.Join(r.faults...); err != nil {
		return nil, err
	}
	return &fileValues{path: path, byFlag: r.values}, nil
}

type fileReader struct {
	path   string
	flags  map[string]*kong.Flag
	values map[string]fileValue
	faults []error
}

func (r *fileReader) learn(node *kong.Node) {
	for _, flag := range node.Flags {
		switch {
		case flag.Name == "config" || len(flag.Envs) == 0: // makes no sense in a file
		default:
			r.flags[flag.Name] = flag
		}
	}
	for _, child := range node.Children {
		r.learn(child)
	}
}

func (r *fileReader) fault(n *yaml.Node, format string, args ...any) {
	r.faults = append(r.faults, fmt.Errorf("%s:%d: %s", r.path, n.Line, fmt.Sprintf(format, args...)))
}

// walk takes the keys of one map; under is what the keys above it joined to.
func (r *fileReader) walk(under string, n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		r.fault(n, "%smust be a map of flag names to values", strings.TrimPrefix(under+" ", " "))
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		name := strings.Trim(under+"-"+key.Value, "-")
		flag, known := r.flags[name]
		switch {
		case known:
			r.take(name, flag, key, value)
		case value.Kind == yaml.MappingNode && r.isSection(name):
			r.walk(name, value)
		default:
			r.fault(key, "unknown key %q%s", key.Value, r.suggest(under, name))
		}
	}
}

func (r *fileReader) take(name string, flag *kong.Flag, key, value *yaml.Node) {
	if first, twice := r.values[name]; twice {
		r.fault(key, "key %q is stated twice, first in line %d", key.Value, first.line)
		return
	}
	given, err := givenOf(flag, value)
	if err != nil {
		r.fault(value, "key %q: %v", key.Value, err)
		return
	}
	r.values[name] = fileValue{line: key.Line, given: given}
}

func (r *fileReader) isSection(name string) bool {
	for flag := range r.flags {
		if strings.HasPrefix(flag, name+"-") {
			return true
		}
	}
	return false
}

// suggest names the flags that share the most with the unknown one.
func (r *fileReader) suggest(under, name string) string {
	var near []string
	for flag := range r.flags {
		if nearlySame(flag, name) {
			near = append(near, strings.TrimPrefix(strings.TrimPrefix(flag, under), "-"))
		}
	}
	sort.Strings(near)
	if len(near) == 0 {
		return ""
	}
	return ": did you mean " + strings.Join(near, " or ") + "?"
}

// nearlySame holds for names that differ in separators only or by one edit.
func nearlySame(a, b string) bool {
	fold := strings.NewReplacer("_", "", "-", "", ".", "")
	a, b = fold.Replace(strings.ToLower(a)), fold.Replace(strings.ToLower(b))
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) == len(b) {
		return i == len(a) || a[i+1:] == b[i+1:]
	}
	return a[i:] == b[i+1:]
}

// givenOf writes a YAML value as the flag takes it on the command line.
func givenOf(flag *kong.Flag, n *yaml.Node) (any, error) {
	switch {
	case n.Kind == yaml.ScalarNode && n.Tag == "!!null":
		return nil, errors.New("has no value; leave the key out instead")
	case n.Kind == yaml.ScalarNode:
		return n.Value, nil
	case n.Kind == yaml.SequenceNode && flag.IsSlice():
		items, err := scalars(n)
		if flag.Tag.Sep == -1 {
			return anyOf(items), err
		}
		return kong.JoinEscaped(items, flag.Tag.Sep), err
	case n.Kind == yaml.MappingNode && flag.IsMap():
		items, err := scalars(n)
		var pairs []string
		for i := 0; i+1 < len(items); i += 2 {
			pairs = append(pairs, items[i]+"="+items[i+1])
		}
		return kong.JoinEscaped(pairs, flag.Tag.MapSep), err
	case n.Kind == yaml.AliasNode:
		return nil, errors.New("must not be a YAML alias")
	}
	return nil, errors.New("must be a plain value")
}

func anyOf(items []string) []any {
	given := make([]any, len(items))
	for i, item := range items {
		given[i] = item
	}
	return given
}

func scalars(n *yaml.Node) ([]string, error) {
	items := make([]string, 0, len(n.Content))
	for _, item := range n.Content {
		if item.Kind != yaml.ScalarNode {
			return nil, errors.New("must hold plain values only")
		}
		items = append(items, item.Value)
	}
	return items, nil
}

// Validate implements kong.Resolver; the keys were checked when the file was read.
func (v *fileValues) Validate(*kong.Application) error { return nil }

// Resolve implements kong.Resolver. kong asks resolvers after it read variables,
// and lets them win; here the variable does.
func (v *fileValues) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	value, ok := v.byFlag[flag.Name]
	if !ok || len(flag.Envs) == 0 || inEnvironment(flag) {
		return nil, nil
	}
	// Tried here so that the error can name the file and the line.
	scan := kong.Scan().PushTyped(value.given, kong.FlagValueToken)
	trial := reflect.New(flag.Target.Type()).Elem()
	if err := flag.Mapper.Decode(&kong.DecodeContext{Value: flag.Value, Scan: scan}, trial); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", v.path, value.line, err)
	}
	return value.given, nil
}
