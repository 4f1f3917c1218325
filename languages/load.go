package languages

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"judgefarm/judge"
)

//go:embed defs/*.yaml
var bundled embed.FS

// Config says where definitions come from.
type Config struct {
	// Dir is the operator's directory of further *.yaml definitions, "" for none.
	// One with the id of a bundled language replaces it as a whole.
	Dir string
}

// fault is one thing wrong with a definition.
type fault struct{ field, reason string }

// source is a definition with the file that it came from, for messages.
type source struct {
	file string
	*Language
}

// Load reads the bundled definitions and the operator's. The error names every
// fault of every file: unknown fields, broken values, ids or aliases that clash.
func Load(cfg Config) (*Set, error) {
	defs, errs := readAll(bundled, "defs", "defs/")
	if cfg.Dir != "" {
		own, more := readAll(os.DirFS(cfg.Dir), ".", cfg.Dir+"/")
		errs = append(errs, more...)
		defs = override(defs, own)
	}
	slices.SortFunc(defs, func(a, b source) int { return strings.Compare(a.ID, b.ID) })
	set := &Set{byID: map[string]*Language{}, bySystem: map[systemID]*Language{}, dir: cfg.Dir}
	owner := map[string]string{}
	for _, d := range defs {
		set.all = append(set.all, d.Language)
		for i, name := range append([]string{d.ID}, d.Aliases...) {
			if first, taken := owner[name]; taken {
				field := "id"
				if i > 0 {
					field = "aliases"
				}
				errs = append(errs, fmt.Errorf("%s: %s: %q is already taken by %s", d.file, field, name, first))
				continue
			}
			owner[name], set.byID[name] = d.file, d.Language
		}
		errs = append(errs, set.addSystems(d)...)
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return set, nil
}

func override(defs, own []source) []source {
	return append(slices.DeleteFunc(defs, func(d source) bool {
		return slices.ContainsFunc(own, func(o source) bool { return o.ID == d.ID })
	}), own...)
}

func readAll(fsys fs.FS, dir, prefix string) (defs []source, errs []error) {
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return nil, []error{fmt.Errorf("read definitions %s: %w", prefix, err)}
	}
	for _, e := range entries {
		if path.Ext(e.Name()) != ".yaml" {
			continue
		}
		file := prefix + e.Name()
		data, err := fs.ReadFile(fsys, path.Join(dir, e.Name()))
		if err != nil {
			errs = append(errs, fmt.Errorf("read %s: %w", file, err))
			continue
		}
		lang, faults := parse(data)
		for _, f := range faults {
			errs = append(errs, fmt.Errorf("%s: %w", file, f))
		}
		if len(faults) == 0 {
			defs = append(defs, source{file: file, Language: lang})
		}
	}
	return defs, errs
}

// parse reads one definition strictly and completes it.
func parse(data []byte) (*Language, []error) {
	lang := &Language{}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	err := dec.Decode(lang)
	var typed *yaml.TypeError
	var errs []error
	switch {
	case errors.As(err, &typed):
		for _, line := range typed.Errors {
			errs = append(errs, errors.New(strings.ReplaceAll(line, " not found in type languages.", " is not known in ")))
		}
	case errors.Is(err, io.EOF):
		return nil, []error{errors.New("is empty")}
	case err != nil:
		return nil, []error{err}
	case dec.Decode(new(yaml.Node)) != io.EOF:
		errs = append(errs, errors.New("must hold one document"))
	}
	for _, f := range lang.validate() {
		errs = append(errs, fmt.Errorf("%s: %s", f.field, f.reason))
	}
	lang.complete()
	return lang, errs
}

// complete fills in what follows from the rest.
func (l *Language) complete() {
	l.Suffix = slices.Clip(l.Suffix)
	for i := range l.Environment.Mounts {
		m := &l.Environment.Mounts[i]
		if m.Target == "" {
			m.Target = m.Source
		}
	}
	if l.Compile != nil {
		l.Compile.Limits = l.Compile.Limits.or(DefaultStepLimits())
	}
	if l.Check != nil {
		l.Check.Limits = l.Check.Limits.or(DefaultCheckLimits())
	}
	if l.Prepare != nil {
		l.Prepare.Limits = l.Prepare.Limits.or(DefaultStepLimits())
	}
	l.SelfTest.Files = []judge.File{{Name: l.Source, Data: []byte(l.SelfTest.Source)}}
}

// or is s with lim for what is not stated.
func (s *StepLimits) or(lim StepLimits) *StepLimits {
	if s == nil {
		return &lim
	}
	set := func(to *Size, from Size) {
		if from != 0 {
			*to = from
		}
	}
	set(&lim.Memory, s.Memory)
	set(&lim.Log, s.Log)
	set(&lim.Disk, s.Disk)
	set(&lim.Artifact, s.Artifact)
	if s.CPU != 0 {
		lim.CPU = s.CPU
	}
	if s.Wall != 0 {
		lim.Wall = s.Wall
	}
	if s.Tasks != 0 {
		lim.Tasks = s.Tasks
	}
	return &lim
}
