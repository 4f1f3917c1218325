// Package docs holds no code, only tests that the documents are true where a
// program can tell.
package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// root is the repository, seen from this directory.
const root = ".."

// files returns the repository's files with a suffix, sorted, below neither
// hidden directories, build products nor testdata.
func files(t *testing.T, suffix string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && path != root && (strings.HasPrefix(name, ".") || slices.Contains([]string{"bin", "tmp", "testdata"}, name)) {
			return filepath.SkipDir
		}
		if strings.HasSuffix(name, suffix) && !d.IsDir() {
			found = append(found, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		t.Fatalf("found no file *%s", suffix)
	}
	return found
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

var link = regexp.MustCompile(`\]\(([^)#\s]+)[^)]*\)`)

// TestLinks: a link to a file of the repository leads somewhere.
func TestLinks(t *testing.T) {
	t.Parallel()
	for _, page := range files(t, ".md") {
		for _, m := range link.FindAllStringSubmatch(read(t, page), -1) {
			target := m[1]
			if strings.Contains(target, "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), target)); err != nil {
				t.Errorf("%s links to %s: %v", page, target, err)
			}
		}
	}
}

// TestMetrics: docs/metrics.md lists exactly the metrics that the code registers.
func TestMetrics(t *testing.T) {
	t.Parallel()
	name := regexp.MustCompile(`^judge_[a-z0-9_]+$`)
	code := map[string]string{} // name -> file
	for _, path := range files(t, ".go") {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Errorf("parse: %v", err)
			continue
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if s, err := strconv.Unquote(lit.Value); err == nil && name.MatchString(s) {
					code[s] = path
				}
			}
			return true
		})
	}
	page := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `(judge_[a-z0-9_]+)`").FindAllStringSubmatch(read(t, "metrics.md"), -1) {
		if page[m[1]] {
			t.Errorf("metrics.md lists %s twice", m[1])
		}
		page[m[1]] = true
	}
	for _, metric := range slices.Sorted(maps.Keys(code)) {
		if !page[metric] {
			t.Errorf("metrics.md lacks %s of %s", metric, code[metric])
		}
	}
	for metric := range page {
		if code[metric] == "" {
			t.Errorf("metrics.md lists %s, which no code registers", metric)
		}
	}
	// What the rest of the documents and deploy speak of must exist as well.
	mention := regexp.MustCompile(`\bjudge_[a-z0-9_]*[a-z0-9]\b`)
	for _, path := range slices.Concat(files(t, ".md"), files(t, ".yml"), files(t, ".yaml")) {
		for _, m := range mention.FindAllString(read(t, path), -1) {
			base := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(m, "_bucket"), "_count"), "_sum")
			if code[m] == "" && code[base] == "" {
				t.Errorf("%s speaks of %s, which no code registers", path, m)
			}
		}
	}
}

// TestMakeTargets: every make target that a document tells a reader to type
// exists, and make help lists every target.
func TestMakeTargets(t *testing.T) {
	t.Parallel()
	makefile := read(t, filepath.Join(root, "Makefile"))
	targets := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^([a-z0-9-]+):(.*)$`).FindAllStringSubmatch(makefile, -1) {
		targets[m[1]] = true
		if !strings.Contains(m[2], " ## ") {
			t.Errorf("target %s has no line in make help", m[1])
		}
	}
	typed := regexp.MustCompile("(?m)(?:^|`|step )make ([a-z][a-z0-9-]*)")
	pages := append(files(t, ".md"), filepath.Join(root, ".ci", "run"))
	for _, page := range pages {
		for _, m := range typed.FindAllStringSubmatch(read(t, page), -1) {
			if !targets[m[1]] {
				t.Errorf("%s says make %s, which the Makefile lacks", page, m[1])
			}
		}
	}
}
