package plain

import (
	"maps"
	"path"
	"slices"
	"strings"

	"judgefarm/internal/manifest"
	"judgefarm/testcases"
)

// The folders of data, in the order in which they are judged.
var groupNames = []string{"sample", "secret"}

// groups reads data/sample and data/secret, folders below them included.
func (r *reader) groups() []testcases.Group {
	names := map[string][]string{}
	for _, file := range r.Names() {
		rest, inData := strings.CutPrefix(file, dataFolder+"/")
		if !inData {
			continue
		}
		group, name, nested := strings.Cut(rest, "/")
		if !nested || !slices.Contains(groupNames, group) {
			r.Refuse(file, "must lie in data/sample or data/secret")
			continue
		}
		if !inputName(name) && !answerName(name) {
			r.Refuse(file, "must end in .in or .ans")
			continue
		}
		names[group] = append(names[group], name)
	}
	var groups []testcases.Group
	cases := 0
	for _, group := range groupNames {
		g := testcases.Group{Name: group, Sample: group == "sample", Cases: r.cases(dataFolder+"/"+group+"/", group+"/", names[group])}
		cases += len(names[group])
		if len(g.Cases) > 0 {
			groups = append(groups, g)
		}
	}
	if cases == 0 {
		r.Refuse(dataFolder, "must hold at least one case: data/secret/NAME.in with NAME.ans")
	}
	return groups
}

// bare reads a folder that is nothing but pairs; what does not end as they do
// is left alone. Nothing in it may be shown, so all of it is one secret group.
func (r *reader) bare() []testcases.Group {
	var names []string
	for _, file := range r.Names() {
		if !strings.Contains(file, "/") && (inputName(file) || answerName(file)) {
			names = append(names, file)
		}
	}
	if len(names) == 0 {
		r.Refuse(manifestName, "is missing, and there are no NAME.in with NAME.ans either: not a problem")
	}
	return []testcases.Group{{Name: "secret", Cases: r.cases("", "", names)}}
}

// cases pairs inputs with answers. folder precedes the names of files, prefix
// those of cases.
func (r *reader) cases(folder, prefix string, names []string) []testcases.Case {
	input, answers := map[string]string{}, map[string][]string{}
	for _, name := range names {
		stem := strings.TrimSuffix(name, path.Ext(name))
		if inputName(name) {
			input[stem] = folder + name
		} else {
			answers[stem] = append(answers[stem], folder+name)
		}
	}
	for stem, files := range answers {
		if input[stem] == "" {
			r.Refuse(files[0], "is an answer without an input: %s.in is missing", stem)
		} else if len(files) > 1 {
			r.Refuse(files[1], "is a second answer: %s is there too", files[0])
		}
	}
	var cases []testcases.Case
	for _, stem := range slices.SortedFunc(maps.Keys(input), manifest.Natural) {
		file := input[stem]
		if reason := testcases.CheckName(prefix + stem); reason != "" {
			r.Refuse(file, "bad file name: %s", reason)
		}
		if len(answers[stem]) == 0 {
			r.Refuse(file, "has no answer: %s.ans is missing", stem)
			continue
		}
		cases = append(cases, testcases.Case{
			Name: prefix + stem, Sample: prefix == "sample/",
			Input: r.data(file), Answer: r.data(answers[stem][0]),
		})
	}
	return cases
}

func (r *reader) data(file string) testcases.Data {
	d, err := testcases.FileData(r.Path(file))
	if err != nil {
		r.Fail(err)
	}
	return d
}

func inputName(name string) bool { return path.Ext(name) == ".in" }

// answerName knows the two usual endings: .ans of packages, .out of bare folders.
func answerName(name string) bool { return path.Ext(name) == ".ans" || path.Ext(name) == ".out" }
