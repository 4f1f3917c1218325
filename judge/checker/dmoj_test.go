package checker_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"judgefarm/judge"
	"judgefarm/judge/checker"
	"judgefarm/judge/checker/checkertest"
)

// What DMOJ's checkers of the same names accept.
func TestDMOJRules(t *testing.T) {
	t.Parallel()
	const ac, wa, pe = judge.Accepted, judge.WrongAnswer, judge.PresentationError
	long := strings.Repeat("x", 100_000)
	for _, c := range []struct {
		spec, answer, output string
		want                 judge.Verdict
	}{
		{"standard", "1 2\n3\n", "\n\n 1 \t2  \r\n\r\n3", ac},
		{"standard", "1 2\n3\n", "1\n2\n3\n", wa},
		{"standard", "1 2\n3\n", "1 2 3\n", wa},
		{"standard", "1\n\n2\n", "1\r2", ac},
		{"standard", "1 2", "1 22", wa},
		{"standard", "1 2", "1", wa},
		{"standard", "1", "1 2", wa},
		{"standard", "", " \n", ac},
		{"standard", "1\x00\n", "1\x00\n", ac},
		{"standard", long + "a b", long + "a\tb", ac},
		{"standard", long + "a b", long + "b b", wa},
		{"standard", long + "\nb", long + " b", wa},
		{"standard", strings.Repeat(" ", 100_000) + "1\n2", "1" + strings.Repeat("\n", 100_000) + "2", ac},
		{"easy", "Hello, World\n", "dlrowolleh,", ac},
		{"easy", "aab", "abb", wa},
		{"easy", "é", "É", wa},
		{"floats", "a 1.0\n2", "a 1.0000009\n2", ac},
		{"floats", "a 1.0\n2", "a 1.00001\n2", wa},
		{"floats", "a 1.0\n2", "b 1.0\n2", wa},
		{"floats", "1000000", "1000001", ac},
		{"floats", "1\n2", "1 2", wa},
		{"floats", "1 2\n\n\n3", "\n1\t2\n3\n", ac},
		{"floats", "1\n \n2", "1\n2", wa}, // a line of blanks is one
		{"floats", "1", "x", wa},
		{"floats", "1_000.5", "1000.5", ac},
		{"floats", "1__0", "10", wa},
		{"floats", "0x10", "0x10", ac},
		{"floats", "0x10", "16", wa},
		{"floats", "nan", "nan", wa},
		{"floats", "inf", "inf", wa},
		{"floats", "1e999", "Infinity", wa},
		{"floatsrel", "inf", "+Infinity", ac},
		{"floatsrel", "-inf", "-INF", ac},
		{"floatsrel", "nan", "nan", wa},
		{"floats precision=2", "1.5", "1.505", ac},
		{"floats precision=2", "1.5", "1.6", wa},
		{"floats precision=0", "1.5", "2.5", ac},
		{"floatsabs", "1000000", "1000001", wa},
		{"floatsabs precision=2", "1000", "1000.01", ac},
		{"floatsrel precision=2", "0", "0.001", wa},
		{"floatsrel precision=2", "-100", "-101", ac},
		{"floats", long, long, ac},
		{"floats", long, long + "x", wa},
		{"floats", long + "\nb", long + " b", wa},
		{"identical", "1 2\n", "1 2\n", ac},
		{"identical", "1 2\n", "1  2", pe},
		{"identical", "1 2\n", "1\n2", wa},
		{"identical no_pe", "1 2\n", "1  2", wa},
		{"linecount", "1\n2\n", " 1 \n\n2\r\n", ac},
		{"linecount", "1\n2\n", "1\n", wa},
		{"linecount", "1\n", "1\n2\n", wa},
		{"linecount", "", "", ac},
		{"linematches points=1,2", "a\nb\n", "a\nc\n", ac},
		{"linematches points=1,2", "a\nb\n", "c\nd\n", wa},
		{"linematches points=1,2", "a\nb\n", "a\n", wa},
		{"linematches points=1,2 filler_lines_optional", "a\nb\n", "a\n", ac},
		{"linematches points=1,2", "a\nb\n", "a \nc\n", wa},
		{"rstripped", "1\n 2\n", "1 \n 2\t\n", ac},
		{"rstripped", "1\n2\n", "1\n2", wa},
		{"rstripped", "1\n2\n", "1\n\n2\n", wa},
		{"rstripped", " 1\n", "1\n", wa},
		{"rstripped filter_new_line", "1\n2\n", "\n1 \n\n2", ac},
		{"sorted", "1 2\n3\n", "3\n\n1  2\n", ac},
		{"sorted", "1 2\n3\n", "2 1\n3\n", wa},
		{"sorted", "1\n1\n2\n", "1\n2\n2\n", wa},
		{"unordered", "1 2\n3\n", "3 2\n1", ac},
		{"unordered", "1 2\n3\n", "3 2\n", wa},
	} {
		got, err := must(t, "dmoj/"+c.spec).Check(t.Context(), checkertest.Input(c.answer, c.output))
		if err != nil || got.Verdict != c.want {
			t.Errorf("%s, answer %.60q, output %.60q: got %v, %v, want %s", c.spec, c.answer, c.output, got, err, c.want)
		}
	}
}

