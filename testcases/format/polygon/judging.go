package polygon

import (
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"

	"judgefarm/judge"
	"judgefarm/testcases"
)

// maxTests bounds the tests of a package.
const maxTests = 50_000

// readJudging reads limits, files and the tests of the main testset.
func (r *reader) readJudging() {
	j := r.root.at("judging")
	set := r.testset(j)
	if set == nil {
		return
	}
	p := r.p
	r.set = set
	p.Limits = judge.Limits{
		CPU:    time.Duration(r.number(set, "time-limit", 1, 3_600_000)) * time.Millisecond,
		Memory: judge.Bytes(r.number(set, "memory-limit", 1, 1<<40)), Output: defaultOutput,
	}
	p.Jury.Time.Stated = true
	p.Jury.ValidatorArgs = map[string][]string{}
	p.InputFile, p.OutputFile = j.attr("input-file"), j.attr("output-file")
	if p.Kind == testcases.Interactive && p.InputFile+p.OutputFile != "" {
		r.note(j, "input-file and output-file are not read: the program talks to an interactor")
		p.InputFile, p.OutputFile = "", ""
	}
	r.readTests(set)
}

// testset is the one that is judged: the one named tests, else the only one.
func (r *reader) testset(j *node) *node {
	all := j.all("testset")
	var main *node
	for _, set := range all {
		if set.attr("name") == "tests" || len(all) == 1 {
			main = set
		}
	}
	if main == nil {
		r.refuse(r.root, "needs <judging> with a <testset> named tests, or with one alone")
		return nil
	}
	for _, set := range all {
		if set != main {
			r.note(set, "testset %.64q is not judged: tests is", set.attr("name"))
		}
	}
	return main
}

// number reads the whole number in an element.
func (r *reader) number(n *node, name string, least, most int64) int64 {
	k := n.at(name)
	if k == nil {
		r.refuse(n, "<%s> needs a <%s>", n.name, name)
		return least
	}
	v, err := strconv.ParseInt(k.content(), 10, 64)
	if err != nil || v < least || v > most {
		r.refuse(k, "<%s> must be a whole number from %d to %d, is %.64q", name, least, most, k.content())
		return least
	}
	return v
}

// pattern is a path with a place for the number of a test: tests/%02d.
type pattern string

var placeholder = regexp.MustCompile(`%(0\d{1,2}|\d{0,2})d`)

func (r *reader) pattern(n *node, name string) pattern {
	k := n.at(name)
	text := strings.ReplaceAll(k.content(), `\`, "/")
	if k == nil || len(placeholder.FindAllString(text, 2)) != 1 || strings.Count(text, "%") != 1 {
		r.refuse(n, "<%s> needs a <%s> with one %%d or %%02d, has %.100q", n.name, name, text)
		return "%d"
	}
	return pattern(text)
}

func (p pattern) of(i int) string { return path.Clean(fmt.Sprintf(string(p), i)) }

// readTests reads the tests and puts them into their groups.
func (r *reader) readTests(set *node) {
	inputs, answers := r.pattern(set, "input-path-pattern"), r.pattern(set, "answer-path-pattern")
	tests := set.at("tests").all("test")
	if n := r.number(set, "test-count", 0, maxTests); int(n) != len(tests) {
		r.refuse(set, "test-count is %d, and <tests> has %d", n, len(tests))
	}
	if len(tests) == 0 || len(tests) > maxTests {
		r.refuse(set, "<tests> must hold 1 to %d tests, holds %d", maxTests, len(tests))
		return
	}
	g := r.newGroups(set)
	for i, t := range tests {
		c := testcases.Case{Sample: r.flag(t, "sample"), Points: r.score(t, "points"), Files: r.runFiles}
		at, input, answer := g.of(t), inputs.of(i+1), answers.of(i+1)
		c.Name = at.name + "/" + label(path.Base(input))
		r.tests[c.Name] = t
		r.input(t, &c, i+1, input)
		r.answer(t, &c, answer)
		at.add(c, t)
	}
	r.p.Groups, r.p.Score = g.finish()
}

// input is the file of a test or, where a generator makes that, the recipe.
func (r *reader) input(t *node, c *testcases.Case, index int, name string) {
	method, cmd := t.attr("method"), t.attr("cmd")
	if method != "manual" && method != "generated" && method != "" {
		r.refuse(t, "method %.64q of a test is not known: manual and generated are", method)
	}
	switch {
	case r.Has(name):
		c.Input = r.data(name)
	case method == "generated" && cmd != "":
		c.InputFrom = r.command(t, cmd, index)
	case method == "generated":
		r.refuse(t, "test %d is generated, but has neither a cmd nor the file %s", index, name)
	default:
		r.Refuse(name, "is missing: test %d is no generated one", index)
	}
}

// answer is the file of a test, else made by the main solution.
func (r *reader) answer(t *node, c *testcases.Case, name string) {
	switch {
	case r.Has(name):
		c.Answer = r.data(name)
	case r.mainSource != nil:
		c.AnswerFrom = &testcases.Recipe{Program: r.mainSolution(), Output: r.p.OutputFile}
	default:
		r.refuse(t, "has no answer %s, and the package no solution with the tag main that could make it", name)
	}
}
