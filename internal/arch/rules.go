// Package arch checks the shape of the tree: floors, homes of third-party modules,
// test support, package comments, init functions, file lengths. Its tests run it on
// this repository; nothing else imports it.
package arch

import (
	"path"
	"strings"
)

// module is the path that our own imports begin with.
const module = "judgefarm/"

// maxLines is the most lines a Go file may have; past 300 look for the second idea.
const maxLines = 500

// vocabulary is the package that lies beneath floor 0 too: everything may import it,
// and it imports the standard library only.
const vocabulary = "judge"

// floors lists the packages by floor, lowest first, as patterns of path.Match.
// A package may import packages of lower floors only. docs/architecture.md says what
// each is for.
func floors() [][]string {
	return [][]string{
		{vocabulary, "internal/blob", "internal/daemon", "internal/manifest"},
		{"languages", "testcases", "judge/sandbox", "dispatcher/queue", "dispatcher/results", "clients/*"},
		{"testcases/format/*", "testcases/dataset/*", "worker/artifacts", "judge/compile"},
		{"testcases/format", "testcases/dataset", "judge/checker", "judge/interact", "judge/callgrade"},
		{"testcases/cache", "testcases/build", "judge/engine"},
		{"dispatcher", "worker"},
		{"dispatcher/api", "dispatcher/compat/*", "dispatcher/web"},
		{"cmd/judgefarm/internal/*"},
		{"cmd/*"},
	}
}

// supportOnly are packages for tests that are not named ...test.
func supportOnly() []string { return []string{"internal/testenv", "internal/arch"} }

// home says which production files may import a third-party module. A pattern that
// ends in "/..." covers everything below; one that ends in ".go" is a file's name in
// any package; "..." alone is everywhere. No homes: tests only.
type home struct {
	module string
	in     []string
}

func homes() []home {
	return []home{
		{"github.com/hibiken/asynq", []string{"dispatcher/queue"}},
		{"github.com/alicebob/miniredis", []string{"dispatcher/queue"}},
		{"github.com/redis/go-redis", []string{"dispatcher/queue", "dispatcher/results"}},
		{"github.com/criyle/go-sandbox", []string{"judge/sandbox/..."}},
		{"github.com/elastic/go-seccomp-bpf", []string{"judge/sandbox/..."}},
		{"github.com/minio/minio-go", []string{"internal/blob"}},
		{"github.com/danielgtaylor/huma", []string{"dispatcher/api"}},
		{"github.com/alecthomas/kong", []string{"internal/daemon", "cmd/..."}},
		{"go.yaml.in/yaml", []string{"languages", "testcases/format/...", "testcases/dataset/...", "internal/daemon", "internal/manifest"}},
		{"github.com/prometheus/client_golang", []string{"metrics.go", "internal/daemon"}},
		{"github.com/kballard/go-shellquote", []string{"testcases/format/..."}},
		{"github.com/google/uuid", []string{"dispatcher"}},
		{"golang.org/x/sys", []string{"..."}},
		{"golang.org/x/sync", []string{"..."}},
		{"github.com/johannesboyne/gofakes3", nil},
		{"github.com/rogpeppe/go-internal", nil},
	}
}

// homeOf finds the rule for an import path.
func homeOf(imported string) (home, bool) {
	for _, h := range homes() {
		if imported == h.module || strings.HasPrefix(imported, h.module+"/") {
			return h, true
		}
	}
	return home{}, false
}

// allows tells whether a production file of the package may import the module.
func (h home) allows(pkg, file string) bool {
	for _, in := range h.in {
		below, tree := strings.CutSuffix(in, "...")
		switch {
		case tree && strings.HasPrefix(pkg+"/", below):
			return true
		case strings.HasSuffix(in, ".go") && path.Base(file) == in:
			return true
		case in == pkg:
			return true
		}
	}
	return false
}

// room is the package that an internal package belongs to: a room has one floor, and
// inside it packages may import each other.
func room(pkg string) string {
	for _, top := range []string{"internal/", "cmd/judgefarm/internal/"} {
		if rest, ok := strings.CutPrefix(pkg, top); ok {
			name, _, _ := strings.Cut(rest, "/internal/")
			return top + name
		}
	}
	outer, _, _ := strings.Cut(pkg, "/internal/")
	return outer
}

// floorOf returns the floor of the package's room, or -1.
func floorOf(pkg string) int {
	for floor, patterns := range floors() {
		for _, pattern := range patterns {
			if ok, _ := path.Match(pattern, room(pkg)); ok {
				return floor
			}
		}
	}
	return -1
}

// isSupport tells whether only tests may import the package: internal/testenv,
// internal/arch, and conformance suites beside the package they test.
func isSupport(pkg string) bool {
	for _, s := range supportOnly() {
		if pkg == s {
			return true
		}
	}
	dir, name := path.Split(pkg)
	return strings.HasSuffix(name, "test") && floorOf(strings.TrimSuffix(dir, "/")) >= 0
}
