package kattis

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"judgefarm/judge"
	"judgefarm/testcases"
)

// Bounds of a program of the package.
const (
	maxProgramFiles = 500
	maxProgramSize  = 8 << 20 // of one file
)

// codes are the format's codes of languages, with our ids, and the suffixes that
// tell a submission's language. Several of ours may be one of theirs: the first is what
// the package's own programs are in. For C++ that is what DOMjudge compiles with;
// problemtools has gnu++23. A code that
// is not here is an id of ours, if it is anything.
var codes = []struct {
	code     string
	ids      []string
	suffixes []string
}{
	{"ada", []string{"ada"}, []string{".adb", ".ads"}},
	{"bash", []string{"bash"}, []string{".sh", ".bash"}},
	{"c", []string{"c"}, []string{".c"}},
	{"cobol", []string{"cobol"}, []string{".cob"}},
	{"cpp", []string{"cpp20", "cpp17", "cpp23"}, []string{".cc", ".cpp", ".cxx", ".c++", ".C"}},
	{"csharp", []string{"csharp"}, []string{".cs"}},
	{"d", []string{"d"}, []string{".d"}},
	{"elixir", []string{"elixir"}, []string{".ex", ".exs"}},
	{"erlang", []string{"erlang"}, []string{".erl"}},
	{"fortran", []string{"fortran"}, []string{".f90", ".f95"}},
	{"go", []string{"go"}, []string{".go"}},
	{"haskell", []string{"haskell"}, []string{".hs"}},
	{"java", []string{"java"}, []string{".java"}},
	{"javascript", []string{"javascript"}, []string{".js", ".mjs"}},
	{"kotlin", []string{"kotlin"}, []string{".kt"}},
	{"lisp", []string{"commonlisp"}, []string{".lisp", ".cl"}},
	{"lua", []string{"lua"}, []string{".lua"}},
	{"nim", []string{"nim"}, []string{".nim"}},
	{"objectivec", []string{"objectivec"}, []string{".m"}},
	{"ocaml", []string{"ocaml"}, []string{".ml"}},
	{"pascal", []string{"pascal"}, []string{".pas", ".p"}},
	{"perl", []string{"perl"}, []string{".pm"}},
	{"php", []string{"php"}, []string{".php"}},
	{"prolog", []string{"prolog"}, []string{".pl", ".plg"}},
	{"python2", []string{"python2"}, []string{".py2"}},
	{"python3", []string{"python3", "pypy3"}, []string{".py", ".py3"}},
	{"r", []string{"r"}, []string{".R"}},
	{"racket", []string{"racket"}, []string{".rkt"}},
	{"ruby", []string{"ruby"}, []string{".rb"}},
	{"rust", []string{"rust"}, []string{".rs"}},
	{"scala", []string{"scala"}, []string{".scala"}},
	{"swift", []string{"swift"}, []string{".swift"}},
	{"typescript", []string{"typescript"}, []string{".ts"}},
	{"awk", []string{"awk"}, []string{".awk"}},
}

func languagesOf(code string) []string {
	for _, c := range codes {
		if c.code == code {
			return c.ids
		}
	}
	return []string{code}
}

// source reports whether a file's name tells a language.
func source(name string) bool {
	return slices.ContainsFunc(codes, func(c struct {
		code     string
		ids      []string
		suffixes []string
	}) bool {
		return slices.Contains(c.suffixes, path.Ext(name))
	})
}

// programs lists the programs that a folder holds: each a file or a folder of files.
func (r *reader) programs(folder string) []string {
	files, folders := r.Children(folder)
	var all []string
	for _, f := range files {
		if r.named(f) && source(f) {
			all = append(all, folder+"/"+f)
		} else {
			r.Note(folder+"/"+f, "no language is told by its name: not taken for a program")
			r.configured[folder+"/"+f] = true
		}
	}
	for _, f := range folders {
		all = append(all, folder+"/"+f)
	}
	slices.Sort(all)
	return all
}

// named reports whether a program may have a file of this name. Before 2025-09 names
// that the format does not allow are in use, and DOMjudge takes them.
func (r *reader) named(name string) bool {
	if r.version != v2025 {
		return judge.CheckFileName(name) == nil
	}
	return !slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool { return !nameRule.MatchString(part) })
}

// seen says that what is below a folder was told of.
func (r *reader) seen(folder string) {
	for _, name := range r.Below(folder) {
		r.configured[name] = true
	}
}

// program reads a program: at is a file or a folder.
func (r *reader) program(at string, args []string) *testcases.Program {
	p := &testcases.Program{Name: at, Protocol: testcases.ProtocolKattis, Args: args}
	p.Files = r.programFiles(at)
	for _, f := range p.Files {
		p.Script = p.Script || f.Name == "build" || f.Name == "run"
	}
	if len(p.Files) == 0 {
		r.Refuse(at, "must hold a program")
	} else if !p.Script {
		p.Language = statedLanguage(p.Files)
	}
	return p
}

