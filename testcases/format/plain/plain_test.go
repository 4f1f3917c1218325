package plain_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"judgefarm/judge"
	"judgefarm/testcases"
	"judgefarm/testcases/format/plain"
)

// folder writes files; a name that ends in a slash is an empty folder.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "/") {
			continue
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func open(t *testing.T, files map[string]string) *testcases.Problem {
	t.Helper()
	p, err := plain.Open(folder(t, files))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func caseNames(p *testcases.Problem) string {
	var names []string
	for _, c := range p.Cases() {
		names = append(names, c.Name)
	}
	return strings.Join(names, " ")
}

func TestOpen(t *testing.T) {
	t.Parallel()
	p := open(t, map[string]string{
		"problem.yaml": "name: A plus B\n" +
			"limits: {cpu: 1.5s, wall: 4s, memory: 64M, output: 8K, tasks: 3, ptrace: true}\n" +
			"checker: {name: floats, args: [abs=1e-3, rel=0]}\n",
		"README.md":              "free text",
		"data/sample/1.in":       "1 2\n",
		"data/sample/1.ans":      "3\n",
		"data/secret/10.in":      "",
		"data/secret/10.ans":     "",
		"data/secret/2.in":       "2",
		"data/secret/2.out":      "2",
		"data/secret/big/01.in":  "x",
		"data/secret/big/01.ans": "y",
		"data/.gitkeep":          "",
	})
	if want := "sample/1 secret/2 secret/10 secret/big/01"; caseNames(p) != want {
		t.Errorf("got cases %s, want %s", caseNames(p), want)
	}
	want := judge.Limits{CPU: 1500 * time.Millisecond, Wall: 4 * time.Second, Memory: 64 * judge.MiB, Output: 8 * judge.KiB, Tasks: 3, Ptrace: true}
	if p.Limits != want || p.Name != "A plus B" {
		t.Errorf("got name %q, limits %+v, want %+v", p.Name, p.Limits, want)
	}
	if p.Checker.Name != "floats" || !slices.Equal(p.Checker.Args, []string{"abs=1e-3", "rel=0"}) {
		t.Errorf("got checker %+v", p.Checker)
	}
	for i, c := range p.Cases() {
		if c.Sample != (i == 0) {
			t.Errorf("%s: sample is %v", c.Name, c.Sample)
		}
	}
	b, err := testcases.ReadAll(p.Cases()[3].Answer, 10)
	if err != nil || string(b) != "y" {
		t.Errorf("got answer %q, %v", b, err)
	}
}

func TestOpenBare(t *testing.T) {
	t.Parallel()
	p := open(t, map[string]string{
		"10.in": "", "10.out": "", "9.in": "", "9.ans": "", "a2b.in": "", "a2b.out": "", "a10b.in": "", "a10b.out": "", "solution.py": "",
	})
	if want := "9 10 a2b a10b"; caseNames(p) != want {
		t.Errorf("got cases %s, want %s", caseNames(p), want)
	}
	if p.Limits != (judge.Limits{}) || p.Cases()[0].Sample {
		t.Errorf("got limits %+v, sample %v", p.Limits, p.Cases()[0].Sample)
	}
}

func TestOpenCustomChecker(t *testing.T) {
	t.Parallel()
	base := map[string]string{
		"1.in": "", "data/secret/1.in": "", "data/secret/1.ans": "",
		"checker/main.py": "import lib", "checker/lib/a.py": "x",
		"problem.yaml": "checker: {name: custom, language: python3, args: [--strict]}",
	}
	p := open(t, base)
	if len(p.CheckerProgram.Files) != 2 || p.CheckerProgram.Files[0].Name != "lib/a.py" || p.CheckerProgram.Language != "python3" {
		t.Errorf("got files %v, language %q", p.CheckerProgram.Files, p.CheckerProgram.Language)
	}
	base["problem.yaml"] = "checker: {name: custom, language: python3, files: [checker/main.py]}"
	q := open(t, base)
	if len(q.CheckerProgram.Files) != 1 || q.CheckerProgram.Files[0].Name != "main.py" {
		t.Errorf("got files %v", q.CheckerProgram.Files)
	}
	if p.Digest == q.Digest {
		t.Error("the checker's files are not in the digest")
	}
}

func TestOpenLabelled(t *testing.T) {
	t.Parallel()
	p := open(t, map[string]string{
		"1.in": "", "problem.yaml": "", "data/secret/1.in": "", "data/secret/1.ans": "",
		"submissions/accepted/a.py":       "a",
		"submissions/accepted/pypy.py":    "b",
		"submissions/wrong_answer/w/A.h":  "h",
		"submissions/wrong_answer/w/x.c":  "x",
		"submissions/time_limit/b#1.c":    "l",
		"submissions/submissions.yaml":    "'*/pypy*': {language: pypy3}\n",
		"submissions/accepted/.gitignore": "",
	})
	var got []string
	for _, s := range p.Submissions {
		line := s.Path + " " + s.Label + " " + s.Language + " " + string(s.Allowed[0])
		for _, f := range s.Files {
			line += " " + f.Name
		}
		got = append(got, line)
	}
	want := []string{
		"submissions/accepted/a.py accepted  AC a.py",
		"submissions/accepted/pypy.py accepted pypy3 AC pypy.py",
		"submissions/time_limit/b#1.c time_limit  TLE b#1.c",
		"submissions/wrong_answer/w wrong_answer  WA A.h x.c",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Every fault of a package is reported in one answer, naming file and line.
func TestFaults(t *testing.T) {
	t.Parallel()
	ok := map[string]string{"problem.yaml": "name: x\n", "data/secret/1.in": "", "data/secret/1.ans": ""}
	tests := []struct {
		name  string
		files map[string]string // on top of ok; "-" removes
		want  []string          // "file: part of the reason", in order
	}{
		{"all at once", map[string]string{
			"problem.yaml":              "name: x\nlimts: {}\nlimits: {cpu: fast, memory: 256MB, tasks: 0}\nchecker: {name: tokens, args: [x]}\n",
			"data/secret/2.in":          "",
			"data/secret/3.ans":         "",
			"data/secret/1.out":         "",
			"data/secret/4.txt":         "",
			"data/secret/a b.in":        "",
			"data/secret/a b.ans":       "",
			"data/extra/1.in":           "",
			"data/1.in":                 "",
			"submissions/acepted/a.py":  "",
			"submissions/loose.py":      "",
			"submissions/accepted/a\\b": "",
		}, []string{
			"data/1.in: must lie in data/sample or data/secret",
			"data/extra/1.in: must lie in data/sample or data/secret",
			"data/secret/1.out: second answer",
			"data/secret/2.in: 2.ans is missing",
			"data/secret/3.ans: 3.in is missing",
			"data/secret/4.txt: must end in .in or .ans",
			"data/secret/a b.in: bad file name",
			"problem.yaml: line 2: unknown key \"limts\"",
			"problem.yaml: line 3: cpu must be a time with its unit",
			"problem.yaml: line 3: memory must be a size",
			"problem.yaml: line 3: tasks must be a whole number",
			"problem.yaml: line 4: checker.args[0] tokens takes no arguments",
			"submissions/accepted/a\\b: bad file name",
			"submissions/acepted/a.py: must lie in one of submissions/{accepted,",
			"submissions/loose.py: must lie in one of",
		}},
		{"no data", map[string]string{"data/secret/1.in": "-", "data/secret/1.ans": "-"},
			[]string{"data: must hold at least one case"}},
		{"limits that contradict", map[string]string{"problem.yaml": "limits:\n  wall: 500ms\n"},
			[]string{"problem.yaml: line 2: limit wall must be at least the CPU limit"}},
		{"limits out of range", map[string]string{"problem.yaml": "limits:\n  output: 2G\n  memory: 1K\n  tasks: 99999\n"},
			[]string{"line 2: limit output", "line 3: limit memory", "line 4: limit tasks"}},
		{"bare number", map[string]string{"problem.yaml": "limits: {cpu: 1}"}, []string{"line 1: cpu must be a time with its unit"}},
		{"unknown checker", map[string]string{"problem.yaml": "checker: diff"}, []string{"line 1: checker.name must be one of"}},
		{"custom without files", map[string]string{"problem.yaml": "checker: custom"},
			[]string{"line 1: a custom checker must have 1 to 64 files", "line 1: a custom checker must name its language"}},
		{"checker file elsewhere", map[string]string{"problem.yaml": "checker: {name: custom, language: c, files: [../x.c, checker/none.c]}"},
			[]string{`"../x.c" must be a file of the folder`, `"checker/none.c" must be a file of the folder`}},
		{"files for a built-in checker", map[string]string{"problem.yaml": "checker: {name: tokens, files: [checker/a.c]}"},
			[]string{"checker files is for the checker custom only"}},
		{"not YAML", map[string]string{"problem.yaml": "a: [\n"}, []string{"problem.yaml: is not YAML"}},
		{"a list", map[string]string{"problem.yaml": "- a\n"}, []string{"line 1: the file must be a mapping"}},
		{"two documents", map[string]string{"problem.yaml": "name: a\n---\nname: b\n"}, []string{"must be one YAML document"}},
		{"key twice", map[string]string{"problem.yaml": "name: a\nname: b\n"}, []string{`line 2: key "name" is there twice`}},
		{"alias", map[string]string{"problem.yaml": "name: &a x\nchecker: *a\n"}, []string{"line 2: "}},
		{"huge yaml", map[string]string{"problem.yaml": strings.Repeat("#", 300_000)}, []string{"must be at most 262144 bytes"}},
		{"submissions.yaml", map[string]string{
			"submissions/accepted/a.py":    "",
			"submissions/submissions.yaml": "'*/b*': {language: c}\n'[': {language: c}\n'*/a.py': python3\n'*/a*': {lang: x}\n'a*': {}\n"},
			[]string{`line 1: pattern "*/b*" matches no submission`, `line 2: bad pattern "["`, "line 3: the value must be a mapping", `line 4: unknown key "lang"`, "line 5: must be {language: ID}"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{}
			for _, m := range []map[string]string{ok, tt.files} {
				for name, text := range m {
					if files[name] = text; text == "-" {
						delete(files, name)
					}
				}
			}
			_, err := plain.Open(folder(t, files))
			var bad *judge.BadRequest
			if !errors.As(err, &bad) {
				t.Fatalf("got %v, want a bad request", err)
			}
			for i := range max(len(bad.Faults), len(tt.want)) {
				if i >= len(bad.Faults) || i >= len(tt.want) || !matches(bad.Faults[i], tt.want[i]) {
					t.Fatalf("got\n%s\nwant\n%s", strings.ReplaceAll(err.Error(), "; ", "\n"), strings.Join(tt.want, "\n"))
				}
			}
		})
	}
}

func matches(f *judge.FieldError, want string) bool {
	field, reason, ok := strings.Cut(want, ": ")
	if ok && f.Field == field {
		return strings.Contains(f.Reason, reason)
	}
	return strings.Contains(f.Reason, want)
}

func TestLinksAreRefused(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{"problem.yaml": "", "data/secret/1.ans": ""})
	if err := os.Symlink("/etc/hostname", filepath.Join(dir, "data/secret/1.in")); err != nil {
		t.Fatal(err)
	}
	if _, err := plain.Open(dir); err == nil || !strings.Contains(err.Error(), "data/secret/1.in: must be a regular file, is a link") {
		t.Errorf("got %v, want the link refused", err)
	}
	if _, err := plain.Open(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want that there is no such folder", err)
	}
}

func FuzzManifest(f *testing.F) {
	for _, s := range []string{"name: x", "limits: {cpu: 1s}", "checker: {name: floats, args: [abs=1]}", "a: &x [*x]", "- 1", "? {a: b}\n: c", "!!binary x"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := plain.Open(folder(t, map[string]string{"problem.yaml": string(b), "data/secret/1.in": "", "data/secret/1.ans": ""}))
		if err != nil && !judge.IsBadRequest(err) {
			t.Errorf("%q: got %v, want a bad request or none", b, err)
		}
		if err == nil && (p.Digest == "" || len(p.Cases()) != 1) {
			t.Errorf("%q: got %+v", b, p)
		}
	})
}
