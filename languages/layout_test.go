package languages

import (
	"slices"
	"strings"
	"testing"
	"time"

	"judgefarm/judge"
)

func files(pairs ...string) []judge.File {
	var out []judge.File
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, judge.File{Name: pairs[i], Data: []byte(pairs[i+1])})
	}
	return out
}

func TestLayout(t *testing.T) {
	t.Parallel()
	set := bundledSet(t)
	for _, c := range []struct {
		name, lang    string
		files         []judge.File
		main, sources string
		names         string
	}{
		{"one file keeps its name", "python3", files("a.py", ""), "a.py", "a.py", "a.py"},
		{"no suffix", "cpp17", files("solution", ""), "main.cpp", "main.cpp", "main.cpp"},
		{"the file called as the source is main", "c", files("a.c", "", "main.c", "", "a.h", ""), "main.c", "main.c a.c", "a.c main.c a.h"},
		{"the first of the language is main", "python3", files("data.txt", "", "x/b.py", "", "a.py", ""), "x/b.py", "x/b.py a.py", "data.txt x/b.py a.py"},
		{"no options by file name", "c", files("-o.c", "", "@x.c", ""), "-o.c", "./-o.c ./@x.c", "-o.c @x.c"},
		{"the file that main matches is main", "pascal",
			files("unit.pas", "unit u;", "x.pas", "{ }\nprogram X;"), "x.pas", "x.pas unit.pas", "unit.pas x.pas"},
		{"a bare suffix is no name", "c", files(".c", ""), "main.c", "main.c", "main.c"},
	} {
		t.Run(c.name, func(t *testing.T) {
			lang, _ := set.Find(c.lang)
			before := slices.Clone(c.files)
			lay := lang.Lay(c.files)
			var names []string
			for _, f := range lay.Files {
				names = append(names, f.Name)
			}
			if got := strings.Join(names, " "); got != c.names || lay.Main != c.main {
				t.Errorf("files %q main %q, want %q %q", got, lay.Main, c.names, c.main)
			}
			if got := strings.Join(lay.Words["sources"], " "); got != c.sources {
				t.Errorf("sources = %q, want %q", got, c.sources)
			}
			for i := range before {
				if c.files[i].Name != before[i].Name {
					t.Errorf("the caller's file %q became %q", before[i].Name, c.files[i].Name)
				}
			}
		})
	}
	if lay := bundledSet(t).byID["c"].Lay(nil); lay.Main != "" {
		t.Errorf("no files have main %q", lay.Main)
	}
}

