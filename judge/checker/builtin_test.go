package checker_test

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"judgefarm/judge"
	"judgefarm/judge/checker"
	"judgefarm/judge/checker/checkertest"
)

// must makes a built-in checker of a name with arguments: "floats abs=1e-6".
func must(t testing.TB, spec string) checker.Checker {
	t.Helper()
	words := strings.Fields(spec)
	c, err := checker.New(judge.CheckerSpec{Name: words[0], Args: words[1:]}, checker.Deps{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestConformance(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"tokens", "exact", "lines", "floats", "dmoj/standard", "dmoj/easy", "dmoj/floats", "dmoj/floatsrel",
		"dmoj/identical", "dmoj/linecount", "dmoj/linematches points=1,0", "dmoj/rstripped", "dmoj/sorted", "dmoj/unordered"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkertest.Run(t, checkertest.Suite{
				New:    func(t *testing.T) checker.Checker { return must(t, name) },
				Answer: "hidden 1\n2\n", Right: "hidden 1\n2\n", Wrong: "seen 1\n2\n",
			})
		})
	}
}

// The rules of docs/checkers.md, among them attacks D39 and D40: an empty
// output, NaN, NUL bytes, CRLF, no last line feed, blanks at line ends.
func TestRules(t *testing.T) {
	t.Parallel()
	const ac, wa, pe = judge.Accepted, judge.WrongAnswer, judge.PresentationError
	tests := []struct {
		name, answer, output         string
		tokens, exact, lines, floats judge.Verdict
	}{
		{"equal", "1 2\n3\n", "1 2\n3\n", ac, ac, ac, ac},
		{"both empty", "", "", ac, ac, ac, ac},
		{"no output", "1\n", "", wa, wa, wa, wa},
		{"no answer", "", "1\n", wa, wa, wa, wa},
		{"blank output for no answer", "", " \n\n", ac, pe, ac, ac},
		{"other token", "1 2\n", "1 3\n", wa, wa, wa, wa},
		{"a token less", "1 2\n", "1\n", wa, wa, wa, wa},
		{"a token more", "1 2\n", "1 2 3\n", wa, wa, wa, wa},
		{"tokens joined", "1 2\n", "12\n", wa, wa, wa, wa},
		{"prefix of a token", "abc\n", "ab\n", wa, wa, wa, wa},
		{"case", "Yes\n", "YES\n", wa, wa, wa, wa},
		{"no last line feed", "1\n2\n", "1\n2", ac, pe, ac, ac},
		{"last line feed too many", "1\n2", "1\n2\n\n\n", ac, pe, ac, ac},
		{"CRLF", "1\n2\n", "1\r\n2\r\n", ac, pe, ac, ac},
		{"CRLF in the answer", "1\r\n2\r\n", "1\n2\n", ac, pe, ac, ac},
		{"CR inside a line", "1 2\n", "1\r2\n", ac, pe, pe, ac},
		{"blanks at line ends", "1\n2\n", "1 \t\n2  ", ac, pe, ac, ac},
		{"other blanks at line ends", "1 \n2\t\n", "1\t\t\n2 ", ac, pe, ac, ac},
		{"blank at line start", "1\n", " 1\n", ac, pe, pe, ac},
		{"two blanks for one", "1 2\n", "1  2\n", ac, pe, pe, ac},
		{"lines joined", "1\n2\n", "1 2\n", ac, pe, pe, ac},
		{"empty line inside", "1\n2\n", "1\n\n2\n", ac, pe, pe, ac},
		{"no-break space", "1 2\n", "1\u00a02\n", wa, wa, wa, wa},
		{"NUL after a token", "1\n", "1\x00\n", wa, wa, wa, wa},
		{"NUL for a blank", "1 2\n", "1\x002\n", wa, wa, wa, wa},
		{"NUL at the end", "1\n", "1\n\x00", wa, wa, wa, wa},
		{"NUL in both", "1\x00\n", "1\x00\n", wa, ac, wa, wa},
		{"NUL in both, other white space", "1\x00\n", "1\x00 \n", wa, pe, wa, wa},
		{"bytes that are not UTF-8", "\xff\xfe\n", "\xff\xfe\n", ac, ac, ac, ac},
		{"NaN for a number", "1\n", "NaN\n", wa, wa, wa, wa},
		{"NaN in both", "nan\n", "nan\n", ac, ac, ac, wa},
		{"infinity in both", "-Inf\n", "-Inf\n", ac, ac, ac, wa},
		{"a word that starts like one", "info\n", "info\n", ac, ac, ac, ac},
		{"near", "1.0\n", "1.0000001\n", wa, wa, wa, ac},
		{"not near", "1.0\n", "1.00001\n", wa, wa, wa, wa},
		{"number for a word", "one\n", "1\n", wa, wa, wa, wa},
		{"word for a number", "1\n", "one\n", wa, wa, wa, wa},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for name, want := range map[string]judge.Verdict{
				"tokens": tt.tokens, "exact": tt.exact, "lines": tt.lines, "floats": tt.floats,
			} {
				got, err := must(t, name).Check(t.Context(), checkertest.Input(tt.answer, tt.output))
				if err != nil || got.Verdict != want {
					t.Errorf("%s: answer %q, output %q: got %s (%s), %v, want %s", name, tt.answer, tt.output, got.Verdict, got.Message, err, want)
				}
			}
		})
	}
}

