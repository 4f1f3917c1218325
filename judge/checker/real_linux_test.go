package checker_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"judgefarm/judge"
	"judgefarm/judge/checker"
	"judgefarm/judge/checker/checkertest"
	"judgefarm/judge/compile/compiletest"
	"judgefarm/testcases"
)

// real makes checkers whose programs are compiled and run in real boxes.
func real(t *testing.T) checker.Maker {
	t.Helper()
	r := compiletest.New(t, 2, 0)
	checks := filepath.Join(r.Dir, "checks")
	if err := os.Mkdir(checks, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if left, err := os.ReadDir(checks); err != nil || len(left) > 0 {
			t.Errorf("data of checks is left: %v, %v", left, err)
		}
	})
	return checker.Maker{Runner: r.Box, Compiler: r.Compiler, Languages: r.Languages, Dir: checks}
}

// custom makes the checker of a program, skipping where its language is missing.
func custom(t *testing.T, m checker.Maker, language, name, source string, args ...string) checker.Checker {
	t.Helper()
	lang, ok := m.Languages.Find(language)
	if !ok {
		t.Fatalf("no language %s", language)
	}
	for _, program := range lang.Toolchain.Programs {
		if _, err := os.Stat(program); err != nil {
			t.Skipf("missing: %s", program)
		}
	}
	p := &testcases.Problem{CheckerProgram: &testcases.Program{Language: language, Files: []judge.File{{Name: name, Data: []byte(source)}}}}
	c, err := m.For(t.Context(), p, judge.CheckerSpec{Name: "custom", Args: args})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func input(in, answer, output string) checker.Input {
	c := checkertest.Input(answer, output)
	c.Input = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(in)), nil }
	return c
}

// A program in C++ passes the suite of every checker; it reads all three files
// and writes both messages.
func TestRealConformance(t *testing.T) {
	t.Parallel()
	m := real(t)
	source := `
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

static std::string all(std::istream &in) { return {std::istreambuf_iterator<char>(in), {}}; }

int main(int argc, char **argv) {
    if (argc != 4) return 1;
    std::ifstream in(argv[1]), ans(argv[2]);
    if (!in || !ans) return 2;
    std::ofstream(argv[3] + std::string("judgemessage.txt")) << "answer " << all(ans);
    ans.clear(), ans.seekg(0);
    if (all(std::cin) == all(ans)) return 42;
    std::ofstream(argv[3] + std::string("teammessage.txt")) << "not equal";
    return 43;
}`
	checkertest.Run(t, checkertest.Suite{
		New:   func(t *testing.T) checker.Checker { return custom(t, m, "cpp17", "check.cpp", source) },
		Input: "hidden", Answer: "hidden 1\n", Right: "hidden 1\n", Wrong: "seen\n",
	})
}

// The checkers of the bundled problems, in C++ and Python, rule on good and on
// garbage outputs.
func TestRealBundled(t *testing.T) {
	t.Parallel()
	m := real(t)
	read := func(name string) string {
		b, err := os.ReadFile(filepath.Join("../../testcases/testdata/problems", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	goldbach := custom(t, m, "cpp17", "check.cpp", read("goldbach/checker/check.cpp"))
	apart := custom(t, m, "python3", "check.py", read("apart/checker/check.py"), "--distance=2")
	tests := []struct {
		checker                     checker.Checker
		in, answer, output, verdict string
	}{
		{goldbach, "10\n", "3 7\n", "5 5\n", "AC"},
		{goldbach, "10\n", "3 7\n", "7\n3\n", "AC"},
		{goldbach, "27\n", "none\n", "none\n", "AC"},
		{goldbach, "27\n", "none\n", "2 25\n", "WA"},
		{goldbach, "10\n", "3 7\n", "none\n", "WA"},
		{goldbach, "10\n", "3 7\n", "1 9\n", "WA"},
		{goldbach, "10\n", "3 7\n", "", "WA"},
		{goldbach, "10\n", "3 7\n", "3 7 x\n", "WA"},
		{goldbach, "10\n", "3 7\n", "-3 13\n", "WA"},
		{goldbach, "10\n", "3 7\n", strings.Repeat("9", 1<<20), "WA"},
		{goldbach, "10\n", "3 7\n", "3\x00 7\n", "WA"},
		{apart, "4\n", "2 4 1 3\n", "3 1 4 2\n", "AC"},
		{apart, "4\n", "2 4 1 3\n", "1 2 3 4\n", "WA"},
		{apart, "4\n", "2 4 1 3\n", "\xff\x00", "WA"},
		{apart, "2\n", "none\n", "none\n", "AC"},
	}
	for _, tt := range tests {
		got, err := tt.checker.Check(t.Context(), input(tt.in, tt.answer, tt.output))
		if err != nil || string(got.Verdict) != tt.verdict {
			t.Errorf("input %q, output %.40q: got %s (%s), %v, want %s", tt.in, tt.output, got.Verdict, got.Message, err, tt.verdict)
		}
	}
}

// What a program may need and what it may do: a large stack, an output that it
// does not read, a crash, memory without end, talk without end.
func TestRealExtremes(t *testing.T) {
	t.Parallel()
	m := real(t)
	tests := []struct{ name, body, verdict string }{
		{"deep recursion", "return deep(300000) > 0 ? 42 : 43;", "AC"},
		{"reads nothing", "return 43;", "WA"},
		{"talks", `for (int i = 0; i < 200000; i++) puts("0123456789"); return 42;`, "AC"},
		{"crashes", "volatile int *p = (int *)8; return *p;", "signal 11"},
		{"eats memory", "for (;;) memset(malloc(1 << 20), 1, 1 << 20);", "memory"},
		{"exits as a program does", "return 0;", "status 0"},
	}
	output := strings.Repeat("x", 8<<20)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := custom(t, m, "c", "check.c", `
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int deep(int n) { volatile char frame[700]; frame[n % 700] = 1; return n ? deep(n - 1) + frame[n % 700] : 1; }
int main(void) { (void)deep; `+tt.body+` }`)
			got, err := c.Check(t.Context(), input("", "", output))
			var failed *judge.Failed
			if err != nil {
				if !errors.As(err, &failed) || failed.Kind != judge.FailChecker || !strings.Contains(failed.Reason, tt.verdict) {
					t.Errorf("got %v, want a failure of the checker with %q", err, tt.verdict)
				}
				return
			}
			if string(got.Verdict) != tt.verdict {
				t.Errorf("got %s, want %s", got.Verdict, tt.verdict)
			}
		})
	}
}
