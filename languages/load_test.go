package languages

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func bundledSet(t *testing.T) *Set {
	t.Helper()
	set, err := Load(Config{})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestBundledDefinitions(t *testing.T) {
	t.Parallel()
	set := bundledSet(t)
	want := "ada awk bash c clojure cobol commonlisp cpp17 cpp20 cpp23 csharp d elixir erlang fortran go haskell java javascript kotlin " +
		"lua nasm nim objectivec ocaml pascal perl php prolog pypy3 python3 r racket ruby rust scala tcl text typescript"
	var ids []string
	for _, l := range set.All() {
		ids = append(ids, l.ID)
	}
	if got := strings.Join(ids, " "); got != want {
		t.Errorf("ids = %s, want %s", got, want)
	}
	for _, l := range set.All() {
		for _, args := range [][]string{l.Run.Args, l.Toolchain.Version, l.Toolchain.Programs} {
			for _, a := range args {
				if strings.HasPrefix(a, "/home") || strings.HasPrefix(a, "/root") {
					t.Errorf("%s names %s, which a box cannot read", l.ID, a)
				}
			}
		}
		if len(l.Toolchain.Packages) == 0 {
			t.Errorf("%s names no package that brings it", l.ID)
		}
		if got, ok := set.ForFile(l.Source); !ok || got.Rank > l.Rank {
			t.Errorf("ForFile(%q) = %v, %v", l.Source, got, ok)
		}
	}
}

func TestForFile(t *testing.T) {
	t.Parallel()
	set := bundledSet(t)
	for _, c := range []struct{ name, want string }{
		{"a.py", "python3"}, {"dir/a.cpp", "cpp17"}, {"a.cc", "cpp17"}, {"a.c", "c"}, {"a.rs", "rust"},
		{"Main.java", "java"}, {"x.pypy", "pypy3"}, {"a.ts", "typescript"}, {"a.mjs", "javascript"},
		{"a.pl", "perl"}, {"a.R", "r"}, {"a.C", "cpp17"}, {"a.p", "pascal"},
		{"a.txt", ""}, {"py", ""}, {".py", ""}, {"Makefile", ""},
	} {
		got, ok := set.ForFile(c.name)
		if ok != (c.want != "") || ok && got.ID != c.want {
			t.Errorf("ForFile(%q) = %v, %v, want %q", c.name, got, ok, c.want)
		}
	}
	for alias, want := range map[string]string{"py": "python3", "c++": "cpp17", "node": "javascript", "rust": "rust"} {
		if l, ok := set.Find(alias); !ok || l.ID != want {
			t.Errorf("Find(%q) = %v, %v, want %s", alias, l, ok, want)
		}
	}
	if _, ok := set.Find("PYTHON3"); ok {
		t.Error("ids must match exactly")
	}
}

const small = `
id: %ID%
name: Small
source: main.sm
suffixes: [.sm]
run: {args: [/usr/bin/small, "{exe}/{source}"]}
toolchain: {programs: [/usr/bin/small], version: [/usr/bin/small, -v], packages: [small]}
self_test: {source: "x", expected: "x"}
`

func definition(id, more string) string { return strings.ReplaceAll(small, "%ID%", id) + more }

func operatorDir(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestOperatorAddsAndReplaces(t *testing.T) {
	t.Parallel()
	set, err := Load(Config{Dir: operatorDir(t, map[string]string{
		"small.yaml":  definition("small+sci", "aliases: [sm]\n"),
		"python.yaml": definition("python3", ""),
		"notes.txt":   "not a definition",
	})})
	if err != nil {
		t.Fatal(err)
	}
	if l, ok := set.Find("sm"); !ok || l.ID != "small+sci" {
		t.Errorf("Find(sm) = %v, %v", l, ok)
	}
	if l, _ := set.Find("python3"); l.Name != "Small" {
		t.Errorf("python3 is %q, want the operator's", l.Name)
	}
	if _, ok := set.Find("py"); ok {
		t.Error("an alias of the replaced definition is still there")
	}
}

func TestEveryFaultAtOnce(t *testing.T) {
	t.Parallel()
	_, err := Load(Config{Dir: operatorDir(t, map[string]string{
		"a.yaml": definition("small", "colour: red\ncompile: {args: [gcc, \"{nope}\"], limits: {memory: much}}\n"),
		"b.yaml": definition("UPPER", "allowance: {time: soon}\n"),
		"c.yaml": definition("taken", "aliases: [java]\n"),
		"d.yaml": definition("twice", ""),
		"e.yaml": definition("twice", ""),
		"i.yaml": definition("k", "ids: {judge0: [71], spoj: [PYTH 3], dmoj: [' X']}\nmain: '('\nsignature: ''\n"),
		"f.yaml": "",
		"l.yaml": definition("l", "compile: {args: [/usr/bin/small]}\ncheck: {args: [/usr/bin/small]}\n"),
		"m.yaml": definition("m", "check: {args: [small, \"{exe}\"], when: '('}\n"),
		"n.yaml": definition("n", "check: {args: [/usr/bin/small], output: prog}\n"),
		"o.yaml": definition("o", "prepare: {args: [/usr/bin/small], output: pre}\ncheck: {args: [/usr/bin/small, \"{prepared}\"]}\n"),
		"g.yaml": strings.Replace(definition("shim", ""), "[/usr/bin/small, -v]", "[/root/.bin/small]", 1),
		"h.yaml": definition("j", "main_class: {type: '(', entry: x}\nenvironment: {root: relative, mounts: [{source: opt}], env: [novalue]}\n"),
	})})
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		"a.yaml: line 9: field colour is not known in Language",
		"a.yaml: line 10: size must be like 64K, 256M or 1G, is \"much\"",
		"a.yaml: compile.args: must start with a program's absolute path",
		"a.yaml: compile.args: word {nope} is not known here",
		"b.yaml: id:",
		"b.yaml: line 9: cannot unmarshal !!str `soon` into time.Duration",
		"c.yaml: aliases: \"java\" is already taken by",
		"id: \"twice\" is already taken by",
		"f.yaml: is empty",
		"l.yaml: check: is for languages without compile",
		"m.yaml: check.args: must start with a program's absolute path",
		"m.yaml: check.args: word {exe} is not known here",
		"m.yaml: line 9: error parsing regexp",
		"n.yaml: check: has no output",
		"o.yaml: check: {prepared} is not known here",
		"i.yaml: ids.spoj: is not known, only cms, codeforces, dmoj,",
		"i.yaml: ids.dmoj: names must be",
		"i.yaml: line 10: error parsing regexp",
		"i.yaml: line 11: must be a regular expression",
		"g.yaml: toolchain.version:",
		"h.yaml: main_class.type: error parsing regexp",
		"h.yaml: environment.root:",
		"h.yaml: environment.mounts[0]: source",
		"h.yaml: environment.env: must be NAME=value, is \"novalue\"",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error lacks %q:\n%v", want, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(definition("small", "")))
	f.Add([]byte("compile: {limits: null}\nrun: {args: [\"{exe}\"]}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		lang, faults := parse(data)
		if len(faults) == 0 && lang.ID == "" {
			t.Errorf("a definition without an id has no fault: %q", data)
		}
	})
}
