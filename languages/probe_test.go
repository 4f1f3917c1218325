package languages

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tree writes files, and links where the text starts with "-> ", below a new
// directory.
func tree(t *testing.T, content map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range content {
		put(t, filepath.Join(dir, name), text)
	}
	return dir
}

func put(t *testing.T, file, text string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(file), 0o755)
	if target, ok := strings.CutPrefix(text, "-> "); ok && err == nil {
		err = os.Symlink(target, file)
	} else if err == nil {
		err = os.WriteFile(file, []byte(text), 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
}

const status = "Package: small\nStatus: install ok installed\nVersion: 1.0\n\n" +
	"Package: gone\nStatus: deinstall ok config-files\nVersion: 9\n"

func smallRoot(t *testing.T) string {
	return tree(t, map[string]string{
		"usr/bin/small":          "-> /etc/alternatives/small",
		"etc/alternatives/a":     "x",
		"etc/alternatives/small": "-> ../../usr/lib/small-1/small",
		"usr/lib/small-1/small":  "binary",
		"usr/lib/small-1/lib.a":  "library",
		"var/lib/dpkg/status":    status,
	})
}

func smallLanguage(root string) *Language {
	return &Language{
		ID: "small", Run: Step{Args: []string{"/usr/bin/small"}},
		Environment: Environment{Root: root},
		Toolchain: Tools{
			Programs: []string{"/usr/bin/small"}, Files: []string{"/usr/lib/small-*/*.a"},
			Packages: []string{"small"},
		},
	}
}

func probe(t *testing.T, p *Prober, l *Language) *Toolchain {
	t.Helper()
	tc, err := p.Probe(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	if (tc.Digest == "") != (len(tc.Missing) > 0) {
		t.Errorf("digest %q with missing %v", tc.Digest, tc.Missing)
	}
	return tc
}

// The digest moves with everything that may change what a program does, and
// with nothing else.
func TestToolchainDigest(t *testing.T) {
	t.Parallel()
	root := smallRoot(t)
	p := NewProber(ProberConfig{})
	first := probe(t, p, smallLanguage(root)).Digest
	if again := probe(t, NewProber(ProberConfig{}), smallLanguage(smallRoot(t))).Digest; again != first {
		t.Error("the same toolchain elsewhere has another digest")
	}
	seen := map[string]string{first: "the first"}
	moved := func(what string, l *Language) {
		t.Helper()
		tc := probe(t, p, l)
		if was, ok := seen[tc.Digest]; ok {
			t.Errorf("%s: the digest is that of %s; missing %v", what, was, tc.Missing)
		}
		seen[tc.Digest] = what
	}
	l := smallLanguage(root)
	l.Run.Args = []string{"/usr/bin/small", "-O2"}
	moved("flags", l)
	l = smallLanguage(root)
	l.Environment.Env = []string{"A=1"}
	moved("environment", l)
	l = smallLanguage(root)
	l.Environment.Mounts = []EnvMount{{Source: tree(t, map[string]string{"m.py": "x"}), Target: "/opt/m"}}
	moved("mount", l)
	put(t, filepath.Join(l.Environment.Mounts[0].Source, "sub/n.py"), "y")
	moved("mount's content", l)

	l = smallLanguage(root)
	l.Allowance.Tasks, l.Name = 64, "Other"
	if got := probe(t, p, l).Digest; got != first {
		t.Error("an allowance or a name moved the digest")
	}
	put(t, filepath.Join(root, "usr/lib/small-1/small"), "BINARY")
	moved("program behind links", smallLanguage(root))
	put(t, filepath.Join(root, "usr/lib/small-1/lib.a"), "other library")
	moved("file of a glob", smallLanguage(root))
	put(t, filepath.Join(root, "usr/lib/small-2/lib.a"), "second library")
	moved("further file of a glob", smallLanguage(root))
	put(t, filepath.Join(root, "var/lib/dpkg/status"), strings.Replace(status, "1.0", "1.10", 1))
	moved("package version", smallLanguage(root))
}

func TestMissing(t *testing.T) {
	t.Parallel()
	root := smallRoot(t)
	for _, c := range []struct {
		name      string
		change    func(*Language)
		what, fix string
	}{
		{"program", func(l *Language) {
			l.Toolchain.Programs = []string{"/usr/bin/other"}
			l.Toolchain.Packages = []string{"small", "other"}
		}, "/usr/bin/other is not there", "apt-get install other in the root " + root},
		{"package only configured", func(l *Language) {
			l.Toolchain.Programs = []string{"/usr/bin/gone"}
			l.Toolchain.Packages = []string{"gone"}
		}, "/usr/bin/gone", "apt-get install gone in"},
		{"file of an installed package", func(l *Language) { l.Toolchain.Files = []string{"/usr/lib/none-*"} },
			"/usr/lib/none-* is not there", "apt-get install --reinstall small"},
		{"npm", func(l *Language) {
			l.Toolchain.Files = []string{NpmPrefix + "/node_modules/x/x.js"}
			l.Toolchain.Npm = []string{"x@1.2.3"}
		}, "x.js is not there", "npm install --prefix " + NpmPrefix + " x@1.2.3"},
		{"mount", func(l *Language) { l.Environment.Mounts = []EnvMount{{"/nonexistent/venv", "/venv"}} },
			"environment.mounts[0] /nonexistent/venv is not there", "put it there"},
		{"outside", func(l *Language) {
			l.Environment.Root = ""
			l.Toolchain = Tools{Programs: []string{"/opt/x/bin/y"}}
		}, "/opt: is outside the system directories", "mount it"},
		{"root", func(l *Language) { l.Environment.Root = "/nonexistent" }, "/nonexistent", "change environment.root"},
		{"root by digest", func(l *Language) { l.Environment.Root = "sha256:" + strings.Repeat("0", 64) }, "no directory of roots", "put it there"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := smallLanguage(root)
			c.change(l)
			tc := probe(t, NewProber(ProberConfig{}), l)
			if len(tc.Missing) == 0 {
				t.Fatal("nothing is missing")
			}
			m := tc.Missing[0]
			if !strings.Contains(m.What, c.what) || !strings.Contains(m.Fix, c.fix) {
				t.Errorf("missing %+v, want %q with fix %q", m, c.what, c.fix)
			}
		})
	}
}

func TestView(t *testing.T) {
	t.Parallel()
	root := smallRoot(t)
	venv := tree(t, map[string]string{"bin/python": "-> /usr/bin/small", "lib/x.py": "x", "loop": "-> loop", "lib/y.py": "-> x.py"})
	v := view{root: root, mounts: []EnvMount{{Source: venv, Target: "/opt/deep/venv"}}}
	for _, c := range []struct{ path, want string }{
		{"/usr/bin/small", root + "/usr/lib/small-1/small"},
		{"/opt/deep/venv/bin/python", root + "/usr/lib/small-1/small"},
		{"/opt/deep/venv/lib/x.py", venv + "/lib/x.py"},
		{"/opt/deep/venv/../venv/lib/x.py", venv + "/lib/x.py"},
		{"/opt/deep/venv/lib/y.py", venv + "/lib/x.py"},
		{"/opt/deep/venv/loop", "error"},
		{"/opt/deep/other", "error"},
		{"/../../usr/lib/small-1/lib.a", root + "/usr/lib/small-1/lib.a"},
	} {
		got, err := v.resolve(c.path)
		if err != nil {
			got = "error"
		}
		if got != c.want {
			t.Errorf("resolve(%s) = %s, %v, want %s", c.path, got, err, c.want)
		}
	}
}
