package languages

import (
	"bytes"
	"path"
	"regexp"
	"strings"

	"judgefarm/judge"
)

// MainClass says, for languages whose programs start in a named class, how to
// find it in the sources. All five are regular expressions (RE2).
type MainClass struct {
	Ignore    string `yaml:"ignore" json:"ignore"`       // comments and literals: blanked before the rest is sought
	Namespace string `yaml:"namespace" json:"namespace"` // its first group is put before the class: "a.b" makes a.b.Main
	Type      string `yaml:"type" json:"type"`           // a declaration outside all braces; its first group is the name
	Public    string `yaml:"public" json:"public"`       // what in a declaration says that its file must bear its name
	Entry     string `yaml:"entry" json:"entry"`         // what the body of the starting class has

	ignore, namespace, typ, public, entry *regexp.Regexp
}

// class is one top-level declaration.
type class struct {
	file   int
	name   string // with its namespace
	simple string
	public bool
	entry  bool
}

// compile prepares the expressions and returns the faults, by field.
func (m *MainClass) compile() []fault {
	var faults []fault
	for _, part := range []struct {
		field, text string
		groups      int
		re          **regexp.Regexp
	}{
		{"ignore", m.Ignore, 0, &m.ignore},
		{"namespace", m.Namespace, 1, &m.namespace},
		{"type", m.Type, 1, &m.typ},
		{"public", m.Public, 0, &m.public},
		{"entry", m.Entry, 0, &m.entry},
	} {
		field := "main_class." + part.field
		if part.text == "" {
			if part.field == "type" || part.field == "entry" {
				faults = append(faults, fault{field, "must be set"})
			}
			continue
		}
		re, err := regexp.Compile(part.text)
		switch {
		case err != nil:
			faults = append(faults, fault{field, err.Error()})
		case re.NumSubexp() < part.groups:
			faults = append(faults, fault{field, "must have a group"})
		default:
			*part.re = re
		}
	}
	return faults
}

// find returns the class that starts the program and, for each file, the public
// class that it must be named after ("" for none). The starting class is the
// first public one with an entry point, else the first with an entry point, else
// the first public one, else the first.
func (m *MainClass) find(files []judge.File) (main class, names []string) {
	names = make([]string, len(files))
	var all []class
	for i, f := range files {
		for _, c := range m.classes(f.Data) {
			c.file = i
			all = append(all, c)
			if c.public && names[i] == "" {
				names[i] = c.simple
			}
		}
	}
	best := -1
	for _, c := range all {
		score := 0
		if c.public {
			score++
		}
		if c.entry {
			score += 2
		}
		if score > best {
			main, best = c, score
		}
	}
	return main, names
}

// classes lists the declarations outside all braces.
func (m *MainClass) classes(source []byte) []class {
	text := m.blank(source)
	space := ""
	if m.namespace != nil {
		if g := m.namespace.FindSubmatch(text); g != nil {
			space = string(g[1]) + "."
		}
	}
	depth := depths(text)
	var tops [][]int
	for _, at := range m.typ.FindAllSubmatchIndex(text, -1) {
		if at[2] >= 0 && depth(at[2]) == 0 {
			tops = append(tops, at)
		}
	}
	var all []class
	for i, at := range tops {
		body := text[at[1]:]
		if i+1 < len(tops) {
			body = text[at[1]:tops[i+1][0]]
		}
		simple := string(text[at[2]:at[3]])
		all = append(all, class{
			name: space + simple, simple: simple,
			public: m.public != nil && m.public.Match(text[at[0]:at[1]]),
			entry:  m.entry.Match(body),
		})
	}
	return all
}

// blank replaces comments and literals by blanks, so that braces and words in
// them are not seen; a newline stays one.
func (m *MainClass) blank(source []byte) []byte {
	if m.ignore == nil {
		return source
	}
	return m.ignore.ReplaceAllFunc(source, func(b []byte) []byte {
		return bytes.Map(func(r rune) rune {
			if r == '\n' {
				return r
			}
			return ' '
		}, b)
	})
}

// depths tells how many braces are open at a position; positions must rise.
func depths(text []byte) func(int) int {
	at, depth := 0, 0
	return func(pos int) int {
		for ; at < pos; at++ {
			switch text[at] {
			case '{':
				depth++
			case '}':
				depth--
			}
		}
		return depth
	}
}

// rename gives each file the name of its public class, in its own directory and
// with its own suffix, unless another file has that name already.
func (m *MainClass) rename(files []judge.File, names []string, suffix string) {
	taken := map[string]bool{}
	for _, f := range files {
		taken[f.Name] = true
	}
	for i, name := range names {
		if name == "" {
			continue
		}
		ext := path.Ext(files[i].Name)
		if ext == "" {
			ext = suffix
		}
		to := strings.TrimPrefix(path.Join(path.Dir(files[i].Name), name+ext), "./")
		if to != files[i].Name && !taken[to] {
			files[i].Name = to
			taken[to] = true
		}
	}
}