// An output of many more words or lines than the answer takes little more than its bytes:
// it must not make a worker large. All that was allocated is counted, of which the buffer
// that grows is 4 times the output, with the race detector 8; parts took 56 and more.
func TestDMOJOfManyParts(t *testing.T) {
	const size = 8 << 20
	output := strings.Repeat("1\n", size/2)
	for _, spec := range []string{"unordered", "sorted", "rstripped", "linecount", "linematches"} {
		c, in := must(t, "dmoj/"+spec), checkertest.Input("1\n", output)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got, err := c.Check(t.Context(), in)
		runtime.ReadMemStats(&after)
		if err != nil || got.Verdict != judge.WrongAnswer {
			t.Errorf("%s: got %+v, %v, want WA", spec, got, err)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 10*size {
			t.Errorf("%s: took %d bytes for an output of %d", spec, took, size)
		}
	}
}

// Partial points are exact, with or without an accepted output.
func TestDMOJShares(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		spec, answer, output string
		share                judge.Score
		message              string
	}{
		{"linecount", "1\n2\n3\n", "1\nx\n3\n", judge.ShareOf(2, 3), "✓✗✓"},
		{"linecount", "1\n2\n3\n", "1\n", judge.ShareOf(1, 3), "✓✗✗"},
		{"linecount no_feedback", "1\n2\n", "1\n2\n", judge.ScoreOf(1), ""},
		{"linematches points=1,2,4", "1\n2\n3\n", "1\nx\n3\n", judge.ShareOf(5, 7), ""},
	} {
		got, err := must(t, "dmoj/"+c.spec).Check(t.Context(), checkertest.Input(c.answer, c.output))
		if err != nil || got.Share == nil || got.Share.Cmp(c.share) != 0 || got.Message != c.message {
			t.Errorf("%s of %q: got %+v, %v, want the share %v and %q", c.spec, c.output, got, err, c.share, c.message)
		}
	}
}

// Points that are for another number of lines are a fault of the problem.
func TestDMOJFaults(t *testing.T) {
	t.Parallel()
	var failed *judge.Failed
	_, err := must(t, "dmoj/linematches points=1,2").Check(t.Context(), checkertest.Input("a\n", "a\n"))
	if !errors.As(err, &failed) || failed.Kind != judge.FailProblem || !strings.Contains(failed.Reason, "2 lines") {
		t.Errorf("points of other lines: got %v", err)
	}
	for _, args := range [][]string{{"precision=301"}, {"precision=0.5"}, {"abs=1"}, {"x"}} {
		if _, err := checker.New(judge.CheckerSpec{Name: "dmoj/floats", Args: args}, checker.Deps{}); !judge.IsBadRequest(err) {
			t.Errorf("dmoj/floats %q: got %v, want a bad request", args, err)
		}
	}
	for _, args := range [][]string{{"points="}, {"points=1,,2"}, {"points=1,-2"}, {"points=1", "points=2"}, {"other"}} {
		if _, err := checker.New(judge.CheckerSpec{Name: "dmoj/linematches", Args: args}, checker.Deps{}); !judge.IsBadRequest(err) {
			t.Errorf("dmoj/linematches %q: got %v, want a bad request", args, err)
		}
	}
}