func TestMainClass(t *testing.T) {
	t.Parallel()
	const main = "public static void main(String[] args) { }"
	lang, _ := bundledSet(t).Find("java")
	for _, c := range []struct {
		name  string
		files []judge.File
		class string
		names string
	}{
		{"public class names the file", files("Main.java", "public class Sum { "+main+" }"), "Sum", "Sum.java"},
		{"no suffix", files("prog", "public class Sum { "+main+" }"), "Sum", "Sum.java"},
		{"no public class: the one with main", files("a.java", "class Node { int x; }\nclass Run { "+main+" }\nclass Z {}"), "Run", "a.java"},
		{"nested classes do not count", files("a.java", "class Run { static class Node { } public class P {} "+main+" }"), "Run", "a.java"},
		{"comments and strings do not count", files("a.java",
			"// public class No {\n/* public class Not { */ class Run { String s = \"} public class Nor { \\\"\"; char c = '{'; String b = \"\"\"\n public class X {\n\"\"\"; "+main+" }"), "Run", "a.java"},
		{"package", files("a.java", "package org.x;\nimport java.util.*;\npublic final class Sum { "+main+" }"), "org.x.Sum", "Sum.java"},
		{"several files", files("Lib.java", "public class Lib { }", "x.java", "public class App { "+main+" }"), "App", "Lib.java App.java"},
		{"public without main beside one with", files("a.java", "public class A { } class B { "+main+" }"), "B", "A.java"},
		{"record and interface", files("a.java", "record P(int a) {}\npublic interface I { static void main(String... a) { } }"), "I", "I.java"},
		{"enum and annotation", files("a.java", "@Deprecated\npublic enum E { A, B; "+main+" }"), "E", "E.java"},
		{"throws and final", files("a.java", "class Q { final static public void main(final String[] a) throws Exception { } }"), "Q", "a.java"},
		{"name is taken", files("A.java", "public class B { "+main+" }", "B.java", "class C {}"), "B", "A.java B.java"},
		{"nothing at all", files("a.java", "int x;"), "a", "a.java"},
		{"other files stay", files("data.txt", "public class D {}", "a.java", "public class Ünï { "+main+" }"), "Ünï", "data.txt Ünï.java"},
		{"directory stays", files("org/x/a.java", "package org.x; public class Sum { "+main+" }"), "org.x.Sum", "org/x/Sum.java"},
		{"Class.forName and .class", files("a.java", "class R { Class<?> c = String.class; "+main+" }"), "R", "a.java"},
	} {
		t.Run(c.name, func(t *testing.T) {
			lay := lang.Lay(c.files)
			var names []string
			for _, f := range lay.Files {
				names = append(names, f.Name)
			}
			if got := strings.Join(names, " "); got != c.names {
				t.Errorf("files = %q, want %q", got, c.names)
			}
			if got := lay.Words["class"][0]; got != c.class {
				t.Errorf("class = %q, want %q", got, c.class)
			}
		})
	}
}

func FuzzMainClass(f *testing.F) {
	set, err := Load(Config{})
	if err != nil {
		f.Fatal(err)
	}
	lang, _ := set.Find("java")
	f.Add([]byte("public class A { public static void main(String[] a) {} }"))
	f.Add([]byte("/* \"\"\" ' class { \xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		lay := lang.Lay([]judge.File{{Name: "a.java", Data: data}})
		if err := judge.CheckFileName(lay.Files[0].Name); err != nil {
			t.Errorf("source %q makes file name %q: %v", data, lay.Files[0].Name, err)
		}
	})
}

func TestExpand(t *testing.T) {
	t.Parallel()
	w := Words{"sources": {"a.c", "b.c"}, "exe": {"/exe"}}
	got := w.Expand([]string{"cc", "{sources}", "-o", "{exe}/prog", "{memory_mib}", "{}", "{Not}"})
	want := []string{"cc", "a.c", "b.c", "-o", "/exe/prog", "{memory_mib}", "{}", "{Not}"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	lim := judge.Limits{Memory: 100*judge.MiB + 1, Tasks: 7}
	got = LimitWords(lim, 28*judge.MiB).Expand([]string{"-Xmx{memory_mib}m", "{box_mib}", "{tasks}"})
	if want := []string{"-Xmx101m", "129", "7"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAllowance(t *testing.T) {
	t.Parallel()
	lim := judge.Limits{CPU: time.Second, Wall: 3 * time.Second, Memory: judge.MiB, Tasks: 8, Output: 5}
	l := &Language{Allowance: Allowance{TimeFactor: 1.1, Time: 50 * time.Millisecond, Memory: 100, Tasks: 64}}
	got, want := l.Apply(lim), judge.Limits{
		CPU: 1150 * time.Millisecond, Wall: 3350 * time.Millisecond, Memory: judge.MiB, Tasks: 64, Output: 5}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if l.Slack() != 100 {
		t.Errorf("slack = %d", l.Slack())
	}
	if got := (&Language{}).Apply(lim); got != lim {
		t.Errorf("no allowance changed %+v to %+v", lim, got)
	}
	most := judge.Limits{CPU: time.Hour, Wall: 4 * time.Hour, Memory: judge.MiB, Tasks: 64, Output: 5}
	if got := l.Apply(most); got != most {
		t.Errorf("an allowance on the most that there is made %+v of %+v", got, most)
	}
}
