package compile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"judgefarm/judge"
)

func TestEviction(t *testing.T) {
	t.Parallel()
	const entries = 3
	f := newFarm(t, entries*6*block)
	kept := f.compile(t, "cc", "pinned")
	for i := range 5 {
		f.compile(t, "cc", fmt.Sprintf("good %d", i)).Executable.Release()
		f.compile(t, "cc", "good 0").Executable.Release() // stays the most recently used
	}
	if f.runs() != 6 {
		t.Errorf("compiler ran %d times for 6 sources of which one is always in use", f.runs())
	}
	if _, err := os.Stat(kept.Executable.Dir); err != nil {
		t.Errorf("an executable in use was removed: %v", err)
	}
	if f.cache.size > f.cache.max {
		t.Errorf("cache has %d bytes, bound %d", f.cache.size, f.cache.max)
	}
	runs := f.runs()
	if !f.compile(t, "cc", "good 0").Cached || f.runs() != runs {
		t.Error("the most recently used went")
	}
	if f.compile(t, "cc", "good 1").Cached {
		t.Error("the least recently used stayed")
	}
	kept.Executable.Release()
	kept.Executable.Release()
	dirs, err := os.ReadDir(f.dir + "/entries")
	if err != nil || len(dirs) != len(f.cache.entries) {
		t.Errorf("%d directories for %d entries, %v", len(dirs), len(f.cache.entries), err)
	}
	if left, err := os.ReadDir(f.dir + "/tmp"); err != nil || len(left) > 0 {
		t.Errorf("left in tmp: %v, %v", left, err)
	}
}

// One that is larger than the whole cache lives as long as it is used.
func TestLargerThanCache(t *testing.T) {
	t.Parallel()
	f := newFarm(t, 1)
	res := f.compile(t, "cc", "good")
	if _, err := os.Stat(res.Executable.Dir + "/prog"); err != nil {
		t.Error(err)
	}
	res.Executable.Release()
	if _, err := os.Stat(res.Executable.Dir); !os.IsNotExist(err) {
		t.Errorf("after release: %v", err)
	}
}

func TestRestart(t *testing.T) {
	t.Parallel()
	f := newFarm(t, 0)
	dir := func(source string) string {
		res := f.compile(t, "cc", source)
		res.Executable.Release()
		return res.Executable.Dir
	}
	damage := map[string]func(exe string) error{
		"content": func(exe string) error { return os.WriteFile(exe+"/prog", []byte("PROGRAM OF content"), 0o755) },
		"cut":     func(exe string) error { return os.Truncate(exe+"/prog", 3) },
		"gone":    func(exe string) error { return os.Remove(exe + "/prog") },
		"meta":    func(exe string) error { return os.Truncate(filepath.Dir(exe)+"/meta", 80) },
		"nometa":  func(exe string) error { return os.Remove(filepath.Dir(exe) + "/meta") },
	}
	whole := dir("whole")
	f.compile(t, "cc", "error")
	for source, hurt := range damage {
		if err := hurt(dir(source)); err != nil {
			t.Fatal(err)
		}
	}
	write(t, f.dir+"/tmp/new-1/exe/prog", "half")
	write(t, f.dir+"/entries/"+strings.Repeat("0", 64)+"/exe/prog", "no meta")
	runs := f.runs()
	f.open(t, 0)
	if res := f.compile(t, "cc", "whole"); !res.Cached || res.Executable.Dir != whole {
		t.Errorf("whole = %+v", res)
	}
	if res := f.compile(t, "cc", "error"); !res.Cached || string(res.Log) != "cc: error\n" {
		t.Errorf("error = %+v", res)
	}
	if f.runs() != runs {
		t.Errorf("compiler ran for what was kept")
	}
	for source := range damage {
		res := f.compile(t, "cc", source)
		data, err := os.ReadFile(res.Executable.Dir + "/prog")
		if res.Cached || err != nil || string(data) != "program of "+source {
			t.Errorf("%s: %+v, %q, %v", source, res, data, err)
		}
	}
	if left, err := os.ReadDir(f.dir + "/tmp"); err != nil || len(left) > 0 {
		t.Errorf("left in tmp: %v, %v", left, err)
	}
	if dirs, err := os.ReadDir(f.dir + "/entries"); err != nil || len(dirs) != len(f.cache.entries) {
		t.Errorf("%d directories for %d entries, %v", len(dirs), len(f.cache.entries), err)
	}
}

