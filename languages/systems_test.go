package languages

import (
	"strings"
	"testing"
)

func TestFindIn(t *testing.T) {
	t.Parallel()
	set := bundledSet(t)
	for _, c := range []struct{ system, id, want string }{
		{"judge0", "71", "python3"}, {"judge0", "54", "cpp17"}, {"judge0", "69", "prolog"}, {"judge0", "999", ""},
		{"piston", "c++", "cpp17"}, {"sandboxfusion", "D_ut", "d"}, {"dmoj", "CPP20", "cpp20"}, {"dmoj", "SBCL", "commonlisp"},
		{"domjudge", "py3", "pypy3"}, {"domjudge", "plg", "prolog"}, {"kattis", "objectivec", "objectivec"},
		{"polygon", "cpp.gcc13-64-winlibs-g++20", "cpp20"}, {"polygon", "pas.dpr", "pascal"},
		{"codeforces", "PyPy 3-64", "pypy3"}, {"cms", "C++17 / g++", "cpp17"},
		{"kattis", "71", ""}, {"nowhere", "python3", ""},
	} {
		got, ok := set.FindIn(c.system, c.id)
		if ok != (c.want != "") || ok && got.ID != c.want {
			t.Errorf("FindIn(%q, %q) = %v, %v, want %q", c.system, c.id, got, ok, c.want)
		}
	}
}

// Two languages must not share a name of one system.
func TestSharedSystemName(t *testing.T) {
	t.Parallel()
	_, err := Load(Config{Dir: operatorDir(t, map[string]string{"a.yaml": definition("small", "ids: {judge0: [71]}\n")})})
	if err == nil || !strings.Contains(err.Error(), `a.yaml: ids.judge0: "71" is already taken by`) &&
		!strings.Contains(err.Error(), `ids.judge0: "71" is already taken by small`) {
		t.Errorf("error = %v", err)
	}
}

// A .pl is Prolog when its text has a clause with a body or a directive, and Perl else.
func TestForSource(t *testing.T) {
	t.Parallel()
	set := bundledSet(t)
	for _, c := range []struct{ name, text, want string }{
		{"a.pl", "main :-\n    writeln(1).\n", "prolog"},
		{"a.pl", "% facts\nedge(a, b).\npath(X, Y) :- edge(X, Y).\n", "prolog"},
		{"a.pl", ":- initialization(main).\nmain.\n", "prolog"},
		{"a.pl", "use strict;\nprint 1;\n", "perl"},
		{"a.pl", "#!/usr/bin/perl\nmy $x = $y ? 1 :-1;\n", "perl"},
		{"a.pl", "", "perl"},
		{"a.plg", "", "prolog"},
		{"a.py", ":- x.", "python3"},
	} {
		if got, ok := set.ForSource(c.name, []byte(c.text)); !ok || got.ID != c.want {
			t.Errorf("ForSource(%q, %q) = %v, want %s", c.name, c.text, got, c.want)
		}
	}
}

func TestForFiles(t *testing.T) {
	t.Parallel()
	set := bundledSet(t)
	for _, c := range []struct {
		name  string
		names []string
		want  string
	}{
		{"what is no source does not count", []string{"README.txt", "a.py", "data.bin"}, "python3"},
		{"most files win", []string{"run.sh", "a.rb", "b.rb"}, "ruby"},
		{"of equals the first", []string{"b.c", "a.cpp"}, "c"},
		{"none", []string{"a.txt"}, ""},
	} {
		var pairs []string
		for _, n := range c.names {
			pairs = append(pairs, n, "")
		}
		got, ok := set.ForFiles(files(pairs...))
		if ok != (c.want != "") || ok && got.ID != c.want {
			t.Errorf("%s: %v, %v, want %q", c.name, got, ok, c.want)
		}
	}
}
