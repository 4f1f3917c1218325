package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

// TestShape checks this repository.
func TestShape(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		t.Fatal(err)
	}
	if files, err := load(os.DirFS(root)); err != nil || len(files) < 50 {
		t.Fatalf("found %d files, %v: this is not the repository", len(files), err)
	}
	faults, err := Check(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range faults {
		t.Error(f)
	}
}

// TestDocumented: docs/architecture.md names every package of a floor, on its floor,
// and none that is not there.
func TestDocumented(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	files, err := load(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| (\\d) \\| `([^`]+)` \\|").FindAllStringSubmatch(string(page), -1) {
		told[m[2]] = m[1]
	}
	there := map[string]string{}
	for _, f := range files {
		if floor := floorOf(f.pkg); !f.test && floor >= 0 && room(f.pkg) == f.pkg {
			there[f.pkg] = strconv.Itoa(floor)
		}
	}
	for pkg, floor := range there {
		if told[pkg] != floor {
			t.Errorf("%s is on floor %s; the page has it on %q", pkg, floor, told[pkg])
		}
	}
	for pkg := range told {
		if there[pkg] == "" {
			t.Errorf("the page has %s, which is not there", pkg)
		}
	}
}

// src is a Go file with a package comment that imports the paths.
func src(pkg string, imports ...string) string {
	var b strings.Builder
	b.WriteString("// Package " + pkg + " is here.\npackage " + pkg + "\n")
	for _, i := range imports {
		name, importPath, named := strings.Cut(i, " ")
		if !named {
			name, importPath = "", i
		}
		b.WriteString("\nimport " + name + " \"" + importPath + "\"")
	}
	return b.String() + "\n"
}

func TestCheckFindsFaults(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		files map[string]string
		want  []string // each a part of one fault, in order
	}{
		{"all in order", map[string]string{
			"judge/j.go":                         src("judge", "time"),
			"internal/blob/b.go":                 src("blob", "judgefarm/judge", "github.com/minio/minio-go/v7"),
			"internal/blob/b_test.go":            src("blob", "judgefarm/internal/testenv", "testing", "github.com/johannesboyne/gofakes3"),
			"internal/blob/blobtest/s.go":        src("blobtest", "judgefarm/internal/blob", "testing"),
			"internal/testenv/t.go":              src("testenv", "testing", "judgefarm/worker"),
			"worker/w.go":                        src("worker", "judgefarm/judge/engine", "judgefarm/dispatcher/queue"),
			"worker/metrics.go":                  "package worker\n\nimport \"github.com/prometheus/client_golang/prometheus\"\n",
			"judge/engine/e.go":                  src("engine", "judgefarm/judge/compile", "golang.org/x/sync/errgroup"),
			"judge/sandbox/internal/cgroup/c.go": src("cgroup", "judgefarm/judge/sandbox/internal/proc", "github.com/criyle/go-sandbox/x"),
			"judge/sandbox/s.go":                 src("sandbox", "judgefarm/judge/sandbox/internal/cgroup", "_ embed"),
			"judge/sandbox/mmap_unsafe.go":       "package sandbox\n\nimport \"unsafe\"\n",
			"judge/sandbox/x_unsafe_linux.go":    "package sandbox\n\nimport \"unsafe\"\n",
			"testcases/format/plain/p.go":        src("plain", "judgefarm/testcases", "go.yaml.in/yaml/v3"),
			"testcases/format/f.go":              src("format", "judgefarm/testcases/format/plain"),
			"dispatcher/compat/judge0/c.go":      src("judge0", "judgefarm/dispatcher"),
			"cmd/judgefarm/internal/bench/b.go":  src("bench", "judgefarm/dispatcher/api"),
			"cmd/judgefarm/m.go":                 src("main", "judgefarm/cmd/judgefarm/internal/bench", "github.com/alecthomas/kong"),
			"testcases/testdata/x.go":            "broken",
			".git/x.go":                          "broken",
			"tools/t.go":                         "package none",
			"scripts/x.go":                       "//go:build ignore\n\npackage main\n",
		}, nil},
		{"no floor", map[string]string{"util/u.go": src("util")}, []string{"util/u.go:1: package util is on no floor"}},
		{"no floor for a suite", map[string]string{"util/utiltest/u.go": src("utiltest")}, []string{"util/utiltest is on no floor"}},
		{"only a suite by name", map[string]string{"latest/u.go": src("latest")}, []string{"package latest is on no floor"}},
		{"no script", map[string]string{"scripts/x.go": src("main") + "//go:build ignore\n"}, []string{"package scripts is on no floor"}},
		{"no comment", map[string]string{"judge/j.go": "package judge\n"}, []string{"judge/j.go:1: package judge has no package comment"}},
		{"comment in a test does not count", map[string]string{"judge/j.go": "package judge\n", "judge/j_test.go": src("judge")}, []string{"no package comment"}},
		{"two comments", map[string]string{"judge/a.go": src("judge"), "judge/b.go": src("judge")}, []string{"judge/b.go:1: package judge has a second package comment, besides a.go"}},
		{"up", map[string]string{"judge/compile/c.go": src("compile", "judgefarm/judge/engine")},
			[]string{"judge/compile/c.go:4: imports up: judge/compile is on floor 2, judge/engine on floor 4"}},
		{"up from the vocabulary", map[string]string{"judge/j.go": src("judge", "judgefarm/testcases")}, []string{"imports up"}},
		{"sideways", map[string]string{"worker/w.go": src("worker", "judgefarm/dispatcher")}, []string{"imports sideways: worker and dispatcher are both on floor 5"}},
		{"sideways on the ground", map[string]string{"internal/daemon/d.go": src("daemon", "judgefarm/internal/blob")}, []string{"imports sideways"}},
		{"vocabulary sideways", map[string]string{"judge/j.go": src("judge", "judgefarm/internal/blob")}, []string{"imports sideways"}},
		{"sideways in compat", map[string]string{"dispatcher/compat/a/a.go": src("a", "judgefarm/dispatcher/compat/b")}, []string{"imports sideways"}},
		{"sideways from an internal package", map[string]string{"worker/internal/x/x.go": src("x", "judgefarm/dispatcher")}, []string{"imports sideways"}},
		{"suite in production", map[string]string{"worker/w.go": src("worker", "judgefarm/internal/blob/blobtest")}, []string{"imports the test support internal/blob/blobtest"}},
		{"testenv in production", map[string]string{"worker/w.go": src("worker", "judgefarm/internal/testenv")}, []string{"imports the test support internal/testenv"}},
		{"testing in production", map[string]string{"worker/w.go": src("worker", "testing"), "worker/v.go": "package worker\nimport \"testing/iotest\"\n"},
			[]string{"worker/v.go:2: production code imports testing/iotest", "worker/w.go:4: production code imports testing"}},
		{"foreign home", map[string]string{"worker/w.go": src("worker", "github.com/hibiken/asynq")}, []string{"imports github.com/hibiken/asynq, whose home is dispatcher/queue"}},
		{"below a home that is one package", map[string]string{"dispatcher/queue/internal/x/x.go": src("x", "github.com/hibiken/asynq")}, []string{"whose home is"}},
		{"a name that only begins like a module", map[string]string{"worker/w.go": src("worker", "golang.org/x/systems")}, []string{"has no home"}},
		{"no home", map[string]string{"worker/w_test.go": src("worker", "github.com/stretchr/testify/assert")}, []string{"github.com/stretchr/testify/assert, which has no home"}},
		{"test module in production", map[string]string{"internal/blob/b.go": src("blob", "github.com/johannesboyne/gofakes3")}, []string{"which is for tests"}},
		{"metrics elsewhere", map[string]string{"worker/w.go": src("worker", "github.com/prometheus/client_golang/prometheus")}, []string{"whose home is metrics.go"}},
		{"third party in the vocabulary", map[string]string{"judge/j.go": src("judge", "golang.org/x/sync/errgroup")}, []string{"standard library only"}},
		{"init", map[string]string{"judge/j.go": src("judge") + "\nfunc init() {}\n\ntype t struct{}\n\nfunc (t) init() {}\n"}, []string{"judge/j.go:5: has an init function"}},
		{"init in a test", map[string]string{"judge/j_test.go": src("judge") + "func init() {}\n"}, []string{"init function"}},
		{"long", map[string]string{"judge/j.go": src("judge") + strings.Repeat("\n", maxLines-2), "judge/k.go": "package judge\n" + strings.Repeat("\n", maxLines-1)},
			[]string{"judge/j.go:500: has 501 lines"}},
		{"dot", map[string]string{"judge/j.go": src("judge", ". fmt")}, []string{"imports fmt with a dot"}},
		{"side effects", map[string]string{"judge/j.go": src("judge", "_ net/http/pprof")}, []string{"for its side effects"}},
		{"unsafe", map[string]string{"judge/sandbox/s.go": src("sandbox", "unsafe")}, []string{"imports unsafe"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tree := fstest.MapFS{}
			for name, text := range tt.files {
				tree[name] = &fstest.MapFile{Data: []byte(text)}
			}
			got, err := Check(tree)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.EqualFunc(got, tt.want, strings.Contains) {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestCheckOfBrokenTree(t *testing.T) {
	t.Parallel()
	if _, err := Check(fstest.MapFS{"judge/j.go": &fstest.MapFile{Data: []byte("package")}}); err == nil {
		t.Error("a file that is no Go passes")
	}
}