func TestMessages(t *testing.T) {
	t.Parallel()
	tests := []struct{ checker, answer, output, message, full string }{
		{"tokens", "1 2\n3 four\n", "1 2\n3 five\n", "line 2, column 3, token 4: the token differs", `: expected "four", found "five"`},
		{"tokens", "1 2\n", "1\n", "line 2, column 1, token 2: the output ends, more was expected", `: expected "2", found nothing`},
		{"tokens", "1", "1 x", "line 1, column 3, token 2: the output goes on after what was expected", `: expected nothing, found "x"`},
		{"exact", "a\nbc", "a\nbd", "line 2, column 2: the byte differs", `: expected "c", found "d"`},
		{"exact", "a\n", "a", "line 1, column 2: only white space differs from what was expected", `: expected "\n", found nothing`},
		{"lines", "a\nb\n", "a\nc\n", "line 2, column 1: the line differs", `: expected "b\n", found "c\n"`},
		{"floats", "1.5", "1.6", "line 1, column 1, token 1: the number differs by more than the tolerance", `: expected "1.5", found "1.6"`},
		{"floats", "1.5", "0x1", "line 1, column 1, token 1: the token is no decimal number", `: expected "1.5", found "0x1"`},
		{"tokens", strings.Repeat("a", 100), "\x01\xff", "line 1, column 1, token 1: the token differs",
			`: expected "` + strings.Repeat("a", 64) + `"..., found "\x01\xff"`},
	}
	for _, tt := range tests {
		in := checkertest.Input(tt.answer, tt.output)
		hidden, err := must(t, tt.checker).Check(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		in.Reveal = true
		shown, err := must(t, tt.checker).Check(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		if hidden.Message != tt.message || hidden.Jury != tt.message+tt.full || shown.Message != hidden.Jury {
			t.Errorf("%s, answer %q, output %q:\ngot  %s\nand  %s\nwant %s", tt.checker, tt.answer, tt.output, hidden.Message, shown.Message, tt.message+tt.full)
		}
	}
}

// Differences are found wherever they fall relative to the buffers, and readers
// that give a byte at a time change nothing.
func TestBufferEdges(t *testing.T) {
	t.Parallel()
	const size = 64 << 10
	for _, name := range []string{"tokens", "exact", "lines", "floats", "dmoj/standard", "dmoj/floats", "dmoj/easy"} {
		for _, n := range []int{size - 1, size, size + 1, 2*size + 1} {
			for _, unit := range []string{"a", "1 ", "ab\n"} {
				same := strings.Repeat(unit, n/len(unit)) + "a"
				for output, want := range map[string]judge.Verdict{
					same: judge.Accepted, same + "b": judge.WrongAnswer, same[:len(same)-1] + "b": judge.WrongAnswer,
					same[:len(same)-1]: judge.WrongAnswer, "b" + same[1:]: judge.WrongAnswer, same + " \n": "",
				} {
					in := checkertest.Input(same, output)
					in.Output = func() (io.ReadCloser, error) { return io.NopCloser(uneven{strings.NewReader(output)}), nil }
					got, err := must(t, name).Check(t.Context(), in)
					if want == "" && name == "exact" {
						want = judge.PresentationError
					} else if want == "" {
						want = judge.Accepted
					}
					if err != nil || got.Verdict != want {
						t.Errorf("%s, %d x %q, output of %d bytes: got %s (%s), %v, want %s", name, n, unit, len(output), got.Verdict, got.Message, err, want)
					}
				}
			}
		}
	}
}

// uneven gives odd amounts.
type uneven struct{ r io.Reader }

func (u uneven) Read(b []byte) (int, error) { return u.r.Read(b[:min(len(b), 4093)]) }

func TestNew(t *testing.T) {
	t.Parallel()
	for _, spec := range []string{"tokens", "exact", "lines", "floats", "dmoj/standard", "dmoj/easy", "dmoj/floats", "dmoj/floatsrel",
		"dmoj/identical", "dmoj/linecount", "dmoj/linematches", "dmoj/rstripped", "dmoj/sorted", "dmoj/unordered"} {
		if got := must(t, spec).ID(); got != spec+"@1" {
			t.Errorf("%s: got id %s", spec, got)
		}
	}
	if c, err := checker.New(judge.CheckerSpec{}, checker.Deps{}); err != nil || c.ID() != "tokens@1" {
		t.Errorf("no name: got %v, %v, want tokens", c, err)
	}
	for _, spec := range []judge.CheckerSpec{{Name: "diff"}, {Name: "tokens", Args: []string{"x"}}, {Name: "custom"}} {
		if _, err := checker.New(spec, checker.Deps{}); !judge.IsBadRequest(err) {
			t.Errorf("%+v: got %v, want a bad request", spec, err)
		}
	}
}

// repeated is an endless text, cut after n bytes.
type repeated struct {
	text []byte
	off  int
	left int64
}

func (r *repeated) Read(b []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	n := copy(b[:min(int64(len(b)), r.left)], r.text[r.off:])
	r.off = (r.off + n) % len(r.text)
	r.left -= int64(n)
	return n, nil
}

func (*repeated) Close() error { return nil }

func endless(text string, n int64) func() (io.ReadCloser, error) {
	long := bytes.Repeat([]byte(text), 1+(32<<10)/len(text))
	return func() (io.ReadCloser, error) { return &repeated{text: long, left: n}, nil }
}

func benchmark(b *testing.B, name, answer, output string) {
	const size = 100 << 20
	c := must(b, name)
	in := checker.Input{Answer: endless(answer, size), Output: endless(output, size)}
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		if got, err := c.Check(context.Background(), in); err != nil || got.Verdict != judge.Accepted {
			b.Fatal(got, err)
		}
	}
}

func BenchmarkTokens(b *testing.B)        { benchmark(b, "tokens", "12345 6789\n", "12345 6789\n") }
func BenchmarkTokensOneLong(b *testing.B) { benchmark(b, "tokens", "x", "x") }
func BenchmarkLines(b *testing.B)         { benchmark(b, "lines", "12345 6789\n", "12345 6789\n") }
func BenchmarkFloatsNear(b *testing.B)    { benchmark(b, "floats", "1.2345678 ", "1.2345679 ") }
