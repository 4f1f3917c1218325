package ctd

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func check(t *testing.T, script, input string) error {
	t.Helper()
	s, err := Parse([]byte(script))
	if err != nil {
		t.Fatalf("%q: %v", script, err)
	}
	return s.Check(t.Context(), []byte(input))
}

// What a script accepts, and where it says that an input is wrong.
func TestCheck(t *testing.T) {
	t.Parallel()
	graph := "INT(1, 10^5, n) SPACE INT(0, n * (n - 1) / 2, m) NEWLINE\nREPI(i, m)\n INT(1, n, a[i]) SPACE INT(1, n, b[i]) NEWLINE\n ASSERT(a[i] < b[i])\nEND\nASSERT(UNIQUE(a, b))"
	for _, c := range []struct{ script, input, want string }{
		{"INT(-5, 5) NEWLINE EOF", "5\n", ""},
		{"INT(-5, 5) NEWLINE EOF", "-5\n", ""},
		{"INT(-5, 5) NEWLINE", "6\n", "line 1, column 1: 6 is not from -5 to 5"},
		{"INT(-5, 5) NEWLINE", "05\n", "a zero before it"},
		{"INT(-5, 5) NEWLINE", "-0\n", "-0 is no integer"},
		{"INT(-5, 5) NEWLINE", "-05\n", "a zero before it"},
		{"INT(-5, 5) NEWLINE", "+5\n", "expected an integer"},
		{"INT(-5, 5) NEWLINE", "x\n", `expected an integer, found "x\n"`},
		{"INT(-5, 5) NEWLINE", "5", "line 1, column 2: expected the end of the line, found the end of the input"},
		{"INT(-5, 5) NEWLINE", "5 \n", `expected the end of the line, found " \n"`},
		{"INT(-5, 5) NEWLINE", "5\r\n", `expected the end of the line, found "\r\n"`},
		{"INT(-5, 5) NEWLINE", "5\n\n", "line 2, column 1: expected the end of the input"},
		{"INT(0, 10^30)", "1000000000000000000000000000000", ""},
		{"INT(0, 10^30)", "1000000000000000000000000000001", "is not from 0 to"},
		{"FLOAT(0, 1)", "0.5", ""}, {"FLOAT(0, 1)", "1e-300", ""}, {"FLOAT(0, 1.5)", "1.5000", ""}, {"FLOAT(0, 1)", "1", ""},
		{"FLOAT(0, 0.1)", "0.1", ""}, // exactly
		{"FLOAT(0, 1)", "1.0000000000000000000000001", "is not from 0 to 1"},
		{"FLOAT(0, 1)", "00.5", "is no number"}, {"FLOAT(0, 1)", ".5", "expected a number"}, {"FLOAT(0, 1)", "1.", "is no number"},
		{"FLOAT(0, 1)", "1e", "is no number"}, {"FLOAT(0, 9)", "1e01", "is no number"}, {"FLOAT(0, 1)", "nan", "expected a number"},
		{"FLOAT(0, 1)", "1e-9999", "beyond 1000"},
		{"FLOAT(0, 1, x, FIXED)", "0.5", ""}, {"FLOAT(0, 1, x, FIXED)", "5e-1", "is not from 0 to 1"}, {"FLOAT(0, 9, x, FIXED)", "5e-1", "expected the end of the input"},
		{"FLOAT(0, 1, x, SCIENTIFIC)", "5e-1", ""}, {"FLOAT(0, 1, x, SCIENTIFIC)", "0.5", "expected an exponent"},
		{"FLOATP(0, 9, 1, 2)", "1.50", ""}, {"FLOATP(0, 9, 1, 2)", "1", "has 0 decimals, not 1 to 2"}, {"FLOATP(0, 9, 1, 2)", "1.500", "has 3 decimals"},
		{"FLOATP(0, 9, 1, 2)", "1.5e0", ""}, {"FLOATP(0, 9, 1, 2)", "0.5e0", "one digit, which is not zero"},
		{`STRING("a\tb\x\\\101")`, "a\tb\\x\\A", ""}, {`STRING("ab")`, "ac", `expected "ab", found "ac"`},
		{`REGEX("[a-z]+", s) ASSERT(STRLEN(s) == 3)`, "abc", ""}, {`REGEX("[a-z]+") NEWLINE`, "Abc\n", `expected a match of "[a-z]+"`},
		{`REGEX("a|ab") STRING("c")`, "abc", ""},              // the longest
		{`REGEX(".*")`, "two\nlines\n", ""},                   // a dot is a line end too
		{`REGEX("[^\n]*") NEWLINE REGEX("b$")`, "two\nb", ""}, // the end of all
		{`REGEX("a", s) SET(t = s) ASSERT(t < "b")`, "a", ""}, // texts compare
		{"SET(a = 7 / 2, b = -7 / 2, c = -7 % 3) ASSERT(a == 3 && b == -3 && c == -1)", "", ""},
		{"ASSERT(7.0 / 2 == 3.5) ASSERT(2 ^ 3 ^ 2 == 64) ASSERT(-2 ^ 2 == -4) ASSERT(2 + 3 * 4 == 14) ASSERT((2 + 3) * 4 == 20)", "", ""},
		{"ASSERT((1 < 2 || 1 > 2) && !(1 == 2) && ((1 + 1) == 2))", "", ""},
		{"ASSERT(1 == 1 || 1 / 0 == 1)", "", ""}, // what need not be known is not asked for
		{"ASSERT(1 == 2)", "", "line 1, column 1: an assertion does not hold (line 1 of the script)"},
		{"REP(3, SPACE) INT(0, 9) END", "1 2 3", ""}, {"REP(3, SPACE) INT(0, 9) END", "1 2", "expected a blank, found the end of the input"},
		{"REP(0) INT(0, 9) END", "", ""},
		{"REPI(i, 3, SPACE) INT(i, i) END ASSERT(i == 3)", "0 1 2", ""},
		{"WHILE(!ISEOF) INT(0, 9) NEWLINE END", "1\n2\n", ""}, {"WHILE(!ISEOF) INT(0, 9) NEWLINE END", "1\nx\n", "line 2, column 1"},
		{`WHILEI(i, MATCH("ab"), NEWLINE) REGEX("[ab]") END ASSERT(i == 1)`, "a", ""},
		{"INT(0, 1, k) NEWLINE IF(k == 0) STRING(\"zero\") ELSE STRING(\"one\") END", "1\none", ""},
		{"INT(0, 1, k) IF(k == 0) NEWLINE END", "1", ""},
		{graph, "3 2\n1 2\n1 3\n", ""}, {graph, "3 2\n1 2\n1 2\n", "an assertion does not hold (line 6 of the script)"},
		{graph, "3 2\n1 2\n3 1\n", "line 4, column 1: an assertion does not hold (line 4 of the script)"}, {graph, "3 4\n", "4 is not from 0 to 3"},
		{"REPI(i, 3, SPACE) INT(1, 9, a[i]) END ASSERT(INARRAY(2, a) && !INARRAY(5, a))", "1 2 3", ""},
		{"SET(a[0] = 1) UNSET(a) ASSERT(!INARRAY(1, a))", "", ""}, {"SET(a[0] = 1) SET(a[0] = 2) ASSERT(!INARRAY(1, a) && INARRAY(2, a))", "", ""},
		{"SET(a[1, 2] = 5) ASSERT(a[1, 1 + 1] == 5)", "", ""},
		{"# a comment\nINT(1, 1) # and another", "1", ""},
	} {
		err := check(t, c.script, c.input)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s on %q: got %v, want %q", c.script, c.input, err, c.want)
		}
		var m *Mismatch
		if c.want != "" && !errors.As(err, &m) {
			t.Errorf("%s on %q: got %T, want a *Mismatch", c.script, c.input, err)
		}
	}
}

