package dmoj

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	"judgefarm/internal/manifest"
	"judgefarm/judge"
	"judgefarm/testcases"
)

// Bounds of what aliases may make of a small file.
const (
	maxCases  = 20_000
	maxEnding = 100 // groups that all that follow depend on
)

// builder makes groups of the cases, in DMOJ's order: each batch is one, and so are
// the cases between batches. Cases are numbered as DMOJ does it, over all groups.
type builder struct {
	*reader
	groups  []testcases.Group
	batches int
	loose   int      // groups of cases that are in no batch
	ending  []string // groups worth nothing: when one is not passed, all that follows is skipped
	worth   judge.Score
	pretest bool
	// shared says that pretests have batches: nobody knows which ones dependencies count.
	shared bool
}

func (r *reader) readCases() {
	b := &builder{reader: r}
	if pre := r.top.own["pretest_test_cases"].value; !manifest.Null(pre) {
		b.pretest = true
		b.add(pre, "pretest_test_cases")
		b.pretest, b.shared = false, b.batches > 0
	}
	if main := r.top.own["test_cases"].value; !manifest.Null(main) && manifest.Kind(main) == yaml.SequenceNode {
		b.add(main, "test_cases")
	} else if main == nil || manifest.Null(main) || manifest.Kind(main) == yaml.MappingNode {
		b.addMatching(main)
	} else {
		r.doc.Refuse(main, "test_cases must be a list of cases, or the formats of their names")
	}
	if len(r.names) == 0 && r.Faults() == 0 {
		r.Refuse(manifestName, "has no test cases")
	}
	r.p.Groups = b.groups
	r.p.Score = &testcases.Aggregate{}
	r.scale(b.worth)
}

// add takes in a list of cases and batches.
func (b *builder) add(list *yaml.Node, what string) {
	if manifest.Kind(list) != yaml.SequenceNode {
		b.doc.Refuse(list, "%s must be a list of cases", what)
		return
	}
	for _, n := range items(list) {
		if !b.room(n, 1) {
			return
		}
		conf := b.open(b.doc, n, "a case", b.top)
		batched, ok := conf.own["batched"]
		if !ok {
			conf.look(caseKeys)
			b.single(conf)
			continue
		}
		conf.look(batchKeys)
		if manifest.Null(batched.value) || manifest.Kind(batched.value) != yaml.SequenceNode || len(items(batched.value)) == 0 {
			b.doc.Refuse(batched.key, "batched must be a list of cases")
			continue
		}
		if !b.room(n, len(items(batched.value))) {
			return
		}
		var cases []*values
		for _, one := range items(batched.value) {
			inner := b.open(b.doc, one, "a case", conf)
			inner.look(caseKeys)
			cases = append(cases, inner)
		}
		b.batch(conf, cases)
	}
}

// room reports whether there may be so many cases more, and tells where not.
func (b *builder) room(at *yaml.Node, more int) bool {
	if len(b.names)+more > maxCases {
		b.doc.Refuse(at, "there must be at most %d cases", maxCases)
		return false
	}
	return true
}

// points are what a case or batch is worth; pretests are worth nothing.
func (b *builder) points(conf *values) judge.Score {
	if b.pretest {
		return judge.Score{}
	}
	return conf.score("points", judge.ScoreOf(1))
}

// single adds a case that is in no batch to the group of those before it, unless one
// of both is worth nothing and the other is not.
func (b *builder) single(conf *values) {
	points := b.points(conf)
	nothing := points.Sign() == 0
	last := len(b.groups) - 1
	if last < 0 || b.groups[last].Score != nil || b.groups[last].Stop != nothing {
		b.loose++
		b.groups = append(b.groups, testcases.Group{Name: fmt.Sprintf("cases%d", b.loose), Stop: nothing, After: slices.Clone(b.ending)})
		last++
		if nothing {
			b.ends(conf.at, b.groups[last].Name)
		}
	}
	g := &b.groups[last]
	g.Cases = append(g.Cases, b.one(conf, g.Name, points, 0))
	b.worth = b.worth.Add(points)
}

