package compile

import (
	"fmt"
	"strings"

	"judgefarm/judge"
)

// attack is a row of docs/attacks.md as it concerns the compile step.
type attack struct {
	id, lang, name string
	source         string       // of the language's main file
	more           []judge.File // further files
	want           []judge.Verdict
	never          string // bytes that must be in neither log nor executable
}

var (
	refused    = []judge.Verdict{judge.CompileError}
	orTooSlow  = []judge.Verdict{judge.CompileError, judge.CompileTimeLimit}
	orCompiled = []judge.Verdict{judge.CompileError, ""} // what it takes in is the box's own
)

const hello = "\nint main(void) { return 0; }\n"

// doubling are macros that each stand for two of the one before.
func doubling(n int) string {
	var b strings.Builder
	b.WriteString("#define A0 1+1\n")
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "#define A%d A%d+A%[2]d\n", i, i-1)
	}
	fmt.Fprintf(&b, "int x = A%d;"+hello, n)
	return b.String()
}

// attacks takes a path that is on this host, but not in the box.
func attacks(secret string) []attack {
	rows := []attack{
		{id: "D19", lang: "c", name: "zero", source: "#include \"/dev/zero\"\n", want: orTooSlow},
		{id: "D19", lang: "c", name: "urandom", source: "#include \"/dev/urandom\"\n", want: orTooSlow},
		{id: "D19", lang: "c", name: "tty", source: "#include \"/dev/tty\"\n" + hello, want: refused},
		{id: "D19", lang: "c", name: "stdin", source: "#include \"/dev/stdin\"\n#include \"/proc/self/fd/0\"\n#error end\n", want: refused},
		{id: "D19", lang: "c", name: "zero by the assembler", source: `__asm__(".incbin \"/dev/zero\"");` + hello, want: append(orTooSlow, "")},
		{id: "D19", lang: "c", name: "zero as assembly", source: `__asm__(".include \"/dev/zero\"");` + hello, want: orTooSlow},
		{id: "D20", lang: "cpp17", name: "template", source: "template <int N> struct A { static const int v = A<N + 1>::v; };\nint main() { return A<0>::v; }", want: refused},
		{id: "D20", lang: "cpp17", name: "branching template", want: orTooSlow,
			source: "template <int N, int M> struct A { A<N + 1, M * 2> a; A<N + 1, M * 2 + 1> b; };\ntemplate <int M> struct A<40, M> {};\nint main() { return sizeof(A<0, 0>); }"},
		{id: "D20", lang: "rust", name: "recursive macro", source: "macro_rules! m { ($($x:tt)*) => { m!($($x)* $($x)* 1) } }\nfn main() { m!(1 1) }", want: orTooSlow},
		{id: "D21", lang: "c", name: "itself", source: "#include __FILE__\n#include __FILE__\n#warning again\n", want: orTooSlow},
		{id: "D21", lang: "c", name: "diagnostics", source: strings.Repeat("char *x = 1 +;\n", 100000), want: orTooSlow},
		{id: "D21", lang: "python3", name: "none", source: "print(1)", want: []judge.Verdict{""}}, // nothing is compiled
		{id: "D22", lang: "c", name: "macros", source: doubling(34), want: orTooSlow},
		{id: "D22", lang: "cpp17", name: "constant expression", want: orTooSlow,
			source: "constexpr long f(long n) { return n < 2 ? n : f(n - 1) + f(n - 2); }\nstatic_assert(f(80) == 1);\nint main() {}"},
		{id: "D22", lang: "rust", name: "constant evaluation", want: orTooSlow,
			source: "#![allow(long_running_const_eval)]\nconst X: u64 = { let mut i = 0u64; loop { i += 1; if i == u64::MAX { break } } i };\nfn main() { println!(\"{}\", X) }"},
		{id: "D23", lang: "c", name: "initialised array", source: "int a[1 << 28] = {1};\nint main(void) { return a[3]; }", want: orTooSlow},
		{id: "D23", lang: "c", name: "filled by the assembler", source: `__asm__(".data\n.fill 1 << 30, 1, 7");` + hello, want: orTooSlow},
		{id: "D24", lang: "c", name: "passwd", source: "#include \"/etc/passwd\"" + hello, want: refused, never: ":/root:"},
		{id: "D24", lang: "c", name: "shadow", source: "#include \"/etc/shadow\"" + hello, want: refused},
		{id: "D24", lang: "c", name: "shadow by the assembler", source: `__asm__(".incbin \"/etc/shadow\"");` + hello, want: refused},
		{id: "D24", lang: "c", name: "home", source: "#include \"/root/.profile\"" + hello, want: refused},
		{id: "D24", lang: "c", name: "asks whether it is there", source: "#if __has_include(\"/etc/shadow\") || __has_include(\"" + secret + "\")\n" + hello + "#endif\n", want: refused},
		{id: "D24", lang: "c", name: "test data", source: "#include \"" + secret + "\"" + hello, want: refused},
		{id: "D24", lang: "c", name: "test data by the assembler", source: `__asm__(".incbin \"` + secret + `\"");` + hello, want: refused},
		{id: "D24", lang: "c", name: "test data from above", source: `__asm__(".incbin \"../../../../../..` + secret + `\"");` + hello, want: refused},
		{id: "D24", lang: "c", name: "environment", source: "#include \"/proc/self/environ\"\n#include \"/proc/1/environ\"" + hello, want: refused},
		{id: "D24", lang: "c", name: "environment by the assembler", source: `__asm__(".incbin \"/proc/self/environ\"");` + hello, want: orCompiled},
		{id: "D24", lang: "c", name: "embed", source: "const char x[] = {\n#embed \"" + secret + "\"\n};" + hello, want: refused},
		{id: "D24", lang: "rust", name: "include_bytes", source: "fn main() { println!(\"{:?}\", include_bytes!(\"" + secret + "\")); }", want: refused},
		{id: "D24", lang: "rust", name: "env", source: "fn main() { println!(\"{}\", env!(\"JUDGEFARM_TEST_SECRET\")); }", want: refused},
		{id: "D24", lang: "rust", name: "path of a module", source: "#[path = \"" + secret + "\"] mod m;\nfn main() {}", want: refused},
		{id: "D24", lang: "go", name: "embed", source: "package main\nimport _ \"embed\"\n//go:embed " + secret + "\nvar s string\nfunc main() { println(s) }", want: refused},
	}
	return append(rows, codeRunners(secret)...)
}

