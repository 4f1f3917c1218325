package kattis

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"judgefarm/internal/manifest"
	"judgefarm/judge"
)

// maxConfig bounds a configuration with the values of its constants.
const maxConfig = 1 << 20

// config is what configures a folder of test data.
type config struct {
	inputArgs  validatorArgs
	outputArgs []string
	args       []string // of the program

	// Before 2025-09; all of it is inherited.
	onReject       string // break or continue; "" is break
	custom         bool   // a grader of the package
	graderFlags    []string
	accept, reject *judge.Score
	least, most    *judge.Score // range; nil is none

	// 2025-09; none of it is inherited.
	max         *judge.Score
	unbounded   bool
	aggregation string
	after       []string
	static      *staticCase
}

// validatorArgs are those of input validators.
type validatorArgs struct {
	all    []string
	byName map[string][]string
}

func (r *reader) rootConfig() config { return r.config(dataFolder, config{}) }

// config reads the configuration of a folder, on top of what it inherits.
func (r *reader) config(folder string, above config) config {
	own := above
	if r.version == v2025 {
		own = config{}
	}
	own.max, own.unbounded, own.aggregation, own.after, own.static = nil, false, "", nil, nil
	for _, name := range []string{legacyName, groupName} {
		if r.Has(folder + "/" + name) {
			file := folder + "/" + name
			r.configured[file] = true
			d := r.YAMLWith(file, func(b []byte) []byte { return r.substitute(file, b, maxConfig) })
			d.Each(d.Root, "the file", func(key string, k, v *yaml.Node) {
				if !manifest.Null(v) {
					r.configKey(d, &own, key, k, v)
				}
			})
		}
	}
	return own
}

func (r *reader) configKey(d manifest.Document, own *config, key string, k, v *yaml.Node) {
	switch key {
	case "input_validator_flags":
		own.inputArgs = flagsOf(d, v, key)
	case "output_validator_flags":
		flags := flagsOf(d, v, key)
		own.outputArgs = flags.all
		for _, args := range flags.byName {
			own.outputArgs = args
		}
	case "input_validator_args":
		own.inputArgs = inputValidatorArgs(d, v)
	case "output_validator_args":
		own.outputArgs = words(d, v, key)
	case "args":
		own.args = d.List(v, key)
	case "input_visualizer_args", "output_visualizer_args", "full_feedback", "hint", "description":
	case "on_reject", "grading", "grader_flags", "accept_score", "reject_score", "range":
		r.legacyKey(d, own, key, v)
	case "max_score", "score_aggregation", "require_pass", "scoring":
		r.scoreKey(d, own, key, v)
	case "static_validation_score", "static_validator_args":
		r.staticKey(d, own, key, k, v)
	default:
		if r.version == v2025 {
			d.Refuse(k, "unknown key %.64q", key)
		} else {
			d.Note(k, "unknown key %.64q is not read", key)
		}
	}
}

// legacyKey reads the keys of graders.
func (r *reader) legacyKey(d manifest.Document, own *config, key string, v *yaml.Node) {
	score := func() *judge.Score {
		if r.p.Score == nil {
			d.Note(v, "%s is for scoring problems only", key)
		}
		s := d.Score(v, key)
		return &s
	}
	switch key {
	case "on_reject":
		own.onReject = d.Text(v, key)
		if own.onReject != "break" && own.onReject != "continue" {
			d.Refuse(v, "on_reject must be break or continue, is %.64q", own.onReject)
		}
	case "grading":
		own.custom = d.Text(v, key) == "custom"
		if v.Value != "custom" && v.Value != "default" {
			d.Refuse(v, "grading must be default or custom, is %.64q", v.Value)
		}
	case "grader_flags":
		own.graderFlags = words(d, v, key)
	case "accept_score":
		own.accept = score()
	case "reject_score":
		own.reject = score()
	case "range":
		own.least, own.most = bounds(d, v)
	}
}

// bounds reads "0 100"; infinities are no bound.
func bounds(d manifest.Document, v *yaml.Node) (least, most *judge.Score) {
	list := words(d, v, "range")
	if len(list) != 2 {
		d.Refuse(v, "range must be two numbers")
		return nil, nil
	}
	for i, to := range []**judge.Score{&least, &most} {
		if slices.Contains([]string{"-inf", "+inf", "inf"}, strings.ToLower(list[i])) {
			continue
		}
		s, err := judge.ParseScore(list[i])
		if err != nil {
			d.Refuse(v, "range %v", err)
			return nil, nil
		}
		*to = &s
	}
	if least != nil && most != nil && least.Cmp(*most) > 0 {
		d.Refuse(v, "range begins above its end")
	}
	return least, most
}

// scoreKey reads the keys of 2025-09, and "scoring" of its drafts.
func (r *reader) scoreKey(d manifest.Document, own *config, key string, v *yaml.Node) {
	if r.p.Score == nil {
		d.Refuse(v, "%s is for scoring problems only", key)
		return
	}
	switch key {
	case "max_score":
		own.max, own.unbounded = nil, d.Text(v, key) == "unbounded"
		if !own.unbounded {
			s := d.Score(v, key)
			if s.Sign() < 0 {
				d.Refuse(v, "max_score must not be negative")
			}
			own.max = &s
		}
	case "score_aggregation":
		own.aggregation = d.Text(v, key)
		if !slices.Contains([]string{"pass-fail", "sum", "min"}, own.aggregation) {
			d.Refuse(v, "score_aggregation must be pass-fail, sum or min, is %.64q", own.aggregation)
		}
	case "require_pass":
		own.after = words(d, v, key)
	case "scoring":
		d.Each(v, key, func(key string, k, v *yaml.Node) {
			switch key {
			case "score":
				s := d.Score(v, key)
				own.accept = &s
			case "max_score":
			case "aggregation":
				own.graderFlags = []string{d.Text(v, key)}
			default:
				d.Refuse(k, "unknown key %.64q of scoring", key)
			}
		})
	}
}

// flagsOf reads a text of flags, or one validator's: {name: N, flags: F}.
func flagsOf(d manifest.Document, v *yaml.Node, what string) validatorArgs {
	if manifest.Kind(v) != yaml.MappingNode {
		return validatorArgs{all: words(d, v, what)}
	}
	var name string
	var flags []string
	d.Each(v, what, func(key string, k, v *yaml.Node) {
		switch key {
		case "name":
			name = d.Text(v, key)
		case "flags":
			flags = words(d, v, key)
		default:
			d.Refuse(k, "unknown key %.64q of %s", key, what)
		}
	})
	return validatorArgs{byName: map[string][]string{name: flags}}
}

// inputValidatorArgs reads a list for all, or a mapping of names to lists.
func inputValidatorArgs(d manifest.Document, v *yaml.Node) validatorArgs {
	if manifest.Kind(v) != yaml.MappingNode {
		return validatorArgs{all: d.List(v, "input_validator_args")}
	}
	own := validatorArgs{byName: map[string][]string{}}
	d.Each(v, "input_validator_args", func(name string, _, v *yaml.Node) { own.byName[name] = d.List(v, name) })
	return own
}
