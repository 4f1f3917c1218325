// Package dmoj reads the problem packages of DMOJ: a folder with init.yml, as
// https://docs.dmoj.ca describes it and the judge reads it. docs/problems.md says what
// is done where that leaves a choice. It reads folders only, and runs nothing.
package dmoj

import (
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"judgefarm/internal/manifest"
	"judgefarm/judge"
	"judgefarm/languages"
	"judgefarm/testcases"
)

// The parts of a package.
const (
	manifestName = "init.yml"
	limitsName   = "limits.csv"
	testsFolder  = "tests"
)

// Options are what a package of DMOJ lacks.
type Options struct {
	Limits string // file with the limits of problems, see ReadLimits; "" is limits.csv in the package or beside it
	Code   string // of the problem, for Limits; "" is the folder's name
}

// Detect reports whether dir looks like a package of this format: init.yml is there,
// and has one of the keys that tell how to judge.
func Detect(dir string) bool {
	f, err := manifest.Open(dir, manifest.Options{Skip: noise, Links: true})
	if err != nil || !f.Has(manifestName) {
		return false
	}
	d, found := f.YAML(manifestName), false
	if d.Root == nil || manifest.Kind(d.Root) != yaml.MappingNode {
		return false
	}
	d.Each(d.Root, "", func(key string, _, _ *yaml.Node) {
		switch strings.TrimRight(key, "+") {
		case "test_cases", "archive", "checker", "custom_judge", "interactive", "signature_grader", "generator", "pretest_test_cases":
			found = true
		}
	})
	return found
}

// noise is what systems, editors and version control leave behind.
func noise(base string) bool {
	return base[0] == '.' || base == "__MACOSX" || base == "__pycache__" || strings.HasSuffix(base, "~")
}

// bundled are the languages that come with this program, whose definitions know what
// DMOJ calls them. They are read once.
var bundled = sync.OnceValues(func() (*languages.Set, error) { return languages.Load(languages.Config{}) })

// reader holds what is known of a package while it is read.
type reader struct {
	*manifest.Folder
	p    *testcases.Problem
	code string
	opt  Options
	set  *languages.Set
	doc  manifest.Document
	top  *values

	// sitePoints are what the problem is worth; nil: what its cases are.
	sitePoints *judge.Score
	link       string   // under which the program finds its input, see readLinks
	archive    *archive // nil: there is none, or it was refused
	closing    *os.File // the archive's, open while the package is read
	data       map[dataKey]testcases.Data
	used       map[string]bool // files that something refers to
	rules      map[string]int  // checkers of cases by what they say, by place among the problem's; nil: an interactor rules
	// generators are the programs that make data, by their place in init.yml.
	generators map[*yaml.Node]*testcases.Program
	names      []string // of cases, as DMOJ counts them
	promised   int      // what tests say of cases
}

// Open reads the package in dir; its data stays there, in files that must not change
// while the problem is in use. Every fault is reported at once as a *judge.BadRequest
// whose fields are the names of files. The problem's ID is the folder's name where that
// can be one, else "".
//
// Limits are not part of the format. A package for which none are found has none, and
// says in Jury.Time.Elsewhere what is to be done.
func Open(dir string) (*testcases.Problem, error) { return Options{}.Open(dir) }

// Open is the function Open with options.
func (o Options) Open(dir string) (*testcases.Problem, error) {
	f, err := manifest.Open(dir, manifest.Options{Skip: noise, Links: true})
	if err != nil {
		return nil, err
	}
	set, err := bundled()
	if err != nil {
		return nil, err
	}
	r := &reader{
		Folder: f, p: &testcases.Problem{Format: "dmoj"}, opt: o, code: o.Code, set: set,
		data: map[dataKey]testcases.Data{}, used: map[string]bool{manifestName: true, limitsName: true},
		generators: map[*yaml.Node]*testcases.Program{},
	}
	if r.code == "" {
		r.code = filepath.Base(f.Dir)
	}
	if !f.Has(manifestName) {
		r.Refuse(manifestName, "must be there")
		return nil, r.Refusal()
	}
	defer func() {
		if r.closing != nil {
			r.closing.Close()
		}
	}()
	if r.doc = f.YAML(manifestName); r.doc.Root != nil {
		r.read()
	} else if f.Faults() == 0 {
		r.Refuse(manifestName, "must say what the test cases are, is empty")
	}
	if err := r.p.SealFolder(r.Folder); err != nil {
		return nil, err
	}
	return r.p, nil
}

// read reads the parts in an order in which each finds what it needs.
func (r *reader) read() {
	r.top = r.open(r.doc, r.doc.Root, "the file", nil)
	r.top.look(topKeys)
	r.readArchive()
	r.readLimits()
	r.readSettings()
	r.readJudging()
	r.readCases()
	r.readValidator()
	r.readSubmissions()
	r.unused()
}

// unused lists files that nothing refers to.
func (r *reader) unused() {
	for _, name := range r.Names() {
		if !r.used[name] && !forPeople(name) {
			r.p.Jury.Unused = append(r.p.Jury.Unused, name)
		}
	}
}

func forPeople(name string) bool {
	switch path.Ext(name) {
	case ".md", ".pdf", ".txt", ".tex", ".html":
		return !strings.Contains(name, "/")
	}
	return name == "LICENSE"
}

// source reads a file of a program.
func (r *reader) source(n *yaml.Node, name string) (judge.File, bool) {
	at := clean(name)
	if at == "" || !r.Has(at) {
		r.doc.Refuse(n, "file %.100q is not in the package", name)
		return judge.File{}, false
	}
	r.used[at] = true
	b, ok := r.Read(at, maxProgramSize)
	return judge.File{Name: path.Base(at), Data: b}, ok
}

// clean is a name below the package, "" for one that leads out of it.
func clean(name string) string {
	at := path.Clean(name)
	if path.IsAbs(at) || at == "." || at == ".." || strings.HasPrefix(at, "../") || strings.ContainsAny(at, "\\\x00") {
		return ""
	}
	return at
}
