package checker_test

import (
	"bytes"
	"strings"
	"testing"

	"judgefarm/judge"
	"judgefarm/judge/checker"
	"judgefarm/judge/checker/checkertest"
)

func TestWhiteDiff(t *testing.T) {
	t.Parallel()
	const name = "cms/whitediff"
	checkertest.Run(t, checkertest.Suite{
		New:    func(t *testing.T) checker.Checker { return must(t, name) },
		Answer: "hidden 1\n2\n", Right: "hidden 1\n2\n", Wrong: "seen 1\n2\n",
	})
	long := strings.Repeat("x", 200<<10)
	for _, c := range []struct {
		name, answer, output string
		equal                bool
	}{
		{"equal", "1 2\n3\n", "1 2\n3\n", true},
		{"blanks inside a line and around it", "1 2\n3\n", "\t1 \v 2\r\n 3", true},
		{"blank lines at the end", "1\n", "1\n\n \t\n", true},
		{"blank lines at the answer's end", "1\n\n\n", "1", true},
		{"nothing for blanks", " \n\n", "", true},
		{"blank line inside", "1\n2\n", "1\n\n2\n", false},
		{"blank line at the start", "1\n", "\n1\n", false},
		{"lines joined", "1\n2\n", "1 2\n", false},
		{"line split", "1 2\n", "1\n2\n", false},
		{"words joined", "1 2\n", "12\n", false},
		{"case", "Yes\n", "YES\n", false},
		{"a word less", "1 2\n", "1\n", false},
		{"a word more", "1\n", "1 2\n", false},
		{"a line less", "1\n2\n", "1\n", false},
		{"a line more", "1\n", "1\n2\n", false},
		{"no output", "1\n", "", false},
		{"NUL in both", "1\x00\n", "1\x00\n", true},
		{"NUL after a word", "1\n", "1\x00\n", false},
		{"no-break space", "1 2\n", "1\u00a02\n", false},
		{"words longer than the buffer", long + " 1\n" + long, long + "  1\n" + long + "\n", true},
		{"long words that differ late", long + "a\n", long + "b\n", false},
		{"long word that is longer", long + "\n", long + "x\n", false},
	} {
		got, err := must(t, name).Check(t.Context(), checkertest.Input(c.answer, c.output))
		want := judge.WrongAnswer
		if c.equal {
			want = judge.Accepted
		}
		if err != nil || got.Verdict != want {
			t.Errorf("%s: got %+v, %v, want %s", c.name, got, err, want)
		}
	}
}

// whiteModel is the rule as CMS states it, with all of both texts in memory.
func whiteModel(a, b []byte) bool {
	lines := func(text []byte) (all []string) {
		for line := range bytes.Lines(text) {
			words := bytes.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\n\v\f\r", r) })
			all = append(all, string(bytes.Join(words, []byte(" "))))
		}
		for len(all) > 0 && all[len(all)-1] == "" {
			all = all[:len(all)-1]
		}
		return all
	}
	return strings.Join(lines(a), "\n") == strings.Join(lines(b), "\n")
}

func FuzzWhiteDiff(f *testing.F) {
	f.Add([]byte("1 2\n"), []byte(" 1  2"))
	f.Add([]byte("1\n\n2"), []byte("1\n2"))
	f.Fuzz(func(t *testing.T, answer, output []byte) {
		got, err := must(t, "cms/whitediff").Check(t.Context(), checkertest.Input(string(answer), string(output)))
		if want := whiteModel(answer, output); err != nil || (got.Verdict == judge.Accepted) != want {
			t.Errorf("%q, %q: got %+v, %v, want equal %v", answer, output, got, err, want)
		}
	})
}
