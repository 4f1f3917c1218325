package cms

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	"judgefarm/judge"
	"judgefarm/testcases"
)

// readScore puts the cases into groups: as task.yaml says where it says all of it,
// else one for each subtask of gen/GEN, else all together.
func (r *reader) readScore(cases []oneCase) {
	r.p.Score = &testcases.Aggregate{}
	if cases == nil {
		return // told already
	}
	c := &r.conf
	if !r.overridden() {
		if c.scoreType != "" || c.parameters != nil {
			r.Note(c.manifest, "score_type and score_type_parameters are not read, as in CMS: both and n_input are needed")
		}
		if len(c.parts) == 0 {
			share := c.total.Div(int64(len(cases)))
			r.sum(cases, share)
			return
		}
		r.subtasks(cases)
		return
	}
	switch d := c.doc; c.scoreType {
	case "Sum":
		r.sum(cases, d.Score(c.parameters, "score_type_parameters"))
	case "GroupMin", "GroupMul", "GroupThreshold":
		r.scoreGroups(cases, r.scoreParts(cases))
	default:
		r.Refuse(c.manifest, "score_type %.64q is not supported: Sum, GroupMin, GroupMul and GroupThreshold are", c.scoreType)
	}
}

// sum is one group whose cases are worth so much each.
func (r *reader) sum(cases []oneCase, each judge.Score) {
	g := testcases.Group{Name: "tests", Score: &testcases.Aggregate{Accept: &each}}
	for _, c := range cases {
		g.Cases = append(g.Cases, named(g.Name, c))
	}
	r.p.Groups = []testcases.Group{g}
}

// subtasks are those of gen/GEN, which give their points times the least share.
func (r *reader) subtasks(cases []oneCase) {
	var total judge.Score
	names := map[string]bool{}
	for i, p := range r.conf.parts {
		name := p.name
		if testcases.CheckName(name) != "" || names[name] {
			if p.name != "" {
				r.Note(genName, "the name %.64q of a subtask is not used: it is another's, or cannot be a group's", p.name)
			}
			name = "subtask" + strconv.Itoa(i)
		}
		names[name] = true
		if p.cases == 0 {
			r.Refuse(genName, "subtask %d has no cases", i)
		}
		points := p.points
		g := testcases.Group{Name: name, Score: &testcases.Aggregate{Mode: testcases.ModeMin, Scale: &points}}
		for range p.cases {
			if len(cases) > 0 {
				g.Cases = append(g.Cases, named(name, cases[0]))
				cases = cases[1:]
			}
		}
		total = total.Add(points)
		r.p.Groups = append(r.p.Groups, g)
	}
	if total.Cmp(judge.ScoreOf(100)) != 0 {
		r.Note(genName, "the subtasks are worth %v points together: CMS asks for 100", total)
	}
}

// scorePart is one element of the parameters of a score type of groups.
type scorePart struct {
	max, threshold judge.Score
	indices        []int  // of its cases
	name           string // where it has one
}

// scoreParts reads [[points, cases, threshold], ...], where cases are how many, a regular
// expression of their names, or a list of names; or the same as mappings.
func (r *reader) scoreParts(cases []oneCase) []scorePart {
	d, list := r.conf.doc, r.conf.parameters
	if list.Kind == yaml.AliasNode {
		list = list.Alias
	}
	if list.Kind != yaml.SequenceNode || len(list.Content) == 0 {
		d.Refuse(list, "score_type_parameters must be a list of [points, cases] for %s", r.conf.scoreType)
		return nil
	}
	var all []scorePart
	next := 0
	for _, item := range list.Content {
		max, target, threshold := r.fields(item)
		if max == nil || target == nil {
			d.Refuse(item, "an element of score_type_parameters must be [points, cases]")
			continue
		}
		p := scorePart{max: d.Score(max, "points")}
		if r.conf.scoreType == "GroupThreshold" {
			if threshold == nil {
				d.Refuse(item, "an element of score_type_parameters must be [points, cases, threshold] for GroupThreshold")
				continue
			}
			p.threshold = d.Score(threshold, "threshold")
		}
		if p.max.Sign() < 0 {
			d.Refuse(max, "points must not be negative")
		}
		p.indices = r.targets(target, cases, &next)
		if len(p.indices) == 0 {
			d.Refuse(target, "names no case")
		}
		all = append(all, p)
	}
	return all
}

