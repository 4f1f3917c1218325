package compile

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"judgefarm/judge"
	"judgefarm/languages"
)

// The precompiled <bits/stdc++.h> changes no program: with and without it g++
// makes the same bytes. It is used only where nothing stands before the include
// that could make a difference, which -H tells.
func TestPrecompiledHeader(t *testing.T) {
	t.Parallel()
	c := real(t, "")
	lang := here(t, c, "cpp20")
	with, without := *lang, *lang
	with.Compile = withArg(lang.Compile, "-H")
	without.Compile, without.Prepare = withArg(lang.Compile, "-H"), nil
	for _, p := range []struct {
		before string
		used   bool
	}{
		{"", true},
		{"#pragma GCC optimize(\"O3\")\n#pragma GCC target(\"avx2\")\n", false},
		{"#define _GLIBCXX_DEBUG\n", false},
	} {
		source := p.before + "#include <bits/stdc++.h>\nint main() { std::vector<int> v(9, 1); std::cout << v[3] << __COUNTER__; }\n"
		got, log := programOf(t, c, &with, source)
		want, plain := programOf(t, c, &without, source)
		if !bytes.Equal(got, want) {
			t.Errorf("%q: the program differs", p.before)
		}
		if used := strings.Contains(log, "! "+languages.PreparedDir+"/bits/stdc++.h.gch"); used != p.used {
			t.Errorf("%q: used %v, want %v", p.before, used, p.used)
		}
		if strings.Contains(plain, languages.PreparedDir) {
			t.Errorf("%q: seen without being prepared", p.before)
		}
	}
}

func withArg(step *languages.Step, arg string) *languages.Step {
	more, limits := *step, *step.Limits
	limits.Wall = 10 * time.Minute // however busy the machine is
	more.Args, more.Limits = append(slices.Clone(step.Args), arg), &limits
	return &more
}

func programOf(t *testing.T, c *Compiler, lang *languages.Language, source string) (program []byte, log string) {
	t.Helper()
	res, err := c.Compile(t.Context(), Request{Language: lang, Files: []judge.File{{Name: "a.cpp", Data: []byte(source)}}})
	if err != nil {
		t.Fatal(err)
	}
	if res.Executable == nil {
		t.Fatalf("%s, log ends %q", res.Verdict, res.Log[max(0, len(res.Log)-200):])
	}
	defer res.Executable.Release()
	program, err = os.ReadFile(filepath.Join(res.Executable.Dir, "prog"))
	if err != nil {
		t.Fatal(err)
	}
	return program, string(res.Log)
}
