package dmoj

import (
	"path"
	"slices"
	"strings"
	"time"

	shellquote "github.com/kballard/go-shellquote"
	"go.yaml.in/yaml/v3"

	"judgefarm/judge"
	"judgefarm/testcases"
)

// Bounds of a program of the package.
const (
	maxProgramSize  = 4 << 20
	maxProgramFiles = 100
)

// helperLimits are what checkers, interactors and generators may use where the package
// states nothing: DMOJ's generator_time_limit and generator_memory_limit.
func helperLimits() judge.Limits {
	return judge.Limits{CPU: 20 * time.Second, Wall: 60 * time.Second, Memory: 512 * judge.MiB}
}

// program reads a program of one file or, in C and C++, several. lang is DMOJ's name
// of the language; without one the names of the files tell it.
func (r *reader) program(n *yaml.Node, names []string, lang *yaml.Node, flags []string) *testcases.Program {
	if len(names) == 0 || len(names) > maxProgramFiles {
		r.doc.Refuse(n, "must name the 1 to %d files of a program", maxProgramFiles)
		return nil
	}
	p := &testcases.Program{Name: names[0], Flags: flags, Limits: helperLimits()}
	for _, name := range names {
		f, ok := r.source(n, name)
		if !ok {
			return nil
		}
		p.Files = append(p.Files, f)
	}
	slices.SortStableFunc(p.Files, func(a, b judge.File) int { return rank(a.Name) - rank(b.Name) })
	compiled := rank(p.Files[0].Name) == 0
	if len(names) > 1 && !compiled {
		r.doc.Refuse(n, "only programs in C and C++ may have several files")
	}
	switch {
	case lang != nil:
		p.Language = r.language(lang, r.doc.Text(lang, "lang"))
	case slices.ContainsFunc(p.Files, func(f judge.File) bool { return cpp(f.Name) }):
		p.Language = "cpp20"
	case compiled:
		p.Language = "c"
	case path.Ext(p.Files[0].Name) == ".py2":
		p.Language = "python2"
	}
	return p
}

func cpp(name string) bool { return slices.Contains([]string{".cpp", ".cc"}, path.Ext(name)) }

// rank puts what is compiled before headers.
func rank(name string) int {
	if cpp(name) || path.Ext(name) == ".c" {
		return 0
	}
	return 1
}

// language is our id of what DMOJ calls lang; one that nobody has here is named as DMOJ
// does it, in small letters.
func (r *reader) language(n *yaml.Node, lang string) string {
	if l, ok := r.set.FindIn("dmoj", lang); ok {
		return l.ID
	}
	switch lang {
	case "PY2", "PYPY", "PYPY2":
		return "python2"
	case "JAVA8", "JAVA10", "JAVA11", "JAVA15", "JAVA17", "JAVA19":
		return "java"
	}
	return strings.ToLower(lang)
}

// helperConf reads what bridged checkers and interactors have in common: limits, the
// protocol and the command line.
func (r *reader) helperConf(conf *values, p *testcases.Program, memoryKey string) {
	if n := conf.get("time_limit"); n != nil {
		if d, err := seconds(conf.d.Text(n, "time_limit")); err != nil {
			conf.d.Refuse(n, "time_limit %v", err)
		} else {
			p.Limits.CPU, p.Limits.Wall = d, 3*d
		}
	}
	if n := conf.get(memoryKey); n != nil {
		m, err := kibibytes(conf.d.Text(n, memoryKey))
		if err != nil {
			conf.d.Refuse(n, "%s %v", memoryKey, err)
		}
		p.Limits.Memory = m
	}
	if n := conf.get("compiler_time_limit"); n != nil {
		conf.d.Note(n, "compiler_time_limit is not read: the language's compiler has limits of its own")
	}
}

// bridged reads type and command line of a bridged checker or interactor.
func (r *reader) bridged(conf *values, p *testcases.Program) {
	protocols := map[string]testcases.Protocol{
		"default": testcases.ProtocolExit, "testlib": testcases.ProtocolTestlib, "coci": testcases.ProtocolCOCI, "peg": testcases.ProtocolPEG,
	}
	kind := conf.text("type")
	if kind == "" {
		kind = "default"
	}
	known := false
	if p.Protocol, known = protocols[kind]; !known {
		conf.d.Refuse(conf.get("type"), "type %.64q is not known: default, testlib, coci and peg are", kind)
	}
	n := conf.get("args_format_string")
	if n == nil {
		return
	}
	words, err := shellquote.Split(conf.d.Text(n, "args_format_string"))
	if err != nil {
		conf.d.Refuse(n, "args_format_string: %v", err)
	}
	p.Call = []string{}
	for _, w := range words {
		if rest := strings.NewReplacer("{input_file}", "", "{output_file}", "", "{answer_file}", "").Replace(w); strings.ContainsAny(rest, "{}") {
			conf.d.Refuse(n, "args_format_string knows {input_file}, {output_file} and {answer_file}, not %.64q", w)
		}
		p.Call = append(p.Call, w)
	}
}

// generator reads the program that makes data, and the arguments that it always gets.
func (r *reader) generator(conf *values, n *yaml.Node) (p *testcases.Program, args []string) {
	own := &values{r: r, d: conf.d, own: map[string]entry{}}
	files := []string(nil)
	if k := resolve(n); k.Kind == yaml.MappingNode {
		own = r.open(conf.d, n, "generator", nil)
		args, files = own.list("args"), own.list("source")
	} else {
		files = conf.d.List(n, "generator")
	}
	if made, ok := r.generators[resolve(n)]; ok {
		return made, args
	}
	own.only("generator", "source", "flags", "args", "time_limit", "memory_limit", "compiler_time_limit", "language")
	p = r.program(n, files, own.get("language"), own.list("flags"))
	if p != nil {
		r.helperConf(own, p, "memory_limit")
	}
	r.generators[resolve(n)] = p
	return p, args
}

// resolve is what an alias stands for.
func resolve(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}