// fields are the parts of one element.
func (r *reader) fields(item *yaml.Node) (max, target, threshold *yaml.Node) {
	if item.Kind == yaml.AliasNode {
		item = item.Alias
	}
	switch item.Kind {
	case yaml.SequenceNode:
		at := func(i int) *yaml.Node {
			if i < len(item.Content) {
				return item.Content[i]
			}
			return nil
		}
		return at(0), at(1), at(2)
	case yaml.MappingNode:
		r.conf.doc.Each(item, "an element of score_type_parameters", func(key string, k, v *yaml.Node) {
			switch key {
			case "max_score":
				max = v
			case "testcases":
				target = v
			case "threshold":
				threshold = v
			case "always_show_testcases", "name":
			default:
				r.conf.doc.Refuse(k, "unknown key %.64q of score_type_parameters", key)
			}
		})
	}
	return max, target, threshold
}

// targets finds cases: the next so many, those whose names match from their beginning,
// or those that are listed.
func (r *reader) targets(v *yaml.Node, cases []oneCase, next *int) (found []int) {
	d := r.conf.doc
	byName := func(name string) int {
		return slices.IndexFunc(cases, func(c oneCase) bool { return c.codename == name })
	}
	switch {
	case v.Kind == yaml.SequenceNode:
		for _, item := range v.Content {
			i := byName(item.Value)
			if i < 0 || slices.Contains(found, i) {
				d.Refuse(item, "%.64q is no case, or is there twice", item.Value)
				continue
			}
			found = append(found, i)
		}
	case v.Kind == yaml.ScalarNode && v.Tag == "!!int":
		n := d.Count(v, "the number of cases", 0, maxCases)
		if *next+n > len(cases) {
			d.Refuse(v, "needs %d cases more, there are %d", n, len(cases)-*next)
			return nil
		}
		for range n {
			found = append(found, *next)
			*next++
		}
	case v.Kind == yaml.ScalarNode:
		pattern, err := regexp.Compile("^(?:" + v.Value + ")")
		if err != nil {
			d.Refuse(v, "%.64q is no regular expression that is supported: %v", v.Value, err)
			return nil
		}
		for i, c := range cases {
			if pattern.MatchString(c.codename) {
				found = append(found, i)
			}
		}
	default:
		d.Refuse(v, "cases must be a number, a regular expression or a list of names")
	}
	return found
}

// scoreGroups makes the groups. A case is part of the first that names it, and counts in
// the others too; one that none names counts nowhere and is left out.
func (r *reader) scoreGroups(cases []oneCase, all []scorePart) {
	owner := map[int]string{}
	for i, p := range all {
		g := testcases.Group{Name: cmp.Or(p.name, "subtask"+strconv.Itoa(i)), Score: &testcases.Aggregate{Mode: testcases.ModeMin, Scale: &p.max}}
		switch r.conf.scoreType {
		case "GroupMul":
			g.Score.Mode = testcases.ModeProduct
		case "GroupThreshold":
			g.Score.Mode, g.Score.Threshold = testcases.ModeAll, &p.threshold
		}
		for _, at := range p.indices {
			if first, ok := owner[at]; ok {
				g.Also = append(g.Also, first+"/"+cases[at].codename)
				continue
			}
			owner[at] = g.Name
			g.Cases = append(g.Cases, named(g.Name, cases[at]))
		}
		r.p.Groups = append(r.p.Groups, g)
	}
	left := 0
	for i := range cases {
		if _, ok := owner[i]; !ok {
			left++
		}
	}
	if left > 0 {
		r.Note(r.conf.manifest, "%s", fmt.Sprintf("%d cases are in no subtask: they are not judged", left))
	}
}
