package kattis

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"judgefarm/internal/manifest"
	"judgefarm/judge"
	"judgefarm/testcases"
)

// Bounds of submissions.yaml.
const (
	maxPatterns = 2000
	maxExpected = 1_000_000
)

// rule is what one key of submissions.yaml asks for.
type rule struct {
	language, main string
	expect         []testcases.Expectation // the first is of all cases
}

// defaultRules are those of 2025-09, "Default directories".
func defaultRules() map[string]rule {
	of := func(permitted, required []judge.Verdict) rule {
		return rule{expect: []testcases.Expectation{{Permitted: permitted, Required: required}}}
	}
	return map[string]rule{
		"accepted":            of(accepted, nil),
		"rejected":            of(nil, slices.Concat(wrong, tooSlow, crashes)),
		"wrong_answer":        of(slices.Concat(accepted, wrong), wrong),
		"time_limit_exceeded": of(slices.Concat(accepted, tooSlow), tooSlow),
		"run_time_error":      of(slices.Concat(accepted, crashes), crashes),
		"brute_force": {expect: []testcases.Expectation{{
			Permitted: slices.Concat(accepted, tooSlow, crashes), Required: slices.Concat(tooSlow, crashes), Time: testcases.TimeUnused,
		}}},
	}
}

// expectations reads submissions.yaml and gives every submission what it must meet.
func (r *reader) expectations() {
	rules := defaultRules()
	var patterns []string // in the file's order, after the default ones
	for folder := range rules {
		patterns = append(patterns, folder)
	}
	slices.Sort(patterns)
	lines := map[string]*yaml.Node{}
	var d manifest.Document
	if r.Has(expectName) {
		d = r.yaml(expectName)
		d.Each(d.Root, "the file", func(pattern string, k, v *yaml.Node) {
			base, known := rules[pattern]
			own := r.rule(d, v, base)
			own.expect[0].Origin = origin(d.Name, k.Line)
			rules[pattern] = own
			lines[pattern] = k
			if !known {
				patterns = append(patterns, pattern)
			}
		})
	}
	all, expected := 0, 0
	for _, pattern := range patterns {
		matches, globs := 0, testcases.Braces(pattern)
		if all += len(globs); all > maxPatterns {
			d.Refuse(d.Root, "must have at most %d patterns, with what braces stand for", maxPatterns)
			return
		}
		for i := range r.p.Submissions {
			s := &r.p.Submissions[i]
			if !matchTree(globs, strings.TrimPrefix(s.Path, submissions+"/")) {
				continue
			}
			matches++
			own := rules[pattern]
			if expected += len(own.expect); expected > maxExpected {
				d.Refuse(d.Root, "must say at most %d times what a submission must get", maxExpected)
				return
			}
			s.Expect = append(s.Expect, own.expect...)
			if own.language != "" {
				s.Language = languagesOf(own.language)[0]
			}
			if own.main != "" {
				s.Main = own.main
			}
		}
		if k := lines[pattern]; k != nil && matches == 0 {
			d.Note(k, "pattern %.64q matches no submission", pattern)
		}
	}
}

// origin is where something is stated.
func origin(file string, line int) string { return fmt.Sprintf("%s:%d", file, line) }

// caseVerdicts are the names that submissions.yaml knows.
func caseVerdicts() map[string][]judge.Verdict {
	return map[string][]judge.Verdict{"AC": accepted, "WA": wrong, "TLE": tooSlow, "RTE": crashes}
}

// rule reads one value of submissions.yaml on top of what holds by default.
func (r *reader) rule(d manifest.Document, v *yaml.Node, base rule) rule {
	own := base
	all := testcases.Expectation{}
	if len(base.expect) > 0 {
		all = base.expect[0]
	}
	var groups []testcases.Expectation
	d.Each(v, "the value", func(key string, k, v *yaml.Node) {
		switch key {
		case "language":
			own.language = d.Text(v, key)
		case "entrypoint":
			own.main = d.Text(v, key)
		case "authors", "model_solution":
		default:
			if r.expectKey(d, &all, key, v) {
				return
			}
			e := testcases.Expectation{Cases: key, Origin: origin(d.Name, k.Line)}
			d.Each(v, key, func(key string, k, v *yaml.Node) {
				if !r.expectKey(d, &e, key, v) {
					d.Refuse(k, "unknown key %.64q", key)
				}
			})
			groups = append(groups, e)
		}
	})
	own.expect = append([]testcases.Expectation{all}, groups...)
	return own
}

// expectKey reads a key that holds for all cases as well as for a group.
func (r *reader) expectKey(d manifest.Document, e *testcases.Expectation, key string, v *yaml.Node) bool {
	switch key {
	case "permitted":
		e.Permitted = verdictList(d, v, key)
	case "required":
		e.Required = verdictList(d, v, key)
	case "message":
		e.Message = d.Text(v, key)
	case "score":
		e.Score = scoreRange(d, v)
	case "use_for_time_limit":
		use := map[string]testcases.TimeUse{
			"true": testcases.TimeUnstated, "false": testcases.TimeUnused, "lower": testcases.TimeLower, "upper": testcases.TimeUpper,
		}
		got, ok := use[d.Text(v, key)]
		if !ok {
			d.Refuse(v, "use_for_time_limit must be true, false, lower or upper")
		}
		e.Time = got
	default:
		return false
	}
	return true
}

func verdictList(d manifest.Document, v *yaml.Node, what string) []judge.Verdict {
	var all []judge.Verdict
	for _, word := range words(d, v, what) {
		set, ok := caseVerdicts()[word]
		if !ok {
			d.Refuse(v, "%s must be of AC, WA, TLE, RTE, holds %.64q", what, word)
		}
		all = append(all, set...)
	}
	return all
}

// scoreRange reads one number or two.
func scoreRange(d manifest.Document, v *yaml.Node) *[2]judge.Score {
	list := d.List(v, "score")
	if len(list) == 1 {
		list = append(list, list[0])
	}
	if len(list) != 2 {
		d.Refuse(v, "score must be a number or a list of two")
		return nil
	}
	var both [2]judge.Score
	for i, text := range list {
		s, err := judge.ParseScore(text)
		if err != nil {
			d.Refuse(v, "score %v", err)
		}
		both[i] = s
	}
	return &both
}

// matchTree reports whether one of the patterns that {a,b} stand for matches a path or one
// of its folders: the format's patterns have * within a name and {a,b}, and nothing else.
func matchTree(patterns []string, name string) bool {
	for _, p := range patterns {
		for at := name; at != "." && at != ""; at = path.Dir(at) {
			if ok, err := path.Match(escapeGlob(p), at); err == nil && ok {
				return true
			}
		}
	}
	return false
}

// escapeGlob leaves * its meaning and takes that of all else.
func escapeGlob(p string) string {
	return strings.NewReplacer(`\`, `\\`, `[`, `\[`, `?`, `\?`).Replace(p)
}
