package engine_test

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"judgefarm/judge"
	"judgefarm/judge/engine"
	"judgefarm/testcases/format"
)

// secretProblem writes a problem whose answers, other input, checker and very folder
// hold the token; its case "2-asks" tells the program both halves of it.
func secretProblem(t *testing.T, dir, first, second string) string {
	t.Helper()
	token := first + second
	root := filepath.Join(dir, "problem-"+token)
	for name, text := range map[string]string{
		"problem.yaml":                         "checker: {name: custom, language: c}\nlimits: {cpu: 10s}\n",
		"checker/check.c":                      strings.ReplaceAll(secretChecker, "TOKEN", token),
		"data/secret/1-other.in":               "? ?\n" + token + "\n",
		"data/secret/1-other.ans":              token,
		"data/secret/2-asks.in":                first + " " + second + "\n",
		"data/secret/2-asks.ans":               token,
		"data/secret/3-last.in":                "? ?\n" + token + "\n",
		"data/secret/3-last.ans":               token,
		"submissions/accepted/" + token + ".c": "int main(void) { return 0; } // " + token + "\n",
	} {
		name = filepath.Join(root, name)
		// As open as files can be: it is not their mode that hides them.
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// secretChecker accepts "nothing" and fails when it does not get the answer.
const secretChecker = `
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv) {
  char answer[200] = "", output[200] = "";
  FILE *f = fopen(argv[2], "r");
  if (argc < 4 || f == NULL || fgets(answer, sizeof answer, f) == NULL || strcmp(answer, "TOKEN") != 0) return 1;
  fgets(output, sizeof output, stdin);
  return strcmp(output, "nothing\n") == 0 ? 42 : 43;
}
`

// secretSearch reads every file that it sees outside of the toolchains, and its
// descriptors, for what its input says in two halves; "? ?" has it search nothing.
const secretSearch = `
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char token[200], data[1 << 20];
static int found, files;

static void look(const char *where, ssize_t n) {
  if (n > 0 && memmem(data, n, token, strlen(token)) != NULL) {
    printf("%s\n", where);
    found++;
  }
}

static int visit(const char *path, const struct stat *st, int kind, struct FTW *at) {
  (void)at;
  if (strstr(path, token) != NULL) {
    printf("%s\n", path);
    found++;
  }
  if (kind == FTW_SL) {
    look(path, readlink(path, data, sizeof data));
  } else if (kind == FTW_F && S_ISREG(st->st_mode)) {
    int fd = open(path, O_RDONLY | O_NONBLOCK);
    if (fd >= 0) {
      look(path, read(fd, data, sizeof data));
      close(fd);
      files++;
    }
  }
  return 0;
}

int main(void) {
  char first[100], second[100];
  if (scanf("%99s %99s", first, second) != 2) return 1;
  if (strcmp(first, "?") == 0) {
    puts("nothing");
    return 0;
  }
  for (int fd = 3; fd < 1024; fd++) {
    if (fcntl(fd, F_GETFD) >= 0) {
      printf("descriptor %d\n", fd);
      found++;
    }
  }
  snprintf(token, sizeof token, "%s%s", first, second);
  for (int fd = 0; fd < 3; fd++) look("descriptor", pread(fd, data, sizeof data, 0));
  DIR *root = opendir("/");
  for (struct dirent *e; root != NULL && (e = readdir(root)) != NULL;) {
    if (e->d_name[0] == '.' || strcmp(e->d_name, "usr") == 0) continue;
    char path[300];
    snprintf(path, sizeof path, "/%s", e->d_name);
    nftw(path, visit, 16, FTW_PHYS);
  }
  closedir(root);
  if (found == 0) puts(files > 20 ? "nothing" : "nothing is there to search");
  return 0;
}
`

// Promise 8, D27: no answer, no other case, no checker and no path of the problem is in
// the box that runs the submission.
func TestAnswersStayOutside(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/usr/bin/gcc"); err != nil {
		t.Skip("missing: gcc")
	}
	e, dir := realEngine(t)
	first, second := rand.Text(), rand.Text()
	p, err := format.Open(secretProblem(t, dir, first, second))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, source string
		want         judge.Verdict
	}{
		{"search", secretSearch, judge.Accepted},
		// The same search finds what is there: in its own executable.
		{"control", secretSearch + "__attribute__((used)) static const char planted[] = \"" + first + second + "\";", judge.WrongAnswer},
	} {
		sub := judge.Submission{ID: tt.name, Language: "c", Stop: judge.StopNever,
			Files: []judge.File{{Name: "search.c", Data: []byte(tt.source)}}}
		out, err := e.Judge(t.Context(), engine.Job{Submission: sub, Problem: p}, engine.Watcher{})
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if got := verdicts(out.Judgement); len(got) != 3 || got[0] != judge.Accepted || got[1] != tt.want || got[2] != judge.Accepted {
			t.Errorf("%s: got %v, want AC, %s, AC; compiler %q", tt.name, got, tt.want, out.CompileLog)
			for _, o := range out.Outputs {
				t.Logf("%s: %s\n%s%s", o.Case, o.Verdict, o.Stdout, o.Stderr)
			}
		}
	}
}
