package dmoj_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// nested are anchors a, b, c, ..., each of which stands for the one before it ten times:
// what is written out has ten to the power of their number.
func nested(open, item, end string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "x:\n- &a %s1%s\n", open, end)
	for c := 'b'; c <= 'o'; c++ {
		fmt.Fprintf(&b, "- &%c %s%s%s\n", c, open, strings.Repeat(strings.ReplaceAll(item, "*", "*"+string(c-1)), 10), end)
	}
	return b.String()
}

// A small init.yml whose aliases stand for more than there is memory or time for is
// refused, and soon.
func TestAliasesThatGrow(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"mappings that take in each other": {"checker: easy\nx:\n- &a {p: 1}\n" + merges() + "test_cases: [{<<: *o}]\n", "keys together"},
		"a checker":                        {nested("[", "*,", "]") + "checker: {name: easy, args: {a: *o}}\ntest_cases: [{in: 1.in}]\n", "at most 1000 values"},
		"a checker of a case":              {nested("[", "*,", "]") + "test_cases: [{in: 1.in, checker: {name: easy, args: {a: *o}}}]\n", "at most 1000 values"},
		"batches":                          {"x: &a [" + strings.Repeat("{},", 10_000) + "]\ny: &b {batched: *a}\ntest_cases: [" + strings.Repeat("*b,", 10_000) + "]\n", "at most 20000 cases"},
		"cases":                            {"x: &a {unknown: 1}\ntest_cases: [" + strings.Repeat("*a,", 50_000) + "]\n", "at most 20000 cases"},
		"arguments":                        {"generator: gen.py\nx: &a [" + strings.Repeat("b,", 10_000) + "]\ntest_cases: [" + strings.Repeat("{generator_args: *a},", 1000) + "]\n", "generator_args must be at most 1000"},
		"dependencies":                     {"x: &a [" + strings.Repeat("1,", 10_000) + "]\ntest_cases: [{batched: [{}]}," + strings.Repeat("{batched: [{}], dependencies: *a},", 1000) + "]\n", "dependencies must be at most 1000"},
		"batches worth nothing":            {"x: &a {batched: [{}], points: 0}\ntest_cases: [" + strings.Repeat("*a,", 10_000) + "]\n", "at most 100 batches"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := faults(t, initYML(c.text))
			if !slices.ContainsFunc(got, func(text string) bool { return strings.Contains(text, c.want) }) {
				t.Errorf("got %.500q, want %q", got, c.want)
			}
		})
	}
}

// merges are mappings that take in the one before them ten times.
func merges() string {
	var b strings.Builder
	for c := 'b'; c <= 'o'; c++ {
		fmt.Fprintf(&b, "- &%c {<<: [%s]}\n", c, strings.Repeat("*"+string(c-1)+",", 10))
	}
	return b.String()
}

// Every test may say something of every case.
func TestManyTests(t *testing.T) {
	t.Parallel()
	files := initYML("x: &a {in: 1.in}\ntest_cases: [" + strings.Repeat("*a,", 20_000) + "]\n")
	for i := range 60 {
		files[fmt.Sprintf("tests/%d/test.yml", i)] = "{language: PY3, time: 1, memory: 65536, source: a.py, cases: {1: WA}}"
		files[fmt.Sprintf("tests/%d/a.py", i)] = ""
	}
	if got := faults(t, files); len(got) == 0 || !strings.Contains(got[0], "tests: must say at most 1000000 times") {
		t.Errorf("got %.300q", got)
	}
}
