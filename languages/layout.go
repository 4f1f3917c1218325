package languages

import (
	"path"
	"slices"
	"strings"

	"judgefarm/judge"
)

// Layout is a submission's files as they lie in the work directory, and what the
// words of the commands stand for.
type Layout struct {
	Files []judge.File // under the names that the language wants
	Main  string       // name of the main file
	Words Words        // source, stem, sources and class
}

// Lay names the files of a submission. The main file is the one called Source,
// else the first with one of the language's suffixes whose content Main matches,
// else the first with one of them; when no file has one, the first file is the
// main file and is called Source. Names must have passed
// judge.CheckFileName and be different; a submission without files lays out as
// no main file.
func (l *Language) Lay(files []judge.File) Layout { return l.LayMain(files, "") }

// LayMain is Lay with the main file named, which is as if it alone were called Source;
// "" and a name that no file has leave it to Lay's rules.
func (l *Language) LayMain(files []judge.File, named string) Layout {
	lay := Layout{Files: slices.Clone(files)}
	if len(files) == 0 {
		return lay
	}
	if !slices.ContainsFunc(files, func(f judge.File) bool { return l.owns(f.Name) }) {
		lay.Files[0].Name = l.Source
	}
	main := -1
	for _, name := range []string{named, l.Source} {
		if main < 0 {
			main = slices.IndexFunc(lay.Files, func(f judge.File) bool { return f.Name == name })
		}
	}
	if main < 0 && l.Main != nil {
		main = slices.IndexFunc(lay.Files, func(f judge.File) bool { return l.owns(f.Name) && l.Main.Match(f.Data) })
	}
	if main < 0 {
		main = slices.IndexFunc(lay.Files, func(f judge.File) bool { return l.owns(f.Name) })
	}
	var started class
	if l.MainClass != nil {
		var own []judge.File
		var at []int
		for i, f := range lay.Files {
			if l.owns(f.Name) {
				own, at = append(own, f), append(at, i)
			}
		}
		var names []string
		started, names = l.MainClass.find(own)
		l.MainClass.rename(own, names, path.Ext(l.Source))
		for i, f := range own {
			lay.Files[at[i]] = f
		}
		if started.name != "" && (named == "" || lay.Files[main].Name != named) {
			main = at[started.file]
		}
	}
	lay.Main = lay.Files[main].Name
	lay.Words = l.words(lay, started.name)
	return lay
}

func (l *Language) words(lay Layout, class string) Words {
	stem := strings.TrimSuffix(lay.Main, path.Ext(lay.Main))
	if class == "" {
		class = path.Base(stem)
	}
	sources := []string{guard(lay.Main)}
	for _, f := range lay.Files {
		if f.Name != lay.Main && l.owns(f.Name) {
			sources = append(sources, guard(f.Name))
		}
	}
	return Words{"source": {guard(lay.Main)}, "stem": {guard(stem)}, "sources": sources, "class": {class}}
}

// owns reports whether the name has one of the language's suffixes.
func (l *Language) owns(name string) bool {
	return slices.ContainsFunc(l.Suffix, func(s string) bool { return strings.HasSuffix(name, s) && path.Base(name) != s })
}

// guard keeps a file name from being read as an option or as a response file.
func guard(name string) string {
	if strings.HasPrefix(name, "-") || strings.HasPrefix(name, "@") {
		return "./" + name
	}
	return name
}
