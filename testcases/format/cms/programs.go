package cms

import (
	"path"
	"slices"
	"strings"

	"judgefarm/judge"
	"judgefarm/testcases"
)

// Bounds of a program of the task.
const (
	maxSource = 8 << 20
	maxBinary = 64 << 20
)

// language is one that CMS knows, with our ids for it.
type language struct {
	suffix  string
	ids     []string
	headers []string // endings of files that are there when it is compiled
}

// define is what CMS defines when it compiles a submission.
var define = []string{"EVAL"}

// languages are those of CMS by the suffix of their sources. One suffix may stand for
// several of ours.
var languages = []language{
	{".cpp", []string{"cpp17", "cpp20", "cpp23"}, []string{".h", ".hpp"}},
	{".cc", []string{"cpp17", "cpp20", "cpp23"}, []string{".h", ".hpp"}},
	{".c", []string{"c"}, []string{".h"}},
	{".pas", []string{"pascal"}, []string{"lib.pas"}},
	{".java", []string{"java"}, nil},
	{".py", []string{"python3", "pypy3"}, nil},
	{".cs", []string{"csharp"}, nil},
	{".rs", []string{"rust"}, nil},
	{".hs", []string{"haskell"}, nil},
	{".php", []string{"php"}, nil},
	{".js", []string{"javascript"}, nil},
	{".go", []string{"go"}, nil},
}

// own is the language that a program of the task itself is compiled as.
func (l language) own() string {
	if l.suffix == ".cpp" || l.suffix == ".cc" {
		return "cpp20"
	}
	return l.ids[0]
}

// languageOf tells the language of a source by its suffix.
func languageOf(name string) (language, bool) {
	for _, l := range languages {
		if path.Ext(name) == l.suffix {
			return l, true
		}
	}
	return language{}, false
}

// find returns the program that is called by one of the names: its source, else the
// program as CMS wants it, compiled or a script, which is run as it is. nil is none.
func (r *reader) find(names []string, protocol testcases.Protocol) *testcases.Program {
	var sources []string
	for _, name := range names {
		for _, l := range languages {
			if r.Has(name + l.suffix) {
				sources = append(sources, name+l.suffix)
			}
		}
	}
	switch len(sources) {
	case 0:
	case 1:
		for _, name := range names { // the same program, compiled
			r.used[name] = true
		}
		return r.source(sources[0], protocol)
	default:
		r.Refuse(sources[1], "is a second program beside %s: one is supported", sources[0])
		return nil
	}
	for _, name := range names {
		if r.Has(name) {
			b, _ := r.read(name, maxBinary)
			return &testcases.Program{Name: name, Protocol: protocol, Script: true, Files: []judge.File{{Name: "run", Data: b}}}
		}
	}
	return nil
}

// source is a program that is compiled with the headers beside it.
func (r *reader) source(name string, protocol testcases.Protocol) *testcases.Program {
	l, _ := languageOf(name)
	p := &testcases.Program{Name: name, Language: l.own(), Protocol: protocol}
	b, _ := r.read(name, maxSource)
	p.Files = append([]judge.File{{Name: path.Base(name), Data: b}}, r.headers(path.Dir(name), l)...)
	return p
}

// headers are the files of a folder that a source of a language may include.
func (r *reader) headers(folder string, l language) []judge.File {
	var all []judge.File
	files, _ := r.Children(folder)
	for _, name := range files {
		if slices.ContainsFunc(l.headers, func(ending string) bool { return strings.HasSuffix(name, ending) }) {
			if b, ok := r.read(folder+"/"+name, maxSource); ok {
				all = append(all, judge.File{Name: name, Data: b})
			}
		}
	}
	return all
}

// Where programs are, by their English and their Italian names.
var (
	checkers   = []string{"check/checker", "cor/correttore"}
	managers   = []string{"check/manager", "cor/manager"}
	generators = []string{"gen/generator", "gen/generatore"}
	officials  = []string{"sol/solution", "sol/soluzione"}
)

