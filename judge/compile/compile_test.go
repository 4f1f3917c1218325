package compile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"judgefarm/judge"
	"judgefarm/judge/sandbox"
	"judgefarm/judge/sandbox/sandboxtest"
)

func TestCompileOnce(t *testing.T) {
	t.Parallel()
	f := newFarm(t, 0)
	first := f.compile(t, "cc", "good")
	if first.Cached || first.Verdict != "" || first.Usage.CPU != 10*time.Millisecond || string(first.Log) != "cc: good\n" {
		t.Errorf("first = %+v, log %q", first, first.Log)
	}
	data, err := os.ReadFile(filepath.Join(first.Executable.Dir, "prog"))
	if err != nil || string(data) != "program of good" {
		t.Errorf("executable %q, %v", data, err)
	}
	second := f.compile(t, "cc", "good")
	if !second.Cached || second.Executable.Dir != first.Executable.Dir || second.Usage != first.Usage || string(second.Log) != string(first.Log) {
		t.Errorf("second = %+v", second)
	}
	if f.runs() != 1 {
		t.Errorf("compiler ran %d times", f.runs())
	}
	other := f.compile(t, "cc", "good too")
	if other.Cached || other.Executable.Digest == first.Executable.Digest {
		t.Errorf("other source = %+v", other)
	}
	write(t, f.root+"/usr/bin/cc", "compiler 2 of another size")
	if !f.compile(t, "cc", "good").Cached {
		t.Error("the toolchain was probed again within a minute")
	}
	f.clock.Advance(time.Minute)
	if res := f.compile(t, "cc", "good"); res.Cached || res.Executable.Digest == first.Executable.Digest {
		t.Errorf("after the compiler changed = %+v", res)
	}
}

func TestCompilerSpec(t *testing.T) {
	t.Parallel()
	f := newFarm(t, 0)
	f.compile(t, "cc", "good")
	spec := f.fake.Specs()[0]
	if want := []string{"/usr/bin/cc", "-o", "prog", "a.cc"}; !slices.Equal(spec.Args, want) {
		t.Errorf("args = %q, want %q", spec.Args, want)
	}
	want := []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/work", "TMPDIR=/tmp", "LANG=C.UTF-8", "A=1", "B=3"}
	if !slices.Equal(spec.Env, want) {
		t.Errorf("env = %q, want %q", spec.Env, want)
	}
	lim := judge.Limits{CPU: 2 * time.Second, Wall: 5 * time.Second, Memory: judge.GiB, Output: 64 * judge.KiB, Tasks: 128}
	if spec.Limits != lim || spec.Root != f.root || spec.Slack != 0 || spec.Box.Disk != 256*judge.MiB {
		t.Errorf("spec = %+v", spec)
	}
}

func TestVerdicts(t *testing.T) {
	t.Parallel()
	f := newFarm(t, 0)
	for _, c := range []struct {
		source  string
		verdict judge.Verdict
		line    string
		lasting bool
	}{
		{"error", judge.CompileError, "cc: error\n", true},
		{"cpu", judge.CompileTimeLimit, "cc: cpu\njudgefarm: the compiler reached its CPU limit of 2s\n", true},
		{"wall", judge.CompileTimeLimit, "judgefarm: the compiler reached its wall limit of 5s\n", false},
		{"memory", judge.CompileError, "judgefarm: the compiler reached its memory limit of 1024 MiB\n", true},
		{"filesize", judge.CompileError, "judgefarm: the compiler wrote a file of more than 256 MiB\n", true},
		{"syscall", judge.CompileError, "judgefarm: the compiler was ended for a forbidden system call\n", true},
		{"segv", judge.CompileError, "judgefarm: the compiler was ended by signal 11\n", true},
		{"nothing", judge.CompileError, "judgefarm: no executable: prog: file does not exist\n", true},
		{"large", judge.CompileError, "judgefarm: no executable: prog: larger than may be collected\n", true},
	} {
		res := f.compile(t, "cc", c.source)
		if res.Verdict != c.verdict || !strings.HasSuffix(string(res.Log), c.line) || res.Executable != nil || res.Cached {
			t.Errorf("%s: %s, log %q, want %s, %q", c.source, res.Verdict, res.Log, c.verdict, c.line)
		}
		again := f.compile(t, "cc", c.source)
		if again.Cached != c.lasting || again.Verdict != res.Verdict || string(again.Log) != string(res.Log) || again.Usage != res.Usage {
			t.Errorf("%s again: %+v, want cached %v", c.source, again, c.lasting)
		}
	}
	if res := f.compile(t, "dir", "evil"); res.Verdict != judge.CompileError || !strings.Contains(string(res.Log), "no executable") {
		t.Errorf("evil: %+v %q", res, res.Log)
	}
}