// batch adds a group that gives the least of what its cases give, of which the first
// that is not passed ends it.
func (b *builder) batch(conf *values, cases []*values) {
	b.batches++
	g := testcases.Group{
		Name: batchName(b.batches), Stop: true, After: slices.Clone(b.ending), Score: &testcases.Aggregate{Mode: testcases.ModeMin},
	}
	g.After = append(g.After, b.dependencies(conf)...)
	var most judge.Score
	nothing, differ := 0, false
	for i, one := range cases {
		points := b.points(one)
		if points.Sign() == 0 {
			nothing++
		}
		differ = differ || i > 0 && points.Cmp(most) != 0
		if i == 0 || points.Cmp(most) > 0 {
			most = points
		}
		g.Cases = append(g.Cases, b.one(one, g.Name, points, b.batches))
	}
	if differ {
		g.Score.Max = &most
	}
	switch nothing {
	case 0:
	case len(cases):
		b.ends(conf.at, g.Name)
	default:
		b.doc.Refuse(conf.at, "a batch must not have cases that are worth nothing beside others that are not: it would never give points")
	}
	b.groups = append(b.groups, g)
	b.worth = b.worth.Add(most)
}

// ends notes a group that is worth nothing.
func (b *builder) ends(at *yaml.Node, name string) {
	if len(b.ending) == maxEnding {
		b.doc.Refuse(at, "at most %d batches, or runs of cases between others, may be worth nothing", maxEnding)
	}
	if len(b.ending) <= maxEnding {
		b.ending = append(b.ending, name)
	}
}

func batchName(n int) string { return "batch" + strconv.Itoa(n) }

// dependencies are the batches that must be passed before this one is run.
func (b *builder) dependencies(conf *values) (names []string) {
	e, ok := conf.own["dependencies"]
	if !ok || manifest.Null(e.value) {
		return nil
	}
	if manifest.Kind(e.value) != yaml.SequenceNode {
		b.doc.Refuse(e.value, "dependencies must be a list of the numbers of batches")
		return nil
	}
	if b.shared {
		b.doc.Refuse(e.value, "dependencies are not supported where pretest_test_cases has batches: it is not defined which ones are counted")
		return nil
	}
	if n := len(items(e.value)); n > maxItems {
		b.doc.Refuse(e.value, "dependencies must be at most %d, are %d", maxItems, n)
		return nil
	}
	for _, n := range items(e.value) {
		i, ok := number(n)
		switch {
		case !ok || i < 1:
			b.doc.Refuse(n, "dependencies must be numbers of batches, from 1")
		case i >= b.batches:
			b.doc.Refuse(n, "batch %d depends on batch %d, which is none before it", b.batches, i)
		case !slices.Contains(names, batchName(i)):
			names = append(names, batchName(i))
		}
	}
	return names
}

// one makes a case.
func (b *builder) one(conf *values, group string, points judge.Score, batch int) testcases.Case {
	c := testcases.Case{Name: fmt.Sprintf("%s/%d", group, len(b.names)+1), Points: &points, Rule: b.ruleOf(conf)}
	binary := conf.truth("binary_data", false)
	link := b.settingsOf(conf, &c)
	b.fillData(conf, &c, binary, link != "")
	if link != "" && c.Input != nil {
		c.Files = append(c.Files, testcases.CaseFile{Name: link, Data: c.Input})
	}
	if b.tellsCase(c) {
		known, err := json.Marshal(map[string]any{
			"point_value": json.Number(points.String()), "case_position": len(b.names), "batch": batch, "binary_data": binary,
		})
		if err != nil {
			b.Fail(err)
		}
		c.CheckerArgs = []string{string(known)}
	}
	b.names = append(b.names, c.Name)
	return c
}

// tellsCase reports whether a module of the package wants to know of the case.
func (r *reader) tellsCase(c testcases.Case) bool {
	own := r.p.RuleOf(c).Program
	if r.p.Kind == testcases.Interactive {
		own = r.p.Interactor
	}
	return own != nil && own.Protocol == testcases.ProtocolDMOJ
}