// programFiles are the files of a program, the main one first where that is known.
func (r *reader) programFiles(at string) []judge.File {
	names := r.Below(at)
	if r.Has(at) {
		names = []string{at}
	}
	if len(names) > maxProgramFiles {
		r.Refuse(at, "must hold at most %d files, holds %d", maxProgramFiles, len(names))
		return nil
	}
	var files []judge.File
	for _, name := range names {
		short := strings.TrimPrefix(name, at+"/")
		if name == at {
			short = path.Base(at)
		}
		if !r.named(short) {
			r.Note(name, "is left out: the format does not allow this name")
			r.configured[name] = true
			continue
		}
		if b, ok := r.read(name, maxProgramSize); ok {
			files = append(files, judge.File{Name: short, Data: r.substitute(name, b, maxProgramSize)})
		}
	}
	slices.SortStableFunc(files, func(a, b judge.File) int { return cmp.Compare(rank(a.Name, at), rank(b.Name, at)) })
	return files
}

// rank orders the files of a program: what is called main, what is called as the
// program, what a language is told by, the rest.
func rank(name, at string) int {
	stem := strings.ToLower(strings.TrimSuffix(name, path.Ext(name)))
	switch {
	case stem == "main" || stem == "__main__" || stem == "mainkt":
		return 0
	case stem == strings.ToLower(path.Base(at)):
		return 1
	case source(name) && !strings.HasPrefix(stem, "__"):
		return 2
	}
	return 3
}

// readChecker finds out what rules on outputs.
func (r *reader) readChecker() {
	p, folder := r.p, "output_validator"
	if !r.HasFolder(folder) {
		folder = "output_validators"
	}
	there := r.HasFolder(folder)
	custom := r.words["custom"] || r.version != legacy && there && !r.words["default"]
	if !custom {
		if there {
			r.Note(folder, "is not used: validation is default")
			r.seen(folder)
		}
		if r.words["interactive"] || r.words["multi-pass"] {
			r.Refuse(manifestName, "an interactive or multi-pass problem needs an output validator of its own")
		}
		p.Checker = judge.CheckerSpec{Name: "kattis", Args: r.flags}
		return
	}
	all := r.validatorPrograms(folder, there)
	if len(all) == 0 {
		return
	}
	for _, v := range all {
		v.Limits = r.validator
	}
	validator := all[0]
	if p.Kind == testcases.Interactive {
		validator.Args = r.flags
		p.Interactor = validator
		p.Checker.Name = "kattis" // never asked
		return
	}
	p.Checker = judge.CheckerSpec{Name: testcases.CustomChecker, Args: r.flags}
	p.CheckerProgram = validator
	for _, other := range all[1:] {
		p.Rules = append(p.Rules, testcases.Rule{Checker: p.Checker, Program: other})
	}
	p.EveryRule = len(p.Rules) > 0
}

// validatorPrograms reads the output validators. In 2025-09 the folder is the program;
// before, it holds programs, each of which must accept.
func (r *reader) validatorPrograms(folder string, there bool) []*testcases.Program {
	if !there {
		r.Refuse(manifestName, "validation is custom and there is no output validator in output_validators/")
		return nil
	}
	files, folders := r.Children(folder)
	if folder == "output_validator" && (len(files) > 0 || r.version == v2025) && !(len(files) == 0 && len(folders) == 1) {
		return []*testcases.Program{r.program(folder, nil)}
	}
	names := r.programs(folder)
	switch {
	case len(names) == 0:
		r.Refuse(folder, "must hold an output validator")
	case len(names) > 1 && (r.words["interactive"] || r.words["multi-pass"]):
		r.Refuse(folder, "holds %d output validators, and an interactive or multi-pass problem has one: %s", len(names), strings.Join(names, ", "))
		return nil
	}
	var all []*testcases.Program
	for _, name := range names {
		all = append(all, r.program(name, nil))
	}
	return all
}

// readInclude reads what is added to submissions: what include/default/ holds to those of
// all languages, and over it what the language's own folder holds.
func (r *reader) readInclude() {
	_, folders := r.Children("include")
	if len(folders) == 0 {
		return
	}
	all := testcases.Include{Files: r.programFiles("include/default")}
	r.p.Include = map[string]testcases.Include{}
	if len(all.Files) > 0 {
		r.p.Include[""] = all
	}
	for _, code := range folders {
		if code == "default" {
			continue
		}
		inc := testcases.Include{Files: r.programFiles("include/" + code)}
		for _, f := range inc.Files {
			if rank(f.Name, "") == 0 {
				inc.Main = f.Name
			}
		}
		for _, id := range languagesOf(code) {
			r.p.Include[id] = inc.Over(all)
		}
	}
}

// readValidators reads the input validators.
func (r *reader) readValidators() {
	for _, folder := range []string{"input_validators", "input_format_validators", "input_validator"} {
		files, folders := r.Children(folder)
		for _, f := range files {
			name := folder + "/" + f
			switch ext := path.Ext(f); {
			case ext == ".viva":
				r.configured[name] = true
				r.Note(name, "is not run: validators written in VIVA are not supported")
			case ext == ".ctd":
				script := *r.program(name, nil)
				script.Protocol = testcases.ProtocolChecktestdata
				r.p.Jury.Validators = append(r.p.Jury.Validators, testcases.Validator{Program: script})
			case source(f):
				r.p.Jury.Validators = append(r.p.Jury.Validators, testcases.Validator{Program: *r.program(name, nil)})
			}
		}
		for _, f := range folders {
			r.p.Jury.Validators = append(r.p.Jury.Validators, testcases.Validator{Program: *r.program(folder+"/"+f, nil)})
		}
	}
	for i := range r.p.Jury.Validators {
		v := &r.p.Jury.Validators[i]
		v.Args = r.validatorArgs[strings.TrimSuffix(path.Base(v.Program.Name), path.Ext(v.Program.Name))]
	}
}
