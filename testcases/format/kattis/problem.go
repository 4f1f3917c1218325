package kattis

import (
	"bytes"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"judgefarm/internal/manifest"
	"judgefarm/judge"
	"judgefarm/testcases"
)

// What a package that states nothing is judged with: "typical system default".
const (
	defaultMemory = 2048 * judge.MiB
	defaultOutput = 8 * judge.MiB
	defaultCode   = 256 * judge.KiB // DOMjudge's; 128 KiB is Kattis'
	defaultPasses = 2
)

// validatorLimits are what a validator may use where the package states nothing.
func validatorLimits() judge.Limits {
	return judge.Limits{CPU: 60 * time.Second, Wall: 180 * time.Second, Memory: 2048 * judge.MiB, Output: 8 * judge.MiB}
}

// forPeople are keys of problem.yaml that change no judgement.
var forPeople = []string{
	"uuid", "version", "author", "credits", "source", "source_url", "license", "rights_owner", "embargo_until", "keywords",
	"libraries", "domjudge",
}

func (r *reader) readManifest() {
	p := r.p
	p.Limits = judge.Limits{Memory: defaultMemory, Output: defaultOutput}
	p.CodeSize = defaultCode
	p.CompileLimits = judge.Limits{CPU: 60 * time.Second, Memory: 2048 * judge.MiB}
	if !r.Has(manifestName) {
		r.rules(nil, manifest.Document{})
		return
	}
	d := r.yaml(manifestName)
	keys := map[string]*yaml.Node{}
	d.Each(d.Root, "the file", func(key string, k, v *yaml.Node) {
		keys[key] = v
		if key == "problem_format_version" {
			said := d.Text(v, key)
			known, ok := versions()[said]
			if !ok {
				d.Refuse(v, "problem_format_version %.64q is not known: %s are", said,
					strings.Join(slices.Sorted(maps.Keys(versions())), ", "))
			}
			r.version = known
		}
	})
	p.Sealed = r.version == v2025 || r.forDOMjudge // others may write where nothing is said
	d.Each(d.Root, "the file", func(key string, k, v *yaml.Node) { r.key(d, key, k, v) })
	r.rules(keys["limits"], d)
}

// key reads one key of problem.yaml. What is empty is not stated.
func (r *reader) key(d manifest.Document, key string, k, v *yaml.Node) {
	if manifest.Null(v) {
		return
	}
	switch key {
	case "problem_format_version", "limits":
	case "name":
		r.p.Name = name(d, v)
	case "type":
		for _, word := range words(d, v, key) {
			if !slices.Contains([]string{"pass-fail", "scoring", "interactive", "multi-pass", "submit-answer"}, word) {
				d.Refuse(v, "type %.64q is not known", word)
			}
			r.words[word] = true
		}
	case "validation":
		r.validation(d, v)
	case "validator_flags":
		r.flags = strings.Fields(d.Text(v, key))
	case "grading":
		r.grading(d, v)
	case "languages":
		if list := words(d, v, key); !slices.Equal(list, []string{"all"}) {
			for _, code := range list {
				r.p.Languages = append(r.p.Languages, languagesOf(code)...)
			}
		}
	case "constants":
		r.readConstants(d, v)
	case "allow_file_writing":
		r.p.Sealed = !d.Bool(v, key)
	default:
		switch {
		case slices.Contains(forPeople, key):
		case r.version == v2025:
			d.Refuse(k, "unknown key %.64q", key)
		default:
			d.Note(k, "unknown key %.64q is not read", key)
		}
	}
}

// validation reads "custom interactive score" and the like.
func (r *reader) validation(d manifest.Document, v *yaml.Node) {
	list := words(d, v, "validation")
	if len(list) == 0 || list[0] != "default" && list[0] != "custom" {
		d.Refuse(v, "validation must begin with default or custom, is %.64q", strings.Join(list, " "))
		return
	}
	for _, word := range list {
		if !slices.Contains([]string{"default", "custom", "interactive", "multi-pass", "score"}, word) {
			d.Refuse(v, "validation %.64q is not known", word)
		}
		r.words[word] = true
	}
}

