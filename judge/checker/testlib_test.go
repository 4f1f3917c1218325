package checker_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"judgefarm/judge"
	"judgefarm/judge/checker"
	"judgefarm/judge/checker/checkertest"
	"judgefarm/testcases"
)

// texts is the input of a checker that reads answer and output.
func texts(answer, output string) checker.Input {
	open := func(s string) func() (io.ReadCloser, error) {
		return func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(s)), nil }
	}
	return checker.Input{Case: "1", Input: open(""), Answer: open(answer), Output: open(output)}
}

// broken stands for an answer that the checker cannot read.
const broken = judge.Verdict("broken answer")

func verdictOf(t *testing.T, c checker.Checker, answer, output string) judge.Verdict {
	t.Helper()
	r, err := c.Check(t.Context(), texts(answer, output))
	var failed *judge.Failed
	if errors.As(err, &failed) && failed.Kind == judge.FailProblem {
		return broken
	}
	if err != nil {
		t.Fatalf("answer %q, output %q: %v", answer, output, err)
	}
	return r.Verdict
}

// What the programs of testlib say, told apart by checker.
func TestTestlibRules(t *testing.T) {
	t.Parallel()
	const ac, wa, pe = judge.Accepted, judge.WrongAnswer, judge.PresentationError
	for names, rows := range map[string][]struct {
		answer, output string
		want           judge.Verdict
	}{
		"wcmp": {
			{"a b\n", "a\r\n\tb", ac}, {"a b", "a B", wa}, {"a b", "a", wa}, {"a", "a b", wa}, {"", "", ac}, {"", " \n", ac},
			{"a", "\ufeffa", ac}, {"\ufeffa", "a", wa}, {"a", "a\x00", wa}, {"a b", "a\vb", wa}, {"a\x00b", "a\x00b", ac},
		},
		"fcmp": {
			{"a\nb\n", "a\nb", ac}, {"a\r\nb\r\n", "a\nb\n", ac}, {"a\n", "a \n", wa}, {"a\n", " a\n", wa}, {"a\n\n", "a", ac}, {"a\n\n\n", "a\n", ac},
			{"a\n\nb", "a\nb", wa}, {"a", "a\nb", pe}, {"a", "a\n \r\n", ac}, {"a\nb", "a", wa}, {"", "", ac}, {"", "x", pe}, {"ab", "a\rb", ac}, {"a", "a\r", wa},
			{"a", "ab", wa}, {"ab", "a", wa},
		},
		"lcmp": {
			{"a b\nc\n", " a  b \nc", ac}, {"a b", "a\nb", wa}, {"a\n\nb", "a\nb", wa}, {"a", "a\n\n", ac}, {"a", "a\nb", pe}, {"a\vb", "a b", ac},
			{"a b", "a b c", wa}, {"a b c", "a b", wa}, {"  \n", "", ac}, {"ab", "abc", wa}, {"\n", "x", pe},
		},
		"ncmp": {
			{"1 2\n3", "1\n2 3\n", ac}, {"1 2", "1", wa}, {"1", "1 2", wa}, {"1", "2", wa}, {"1 2", "1 x", pe}, {"1", "1 x", pe}, {"1 x", "1", broken}, {"1 x", "2", wa},
			{"1", "01", pe}, {"1", "+1", pe}, {"0", "-0", pe}, {"0", "0", ac}, {"1", "1.0", pe}, {"9223372036854775807", "9223372036854775808", pe},
			{"-9223372036854775808", "-9223372036854775808", ac}, {"", "", ac}, {"", "x", pe}, {"", "1", wa}, {"1", "1\x00", pe}, {"-", "1", broken},
		},
		"uncmp": {
			{"3 1 2", "1 2 3", ac}, {"1 1 2", "1 2 2", wa}, {"1 2", "1 2 3", wa}, {"1 2", "1", wa}, {"1", "1 2 x", pe}, {"x", "1", broken}, {"", "", ac},
		},
		"icmp": {
			{"5", "5", ac}, {"5", "6", wa}, {"5", "5 5", pe}, {"5 6", "5", ac}, {"5", "", pe}, {"", "5", broken}, {"5", "2147483648", pe},
			{"-2147483648", "-2147483648", ac}, {"2147483648", "1", broken}, {"5", "5.0", pe},
		},
		"hcmp": {
			{"123456789012345678901234567890", "123456789012345678901234567890", ac}, {"1", "2", wa}, {"1", "01", pe}, {"0", "-0", pe}, {"-1", "-1", ac}, {"1", "+1", pe},
			{"01", "1", broken}, {"1 2", "1", broken}, {"1", "1 2", pe}, {"1", "x", pe}, {"1", "", pe}, {"x", "", pe}, {"", "1", broken}, {"1x1", "1", broken}, {"0", "0", ac},
		},
		"acmp rcmp": {
			{"1", "1.0000015", ac}, {"1", "1.0000016", wa}, {"1000000", "1000001", wa}, {"1", "1e0", ac}, {"1", ".1e1", ac}, {"1", "1.", ac}, {"1", "+1", ac}, {"1", "nan", pe},
			{"1", "1e", ac}, {"1", "1E+", ac}, {"1", "2e-", wa}, {"1", "e", pe}, {"1", "1ee", pe}, {"1", "1e1e", pe}, {"1e", "1x", pe}, {"1", "0x1", pe}, {"1", "1,5", pe}, {"1", "--1", pe}, {"1", "1 1", pe}, {"1 x", "1", ac}, {"1", "", pe}, {"x", "1", broken}, {"1e999", "1e999", ac},
			{"1", "1e999", wa}, {"0", "1e-999", ac}, {"1", "1\x00", pe}, {"1", "1_0", pe},
		},
		"dcmp": {
			{"1", "1.000001", ac}, {"1", "1.00001", wa}, {"1000000", "1000001", ac}, {"1000000", "1000002", wa}, {"-1000000", "-1000001", ac}, {"1e999", "1e999", ac},
			{"1e999", "-1e999", wa}, {"1e999", "5", wa}, {"5", "1e999", wa}, {"1", "1 1", pe},
		},
		"rncmp": {{"1 2", "1.00001 2", ac}, {"1 2", "1.0001 2", wa}, {"1 2", "1", pe}, {"1", "1 2", pe}, {"1e6", "1000000.1", wa}, {"1 x", "1 2", broken}, {"", "", ac}},
		"rcmp4": {{"1 2", "1.0001 2", ac}, {"1 2", "1.0003 2", wa}, {"1 2", "1", pe}, {"1", "1 2", pe}, {"10000", "10001", ac}, {"1", "x", pe}},
		"rcmp6": {{"1 2", "1.000001 2", ac}, {"1 2", "1.000003 2", wa}, {"1 2", "1", pe}, {"1", "1 2", pe}},
		"rcmp9": {{"1 2", "1.000000001 2", ac}, {"1 2", "1.000000003 2", wa}, {"1 2", "1", pe}, {"1", "1 2", pe}},
		"yesno": {
			{"YES", "yes", ac}, {"no", "No", ac}, {"YES", "NO", wa}, {"YES", "Y", pe}, {"YES", "", pe}, {"maybe", "YES", broken}, {"YES", "YES YES", pe}, {"YES NO", "YES", ac},
			{"maybe", "perhaps", broken},
		},
		"nyesno": {
			{"YES no", "yes NO", ac}, {"YES", "YES NO", wa}, {"YES NO", "YES", wa}, {"YES", "NO", wa}, {"YES", "Y", pe}, {"x", "YES", broken}, {"", "", ac}, {"YES", "YES x", wa},
			{"YES x", "YES", wa},
		},
		"caseicmp": {
			{"Case 1: 5\nCase 2: 6\n", "Case 1: 5 Case 2: 6", ac}, {"Case 1: 5", "Case 1: 6", wa}, {"Case 1: 5", "case 1: 5", pe}, {"Case 1: 5", "Case 2: 5", pe},
			{"Case 1: 5 Case 2: 6", "Case 1: 5", pe}, {"Case 1: 5", "Case 1: 5 Case 2: 6", pe}, {"Case 1: 5 Case 2: 6", "Case 1: 7", wa}, {"5", "Case 1: 5", broken},
			{"Case 1: 5", "Case 1: x", pe}, {"Case 1: 5", "Case 1: 6 Case x", pe}, {"", "", ac},
		},
		"casencmp": {
			{"Case 1: 5 6\nCase 2: 7\n", "Case 1: 5 6 Case 2: 7", ac}, {"Case 1: 5 6", "Case 1: 5", wa}, {"Case 1: 5", "Case 1: 5 6", wa}, {"Case 1: 5", "Case 1: 6 x", pe},
			{"Case 1: x", "Case 1: 5", broken}, {"Case 1: 5", "Case 1: 5 Case 2: 6", pe}, {"Case 1: 5 Case 2: 6", "Case 1: 5", pe}, {"Case 1: Case 2: 3", "Case 1: Case 2: 3", ac},
			{"Case 1: 5", "Case 1: 5 Case", ac}, {"Case 1: 5", "Case 1: 5\x007", ac}, {"Case 1: 5", "Case 1: \x005", pe},
		},
		"casewcmp": {
			{"Case 1: a b\nCase 2: c\n", "Case 1: a b Case 2: c", ac}, {"Case 1: a b", "Case 1: ab", wa}, {"Case 1: a", "Case 2: a", pe}, {"a", "Case 1: a", broken},
			{"Case 1: a", "Case 1: A", wa}, {"Case 1: a", "", pe},
		},
	} {
		for name := range strings.FieldsSeq(names) {
			c := must(t, testcases.TestlibPrefix+name)
			for _, row := range rows {
				if got := verdictOf(t, c, row.answer, row.output); got != row.want {
					t.Errorf("%s: answer %q, output %q: got %s, want %s", name, row.answer, row.output, got, row.want)
				}
			}
		}
	}
}

