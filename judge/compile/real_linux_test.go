package compile

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"judgefarm/judge"
	"judgefarm/judge/sandbox"
	"judgefarm/languages"
)

// real is a Compiler over real boxes with the bundled languages and those of dir.
func real(t *testing.T, dir string) *Compiler {
	t.Helper()
	return realWith(t, dir, sandbox.Config{})
}

func realWith(t *testing.T, dir string, cfg sandbox.Config) *Compiler {
	t.Helper()
	box, err := sandbox.New(cfg)
	if errors.Is(err, sandbox.ErrHost) {
		t.Skipf("missing: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := box.Close(); err != nil {
			t.Error(err)
		}
	})
	set, err := languages.Load(languages.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(Config{Runner: box, Languages: set, Dir: reachable(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// here skips when this host lacks the language.
func here(t *testing.T, c *Compiler, id string) *languages.Language {
	t.Helper()
	lang, ok := c.cfg.Languages.Find(id)
	if !ok {
		t.Fatalf("no language %s", id)
	}
	st, err := c.Status(t.Context(), lang)
	if err != nil {
		t.Fatal(err)
	}
	if len(st.Missing) > 0 {
		t.Skipf("missing: %s (%s)", st.Missing[0].What, st.Missing[0].Fix)
	}
	if !st.OK() {
		t.Fatal(st.Broken)
	}
	return lang
}

func TestEveryLanguage(t *testing.T) {
	t.Parallel()
	c := real(t, "")
	strict := strictLanguages(t)
	for _, l := range c.cfg.Languages.All() {
		if _, ok := strict[l.ID]; !ok {
			t.Errorf("docs/limits.md does not say whether %s runs in strict mode", l.ID)
		}
		t.Run(l.ID, func(t *testing.T) {
			t.Parallel()
			lang := here(t, c, l.ID)
			ref, err := c.Inspect(t.Context(), lang)
			if err != nil {
				t.Fatal(err)
			}
			got, err := c.SelfTest(t.Context(), lang)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.StrictSelfTest(t.Context(), lang); (err == nil) != strict[l.ID] {
				t.Errorf("in strict mode docs/limits.md says that it runs: %t; got %v", strict[l.ID], err)
			}
			t.Logf("%s; compile %v, %d MiB; run %v, %d KiB", ref.Version, got.Compile.CPU, got.Compile.Memory>>20, got.Run.CPU, got.Run.Memory>>10)
		})
	}
}

// strictLanguages is what docs/limits.md says of each language: whether it runs in strict mode.
func strictLanguages(t *testing.T) map[string]bool {
	t.Helper()
	page, err := os.ReadFile("../../docs/limits.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "| language | its self-test in strict mode |\n| --- | --- |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	runs := map[string]bool{}
	for row := range strings.Lines(table) {
		cells := strings.Split(row, "|")
		if len(cells) != 4 {
			t.Fatalf("docs/limits.md: row %q", row)
		}
		for id := range strings.SplitSeq(strings.TrimSpace(cells[1]), ", ") {
			runs[id] = strings.TrimSpace(cells[2]) == "runs"
		}
	}
	return runs
}

// run compiles one file and runs it.
func run(t *testing.T, c *Compiler, lang *languages.Language, source string, memory judge.Bytes) *sandbox.Report {
	t.Helper()
	res, err := c.Compile(t.Context(), Request{Language: lang, Files: []judge.File{{Name: lang.Source, Data: []byte(source)}}})
	if err != nil {
		t.Fatal(err)
	}
	if res.Executable == nil {
		t.Fatalf("%s: %s", res.Verdict, res.Log)
	}
	defer res.Executable.Release()
	lim := lang.Apply(judge.Limits{CPU: 5 * time.Second, Memory: memory}.Complete())
	cmd, err := CommandOf(lang, res.Executable, lim)
	if err != nil {
		t.Fatal(err)
	}
	rep, err := c.cfg.Runner.Run(t.Context(), sandbox.Spec{
		Args: cmd.Args, Env: cmd.Env, Root: cmd.Root, Mounts: cmd.Mounts, Limits: lim, Slack: cmd.Slack,
	})
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

// What the runtimes make of too much memory, endless recursion and memory within
// the limit, as docs/languages.md says.
func TestRuntimes(t *testing.T) {
	t.Parallel()
	c := real(t, "")
	const oom, failed, fine = sandbox.CauseMemory, sandbox.CauseExit, sandbox.CauseExit
	for _, p := range []struct {
		lang, name, source string
		cause              sandbox.Cause
		ok                 bool // exit status 0
	}{
		{"c", "hog", `#include <stdlib.h>
#include <string.h>
int main(void) { for (;;) { char *p = malloc(1 << 20); if (p) memset(p, 1, 1 << 20); } }`, oom, false},
		{"c", "recursion", `#include <stdio.h>
int deep(int n) { volatile char a[1024]; a[0] = n; return deep(n + 1) + a[0]; }
int main(void) { printf("%d\n", deep(0)); }`, oom, false},
		{"python3", "hog", "x = []\nwhile True: x.append(bytearray(1 << 20))", oom, false},
		{"python3", "recursion", "def f(n): return f(n + 1) + 1\nf(0)", failed, false},
		{"python3", "within", "x = bytearray(40 << 20)\nprint(len(x))", fine, true},
		{"pypy3", "hog", "x = []\nwhile True: x.append(bytearray(1 << 20))", oom, false},
		{"pypy3", "recursion", "def f(n): return f(n + 1) + 1\nf(0)", failed, false},
		{"pypy3", "within", "x = bytearray(40 << 20)\nprint(len(x))", fine, true},
		{"java", "hog", `import java.util.*;
public class Main { public static void main(String[] a) { List<byte[]> l = new ArrayList<>(); while (true) l.add(new byte[1 << 20]); } }`, oom, false},
		{"java", "caught hog", `import java.util.*;
public class Main { public static void main(String[] a) { List<byte[]> l = new ArrayList<>();
try { while (true) l.add(new byte[1 << 20]); } catch (OutOfMemoryError e) { l = null; System.exit(0); } } }`, oom, false},
		{"java", "recursion", `public class Main { static int f(int n) { return f(n + 1) + 1; } public static void main(String[] a) { f(0); } }`, failed, false},
		{"java", "within", `import java.util.*;
public class Main { public static void main(String[] a) { byte[][] l = new byte[40][];
for (int r = 0; r < 20; r++) for (int i = 0; i < 40; i++) l[i] = new byte[1 << 20]; } }`, fine, true},
		{"go", "hog", "package main\nfunc main() { var x [][]byte; for { b := make([]byte, 1<<20); for i := range b { b[i] = 1 }; x = append(x, b) } }", oom, false},
		{"go", "recursion", "package main\nfunc f(n int) int { return f(n+1) + 1 }\nfunc main() { println(f(0)) }", oom, false},
		{"go", "within", "package main\nfunc main() { var k [40][]byte; for r := 0; r < 20; r++ { for i := range k { k[i] = make([]byte, 1<<20); for j := range k[i] { k[i][j] = 1 } } } }", fine, true},
		{"javascript", "heap hog", "const x = []; while (true) x.push({ a: x.length, b: [1, 2, 3] });", oom, false},
		{"javascript", "buffer hog", "const x = []; while (true) x.push(Buffer.alloc(1 << 20, 1));", oom, false},
		{"javascript", "recursion", "const f = (n) => f(n + 1) + 1; f(0);", failed, false},
		{"javascript", "within", "const x = []; for (let i = 0; i < 1e6; i++) x.push(i * 1.5); console.log(x.length);", fine, true},
		{"javascript", "within, garbage", "let s = 0; for (let i = 0; i < 2e6; i++) { const o = { a: i, b: [i] }; s += o.b[0]; } console.log(s);", fine, true},
		{"javascript", "within, buffers", "const k = []; for (let r = 0; r < 20; r++) for (let i = 0; i < 30; i++) k[i] = Buffer.alloc(1 << 20, 1);", fine, true},
		{"typescript", "status", "process.exit(3);", failed, false},
		{"rust", "hog", "fn main() { let mut x = Vec::new(); loop { x.push(vec![1u8; 1 << 20]); } }", oom, false},
		{"bash", "hog", "x=aaaaaaaaaaaaaaaa; while :; do x=$x$x; done", oom, false},
		{"bash", "status", "exit 3", failed, false},
	} {
		t.Run(p.lang+"/"+strings.NewReplacer(" ", "-", ",", "").Replace(p.name), func(t *testing.T) {
			lang := here(t, c, p.lang)
			memory := 64 * judge.MiB
			if p.lang == "java" && p.name == "recursion" {
				memory = 256 * judge.MiB // see docs/languages.md
			}
			rep := run(t, c, lang, p.source, memory)
			if rep.Cause != p.cause || (rep.Exit == 0) != p.ok {
				t.Errorf("cause %s, status %d, signal %d, %v, %d MiB, want cause %s; stderr %.300q",
					rep.Cause, rep.Exit, rep.Signal, rep.CPU, rep.Memory>>20, p.cause, rep.Stderr.Data)
			}
			t.Logf("%s status %d signal %d, CPU %v, %d MiB", rep.Cause, rep.Exit, rep.Signal, rep.CPU, rep.Memory>>20)
		})
	}
}

// A second Python stands beside the first: another id, a mount that adds a module.
func TestSecondEnvironment(t *testing.T) {
	t.Parallel()
	modules, defs := reachable(t), t.TempDir()
	write(t, modules+"/site/extra.py", "answer = 42\n")
	const definition = `
id: python3+extra
name: Python 3 with extra
source: main.py
suffixes: [.py]
rank: 5
run: {args: [/usr/bin/python3, "{exe}/{source}"]}
environment: {mounts: [{source: %s, target: /opt/extra}], env: [PYTHONPATH=/opt/extra/site, PYTHONDONTWRITEBYTECODE=1]}
toolchain: {programs: [/usr/bin/python3], version: [/usr/bin/python3, --version], packages: [python3]}
self_test: {source: "import extra; print(extra.answer)", expected: "42"}
`
	write(t, defs+"/extra.yaml", fmt.Sprintf(definition, modules))
	c := real(t, defs)
	plain, extra := here(t, c, "python3"), here(t, c, "python3+extra")
	if _, err := c.SelfTest(t.Context(), extra); err != nil {
		t.Error(err)
	}
	if rep := run(t, c, plain, "import extra", 64*judge.MiB); rep.Exit != 1 {
		t.Errorf("the plain Python has the module too: status %d", rep.Exit)
	}
	before, err := c.Inspect(t.Context(), extra)
	if err != nil {
		t.Fatal(err)
	}
	if ref, err := c.Inspect(t.Context(), plain); err != nil || ref.Toolchain == before.Toolchain {
		t.Errorf("both have toolchain %s, %v", ref.Toolchain, err)
	}
	write(t, modules+"/site/extra.py", "answer = 43\n")
	c.cfg.Recheck = 1
	if after, err := c.Inspect(t.Context(), extra); err != nil || after.Toolchain == before.Toolchain {
		t.Errorf("the module changed and the toolchain is still %s, %v", after.Toolchain, err)
	}
}

// A root of its own, a directory or a tar, replaces the host's system directories:
// here it is one statically linked program.
func TestOwnRoot(t *testing.T) {
	t.Parallel()
	root, defs := reachable(t), t.TempDir()
	write(t, defs+"/static.c", `#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv) {
	int c;
	if (argc > 1 && strcmp(argv[1], "--version") == 0) return puts("static 1") < 0;
	while ((c = getchar()) != EOF) putchar(c);
	if (access("/usr/bin", F_OK) == 0) puts("the host's files are there");
	return 0;
}`)
	if _, err := os.Stat("/usr/bin/gcc"); err != nil {
		t.Skip("missing: /usr/bin/gcc (apt-get install gcc libc6-dev)")
	}
	write(t, root+"/bin/README", "")
	if out, err := exec.CommandContext(t.Context(), "/usr/bin/gcc", "-static", "-o", root+"/bin/static", defs+"/static.c").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	const definition = `
id: %s
name: Static
source: main.%[1]s
suffixes: [.%[1]s]
run: {args: [/bin/static, "{exe}/{source}"]}
environment: {root: "%s"}
toolchain: {programs: [/bin/static], version: [/bin/static, --version]}
self_test: {source: "x", stdin: "1 2", expected: "1 2"}
`
	write(t, defs+"/dir.yaml", fmt.Sprintf(definition, "dir", root))
	write(t, defs+"/tar.yaml", fmt.Sprintf(definition, "tar", tarOf(t, root, defs+"/roots")))
	c := real(t, defs)
	for _, id := range []string{"dir", "tar"} {
		lang := here(t, c, id)
		if _, err := c.SelfTest(t.Context(), lang); err != nil {
			t.Error(err)
		}
		if ref, err := c.Inspect(t.Context(), lang); err != nil || ref.Version != "static 1" {
			t.Errorf("%+v, %v", ref, err)
		}
	}
}

// tarOf packs dir into a file named by its digest and returns that.
func tarOf(t *testing.T, dir, into string) string {
	t.Helper()
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	if err := errors.Join(w.AddFS(os.DirFS(dir)), w.Close()); err != nil {
		t.Fatal(err)
	}
	digest := fmt.Sprintf("%x", sha256.Sum256(buf.Bytes()))
	write(t, into+"/"+digest+".tar", buf.String())
	return "sha256:" + digest
}

// A problem's programs may be compiled with flags of their own; each set of flags is
// another executable. Who has no compiler to take them is told.
func TestFlags(t *testing.T) {
	t.Parallel()
	c := real(t, "")
	files := []judge.File{{Name: "a.c", Data: []byte("#ifndef FLAG\n#error no flag\n#endif\nint main() { return FLAG; }\n")}}
	for flag, want := range map[string]judge.Verdict{"-DFLAG=1": "", "-DOTHER": judge.CompileError} {
		res, err := c.Compile(t.Context(), Request{Language: here(t, c, "c"), Files: files, Flags: []string{flag}})
		if err != nil || res.Verdict != want {
			t.Errorf("%s: got %+v, %v, want %q", flag, res, err, want)
			continue
		}
		if res.Executable != nil {
			res.Executable.Release()
		}
	}
	_, err := c.Compile(t.Context(), Request{Language: here(t, c, "python3"), Files: files, Flags: []string{"-O"}})
	if !judge.IsBadRequest(err) || !strings.Contains(err.Error(), "python3") {
		t.Errorf("flags for Python: got %v, want a bad request", err)
	}
}