// exists reports whether there is a program of one of the names.
func (r *reader) exists(names []string) bool {
	for _, name := range names {
		if r.Has(name) || slices.ContainsFunc(languages, func(l language) bool { return r.Has(name + l.suffix) }) {
			return true
		}
	}
	return false
}

func (r *reader) managed() bool { return r.exists(managers) && !r.conf.outputOnly }
func (r *reader) graded() bool  { return r.exists([]string{"sol/grader"}) }

// generator makes inputs.
func (r *reader) generator() *testcases.Program {
	if r.made == nil && r.exists(generators) {
		r.made = r.find(generators, testcases.ProtocolPlain)
	}
	return r.made
}

// official makes answers. Of several the first by its suffix does: a task's official
// solution may be there in each language.
func (r *reader) official() *testcases.Program {
	if r.answers != nil {
		return r.answers
	}
	for _, name := range officials {
		for _, l := range languages {
			if r.Has(name + l.suffix) {
				r.answers = r.source(name+l.suffix, testcases.ProtocolPlain)
				return r.answers
			}
		}
	}
	return nil
}

// readKind finds out what sort of task it is, as CMS tells it by its files.
func (r *reader) readKind() {
	kind := "Batch"
	switch {
	case r.conf.outputOnly:
		kind = "OutputOnly"
		r.p.Kind = testcases.OutputOnly
	case r.managed():
		kind = "Communication"
		r.p.Kind = testcases.Communication
	default:
		r.p.InputFile, r.p.OutputFile = r.conf.infile, r.conf.outfile
	}
	if r.conf.taskType != "" && strings.TrimSuffix(r.conf.taskType, "AndOutput") != kind {
		r.Refuse(r.conf.manifest, "task_type is %s, but the files are those of %s", r.conf.taskType, kind)
	}
	if r.p.Kind != testcases.OutputOnly {
		r.p.Sealed = true // a program may write its output file and nothing else
		r.limits()
	}
}

// limits fills in what a task may leave out.
func (r *reader) limits() {
	lim := &r.p.Limits
	if lim.CPU == 0 {
		lim.CPU = unlimitedTime
		r.Note(r.conf.manifest, noteNoLimit, "time", unlimitedTime)
	}
	if lim.Memory == 0 {
		lim.Memory = unlimitedMemory
		r.Note(r.conf.manifest, noteNoLimit, "memory", "4 GiB")
	}
}

// readPrograms reads what rules on outputs, and what is compiled with submissions.
func (r *reader) readPrograms() {
	p := r.p
	p.Checker.Name = testcases.WhiteDiff
	base := solFolder + "/grader"
	switch {
	case p.Kind == testcases.Communication:
		base = solFolder + "/stub"
		p.Interactor = r.find(managers, testcases.ProtocolCMS)
		p.Processes = r.conf.processes
		p.NamedPipes = r.conf.userIO == "fifo_io" || r.conf.userIO == "" && r.exists([]string{"sol/stub"})
		if p.Processes == 1 {
			p.Processes = 0
		}
	case r.exists(checkers):
		p.Checker.Name, p.CheckerProgram = testcases.CustomChecker, r.find(checkers, testcases.ProtocolCMS)
	}
	if p.Kind != testcases.OutputOnly {
		r.readInclude(base)
	}
}

// readInclude reads the graders, or the stubs, which are called base but for their
// suffixes, and what they include. Where there is one, submissions may be in the
// languages that have one.
func (r *reader) readInclude(base string) {
	r.p.Include = map[string]testcases.Include{}
	with := r.exists([]string{base})
	for _, l := range languages {
		inc := testcases.Include{Define: define}
		if at := base + l.suffix; with {
			if !r.Has(at) {
				continue
			}
			b, _ := r.read(at, maxSource)
			inc.Main, inc.Source = path.Base(at), r.conf.name+l.suffix
			inc.Files = append([]judge.File{{Name: inc.Main, Data: b}}, r.headers(path.Dir(at), l)...)
			r.p.Languages = append(r.p.Languages, l.ids...)
		}
		for _, id := range l.ids {
			if _, there := r.p.Include[id]; !there {
				r.p.Include[id] = inc
			}
		}
	}
}