func TestLogIsBounded(t *testing.T) {
	t.Parallel()
	f := newFarm(t, 0)
	res := f.compile(t, "cc", "noisy")
	if len(res.Log) != 64<<10 || res.LogTotal != 1<<20+int64(len("cc: noisy\n")) {
		t.Errorf("log of %d bytes, total %d", len(res.Log), res.LogTotal)
	}
	m := meta{Log: make([]byte, 64<<10)}
	m.addLine(64*judge.KiB, "why")
	if len(m.Log) != 64<<10 || !strings.HasSuffix(string(m.Log), "\njudgefarm: why\n") {
		t.Errorf("log with our line: %d bytes, %q", len(m.Log), m.Log[len(m.Log)-20:])
	}
}

func TestDirectoriesAndSources(t *testing.T) {
	t.Parallel()
	f := newFarm(t, 0)
	for _, c := range []struct{ lang, file, want string }{
		{"dir", "prog", "program of good x"}, {"dir", "sub/more", "x"},
		{"all", "out/sub/more", "x"}, {"all", "a.all", "good x"},
		{"in", "a.in", "good x"},
	} {
		res := f.compile(t, c.lang, "good x")
		data, err := os.ReadFile(filepath.Join(res.Executable.Dir, c.file))
		if err != nil || string(data) != c.want {
			t.Errorf("%s: %s = %q, %v, want %q", c.lang, c.file, data, err, c.want)
		}
		err = filepath.WalkDir(res.Executable.Dir, func(p string, d os.DirEntry, err error) error {
			if info, _ := d.Info(); info.Mode()&0o044 != 0o044 {
				t.Errorf("%s is not readable by all: %v", p, info.Mode())
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	if args := f.compile(t, "in", "good x").Executable.Args; !slices.Equal(args, []string{"/usr/bin/cc", "/exe/a.in"}) {
		t.Errorf("args = %q", args)
	}
	for _, spec := range f.fake.Specs() {
		if len(spec.Files) > 0 && spec.Files[0].Name == "a.in" {
			t.Error("a language without a compiler ran one")
		}
	}
}

func TestCommandOf(t *testing.T) {
	t.Parallel()
	f := newFarm(t, 0)
	lang, res := f.lang(t, "cc"), f.compile(t, "cc", "good")
	lim := lang.Apply(judge.Limits{CPU: time.Second, Wall: 3 * time.Second, Memory: 100 * judge.MiB, Tasks: 4, Output: 1})
	if lim.CPU != 2*time.Second || lim.Tasks != 9 {
		t.Errorf("limits = %+v", lim)
	}
	cmd, err := CommandOf(lang, res.Executable, lim)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"/exe/prog", "100", "110"}; !slices.Equal(cmd.Args, want) {
		t.Errorf("args = %q, want %q", cmd.Args, want)
	}
	if want := []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/work", "TMPDIR=/tmp", "LANG=C.UTF-8", "A=1", "B=2", "T=9"}; !slices.Equal(cmd.Env, want) {
		t.Errorf("env = %q, want %q", cmd.Env, want)
	}
	mounts := []sandbox.Mount{{Source: f.root + "/usr", Target: "/opt/x"}, {Source: res.Executable.Dir, Target: "/exe"}}
	if !slices.Equal(cmd.Mounts, mounts) || cmd.Root != f.root || cmd.Slack != 10*judge.MiB {
		t.Errorf("command = %+v", cmd)
	}
	if _, err := CommandOf(lang, &Executable{}, lim); err == nil {
		t.Error("an executable without a directory was started")
	}
}

func TestBadFiles(t *testing.T) {
	t.Parallel()
	f := newFarm(t, 0)
	for _, c := range []struct {
		name  string
		files []judge.File
		want  string
	}{
		{"none", nil, "files: must be 1 to"},
		{"too many", make([]judge.File, maxFiles+1), "files: must be 1 to"},
		{"every fault", []judge.File{{Name: "../a"}, {Name: "b"}, {Name: "b"}}, "files[0].name: must have no empty"},
		{"every fault too", []judge.File{{Name: "../a"}, {Name: "b"}, {Name: "b"}}, "files[2].name: \"b\" is there twice"},
		{"file and directory", []judge.File{{Name: "a"}, {Name: "a/b"}}, "files[1].name: \"a\" is a file"},
		{"directory and file", []judge.File{{Name: "a/b/c"}, {Name: "a"}}, "files[1].name: \"a\" is there twice"},
	} {
		_, err := f.Compile(t.Context(), Request{Language: f.lang(t, "cc"), Files: c.files})
		if !judge.IsBadRequest(err) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// failing is a runner whose boxes break.
type failing struct {
	*sandboxtest.Fake
	err error
}

func (r *failing) Run(ctx context.Context, spec sandbox.Spec) (*sandbox.Report, error) {
	if r.err != nil {
		return nil, r.err
	}
	return r.Fake.Run(ctx, spec)
}

func TestOurFaults(t *testing.T) {
	t.Parallel()
	f := newFarm(t, 0)
	runner := &failing{Fake: f.fake}
	f.cfg.Runner = runner
	kind := func(what string, want judge.FailureKind) {
		t.Helper()
		_, err := f.Compile(t.Context(), Request{Language: f.lang(t, "cc"), Files: []judge.File{{Name: "a.cc", Data: []byte("good")}}})
		var failed *judge.Failed
		if !errors.As(err, &failed) || failed.Kind != want || !failed.Retryable {
			t.Errorf("%s: %v, want a failure of kind %s", what, err, want)
		}
	}
	runner.err = errors.New("no cgroup")
	kind("broken box", judge.FailSandbox)
	runner.err = judge.Refuse(&judge.FieldError{Field: "mounts[0].source", Reason: "cannot be read"})
	kind("refused spec", judge.FailToolchain)
	runner.err = nil
	programs := f.fake.Programs
	f.fake.Programs = nil
	kind("compiler cannot be executed", judge.FailToolchain)
	f.fake.Programs = programs
	if res := f.compile(t, "cc", "good"); res.Cached || res.Executable == nil {
		t.Errorf("a failure was kept: %+v", res)
	}
	if err := os.Remove(f.root + "/usr/bin/cc"); err != nil {
		t.Fatal(err)
	}
	f.clock.Advance(time.Hour)
	kind("missing compiler", judge.FailToolchain)
}

// Equal requests share one compile, whoever of them gives up.
func TestSingleFlight(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFarm(t, 0)
		lang := f.lang(t, "cc")
		go1, finish := make(chan struct{}), make(chan struct{})
		f.fake.Programs["cc"] = func(p *sandboxtest.Proc) int {
			close(go1)
			select {
			case <-finish:
			case <-p.Done:
				return 1
			}
			p.Files["prog"] = []byte("x")
			return 0
		}
		req := Request{Language: lang, Files: []judge.File{{Name: "a.cc", Data: []byte("same")}}}
		first, cancel := context.WithCancelCause(t.Context())
		gone := errors.New("gone")
		errs := make(chan error, 3)
		go func() {
			_, err := f.Compile(first, req)
			errs <- err
		}()
		<-go1
		results := make(chan *Result, 2)
		for range 2 {
			go func() {
				res, err := f.Compile(t.Context(), req)
				errs <- err
				results <- res
			}()
		}
		synctest.Wait()
		cancel(gone)
		if err := <-errs; !errors.Is(err, gone) {
			t.Errorf("the first got %v", err)
		}
		close(finish)
		for range 2 {
			if err := <-errs; err != nil {
				t.Errorf("a later one got %v", err)
			}
			if res := <-results; res.Executable == nil || !res.Cached {
				t.Errorf("a later one got %+v", res)
			} else {
				res.Executable.Release()
				res.Executable.Release()
			}
		}
		if f.runs() != 1 {
			t.Errorf("compiler ran %d times", f.runs())
		}
		for _, e := range f.cache.entries {
			if e.pins != 0 {
				t.Errorf("%d pins are left", e.pins)
			}
		}
	})
}

// When all have gone the compiler is stopped, and the next request starts anew.
func TestAbandonedFlight(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFarm(t, 0)
		lang := f.lang(t, "cc")
		ctx, cancel := context.WithCancel(t.Context())
		errs := make(chan error)
		go func() {
			_, err := f.Compile(ctx, Request{Language: lang, Files: []judge.File{{Name: "a.cc", Data: []byte("hang")}}})
			errs <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-errs; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		synctest.Wait()
		if len(f.flights.open) != 0 {
			t.Error("the flight is still open")
		}
	})
}

// A language that names a file for what is in it cannot name it so long that no
// system takes it.
func TestMisnamed(t *testing.T) {
	t.Parallel()
	c := real(t, "")
	name := strings.Repeat("A", 300)
	res, err := c.Compile(t.Context(), Request{Language: here(t, c, "java"), Files: []judge.File{
		{Name: "a.java", Data: []byte("public class " + name + " { public static void main(String[] a) {} }")},
	}})
	if err != nil || res.Verdict != judge.CompileError || !strings.Contains(string(res.Log), "AAA...") {
		t.Errorf("got %+v, %v, want a compile error that names the file", res, err)
	}
}

// What a request wants of the compiler, flags and limits, is no other toolchain: that is
// not looked for again, and another outcome it is all the same.
func TestRequestsShareTheToolchain(t *testing.T) {
	t.Parallel()
	f := newFarm(t, 0)
	lang, seen := f.lang(t, "cc"), map[string]bool{}
	for i, req := range []Request{{}, {Flags: []string{"-DX"}}, {Least: judge.Limits{CPU: time.Minute, Memory: 2 * judge.GiB}}, {}} {
		req.Language, req.Files = lang, []judge.File{{Name: "a.cc", Data: []byte("good")}}
		res, err := f.Compile(t.Context(), req)
		if err != nil || res.Executable == nil || seen[res.Executable.Digest] != (i == 3) {
			t.Fatalf("request %d: got %+v, %v", i, res, err)
		}
		seen[res.Executable.Digest] = true
		if found := f.found["cc"]; found.toolchain.Language != lang {
			t.Errorf("request %d: the toolchain was looked for again, for a language of its own", i)
		}
	}
	specs := f.fake.Specs()
	if got, want := specs[1].Args, []string{"/usr/bin/cc", "-DX", "-o", "prog", "a.cc"}; !slices.Equal(got, want) {
		t.Errorf("with a flag %q, want %q", got, want)
	}
	if lim := specs[2].Limits; lim.CPU != time.Minute || lim.Wall != 2*time.Minute || lim.Memory != 2*judge.GiB {
		t.Errorf("with room: limits %+v", lim)
	}
}

// Files that cannot lie together once they are named as their language wants it are
// refused, and nothing is run: such a box could not be filled.
func TestRenamedFilesCollide(t *testing.T) {
	t.Parallel()
	f := newFarm(t, 0)
	for _, language := range []string{"cc", "in"} {
		for _, files := range [][]judge.File{
			{{Name: "a.txt"}, {Name: "main." + language + "/x"}},
			{{Name: "x.txt"}, {Name: "b/c"}, {Name: "main." + language + "/y/z"}},
		} {
			res, err := f.Compile(t.Context(), Request{Language: f.lang(t, language), Files: files})
			if err != nil || res.Verdict != judge.CompileError || !strings.Contains(string(res.Log), "cannot lie together") {
				t.Errorf("%s, %v: got %+v, %v, want CE", language, files, res, err)
			}
		}
	}
	if f.runs() > 0 {
		t.Errorf("%d boxes, want none", f.runs())
	}
}
