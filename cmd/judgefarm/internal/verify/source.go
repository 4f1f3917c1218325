package verify

import (
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"judgefarm/judge"
	"judgefarm/testcases"
)

// files names what findings are about: paths in the package as its author knows them.
type files struct {
	root string // the package's folder; "" where it is not known
	kind string // the problem's format
}

// data is the file that holds test data of a case; suffix is that of formats which
// name files by their case.
func (f files) data(d testcases.Data, name, suffix string) string {
	if at, ok := d.(interface{ Path() string }); ok && f.root != "" {
		if rel, err := filepath.Rel(f.root, at.Path()); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel)
		}
	}
	if f.kind == "plain" || strings.HasPrefix(f.kind, "kattis") {
		return "data/" + name + suffix
	}
	return "case " + name
}

// program is the file of a program that text, a compiler's or an interpreter's words,
// speaks of, with the line; without one the program's main file.
func program(at string, sources []judge.File, text string) (file string, line int) {
	full := func(name string) string {
		if path.Base(at) == path.Base(name) && !strings.Contains(name, "/") && len(sources) == 1 {
			return at // a file by itself
		}
		return path.Join(at, name)
	}
	for _, s := range sources {
		base := regexp.QuoteMeta(path.Base(s.Name))
		spoken := regexp.MustCompile(`(?:^|[^A-Za-z0-9_.-])` + base + `(?:\\?["'])?(?::|, line |\()(\d+)`)
		found := spoken.FindAllStringSubmatch(text, -1)
		if len(found) == 0 {
			continue
		}
		which := found[0]
		if strings.Contains(text, "Traceback") { // whose last call is what failed
			which = found[len(found)-1]
		}
		if n, err := strconv.Atoi(which[1]); err == nil {
			return full(s.Name), n
		}
	}
	if len(sources) > 0 {
		return full(sources[0].Name), 0
	}
	return at, 0
}

// manifest is the file that says what the problem is.
func (f files) manifest() string {
	switch {
	case f.kind == "plain", len(f.kind) >= 6 && f.kind[:6] == "kattis":
		return "problem.yaml"
	case f.kind == "polygon":
		return "problem.xml"
	case f.kind == "dmoj":
		return "init.yml"
	}
	return ""
}
