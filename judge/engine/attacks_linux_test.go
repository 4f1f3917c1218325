package engine_test

import (
	"fmt"
	"os"
	"testing"

	"judgefarm/judge"
	"judgefarm/judge/engine"
	"judgefarm/testcases"
)

// The rows of docs/attacks.md about results, judged in real boxes with the checker
// that does not read numbers (tokens) and the one that does.
var resultAttacks = []struct {
	id, name, source string
	expected         string
	tokens, floats   judge.Verdict
}{
	{"D39", "right answer, exit 1", `puts("1 2"); return 1;`, "1 2\n", "RTE", "RTE"},
	{"D39", "right answer, exit 255", `puts("1 2"); return 255;`, "1 2\n", "RTE", "RTE"},
	{"D39", "right answer, abort", `puts("1 2"); fflush(stdout); abort();`, "1 2\n", "RTE", "RTE"},
	{"D39", "right answer, kills itself", `puts("1 2"); fflush(stdout); raise(9);`, "1 2\n", "RTE", "RTE"},
	{"D39", "no output", `return 0;`, "1 2\n", "WA", "WA"},
	{"D39", "no output, stdout closed", `fclose(stdout); return 0;`, "1 2\n", "WA", "WA"},
	{"D39", "answer on stderr", `fputs("1 2", stderr); return 0;`, "1 2\n", "WA", "WA"},
	{"D39", "exit 1 where nothing is expected", `return 1;`, "", "RTE", "RTE"},
	{"D40", "NaN", `puts("NaN");`, "1\n", "WA", "WA"},
	{"D40", "NaN for NaN", `puts("nan");`, "nan\n", "AC", "WA"},
	{"D40", "infinity", `puts("inf");`, "1e300\n", "WA", "WA"},
	{"D40", "NUL bytes", `fwrite("1\0\n", 1, 3, stdout);`, "1\n", "WA", "WA"},
	{"D40", "NUL at the end", `fwrite("1\n\0", 1, 3, stdout);`, "1\n", "WA", "WA"},
	{"D40", "CRLF", `fputs("1\r\n2\r\n", stdout);`, "1\n2\n", "AC", "AC"},
	{"D40", "no last newline", `fputs("1\n2", stdout);`, "1\n2\n", "AC", "AC"},
	{"D40", "blanks at line ends", `fputs("1  \n2\t\n\n\n", stdout);`, "1\n2\n", "AC", "AC"},
	{"D40", "not UTF-8", `fputs("1 \xff\n", stdout);`, "1\n", "WA", "WA"},
}

func TestResultAttacks(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/usr/bin/gcc"); err != nil {
		t.Skip("missing: gcc")
	}
	e, _ := realEngine(t)
	for _, a := range resultAttacks {
		t.Run(a.id+" "+a.name, func(t *testing.T) {
			p, err := testcases.Inline(testcases.InlineConfig{Tests: []testcases.InlineTest{{Expected: []byte(a.expected)}}})
			if err != nil {
				t.Fatal(err)
			}
			source := fmt.Sprintf("#include <signal.h>\n#include <stdio.h>\n#include <stdlib.h>\nint main(void) { %s }\n", a.source)
			for name, want := range map[string]judge.Verdict{"tokens": a.tokens, "floats": a.floats} {
				sub := judge.Submission{ID: a.id, Language: "c", Checker: &judge.CheckerSpec{Name: name},
					Files: []judge.File{{Name: "main.c", Data: []byte(source)}}}
				out, err := e.Judge(t.Context(), engine.Job{Submission: sub, Problem: p}, engine.Watcher{})
				if err != nil {
					t.Fatal(err)
				}
				if got := verdicts(out.Judgement); len(got) != 1 || got[0] != want {
					t.Errorf("%s: got %v, want %s; compiler %q", name, got, want, out.CompileLog)
				}
			}
		})
	}
}
