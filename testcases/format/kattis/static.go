package kattis

import (
	"go.yaml.in/yaml/v3"

	"judgefarm/internal/manifest"
	"judgefarm/judge"
	"judgefarm/testcases"
)

const (
	staticFolder = "static_validator"
	// staticName ends the name of a group's static case: no file can be called so.
	staticName = "=static"
)

// staticCase is what a group says of its static validation test case.
type staticCase struct {
	d     manifest.Document
	at    *yaml.Node
	score *judge.Score // nil is pass-fail
	given bool         // static_validation_score is there
	args  []string
}

// staticKey reads the keys of static validation; 2025-09, "Static validator".
func (r *reader) staticKey(d manifest.Document, own *config, key string, k, v *yaml.Node) {
	if own.static == nil {
		own.static = &staticCase{d: d, at: k}
	}
	if key == "static_validator_args" {
		own.static.args = d.List(v, key)
		return
	}
	own.static.given = true
	if d.Text(v, key) == "pass-fail" {
		return
	}
	s := judge.ScoreOf(int64(d.Count(v, key, 0, 1_000_000_000)))
	own.static.score = &s
}

// staticValidation adds the case to its group, before those that are run.
func (r *reader) staticValidation(g *testcases.Group, own config) {
	c := own.static
	if c == nil {
		return
	}
	refuse := func(text string) { c.d.Refuse(c.at, "%s", text) }
	points := r.p.Score != nil && r.aggregated(g, own) != "pass-fail"
	switch {
	case r.p.Kind == testcases.OutputOnly:
		refuse("static validation is not for problems of the type submit-answer")
	case !r.HasFolder(staticFolder):
		refuse("static validation needs a program in static_validator/")
	case !c.given:
		refuse("static_validator_args needs static_validation_score")
	case c.score != nil && (!points || g.Sample):
		refuse("static_validation_score must be pass-fail where the group does not add up scores")
	case c.score == nil && points && !g.Sample:
		refuse("static_validation_score must be a number where the group adds up scores")
	default:
		nothing := testcases.BytesData(nil)
		one := testcases.Case{
			Name: g.Name + "/" + staticName, Sample: g.Sample, Input: nothing, Answer: nothing,
			CheckerArgs: c.args, Points: c.score, Static: true, Rule: r.staticRule(),
		}
		g.Cases = append([]testcases.Case{one}, g.Cases...)
	}
}

// staticRule is the place of the package's static validator among the checkers.
func (r *reader) staticRule() int {
	for i, rule := range r.p.Rules {
		if rule.Program.Protocol == testcases.ProtocolKattisStatic {
			return i + 1
		}
	}
	at := staticFolder
	if files, folders := r.Children(at); len(files) == 0 && len(folders) == 1 {
		at += "/" + folders[0]
	}
	p := r.program(at, nil)
	p.Protocol, p.Limits = testcases.ProtocolKattisStatic, r.validator
	r.p.Rules = append(r.p.Rules, testcases.Rule{Checker: judge.CheckerSpec{Name: testcases.CustomChecker}, Program: p})
	return len(r.p.Rules)
}