// codeRunners are D25: what runs code of the submission's while it is compiled.
func codeRunners(secret string) []attack {
	const processor = `import java.util.*; import javax.annotation.processing.*; import javax.lang.model.element.TypeElement;
@SupportedAnnotationTypes("*") public class Evil extends AbstractProcessor {
  public boolean process(Set<? extends TypeElement> a, RoundEnvironment e) {
    try {
      new ProcessBuilder("/bin/sh", "-c", "COMMAND").start().waitFor();
    } catch (Exception x) { throw new RuntimeException(x); }
    return false;
  } }`
	runs := func(name, command string, want []judge.Verdict) attack {
		return attack{id: "D25", lang: "java", name: "annotation processor: " + name, want: want,
			source: "public class Main { public static void main(String[] a) {} }",
			more: []judge.File{{Name: "META-INF/services/javax.annotation.processing.Processor", Data: []byte("Evil\n")},
				{Name: "Evil.class", Data: []byte(strings.Replace(processor, "COMMAND", command, 1))}}}
	}
	return []attack{
		runs("a daemon and secrets", "mkdir -p classes; (id -u; cat /etc/shadow /proc/1/environ /proc/self/environ "+secret+") >classes/ran 2>/dev/null; (setsid sleep 300 >/dev/null 2>&1 &) ; mkfifo /tmp/x", []judge.Verdict{""}),
		runs("kills all", "kill -9 -1", refused),
		{id: "D25", lang: "c", name: "plugin by pragma and by name", source: "#pragma GCC plugin \"./evil.so\"\n#pragma plugin(\"./evil.so\")\n#error end\n",
			more: []judge.File{{Name: "-fplugin=.c", Data: []byte("int x;")}, {Name: "@args.c", Data: []byte("-wrapper /bin/sh,-c,exit")}}, want: refused},
		{id: "D25", lang: "go", name: "generate and flags", source: "package main\n//go:generate sh -c id\n//go:cgo_ldflag \"-fplugin=x\"\nfunc main() {}\n", want: refused},
		{id: "D25", lang: "cpp17", name: "endless constant expression", want: orTooSlow,
			source: "constexpr int f() { int s = 0; for (long i = 0; i < 1L << 60; i++) s ^= i; return s; }\nconstexpr int x = f();\nint main() { return x; }"},
		{id: "D25", lang: "typescript", name: "configuration", source: "console.log(1)\n",
			more: []judge.File{{Name: "tsconfig.json", Data: []byte(`{"compilerOptions": {"plugins": [{"name": "./evil.js"}]}}`)}, {Name: "evil.js", Data: []byte("while (true) {}")}},
			want: []judge.Verdict{"", judge.CompileError}},
	}
}