// grading is deprecated but for what people see.
func (r *reader) grading(d manifest.Document, v *yaml.Node) {
	d.Each(v, "grading", func(key string, k, v *yaml.Node) {
		switch key {
		case "objective":
			if said := d.Text(v, key); said != "max" && said != "min" {
				d.Refuse(v, "objective must be min or max, is %.64q", said)
			} else if said == "min" && r.version != v2025 {
				r.least = true
			}
		case "show_test_data_groups":
		default:
			d.Note(k, "unknown key %.64q of grading is not read", key)
		}
	})
}

var constantName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)

// readConstants reads the values that stand for {{name}} in programs.
func (r *reader) readConstants(d manifest.Document, v *yaml.Node) {
	d.Each(v, "constants", func(key string, k, v *yaml.Node) {
		if !constantName.MatchString(key) {
			d.Refuse(k, "constant %.64q must be called by letters, digits and _, and not begin with a digit", key)
			return
		}
		if manifest.Kind(v) == yaml.ScalarNode {
			value := d.Text(v, "constant "+key)
			r.constants[key], r.constants[key+".value"] = value, value
			return
		}
		d.Each(v, "constant "+key, func(variant string, _, v *yaml.Node) {
			value := d.Text(v, "constant "+key)
			r.constants[key+"."+variant] = value
			if variant == "value" {
				r.constants[key] = value
			}
		})
		if _, ok := r.constants[key]; !ok {
			d.Refuse(v, "constant %.64q must have a value", key)
		}
	})
}

// substitute replaces constants in a file of at most so many bytes, which it may have
// afterwards too: a name is short and its value may be long.
func (r *reader) substitute(name string, b []byte, max int) []byte {
	if len(r.constants) == 0 {
		return b
	}
	var pairs []string
	for name, value := range r.constants {
		pairs = append(pairs, "{{"+name+"}}", value)
	}
	out := &bounded{left: max}
	if _, err := strings.NewReplacer(pairs...).WriteString(out, string(b)); err != nil {
		r.Refuse(name, "must be at most %d bytes with the values of its constants", max)
		return nil
	}
	if bytes.Equal(out.Bytes(), b) {
		return b
	}
	r.Keep(name, int64(out.Len()))
	return out.Bytes()
}

// bounded is a buffer that takes so many bytes and no more.
type bounded struct {
	bytes.Buffer
	left int
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		return 0, io.ErrShortWrite
	}
	return b.Buffer.Write(p)
}

func (b *bounded) WriteString(s string) (int, error) {
	if b.left -= len(s); b.left < 0 {
		return 0, io.ErrShortWrite
	}
	return b.Buffer.WriteString(s)
}

// rules settles limits and kind when all of problem.yaml is known.
func (r *reader) rules(limits *yaml.Node, d manifest.Document) {
	r.limits(d, limits)
	p := r.p
	if r.words["scoring"] {
		p.Score = &testcases.Aggregate{}
		if r.words["pass-fail"] {
			d.Refuse(d.Root, "type cannot be both scoring and pass-fail")
		}
	}
	if r.words["interactive"] {
		p.Kind = testcases.Interactive
	}
	if r.words["submit-answer"] {
		p.Kind = testcases.OutputOnly
		if r.words["interactive"] || r.words["multi-pass"] {
			d.Refuse(d.Root, "type submit-answer cannot be together with interactive or multi-pass")
		}
	}
	if !r.words["multi-pass"] {
		p.Passes = 0
	} else if p.Passes == 0 {
		p.Passes = defaultPasses
	}
}

func name(d manifest.Document, v *yaml.Node) string {
	if manifest.Kind(v) == yaml.ScalarNode {
		return d.Text(v, "name")
	}
	first, english := "", ""
	d.Each(v, "name", func(lang string, _, v *yaml.Node) {
		text := d.Text(v, "name")
		if first == "" {
			first = text
		}
		if lang == "en" {
			english = text
		}
	})
	if english != "" {
		return english
	}
	return first
}

// words reads a list, or a text of several words.
func words(d manifest.Document, v *yaml.Node, what string) []string {
	if manifest.Kind(v) == yaml.ScalarNode {
		return strings.Fields(d.Text(v, what))
	}
	return d.List(v, what)
}

// seconds converts exactly to the nanosecond.
func seconds(s judge.Score) time.Duration {
	return time.Duration(math.Round(s.Mul(judge.ScoreOf(int64(time.Second))).Float()))
}