// Faults of a script name its line and are no mismatch.
func TestWrongScripts(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{
		"\nGUESS(1)":                     "line 2: unknown command GUESS",
		"INT(1)":                         `line 1: expected ",", found ")"`,
		"INT(1, 2":                       `expected ")", found the end`,
		"REP(2)\nINT(1, 2)":              "line 1: REP has no END",
		"END":                            `expected a command, found "END"`,
		"INT(1, 2, 3)":                   `expected a variable, found "3"`,
		"FLOAT(1, 2, x, ROUGHLY)":        `the option must be FIXED or SCIENTIFIC, is "ROUGHLY"`,
		`STRING("abc`:                    "a text has no end",
		`STRING("\777")`:                 `\777 is no character`,
		"ASSERT(1)":                      "expected a comparison",
		"ASSERT((1 + 2) * 3)":            "expected a comparison",
		"SET(x = $)":                     `unexpected "$"`,
		"REP(1, REP(1) END) END":         "REP cannot be a separator",
		strings.Repeat("IF(1==1) ", 200): "nested more than 100 deep",
		"ASSERT(" + strings.Repeat("(", 500) + "1": "nested more than 100 deep",
	} {
		if _, err := Parse([]byte(script)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: got %v, want %q", script, err, want)
		}
	}
	for script, want := range map[string]string{
		"SET(x = 1)\nASSERT(y == 1)":                   "line 2: variable y[] has no value",
		"SET(x = 1 / 0)":                               "division by zero",
		"SET(x = 1.5 % 2)":                             "% is for integers only",
		`SET(x = "a" + 1)`:                             "+ is for numbers only",
		`ASSERT("a" == 1)`:                             "a text cannot be compared with a number",
		"SET(x = 2 ^ -1)":                              "an exponent must be an integer",
		"SET(x = 2 ^ 999999)":                          "is too large",
		"SET(x = 7) REP(40) SET(x = x * x) END":        "is too large",
		"REP(-1) END":                                  "must count up to an integer of 32 bits",
		"REP(4294967295) REP(4294967295) END END":      "takes more than 100000000 steps",
		"SET(a[1.5] = 1)":                              "an index must be an integer",
		"STRING(5)":                                    "STRING is for texts",
		`REGEX("(")`:                                   "is no regular expression",
		"SET(a[1] = 1, b[2] = 1) ASSERT(UNIQUE(a, b))": "other indices",
		`INT("a", 2)`:                                  "the range of INT must be numbers",
	} {
		err := check(t, script, "1")
		var own *Error
		if !errors.As(err, &own) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: got %v, want %q", script, err, want)
		}
	}
}