// Of two outcomes under one key, as when a compile was left by all in the moment of its
// end and then asked for again, the first stays.
func TestStoredTwice(t *testing.T) {
	t.Parallel()
	f := newFarm(t, 0)
	first, err := f.cache.store("key", meta{Log: []byte("first")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	second, err := f.cache.store("key", meta{Log: []byte("second")}, nil)
	if err != nil || second != first || first.pins != 2 {
		t.Fatalf("stored again: got %+v, %v, want the first, pinned twice", second, err)
	}
	f.cache.unpin(first)
	f.cache.unpin(second)
	if left, err := os.ReadDir(f.dir + "/tmp"); err != nil || len(left) > 0 || f.cache.size != first.meta.bytes() {
		t.Errorf("left in tmp: %v, %v; the cache counts %d bytes of %d", left, err, f.cache.size, first.meta.bytes())
	}
}

// The order of use is known after a restart, to the minute.
func TestOrderSurvives(t *testing.T) {
	t.Parallel()
	f := newFarm(t, 0)
	for _, source := range []string{"a", "b", "a"} {
		f.clock.Advance(2 * time.Minute)
		f.compile(t, "cc", source).Executable.Release()
	}
	f.open(t, 6*block)
	if !f.compile(t, "cc", "a").Cached {
		t.Error("the most recently used went")
	}
	if f.compile(t, "cc", "b").Cached {
		t.Error("the least recently used stayed")
	}
}

func TestDirectoryIsExclusive(t *testing.T) {
	t.Parallel()
	f := newFarm(t, 0)
	_, err := New(Config{Runner: f.fake, Languages: f.set, Dir: f.dir})
	if err == nil || !strings.Contains(err.Error(), "in use by another process") {
		t.Errorf("second compiler: %v", err)
	}
}

func TestDirectoryMustBeReachable(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("missing: root: boxes of another user run as that user")
	}
	f := newFarm(t, 0)
	closed := filepath.Join(reachable(t), "closed")
	if err := os.Mkdir(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := New(Config{Runner: f.fake, Languages: f.set, Dir: closed + "/cache"})
	if err == nil || !strings.Contains(err.Error(), "chmod o+x "+closed) {
		t.Errorf("got %v", err)
	}
}

func TestInspect(t *testing.T) {
	t.Parallel()
	f := newFarm(t, 0)
	lang := f.lang(t, "cc")
	ref, err := f.Inspect(t.Context(), lang)
	if err != nil || ref.ID != "cc" || ref.Version != "cc (Fake) 1.0" || !strings.HasPrefix(ref.Toolchain, "sha256:") {
		t.Errorf("ref = %+v, %v", ref, err)
	}
	f.open(t, 0)
	if again, err := f.Inspect(t.Context(), lang); err != nil || again != ref || f.runs() != 1 {
		t.Errorf("after a restart %+v, %v, %d runs", again, err, f.runs())
	}
	f.clock.Advance(time.Hour)
	write(t, f.root+"/usr/bin/cc", "broken compiler")
	f.fake.Programs = nil
	st, err := f.Status(t.Context(), lang)
	if err != nil || st.OK() || !strings.Contains(st.Broken, "/usr/bin/cc --version ended by exec") {
		t.Errorf("broken: %+v, %v", st, err)
	}
	if err := os.Remove(f.root + "/usr/bin/cc"); err != nil {
		t.Fatal(err)
	}
	f.clock.Advance(time.Hour)
	st, err = f.Status(t.Context(), lang)
	if err != nil || st.OK() || len(st.Missing) != 1 || !strings.HasPrefix(st.Missing[0].Fix, "apt-get install cc") {
		t.Errorf("missing: %+v, %v", st, err)
	}
	if _, err := f.Inspect(t.Context(), lang); judge.Fail(judge.FailInternal, err).Kind != judge.FailToolchain {
		t.Errorf("missing: %v", err)
	}
}

func TestFirstLine(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"": "", "\n \n": "", "a\nb": "a", "\n  v1 \r\n": "v1", "\xff1": "?1",
		strings.Repeat("ü", 150): strings.Repeat("ü", 100),
	} {
		if got := firstLine([]byte(in)); got != want {
			t.Errorf("firstLine(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestSelfTest(t *testing.T) {
	t.Parallel()
	f := newFarm(t, 0)
	st, err := f.SelfTest(t.Context(), f.lang(t, "cc"))
	if err != nil || st.Compile.CPU != 10*time.Millisecond {
		t.Errorf("%+v, %v", st, err)
	}
	lang := *f.lang(t, "cc")
	lang.SelfTest.Expected = "got 2 1"
	if _, err := f.SelfTest(t.Context(), &lang); err == nil || !strings.Contains(err.Error(), `printed ["got" "1" "2"], want ["got" "2" "1"]`) {
		t.Errorf("wrong output: %v", err)
	}
	lang.SelfTest.Files = []judge.File{{Name: "a.cc", Data: []byte("error")}}
	if _, err := f.SelfTest(t.Context(), &lang); err == nil || !strings.Contains(err.Error(), "CE: cc: error") {
		t.Errorf("compile error: %v", err)
	}
}
