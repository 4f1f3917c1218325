package compile

import (
	"slices"
	"testing"

	"judgefarm/judge"
)

func (f *farm) check(t *testing.T, source string) *Result {
	t.Helper()
	res, err := f.Check(t.Context(), Request{Language: f.lang(t, "chk"), Files: []judge.File{{Name: "a.chk", Data: []byte(source)}}})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// A check is asked once for each sources, and only a status of its own is a word.
func TestCheck(t *testing.T) {
	t.Parallel()
	f := newFarm(t, 0)
	for _, c := range []struct {
		source  string
		verdict judge.Verdict
		log     string
		cached  bool
	}{
		{"good", "", "", true},
		{"error", judge.CompileError, "cc: error\n", true},
		{"cpu", "", "", true},
		{"wall", "", "", false},
		{"memory", "", "", true},
		{"segv", "", "", true},
		{"filesize", "", "", true},
		{"syscall", "", "", true},
	} {
		first := f.check(t, c.source)
		if first.Verdict != c.verdict || string(first.Log) != c.log || first.Cached || first.Executable != nil {
			t.Errorf("%s: got %+v, log %q", c.source, first, first.Log)
		}
		if again := f.check(t, c.source); again.Verdict != c.verdict || string(again.Log) != c.log || again.Cached != c.cached {
			t.Errorf("%s again: got %+v, log %q", c.source, again, again.Log)
		}
	}
	spec := f.fake.Specs()[0]
	if want := []string{"/usr/bin/cc", "a.chk"}; !slices.Equal(spec.Args, want) || !slices.Contains(spec.Env, "B=3") || len(spec.Collect) > 0 {
		t.Errorf("args %q, want %q, env %q, collect %v", spec.Args, want, spec.Env, spec.Collect)
	}
	if res := f.compile(t, "chk", "good"); res.Executable == nil || res.Cached {
		t.Errorf("the executable of checked sources is %+v", res)
	} else {
		res.Executable.Release()
	}
}

// A definition's check must take the definition's own program.
func TestSelfTestOfCheck(t *testing.T) {
	t.Parallel()
	f := newFarm(t, 0)
	lang := *f.lang(t, "chk")
	if _, err := f.SelfTest(t.Context(), &lang); err != nil {
		t.Errorf("self-test: %v", err)
	}
	lang.ID, lang.SelfTest.Files = "other", []judge.File{{Name: "main.chk", Data: []byte("error")}}
	if _, err := f.SelfTest(t.Context(), &lang); err == nil {
		t.Error("a check that refuses the self-test's program is no fault")
	}
}
