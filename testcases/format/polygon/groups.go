package polygon

import (
	"maps"
	"slices"
	"strings"

	"judgefarm/judge"
	"judgefarm/testcases"
)

// groups collects the tests of a testset.
type groups struct {
	r      *reader
	set    *node
	byName map[string]*group // by what the package calls it
	order  []*group          // as they first occur among the tests
	scored bool              // somebody says points
}

// group is one on its way into a testcases.Group.
type group struct {
	name   string // ours
	node   *node  // nil where the package says nothing of it
	cases  []testcases.Case
	points bool // a test states some
}

func (r *reader) newGroups(set *node) *groups {
	g := &groups{r: r, set: set, byName: map[string]*group{}}
	for _, n := range set.at("groups").all("group") {
		name := n.attr("name")
		if name == "" || g.byName[name] != nil {
			r.refuse(n, "a <group> needs a name of its own, has %.64q", name)
			continue
		}
		g.byName[name] = &group{name: label(name), node: n}
		g.scored = g.scored || n.attr("points") != ""
	}
	return g
}

// of finds the group of a test. Tests of no group are in one that is called as the
// testset.
func (g *groups) of(t *node) *group {
	name := t.attr("group")
	found := g.byName[name]
	switch {
	case found == nil && name == "":
		found = &group{name: label(g.set.attr("name"))}
		for slices.ContainsFunc(slices.Collect(maps.Values(g.byName)), func(o *group) bool { return o.name == found.name }) {
			found.name += "-"
		}
		g.byName[name] = found
	case found == nil: // older packages name groups at the tests alone
		found = &group{name: label(name)}
		g.byName[name] = found
	}
	if !slices.Contains(g.order, found) {
		g.order = append(g.order, found)
	}
	return found
}

func (o *group) add(c testcases.Case, t *node) {
	o.points = o.points || t.attr("points") != ""
	o.cases = append(o.cases, c)
}

// finish orders the groups and gives them their points. A problem in which nobody
// says points has none.
func (g *groups) finish() ([]testcases.Group, *testcases.Aggregate) {
	for _, o := range g.order {
		g.scored = g.scored || o.points
	}
	var all []testcases.Group
	for _, o := range g.dependent() {
		out := testcases.Group{Name: o.name, Cases: o.cases}
		for _, d := range o.node.at("dependencies").all("dependency") {
			if before := g.byName[d.attr("group")]; before != nil && len(before.cases) > 0 {
				out.After = append(out.After, before.name)
			}
		}
		if g.scored {
			out.Score = g.score(o)
		}
		all = append(all, out)
	}
	if !g.scored {
		return all, nil
	}
	return all, &testcases.Aggregate{}
}

// dependent sorts the groups so that each comes after those that it depends on, and
// else stays where its first test is.
func (g *groups) dependent() []*group {
	var sorted []*group
	state := map[*group]int{} // 1 is on its way, 2 is done
	var visit func(o *group)
	visit = func(o *group) {
		state[o] = 1
		for _, d := range o.node.at("dependencies").all("dependency") {
			before := g.byName[d.attr("group")]
			switch {
			case before == nil:
				g.r.refuse(d, "depends on group %.64q, which is not there", d.attr("group"))
			case state[before] == 1:
				g.r.refuse(d, "group %.64q depends on itself, by way of %.64q", o.name, before.name)
			case state[before] == 0 && len(before.cases) > 0:
				visit(before)
			}
		}
		state[o] = 2
		sorted = append(sorted, o)
	}
	for _, o := range g.order {
		if state[o] == 0 {
			visit(o)
		}
	}
	return sorted
}

// score is the rule of a group's points: those of its tests, each by itself or all of
// them or none.
func (g *groups) score(o *group) *testcases.Aggregate {
	zero := judge.Score{}
	total := judge.Score{}
	for _, c := range o.cases {
		if c.Points != nil {
			total = total.Add(*c.Points)
		}
	}
	var stated *judge.Score
	if o.node != nil {
		stated = g.r.score(o.node, "points")
	}
	switch policy := o.node.attr("points-policy"); policy {
	case "complete-group":
		if !o.points && stated != nil {
			total = *stated
		}
		return &testcases.Aggregate{Mode: testcases.ModeAll, Scale: &total}
	case "", "each-test":
		if !o.points && stated != nil && stated.Sign() > 0 {
			g.r.refuse(o.node, "group %.64q has points for each test, and its tests state none", o.name)
		}
	default:
		g.r.refuse(o.node, "points-policy %.64q is not known: each-test and complete-group are", policy)
	}
	if stated != nil && o.points && stated.Cmp(total) != 0 {
		g.r.note(o.node, "group %.64q states %v points, its tests %v together: theirs count", o.name, *stated, total)
	}
	return &testcases.Aggregate{Accept: &zero}
}

// groupOf is our name for a group of the package, by the name that it has there.
func (r *reader) groupOf(name string) string { return label(strings.TrimSpace(name)) }
