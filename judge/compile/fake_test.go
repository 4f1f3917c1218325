package compile

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"judgefarm/judge"
	"judgefarm/judge/sandbox"
	"judgefarm/judge/sandbox/sandboxtest"
	"judgefarm/languages"
)

// The tests have a root with a fake compiler "cc" and interpreter "in"; what cc
// does is in the source's first words.
const definitions = `
id: %s
name: Fake
source: main.%[1]s
suffixes: [.%[1]s]
%s
environment: {root: %s, env: [A=1, B=2], mounts: [{source: %[3]s/usr, target: /opt/x}]}
allowance: {memory: 10M, tasks: 9, time_factor: 2}
toolchain: {programs: [/usr/bin/cc], version: [/usr/bin/cc, --version], packages: [cc]}
self_test: {source: "ok", stdin: "1 2", expected: "got 1 2"}
`

// farm is a Compiler over a Fake with its languages.
type farm struct {
	*Compiler
	fake      *sandboxtest.Fake
	set       *languages.Set
	root, dir string
	clock     *clock
}

// clock moves only when a test says so.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// reachable is a directory that boxes of root can reach, unlike t.TempDir alone.
func reachable(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func newFarm(t *testing.T, max judge.Bytes) *farm {
	t.Helper()
	f := &farm{root: t.TempDir(), dir: reachable(t), clock: &clock{now: time.Unix(1e9, 0)}}
	write(t, f.root+"/usr/bin/cc", "compiler 1")
	defs := t.TempDir()
	const compiled = `compile: {args: [/usr/bin/cc, -o, prog, "{sources}"], env: [B=3], limits: {cpu: 2s, wall: 5s}, output: %s}
run: {args: ["{exe}/prog", "{memory_mib}", "{box_mib}"], env: ["T={tasks}"]}`
	write(t, defs+"/cc.yaml", fmt.Sprintf(definitions, "cc", fmt.Sprintf(compiled, "prog"), f.root))
	write(t, defs+"/dir.yaml", fmt.Sprintf(definitions, "dir", fmt.Sprintf(compiled, "out/"), f.root))
	write(t, defs+"/all.yaml", fmt.Sprintf(definitions, "all", fmt.Sprintf(compiled, `""`), f.root))
	write(t, defs+"/in.yaml", fmt.Sprintf(definitions, "in", `run: {args: [/usr/bin/cc, "{exe}/{source}"]}`, f.root))
	const checked = `check: {args: [/usr/bin/cc, "{sources}"], env: [B=3], limits: {cpu: 2s, wall: 5s}}
run: {args: ["{exe}/prog"]}`
	write(t, defs+"/chk.yaml", fmt.Sprintf(definitions, "chk", checked, f.root))
	var err error
	if f.set, err = languages.Load(languages.Config{Dir: defs}); err != nil {
		t.Fatal(err)
	}
	f.fake = &sandboxtest.Fake{Programs: map[string]sandboxtest.Program{"cc": fakeCompiler, "/exe/prog": fakeProgram}}
	f.open(t, max)
	return f
}

// open starts a Compiler on the farm's directory, as after a restart.
func (f *farm) open(t *testing.T, max judge.Bytes) {
	t.Helper()
	if f.Compiler != nil {
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	c, err := New(Config{Runner: f.fake, Languages: f.set, Dir: f.dir, MaxBytes: max, Clock: f.clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	f.Compiler = c
	t.Cleanup(func() { c.Close() })
}

func (f *farm) lang(t *testing.T, id string) *languages.Language {
	t.Helper()
	l, ok := f.set.Find(id)
	if !ok {
		t.Fatalf("no language %s", id)
	}
	return l
}

func (f *farm) compile(t *testing.T, id, source string) *Result {
	t.Helper()
	res, err := f.Compile(t.Context(), Request{Language: f.lang(t, id), Files: []judge.File{{Name: "a." + id, Data: []byte(source)}}})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func (f *farm) runs() int { return len(f.fake.Specs()) }

func fakeProgram(p *sandboxtest.Proc) int {
	in, _ := io.ReadAll(p.Stdin)
	fmt.Fprintf(p.Stdout, "got %s\n", in)
	return 0
}

// fakeCompiler obeys its last argument's content.
func fakeCompiler(p *sandboxtest.Proc) int {
	last := p.Args[len(p.Args)-1]
	if last == "--version" {
		fmt.Fprintln(p.Stderr, "\ncc (Fake) 1.0\nCopyright")
		return 0
	}
	source := string(p.Files[last])
	p.CPU, p.Wall, p.Memory = 10*time.Millisecond, 20*time.Millisecond, judge.MiB
	word, rest, _ := strings.Cut(source, " ")
	fmt.Fprintf(p.Stderr, "cc: %s\n", word)
	switch word {
	case "error":
		return 1
	case "cpu":
		p.CPU = time.Hour
	case "wall":
		p.CPU, p.Wall = time.Second, time.Hour
	case "memory":
		p.Memory = 2 * judge.GiB
	case "segv":
		p.Signal = 11
	case "filesize":
		p.Signal = 25
	case "syscall":
		p.Signal = 31
	case "noisy":
		fmt.Fprint(p.Stdout, strings.Repeat("x", 1<<20))
		return 1
	case "nothing":
	case "large":
		p.Files["prog"] = make([]byte, 65<<20)
	case "evil":
		p.Files["out/../evil"] = []byte("x")
	case "hang":
		<-p.Done
	default:
		p.Files["prog"] = []byte("program of " + source)
		p.Files["out/prog"] = p.Files["prog"]
		p.Files["out/sub/more"] = []byte(rest)
	}
	return 0
}

var _ sandbox.Runner = (*sandboxtest.Fake)(nil)
