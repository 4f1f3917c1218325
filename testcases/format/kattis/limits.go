package kattis

import (
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"judgefarm/internal/manifest"
	"judgefarm/judge"
	"judgefarm/testcases"
)

// limits reads the limits and the rules by which the time limit is derived.
func (r *reader) limits(d manifest.Document, n *yaml.Node) {
	p, rule := r.p, &r.p.Jury.Time
	rule.Resolution, rule.AtLeast = judge.ScoreOf(1), judge.ScoreOf(1)
	if r.version == legacy {
		rule.AcToLimit, rule.LimitToTLE = judge.ScoreOf(5), judge.ScoreOf(2)
	} else {
		rule.AcToLimit, rule.LimitToTLE = judge.ScoreOf(2), judge.ShareOf(3, 2)
	}
	validator := validatorLimits()
	d.Each(n, "limits", func(key string, k, v *yaml.Node) {
		if manifest.Null(v) {
			return
		}
		mib := func() judge.Bytes { return judge.Bytes(d.Count(v, key, 1, 1<<20)) * judge.MiB }
		whole := func() time.Duration { return time.Duration(d.Count(v, key, 1, 3600)) * time.Second }
		switch key {
		case "memory":
			p.Limits.Memory = mib()
		case "output":
			p.Limits.Output = min(mib(), judge.GiB)
		case "code":
			p.CodeSize = judge.Bytes(d.Count(v, key, 1, 1<<20)) * judge.KiB
		case "time_limit":
			p.Limits.CPU, rule.Stated, rule.Origin = r.time(d, v, key), true, origin(d.Name, k.Line)
		case "time_resolution":
			rule.Resolution = positive(d, v, key)
			rule.AtLeast = rule.Resolution
		case "time_multiplier":
			rule.AcToLimit = positive(d, v, key)
		case "time_safety_margin":
			rule.LimitToTLE = positive(d, v, key)
		case "time_multipliers":
			r.multipliers(d, v, rule)
		case "validation_passes":
			p.Passes = d.Count(v, key, 1, 1000)
		case "compilation_time":
			p.CompileLimits.CPU = whole()
		case "compilation_memory":
			p.CompileLimits.Memory = mib()
		case "validation_time":
			validator.CPU = whole()
			validator.Wall = 3 * validator.CPU
		case "validation_memory":
			validator.Memory = mib()
		case "validation_output":
			validator.Output = min(mib(), judge.GiB)
		default:
			if r.version == v2025 {
				d.Refuse(k, "unknown limit %.64q", key)
			} else {
				d.Note(k, "unknown limit %.64q is not read", key)
			}
		}
	})
	r.validator = validator
}

func (r *reader) multipliers(d manifest.Document, n *yaml.Node, rule *testcases.TimeRule) {
	d.Each(n, "time_multipliers", func(key string, k, v *yaml.Node) {
		switch key {
		case "ac_to_time_limit":
			rule.AcToLimit = positive(d, v, key)
		case "time_limit_to_tle":
			rule.LimitToTLE = positive(d, v, key)
		default:
			d.Refuse(k, "unknown key %.64q of time_multipliers", key)
		}
	})
}

func positive(d manifest.Document, v *yaml.Node, what string) judge.Score {
	s := d.Score(v, what)
	if s.Sign() <= 0 {
		d.Refuse(v, "%s must be above 0, is %.64q", what, v.Value)
	}
	return s
}

// time reads seconds.
func (r *reader) time(d manifest.Document, v *yaml.Node, what string) time.Duration {
	t := seconds(positive(d, v, what))
	if t < time.Millisecond || t > time.Hour {
		d.Refuse(v, "%s must be 0.001 to 3600 seconds, is %.64q", what, v.Value)
	}
	return t
}

// readTimeLimit reads the two places where DOMjudge and BAPCtools keep the limit,
// outside of problem.yaml. As DOMjudge does it, problem.yaml comes before
// domjudge-problem.ini, and what .timelimit says must be the same.
func (r *reader) readTimeLimit() {
	if r.Has(iniName) {
		if b, ok := r.read(iniName, 64<<10); ok {
			r.readINI(string(b))
		}
	}
	if r.Has(timeName) {
		if b, ok := r.read(timeName, 64); ok {
			r.statedTime(timeName, string(b))
		}
	}
}

// wallLimit is that of a package made for DOMjudge, where sleeping is being too slow: its
// own is the time limit itself, which a busy machine could not hold. "Systems are also
// permitted to enforce a reasonable wall-clock time limit" (2025-09). Who talks to an
// interactor waits for it too, and has the usual one.
func (r *reader) wallLimit() {
	if p := r.p; r.forDOMjudge && p.Kind == testcases.Batch && p.Limits.CPU > 0 {
		p.Limits.Wall = max(2*p.Limits.CPU, p.Limits.CPU+2*time.Second)
	}
}

func (r *reader) statedTime(file, text string) {
	s, err := judge.ParseScore(strings.TrimSpace(text))
	t := seconds(s)
	if err != nil || t < time.Millisecond || t > time.Hour {
		r.Refuse(file, "must hold the time limit in seconds, from 0.001 to 3600, holds %.64q", strings.TrimSpace(text))
		return
	}
	switch rule := &r.p.Jury.Time; {
	case !rule.Stated:
		r.p.Limits.CPU, rule.Stated, rule.Origin = t, true, file
	case t == r.p.Limits.CPU:
	case file == timeName:
		r.Refuse(file, "holds a time limit of %v, and %s states %v", t, rule.Origin, r.p.Limits.CPU)
	default:
		r.Note(file, "has a time limit of %v, which is not used: %s states %v", t, rule.Origin, r.p.Limits.CPU)
	}
}

// readINI reads "key = value" lines; values may be quoted. What names a comparison
// or a run of DOMjudge's own database cannot be read from a package.
func (r *reader) readINI(text string) {
	for i, line := range strings.Split(text, "\n") {
		key, value, ok := strings.Cut(line, "=")
		if !ok {
			continue
		}
		value = strings.Trim(strings.TrimSpace(value), `"'`)
		switch strings.TrimSpace(key) {
		case "timelimit":
			r.statedTime(iniName, value)
		case "name":
			r.p.Name = value
		case "special_compare", "special_run":
			if !r.words["custom"] && !r.HasFolder("output_validators") && value != "" {
				r.Refuse(iniName, "line %d: %s = %.64q names a program that is not in the package", i+1, strings.TrimSpace(key), value)
			}
		}
	}
}
