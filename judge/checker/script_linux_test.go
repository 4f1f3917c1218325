package checker_test

import (
	"errors"
	"strings"
	"testing"

	"judgefarm/judge"
	"judgefarm/judge/checker"
	"judgefarm/testcases"
)

// scripted makes the checker of a program that brings build and run scripts.
func scripted(t *testing.T, m checker.Maker, files map[string]string, args ...string) (checker.Checker, error) {
	t.Helper()
	p := &testcases.Program{Name: "output_validators/own", Protocol: testcases.ProtocolKattis, Script: true}
	for name, text := range files {
		p.Files = append(p.Files, judge.File{Name: name, Data: []byte(text)})
	}
	return m.For(t.Context(), &testcases.Problem{CheckerProgram: p}, judge.CheckerSpec{Name: "custom", Args: args})
}

// Problem package format, "Programs": build runs in a copy of the program's folder, run
// is the program, and finds the folder's files around it.
func TestScripts(t *testing.T) {
	t.Parallel()
	m := real(t)
	const source = `
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv) {
    char word[9] = "", want[9] = "";
    FILE *f = fopen("data/word.txt", "r");
    if (argc != 5 || strcmp(argv[4], "a b") || !f || fscanf(f, "%8s", want) != 1) return 1;
    return scanf("%8s", word) == 1 && !strcmp(word, want) ? 42 : 43;
}`
	for name, files := range map[string]map[string]string{
		"build compiles":    {"build": "#!/bin/sh\nset -e\ncc -o run check.c\n", "check.c": source, "data/word.txt": "yes\n"},
		"build writes run":  {"build": "printf '#!/bin/sh\\nexec ./tool \"$@\"\\n' > run; chmod 755 run; c++ -x c++ -o tool check.c", "check.c": source, "data/word.txt": "yes\n"},
		"build calls files": {"build": "#!/bin/sh\n./steps/make.sh\n", "steps/make.sh": "#!/bin/sh\ncc -o run check.c\n", "check.c": source, "data/word.txt": "yes\n"},
		"run alone": {"run": "#!/usr/bin/env python3\nimport sys\nfrom own.words import want\n" +
			"sys.exit(1 if sys.argv[4:] != ['a b'] else 42 if sys.stdin.read().strip() == want else 43)\n", "own/words.py": "want = 'yes'\n"},
		"run without a first line": {"run": `[ "$4" = "a b" ] || exit 1; read word; [ "$word" = "$(cat data/word.txt)" ] && exit 42; exit 43`, "data/word.txt": "yes\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := scripted(t, m, files, "a b")
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(c.ID(), "custom@1+script:") {
				t.Errorf("got id %s", c.ID())
			}
			for output, want := range map[string]judge.Verdict{"yes\n": judge.Accepted, "no\n": judge.WrongAnswer} {
				if got, err := c.Check(t.Context(), input("", "", output)); err != nil || got.Verdict != want {
					t.Errorf("output %q: got %+v, %v, want %s", output, got, err, want)
				}
			}
		})
	}
}

// What a script does not do right is a fault of the problem, and says what is wrong.
func TestScriptsThatFail(t *testing.T) {
	t.Parallel()
	m := real(t)
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"makes no run":   {map[string]string{"build": "true\n"}, "no file called run"},
		"exits with 3":   {map[string]string{"build": "echo said so; exit 3\n", "run": "exit 42\n"}, "said so"},
		"leaves a link":  {map[string]string{"build": "ln -s /etc/passwd run\n"}, "run"},
		"exits with 0":   {map[string]string{"run": "exit 0\n"}, "status 0"},
		"cannot be read": {map[string]string{"run": "#!/no/such/program\n"}, "status 12"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			own, err := scripted(t, m, c.files)
			if err == nil {
				_, err = own.Check(t.Context(), input("", "", ""))
			}
			var failed *judge.Failed
			if !errors.As(err, &failed) || failed.Kind != judge.FailChecker {
				t.Fatalf("got %v, want a failure of the checker", err)
			}
			if all := failed.Reason + errors.Unwrap(failed).Error(); !strings.Contains(all, c.want) {
				t.Errorf("got %q, want %q in it", all, c.want)
			}
		})
	}
}