// A run ends with its context.
func TestContext(t *testing.T) {
	t.Parallel()
	s, err := Parse([]byte("WHILE(1 == 1) SET(x = 1) END"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	if err := s.Check(ctx, nil); !errors.Is(err, why) {
		t.Errorf("got %v, want the cause", err)
	}
}

func FuzzCheck(f *testing.F) {
	for _, s := range []string{
		"INT(1, 10^5, n) NEWLINE REPI(i, n, SPACE) INT(-5, 5, a[i]) END NEWLINE ASSERT(UNIQUE(a) && !INARRAY(3, a))",
		`WHILE(!ISEOF) REGEX("[a-z]*", s) IF(STRLEN(s) > 2 || MATCH("x")) NEWLINE ELSE SPACE END END`,
		"FLOATP(0, 1e3, 0, 5, x, FIXED) SET(y = -x ^ 2 / (3 - x) % 2, z = \"\\n\\101\")",
	} {
		f.Add(s, "3\n1 2 -4\n")
		f.Add(s, "1.25")
	}
	f.Fuzz(func(t *testing.T, script, input string) {
		s, err := Parse([]byte(script))
		var own *Error
		if err != nil {
			if !errors.As(err, &own) {
				t.Fatalf("parse: %T %v", err, err)
			}
			return
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		err = s.check(ctx, []byte(input), 20000)
		var m *Mismatch
		if err != nil && !errors.As(err, &own) && !errors.As(err, &m) {
			t.Fatalf("check: %T %v", err, err)
		}
		if m != nil && (m.Line < 1 || m.Column < 1 || m.Line > strings.Count(input, "\n")+1) {
			t.Fatalf("mismatch at %d:%d of %q", m.Line, m.Column, input)
		}
	})
}

// What a script may keep is bounded in bytes too, and values that are gone are not kept.
func TestBounds(t *testing.T) {
	t.Parallel()
	err := check(t, "SET(x = 2 ^ 60000, x = x * x * x) REPI(i, 6000) SET(a[i] = x + i) END", "")
	var own *Error
	if !errors.As(err, &own) || !strings.Contains(err.Error(), "keeps more than 2000000 values") {
		t.Errorf("long numbers: got %v", err)
	}
	if err := check(t, "SET(x = 2 ^ 60000, x = x * x * x) REPI(i, 6000) SET(a[i] = x + i) UNSET(a) END", ""); err != nil {
		t.Errorf("long numbers that are unset: %v", err)
	}
	if err := check(t, "SET(x = 2 ^ 60000, x = x * x * x) REPI(i, 6000) SET(a = x + i) END", ""); err != nil {
		t.Errorf("long numbers, one at a time: %v", err)
	}
	s, err := Parse([]byte("REPI(i, 1000) SET(a[0] = i) END ASSERT(INARRAY(999, a) && !INARRAY(998, a))"))
	if err != nil {
		t.Fatal(err)
	}
	m := &machine{ctx: t.Context(), most: maxSteps, sought: s.sought, vars: map[string]map[string]value{}, patterns: map[string]*pattern{}, has: map[string]map[string]int{}}
	if err := m.block(s.body); err != nil || len(m.has["a"]) != 1 {
		t.Errorf("%v; %d values are kept to look through, want 1", err, len(m.has["a"]))
	}
}
