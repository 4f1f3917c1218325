package arch

import (
	"fmt"
	"io/fs"
	"path"
	"sort"
	"strings"
)

// Check returns every fault of the tree's shape as "file:line: what is wrong",
// sorted. An error means that the tree could not be read.
func Check(tree fs.FS) ([]string, error) {
	files, err := load(tree)
	if err != nil {
		return nil, err
	}
	c := &checker{}
	for _, f := range files {
		c.file(f)
		for _, imp := range f.imports {
			c.imported(f, imp)
		}
	}
	c.packages(files)
	sort.Strings(c.faults)
	return c.faults, nil
}

type checker struct{ faults []string }

func (c *checker) fault(file string, line int, format string, args ...any) {
	c.faults = append(c.faults, fmt.Sprintf("%s:%d: %s", file, line, fmt.Sprintf(format, args...)))
}

// file holds the rules about one file alone.
func (c *checker) file(f file) {
	for _, line := range f.inits {
		c.fault(f.name, line, "has an init function; do it where it is needed")
	}
	if f.lines > maxLines {
		c.fault(f.name, maxLines, "has %d lines, more than %d; split it", f.lines, maxLines)
	}
}

// packages holds the rules about packages: each has a floor and one package comment.
func (c *checker) packages(files []file) {
	first, comments := map[string]string{}, map[string][]string{}
	for _, f := range files {
		if f.test {
			continue
		}
		if _, seen := first[f.pkg]; !seen {
			first[f.pkg] = f.name
		}
		if f.comment {
			comments[f.pkg] = append(comments[f.pkg], f.name)
		}
	}
	for pkg, name := range first {
		if floorOf(pkg) < 0 && !isSupport(pkg) {
			c.fault(name, 1, "package %s is on no floor; give it one in docs/architecture.md and internal/arch", pkg)
		}
		switch found := comments[pkg]; len(found) {
		case 1:
		case 0:
			c.fault(name, 1, "package %s has no package comment", pkg)
		default:
			c.fault(found[1], 1, "package %s has a second package comment, besides %s", pkg, path.Base(found[0]))
		}
	}
}

// imported holds the rules about one import.
func (c *checker) imported(f file, imp imported) {
	switch {
	case imp.name == ".":
		c.fault(f.name, imp.line, "imports %s with a dot", imp.path)
	case imp.name == "_" && imp.path != "embed":
		c.fault(f.name, imp.line, "imports %s for its side effects", imp.path)
	}
	if imp.path == "unsafe" && !f.test && !hasPart(f.name, "unsafe") {
		c.fault(f.name, imp.line, "imports unsafe; unsafe code goes to a file named ..._unsafe.go")
	}
	own, isOwn := strings.CutPrefix(imp.path, module)
	switch {
	case isOwn:
		c.ours(f, imp, own)
	case isThirdParty(imp.path):
		c.foreign(f, imp)
	case (imp.path == "testing" || strings.HasPrefix(imp.path, "testing/")) && !f.test && !isSupport(f.pkg):
		c.fault(f.name, imp.line, "production code imports %s", imp.path)
	}
}

// hasPart tells whether a file is named for what it holds: x_unsafe.go, x_unsafe_linux.go.
func hasPart(name, part string) bool {
	for p := range strings.SplitSeq(strings.TrimSuffix(path.Base(name), ".go"), "_") {
		if p == part {
			return true
		}
	}
	return false
}

// ours checks an import within the module. Tests and their support may import what
// they need; production code only what lies lower.
func (c *checker) ours(f file, imp imported, pkg string) {
	if f.test || isSupport(f.pkg) {
		return
	}
	if isSupport(pkg) {
		c.fault(f.name, imp.line, "production code imports the test support %s", pkg)
		return
	}
	from, to := floorOf(f.pkg), floorOf(pkg)
	switch {
	case from < 0 || to < 0: // told by packages
	case room(f.pkg) == room(pkg):
	case pkg == vocabulary:
	case to == from:
		c.fault(f.name, imp.line, "imports sideways: %s and %s are both on floor %d", f.pkg, pkg, from)
	case to > from:
		c.fault(f.name, imp.line, "imports up: %s is on floor %d, %s on floor %d", f.pkg, from, pkg, to)
	}
}

// foreign checks an import of another module.
func (c *checker) foreign(f file, imp imported) {
	h, known := homeOf(imp.path)
	switch {
	case !known:
		c.fault(f.name, imp.line, "imports %s, which has no home in internal/arch", imp.path)
	case f.test || isSupport(f.pkg):
	case f.pkg == vocabulary:
		c.fault(f.name, imp.line, "imports %s; the vocabulary stands on the standard library only", imp.path)
	case len(h.in) == 0:
		c.fault(f.name, imp.line, "production code imports %s, which is for tests", imp.path)
	case !h.allows(f.pkg, f.name):
		c.fault(f.name, imp.line, "imports %s, whose home is %s", imp.path, strings.Join(h.in, ", "))
	}
}

// isThirdParty: the first part of a module's path has a dot, the standard library's has none.
func isThirdParty(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return strings.Contains(first, ".")
}
