package checker

import (
	"context"
	"io"
	"strings"
	"testing"

	"judgefarm/judge"
)

func kattisSays(t *testing.T, args, out, ans string) judge.Verdict {
	t.Helper()
	c, err := New(judge.CheckerSpec{Name: "kattis", Args: strings.Fields(args)}, Deps{})
	if err != nil {
		t.Fatal(err)
	}
	open := func(s string) opener {
		return func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(s)), nil }
	}
	r, err := c.Check(context.Background(), Input{Case: "1", Input: open(""), Answer: open(ans), Output: open(out)})
	if err != nil {
		t.Fatal(err)
	}
	return r.Verdict
}

func TestKattis(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("Ab", 100_000)
	for _, c := range []struct {
		args, out, ans string
		want           judge.Verdict
	}{
		{"", "Hello World", "hello  world\n", judge.Accepted},
		{"", "a b", "a\nb", judge.Accepted},
		{"", "a", "a b", judge.WrongAnswer},
		{"", "a b c", "a b", judge.WrongAnswer},
		{"", "", "", judge.Accepted},
		{"", " \n", "", judge.Accepted},
		{"", "\xc4", "\xe4", judge.WrongAnswer}, // only ASCII letters have a case here
		{"", "1.0", "1", judge.WrongAnswer},
		{"", "a\x00", "a", judge.WrongAnswer},
		{"", long, strings.ToLower(long), judge.Accepted},
		{"case_sensitive", long, strings.ToLower(long), judge.WrongAnswer},
		{"case_sensitive", "A", "a", judge.WrongAnswer},
		{"case_sensitive", "A", "A", judge.Accepted},

		{"space_change_sensitive", "a b\n", "a b\n", judge.Accepted},
		{"space_change_sensitive", "a  b\n", "a b\n", judge.WrongAnswer},
		{"space_change_sensitive", "a b", "a b\n", judge.WrongAnswer},
		{"space_change_sensitive", " a b\n", "a b\n", judge.WrongAnswer},
		{"space_change_sensitive", "a\tb\n", "a b\n", judge.WrongAnswer},
		{"space_change_sensitive", "A b\n", "a B\n", judge.Accepted},
		{"space_change_sensitive", "", "", judge.Accepted},
		{"space_change_sensitive", "", "a", judge.WrongAnswer},
		{"space_change_sensitive", "a", "", judge.WrongAnswer},
		{"space_change_sensitive", long + " ", long, judge.WrongAnswer},
		{"space_change_sensitive", long, long, judge.Accepted},

		{"float_tolerance 1e-6", "3.1415926", "3.1415927", judge.Accepted},
		{"float_tolerance 1e-6", "3.14", "3.1415927", judge.WrongAnswer},
		{"float_tolerance 0.1", "3.14000000e-2", "0.0314", judge.Accepted},
		{"float_tolerance 1e-6", "1e", "1", judge.WrongAnswer},
		{"float_tolerance 1e-6", "nan", "1", judge.WrongAnswer},
		{"float_tolerance 1e-6", "inf", "inf", judge.Accepted}, // no number: equal words
		{"float_tolerance 1e-6", "0x1", "1", judge.WrongAnswer},
		{"float_tolerance 1e-6", "yes 1.0", "Yes 1", judge.Accepted},
		{"float_tolerance 1e-6", "1.0", "Yes", judge.WrongAnswer},
		{"float_absolute_tolerance 0.5", "1.5", "1", judge.Accepted},
		{"float_absolute_tolerance 0.5", "100.6", "100", judge.WrongAnswer},
		{"float_relative_tolerance 0.01", "101", "100", judge.Accepted},
		{"float_relative_tolerance 0.01", "0.0001", "0", judge.WrongAnswer},
		{"float_relative_tolerance 0.01 float_absolute_tolerance 1", "1", "0", judge.Accepted},
		{"float_tolerance 0 case_sensitive", "1.0 A", "1 a", judge.WrongAnswer},
		{"float_tolerance 1e-3 space_change_sensitive", "1.0001 2\n", "1 2\n", judge.Accepted},
	} {
		if got := kattisSays(t, c.args, c.out, c.ans); got != c.want {
			t.Errorf("%q: output %.40q, answer %.40q: got %s, want %s", c.args, c.out, c.ans, got, c.want)
		}
	}
}

func TestKattisArguments(t *testing.T) {
	t.Parallel()
	for _, args := range []string{
		"float_tolerance", "float_tolerance x", "float_tolerance -1", "case_insensitive", "float_tolerance 1 float_tolerance 1",
		"float_tolerance 1 float_absolute_tolerance 1", "abs=1",
	} {
		if _, err := New(judge.CheckerSpec{Name: "kattis", Args: strings.Fields(args)}, Deps{}); !judge.IsBadRequest(err) {
			t.Errorf("%q: got %v, want a bad request", args, err)
		}
	}
}