func TestTestlibConformance(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"wcmp", "fcmp", "lcmp"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkertest.Run(t, checkertest.Suite{
				New:    func(t *testing.T) checker.Checker { return must(t, testcases.TestlibPrefix+name) },
				Answer: "hidden 1\n2\n", Right: "hidden 1\n2\n", Wrong: "seen 1\n2\n",
			})
		})
	}
}

// Every name that the grammar knows has a rule, and the other way round.
func TestTestlibNames(t *testing.T) {
	t.Parallel()
	n := 0
	for _, k := range testcases.CheckerKinds() {
		if name, ok := strings.CutPrefix(k.Name, testcases.TestlibPrefix); ok {
			n++
			if id := must(t, k.Name).ID(); id != k.Name+"@1" {
				t.Errorf("got id %s of %s", id, k.Name)
			}
			verdictOf(t, must(t, k.Name), "", "") // panics where there is no rule
			for _, called := range []string{name, name + ".cpp", "std::" + name + ".cpp"} {
				if spec, ok := testcases.StandardChecker(called); !ok || spec.Name != k.Name {
					t.Errorf("%s stands for %q", called, spec.Name)
				}
			}
		}
	}
	if n != 19 {
		t.Errorf("got %d checkers of testlib, want 19", n)
	}
	if _, ok := testcases.StandardChecker("check.cpp"); ok {
		t.Error("a package's own checker is taken for a standard one")
	}
}

