package plain

import (
	"maps"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"judgefarm/internal/manifest"
	"judgefarm/judge"
	"judgefarm/testcases"
)

// maxSource bounds one file of a labelled submission.
const maxSource = 1 << 20

// label is a folder of submissions/ and the verdicts it promises.
type label struct {
	name    string
	allowed []judge.Verdict
}

// labels lists the folders that submissions/ may have.
func labels() []label {
	one := func(name string, v judge.Verdict) label { return label{name, []judge.Verdict{v}} }
	return []label{
		one("accepted", judge.Accepted),
		one("wrong_answer", judge.WrongAnswer),
		one("presentation_error", judge.PresentationError),
		one("time_limit", judge.TimeLimit),
		one("wall_time_limit", judge.WallTimeLimit),
		one("idle_limit", judge.IdleLimit),
		one("memory_limit", judge.MemoryLimit),
		one("output_limit", judge.OutputLimit),
		one("runtime_error", judge.RuntimeError),
		one("security_violation", judge.SecurityViolation),
		one("compile_error", judge.CompileError),
		one("compile_time_limit", judge.CompileTimeLimit),
	}
}

// labelled reads submissions/LABEL/FILE and submissions/LABEL/FOLDER/FILE...; a
// folder is one submission of several files.
func (r *reader) labelled() []testcases.Labelled {
	found := map[string]*testcases.Labelled{}
	for _, file := range slices.SortedFunc(slices.Values(r.Names()), manifest.Natural) {
		rest, ok := strings.CutPrefix(file, submissions+"/")
		if !ok || file == submissionsMap {
			continue
		}
		folder, rest, nested := strings.Cut(rest, "/")
		l := slices.IndexFunc(labels(), func(l label) bool { return l.name == folder })
		if !nested || l < 0 {
			r.Refuse(file, "must lie in one of submissions/{%s}", labelNames())
			continue
		}
		first, name, several := strings.Cut(rest, "/")
		if !several {
			name = first
		}
		if err := judge.CheckFileName(name); err != nil {
			r.Refuse(file, "bad file name: %v", err)
			continue
		}
		data, ok := r.Read(file, maxSource)
		if !ok {
			continue
		}
		at := path.Join(submissions, folder, first)
		s := found[at]
		if s == nil {
			s = &testcases.Labelled{Path: at, Label: folder, Allowed: labels()[l].allowed}
			found[at] = s
		}
		s.Files = append(s.Files, judge.File{Name: name, Data: data})
	}
	if r.Has(submissionsMap) {
		r.languages(found)
	}
	var all []testcases.Labelled
	for _, at := range slices.SortedFunc(maps.Keys(found), manifest.Natural) {
		all = append(all, *found[at])
	}
	return all
}

// languages reads submissions.yaml: patterns below submissions/, each with the
// language of what it matches. It is for what a file's name does not tell, such
// as a Python program meant for PyPy.
func (r *reader) languages(found map[string]*testcases.Labelled) {
	d := r.yaml(submissionsMap)
	d.Each(d.Root, "the file", func(pattern string, k, v *yaml.Node) {
		var language string
		before := r.Faults()
		d.Each(v, "the value", func(key string, k, v *yaml.Node) {
			if key != "language" {
				d.Refuse(k, "unknown key %.64q, known is language", key)
				return
			}
			language = d.Text(v, "language")
		})
		if language == "" {
			if r.Faults() == before {
				d.Refuse(v, "must be {language: ID}")
			}
			return
		}
		matches := 0
		for at, s := range found {
			ok, err := path.Match(pattern, strings.TrimPrefix(at, submissions+"/"))
			if err != nil {
				d.Refuse(k, "bad pattern %.64q", pattern)
				return
			}
			if !ok {
				continue
			}
			matches++
			if s.Language != "" {
				d.Refuse(k, "%s gets a language from two patterns", at)
			}
			s.Language = language
		}
		if matches == 0 {
			d.Refuse(k, "pattern %.64q matches no submission", pattern)
		}
	})
}

func labelNames() string {
	var names []string
	for _, l := range labels() {
		names = append(names, l.name)
	}
	return strings.Join(names, ",")
}
