// Package polygon reads problem packages of Polygon, the preparation system of
// Codeforces: problem.xml, with tests that the package holds or that its generators
// make. docs/problems.md says what is read and what is refused. It reads folders
// only, and runs nothing: generated tests become recipes for testcases/build.
package polygon

import (
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"judgefarm/internal/manifest"
	"judgefarm/judge"
	"judgefarm/testcases"
)

const (
	manifestName = "problem.xml"
	testlibName  = "testlib.h"
)

// begins is how problem.xml does, after what XML allows before.
var begins = regexp.MustCompile(`<problem[\s>]`)

// defaultOutput bounds what a program prints: Polygon knows no such limit.
const defaultOutput = 64 * judge.MiB

// Options are what a package may lack. The zero value is useful.
type Options struct {
	Testlib string // path of a testlib.h for packages without one; "" is none
}

// Detect reports whether dir has a problem.xml that begins with <problem>.
func Detect(dir string) bool {
	f, err := os.Open(filepath.Join(dir, manifestName))
	if err != nil {
		return false
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, 4096))
	return err == nil && begins.Match(head)
}

// noise is what systems, editors and version control leave behind, and statements in
// folders like .html.
func noise(base string) bool {
	return base[0] == '.' || base == "__MACOSX" || base == "__pycache__" || strings.HasSuffix(base, "~")
}

// reader holds what is known of a package while it is read.
type reader struct {
	document
	opt  Options
	p    *testcases.Problem
	root *node
	used map[string]bool // files that were read

	headers    []judge.File     // of the package, testlib.h among them
	generators map[string]*node // <source> of executables, by what commands call them
	programs   map[string]*testcases.Program
	tests      map[string]*node     // by the name of their case
	set        *node                // the testset that is judged
	mainSource *node                // of the solution that makes answers; nil where there is none
	runFiles   []testcases.CaseFile // that submissions find in their work directory
	crlf       int                  // files of test data with line ends of Windows
}

// Open reads the package in dir; its data stays there, in files that must not
// change while the problem is in use. Every fault is reported at once as a
// *judge.BadRequest whose fields are the names of files. The problem's ID is the
// folder's name where that can be one, else "". A package without its generated
// tests gives a problem that is Pending.
func Open(dir string, opt Options) (*testcases.Problem, error) {
	f, err := manifest.Open(dir, manifest.Options{Skip: noise})
	if err != nil {
		return nil, err
	}
	r := &reader{
		document: document{f}, opt: opt, p: &testcases.Problem{Format: "polygon"}, used: map[string]bool{manifestName: true},
		generators: map[string]*node{}, programs: map[string]*testcases.Program{}, tests: map[string]*node{},
	}
	b, ok := r.Read(manifestName, maxXML)
	if ok {
		if r.root, err = parse(b); err != nil {
			r.Refuse(manifestName, "%v", err)
		} else if r.root.name != "problem" {
			r.refuse(r.root, "must be a <problem>, is a <%.64s>", r.root.name)
		} else {
			r.read()
		}
	}
	r.unused()
	if err := r.p.SealFolder(r.Folder); err != nil {
		return nil, err
	}
	return r.p, nil
}

// read reads the parts in the order in which they need each other.
func (r *reader) read() {
	r.p.Name = r.name()
	r.unsupported()
	r.readResources()
	r.readExecutables()
	r.readInteractor()
	r.readSolutions()
	r.readJudging()
	r.readChecker()
	r.readValidators()
	if r.crlf > 0 {
		r.Note("tests", "%d files have line ends of Windows throughout: they are read as line feeds", r.crlf)
	}
}

// name is the English one, else the first.
func (r *reader) name() string {
	all := r.root.at("names").all("name")
	for _, n := range all {
		if n.attr("language") == "english" {
			return n.attr("value")
		}
	}
	if len(all) > 0 {
		return all[0].attr("value")
	}
	return r.root.attr("short-name")
}

// unsupported refuses what changes judging and is not known here.
func (r *reader) unsupported() {
	for _, n := range r.root.at("assets").all("scorer") {
		r.refuse(n, "a <scorer> is not supported")
	}
	runs := r.root.at("judging").attr("run-count")
	if runs != "" && runs != "1" {
		r.refuse(r.root.at("judging"), "run-count %.64q is not supported: problems whose solutions run more than once", runs)
	}
	for _, n := range r.root.at("tags").all("tag") {
		if runs == "" && n.attr("value") == "run-twice" {
			r.refuse(n, "the tag run-twice is not supported: problems whose solutions run more than once")
		}
	}
}

// data is a file's as test data.
func (r *reader) data(name string) testcases.Data {
	r.used[name] = true
	d, err := testcases.FileData(r.Path(name))
	if err != nil {
		r.Fail(err)
		return nil
	}
	text, converted, err := lineFeeds(d)
	if err != nil {
		r.Fail(err)
	}
	if converted {
		r.crlf++
	}
	return text
}

// source reads a file of a program.
func (r *reader) source(n *node, name string) (judge.File, bool) {
	r.used[name] = true
	if !r.Has(name) {
		r.refuse(n, "names %.200s, which is not there", name)
		return judge.File{}, false
	}
	b, ok := r.Read(name, maxSource)
	if err := judge.CheckFileName(path.Base(name)); err != nil {
		r.refuse(n, "names %.200s: %v", name, err)
		return judge.File{}, false
	}
	return judge.File{Name: path.Base(name), Data: b}, ok
}

// forPeople are files and folders that are not for judging.
var forPeople = []string{
	"statements", "statement-sections", "tutorials", "documents", "attachments", "materials", "scripts", "stresses", "tags", "check.cpp",
	"doall.bat", "doall.sh", "wipe.bat", "wipe.sh", "README.md", "LICENSE", "readme.md",
}

// unused lists files that nothing refers to.
func (r *reader) unused() {
	for _, name := range r.Names() {
		top, _, _ := strings.Cut(name, "/")
		made := slices.Contains([]string{".exe", ".desc", ".sty", ".tex", ".ftl", ".jar"}, path.Ext(name))
		if !r.used[name] && !made && !slices.Contains(forPeople, top) && !strings.HasPrefix(name, "files/tests/") {
			r.p.Jury.Unused = append(r.p.Jury.Unused, name)
		}
	}
}

// label is a name of the package as part of the name of a group or case.
func label(name string) string {
	var b strings.Builder
	for _, c := range []byte(name) {
		if testcases.CheckName("x"+string(c)) == "" && c != '/' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "_%02x", c)
		}
	}
	return strings.TrimLeft(b.String(), ".")
}