// Tokens and lines longer than the buffer of a stream.
func TestTestlibLong(t *testing.T) {
	t.Parallel()
	digits := strings.Repeat("7", 200_000)
	for name, row := range map[string]struct{ answer, right, wrong string }{
		"hcmp": {digits, digits + "\n", digits[1:] + "8"},
		"wcmp": {digits + " 1", digits + "\n1", digits[1:] + "8 1"},
		"fcmp": {digits, digits + "\r\n", digits + "8"},
		"lcmp": {digits + " 1", " " + digits + "  1", digits + "1"},
		"ncmp": {strings.Repeat("12 ", 100_000), strings.Repeat("12\n", 100_000), strings.Repeat("12\n", 99_999)},
	} {
		c := must(t, testcases.TestlibPrefix+name)
		if got := verdictOf(t, c, row.answer, row.right); got != judge.Accepted {
			t.Errorf("%s: got %s for what is right", name, got)
		}
		if got := verdictOf(t, c, row.answer, row.wrong); got != judge.WrongAnswer {
			t.Errorf("%s: got %s for what is wrong", name, got)
		}
	}
	if got := verdictOf(t, must(t, "testlib/yesno"), "YES", strings.Repeat("Y", 33<<20)); got != judge.PresentationError {
		t.Errorf("a token without end: got %s", got)
	}
}

// Messages say where, and show data only where that is allowed.
func TestTestlibMessages(t *testing.T) {
	t.Parallel()
	in := texts("1 2\n3 4\n", "1 2\n3 5\n")
	r, err := must(t, "testlib/ncmp").Check(t.Context(), in)
	if err != nil || r.Message != "line 2, column 3, token 4: the number differs" || !strings.Contains(r.Jury, `expected "4", found "5"`) {
		t.Errorf("got %+v, %v", r, err)
	}
	in.Reveal = true
	if r, err = must(t, "testlib/ncmp").Check(t.Context(), in); err != nil || r.Message != r.Jury {
		t.Errorf("got %+v, %v", r, err)
	}
	if r, err = must(t, "testlib/fcmp").Check(t.Context(), texts("a\nb\n", "a\nc\n")); err != nil || r.Message != "line 2, column 1: the line differs" {
		t.Errorf("got %+v, %v", r, err)
	}
}

// No output makes a checker panic, and one that is the answer itself is accepted or
// unreadable.
func FuzzTestlib(f *testing.F) {
	for _, s := range []string{"", "1 2\n", "Case 1: 5", "YES no", "1e5 nan", "a\r\rb\r", "\xef\xbb\xbf1", "-0 00 +1"} {
		f.Add([]byte(s), []byte("1\n"))
		f.Add([]byte(s), []byte(s))
	}
	var all []checker.Checker
	for _, k := range testcases.CheckerKinds() {
		if strings.HasPrefix(k.Name, testcases.TestlibPrefix) {
			all = append(all, must(f, k.Name))
		}
	}
	f.Fuzz(func(t *testing.T, answer, output []byte) {
		for _, c := range all {
			verdictOf(t, c, string(answer), string(output))
			clean := !bytes.ContainsAny(answer, "\r") && !bytes.HasPrefix(answer, []byte("\ufeff"))
			if got := verdictOf(t, c, string(answer), string(answer)); clean && got == judge.WrongAnswer {
				t.Errorf("%s: answer %q as output: got %s", c.ID(), answer, got)
			}
		}
	})
}
