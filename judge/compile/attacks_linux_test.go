package compile

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"judgefarm/judge"
	"judgefarm/judge/sandbox"
	"judgefarm/judge/sandbox/sandboxtest"
	"judgefarm/languages"
)

// Not parallel: it looks at what is left of this whole process.
func TestAttacks(t *testing.T) {
	t.Setenv("JUDGEFARM_TEST_SECRET", "token-of-the-worker")
	const base = 1<<21 + 1<<10
	c := realWith(t, "", sandbox.Config{UIDBase: base, NoAhead: true}) // what is left is told by its user
	secret := filepath.Join(reachable(t), "answer.txt")
	write(t, secret, "token-of-the-answer\n")
	for _, l := range c.cfg.Languages.All() {
		if l.Compile != nil { // attacks that reach a limit reach a low one sooner
			l.Compile.Limits.Memory = languages.Size(512 * judge.MiB)
		}
	}
	left := leftCheck(t, base)
	for _, a := range attacks(secret) {
		t.Run(a.id+" "+a.lang+" "+a.name, func(t *testing.T) {
			compileAttack(t, c, a)
			left(t)
			ordinary(t, c)
		})
	}
}

func compileAttack(t *testing.T, c *Compiler, a attack) {
	lang := here(t, c, a.lang)
	files := []judge.File{{Name: lang.Source, Data: []byte(a.source)}}
	for _, f := range a.more {
		if filepath.Ext(f.Name) == ".class" {
			f.Data = classOf(t, f)
		}
		files = append(files, f)
	}
	limitTime(lang, slices.Contains(a.want, judge.CompileTimeLimit))
	began := time.Now()
	res, err := c.Compile(t.Context(), Request{Language: lang, Files: files})
	if err != nil {
		t.Fatal(err)
	}
	if took, most := time.Since(began), lang.Compile; most != nil && took > most.Limits.Wall+2*slow()*time.Second {
		t.Errorf("took %v, the limit is %v", took, most.Limits.Wall)
	}
	ok := false
	for _, v := range a.want {
		ok = ok || res.Verdict == v
	}
	if !ok {
		t.Errorf("verdict %q, want one of %q; log %.300q", res.Verdict, a.want, res.Log)
	}
	if len(res.Log) > 64<<10 {
		t.Errorf("log of %d bytes", len(res.Log))
	}
	seen := map[string][]byte{"log": res.Log}
	if strings.Contains(a.name, "daemon") && res.Executable != nil {
		if ran, err := os.ReadFile(filepath.Join(res.Executable.Dir, "ran")); err != nil || !strings.HasPrefix(string(ran), "1000\n") {
			t.Errorf("the code did not run: %q, %v", ran, err)
		}
	}
	if res.Executable != nil {
		defer res.Executable.Release()
		for _, f := range filesBelow(t, res.Executable.Dir) {
			if seen[f], err = os.ReadFile(f); err != nil {
				t.Error(err)
			}
		}
	}
	for name, data := range seen {
		for _, never := range append(hostSecrets(t, c), a.never) {
			if never != "" && bytes.Contains(data, []byte(never)) {
				t.Errorf("%s has %q of the host", name, never)
			}
		}
	}
	t.Logf("%q, CPU %v, wall %v, %d MiB, log %d bytes of %d", res.Verdict, res.Usage.CPU, res.Usage.Wall, res.Usage.Memory>>20, len(res.Log), res.LogTotal)
}

// limitTime gives a compiler little time where it may run out of it, else so much that a
// full machine, whose time an emulated one takes for its own, is not what it is about.
func limitTime(lang *languages.Language, little bool) {
	if lang.Compile == nil {
		return
	}
	lang.Compile.Limits.CPU, lang.Compile.Limits.Wall = 4*slow()*time.Second, 12*slow()*time.Second
	if !little {
		lang.Compile.Limits.CPU, lang.Compile.Limits.Wall = 20*slow()*time.Second, 60*slow()*time.Second
	}
}

// hostSecrets are what nothing that is shown may hold: the answer, the worker's
// environment, the host's users, names of the cache.
func hostSecrets(t *testing.T, c *Compiler) []string {
	t.Helper()
	users, err := os.ReadFile("/etc/passwd")
	if err != nil {
		t.Fatal(err)
	}
	return append(strings.Split(strings.TrimSpace(string(users)), "\n"),
		"token-of-the-answer", "token-of-the-worker", c.cfg.Dir)
}

// classOf compiles a class outside of any box: the test's own code.
func classOf(t *testing.T, f judge.File) []byte {
	t.Helper()
	dir := t.TempDir()
	name := strings.TrimSuffix(f.Name, ".class")
	write(t, filepath.Join(dir, name+".java"), string(f.Data))
	if out, err := exec.CommandContext(t.Context(), "/usr/bin/javac", "-d", dir, filepath.Join(dir, name+".java")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	data, err := os.ReadFile(filepath.Join(dir, f.Name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func filesBelow(t *testing.T, dir string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

var ordinaries int

// ordinary checks that the next submission compiles. Each is another, or the cache
// would answer.
func ordinary(t *testing.T, c *Compiler) {
	t.Helper()
	ordinaries++
	lang := here(t, c, "c")
	limitTime(lang, false)
	res, err := c.Compile(t.Context(), Request{Language: lang, Files: []judge.File{{Name: "main.c", Data: fmt.Appendf(nil, "int x = %d;"+hello, ordinaries)}}})
	if err != nil || res.Executable == nil {
		t.Errorf("the next submission: %+v, %v", res, err)
		return
	}
	res.Executable.Release()
}

// leftCheck returns a check that nothing is left of a compile: neither on the host
// nor in this process, whose memory stays flat.
func leftCheck(t *testing.T, base int) func(*testing.T) {
	t.Helper()
	uids := map[int]bool{}
	for i := range 64 {
		uids[base+i] = os.Geteuid() == 0
	}
	return func(t *testing.T) {
		t.Helper()
		left, err := sandboxtest.Left(uids)
		if err != nil {
			t.Fatal(err)
		}
		for _, what := range append(left, leftGroups(t)...) {
			t.Errorf("left of a compile: %s", what)
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		if m.HeapAlloc > 128<<20 {
			t.Errorf("the worker's memory is %d MiB", m.HeapAlloc>>20)
		}
		if n := runtime.NumGoroutine(); n > 60 {
			t.Errorf("%d goroutines", n)
		}
	}
}

// leftGroups names the cgroups of boxes below those of this process.
func leftGroups(t *testing.T) []string {
	t.Helper()
	self, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for line := range strings.Lines(string(self)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		for _, top := range []string{"/sys/fs/cgroup", filepath.Join("/sys/fs/cgroup", f[1])} {
			boxes, err := filepath.Glob(filepath.Join(top, f[2], "judgefarm-"+strconv.Itoa(os.Getpid())+"-*", "*", "cgroup.procs"))
			if err != nil {
				t.Fatal(err)
			}
			left = append(left, boxes...)
		}
	}
	return left
}

// slow is how many times slower than a real machine this one is.
func slow() time.Duration {
	n, err := strconv.Atoi(os.Getenv("JUDGEFARM_TEST_SLOW"))
	if err != nil || n < 1 {
		n = 1
	}
	return time.Duration(n)
}
