package polygon

import (
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"judgefarm/judge"
	"judgefarm/testcases"
)

// maxSource bounds one file of a program.
const maxSource = 8 << 20

var (
	standard    = regexp.MustCompile(`\+\+(\d+)`)
	wantsHeader = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*include[ \t]*["<]testlib\.h[">]`)
	asksGroup   = regexp.MustCompile(`\b(checker|validator)\s*\.\s*(group|testset)\s*\(`)
)

// languageOf is our id for a type of Polygon's: "cpp.gcc13-64-winlibs-g++20". A type
// that nothing here stands for is handed on, and no language is called that.
func languageOf(kind string) string {
	if strings.HasPrefix(kind, "cpp.") {
		if m := standard.FindStringSubmatch(kind); m != nil && m[1] >= "20" && len(m[1]) == 2 {
			return map[bool]string{true: "cpp20", false: "cpp23"}[m[1] == "20"]
		}
		return "cpp17"
	}
	for _, l := range []struct{ prefix, id string }{
		{"c.", "c"}, {"java", "java"}, {"kotlin", "kotlin"}, {"python.pypy3", "pypy3"}, {"python.3", "python3"}, {"pas.", "pascal"},
		{"csharp.", "csharp"}, {"go", "go"}, {"rust", "rust"}, {"ruby", "ruby"}, {"perl", "perl"}, {"php", "php"}, {"haskell", "haskell"},
		{"ocaml", "ocaml"}, {"scala", "scala"}, {"d", "d"},
	} {
		if kind == l.prefix || strings.HasPrefix(kind, l.prefix) && (strings.HasSuffix(l.prefix, ".") || !letter(kind[len(l.prefix)])) {
			return l.id
		}
	}
	if kind == "javascript" || strings.HasPrefix(kind, "js.") {
		return "javascript"
	}
	return kind
}

func letter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

// program reads a program from its <source>. Programs of C++ find the headers of the
// package beside them, testlib.h among them. need says that judging goes wrong
// without it; else it is nil where it cannot be made.
func (r *reader) program(n *node, protocol testcases.Protocol, need bool) *testcases.Program {
	name := n.attr("path")
	if !need && !r.Has(name) {
		r.note(n, "names %.200s, which is not there", name)
		return nil
	}
	f, ok := r.source(n, name)
	if !ok {
		return nil
	}
	p := &testcases.Program{Name: name, Protocol: protocol, Language: languageOf(n.attr("type")), Files: []judge.File{f}}
	if !strings.HasPrefix(n.attr("type"), "cpp.") && !cpp(name) {
		return p
	}
	p.Files = slices.Concat(p.Files, r.headers)
	if wantsHeader.Match(f.Data) && !slices.ContainsFunc(r.headers, func(h judge.File) bool { return h.Name == testlibName }) {
		if r.opt.Testlib == "" {
			r.lacksTestlib(name, need)
			return nil
		}
		p.Files = append(p.Files, r.configured())
	}
	return p
}

func (r *reader) lacksTestlib(name string, need bool) {
	const text = "includes testlib.h, which is not in the package: put it into files/, or name one by --testlib (JUDGEFARM_TESTLIB)"
	if need {
		r.Refuse(name, text)
	} else {
		r.Note(name, "is not run: "+text)
	}
}

// configured is the testlib.h that the options name.
func (r *reader) configured() judge.File {
	b, err := os.ReadFile(r.opt.Testlib)
	r.Fail(err)
	return judge.File{Name: testlibName, Data: b}
}

func cpp(name string) bool {
	return slices.Contains([]string{".cpp", ".cc", ".cxx", ".c++"}, path.Ext(name))
}

func header(name string) bool {
	return slices.Contains([]string{".h", ".hpp", ".hh", ".inc"}, path.Ext(name))
}

// readResources reads <resources>: headers for the package's programs, and files for
// submissions. What a package forgot to list is taken from files/.
func (r *reader) readResources() {
	for _, n := range r.root.at("files", "resources").all("file") {
		name := n.attr("path")
		if !r.Has(name) {
			r.note(n, "names %.200s, which is not there", name)
			continue
		}
		if header(name) {
			r.addHeader(n, name)
		}
		if named(n, "assets", "asset", "solution") {
			r.forSubmissions(n, name)
		}
	}
	if name := "files/" + testlibName; r.Has(name) {
		r.addHeader(r.root, name)
	}
	for id, inc := range r.p.Include {
		r.p.Include[id] = inc.Over(r.p.Include[""])
	}
}

func (r *reader) addHeader(n *node, name string) {
	f, ok := r.source(n, name)
	if ok && !slices.ContainsFunc(r.headers, func(h judge.File) bool { return h.Name == f.Name }) {
		r.headers = append(r.headers, f)
	}
}

// named reports whether a list below n has this name.
func named(n *node, list, item, name string) bool {
	return slices.ContainsFunc(n.at(list).all(item), func(k *node) bool { return strings.EqualFold(k.attr("name"), name) })
}

// forSubmissions adds a resource to submissions: to those in the languages that it is
// for before they are compiled, or to the work directory when they run.
func (r *reader) forSubmissions(n *node, name string) {
	if named(n, "stages", "stage", "run") {
		r.runFiles = append(r.runFiles, testcases.CaseFile{Name: path.Base(name), Data: r.data(name)})
	}
	if !named(n, "stages", "stage", "compile") {
		return
	}
	f, ok := r.source(n, name)
	if !ok {
		return
	}
	if r.p.Include == nil {
		r.p.Include = map[string]testcases.Include{}
	}
	for _, id := range languagesFor(n.attr("for-types")) {
		inc := r.p.Include[id]
		inc.Files = append(inc.Files, f)
		if n.attr("main") == "true" {
			inc.Main = f.Name
		}
		r.p.Include[id] = inc
	}
}

// languagesFor are our ids for what for-types says: "cpp.*;python.3". Nothing is
// every language.
func languagesFor(types string) []string {
	var ids []string
	add := func(all ...string) {
		for _, id := range all {
			if !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	for _, t := range strings.FieldsFunc(types, func(c rune) bool { return strings.ContainsRune(";, ", c) }) {
		switch {
		case t == "*":
			return []string{""}
		case t == "cpp.*":
			add("cpp17", "cpp20", "cpp23")
		case t == "python.*":
			add("python3", "pypy3")
		default:
			add(languageOf(strings.TrimSuffix(t, "*")))
		}
	}
	if len(ids) == 0 {
		return []string{""}
	}
	return ids
}

// groupArgs are what testlib's checkers and validators are told of a case, where their
// source asks for it: old versions of testlib refuse such arguments.
func (r *reader) groupArgs(p *testcases.Program, caseName string) []string {
	t := r.tests[caseName]
	if p == nil || t == nil || !asksGroup.Match(p.Files[0].Data) {
		return nil
	}
	args := []string{"--testset", r.set.attr("name")}
	if group := t.attr("group"); group != "" {
		args = append(args, "--group", group)
	}
	return args
}
