package dmoj

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"judgefarm/internal/manifest"
	"judgefarm/judge"
)

// matcher finds case and batch in the names of the archive's files.
type matcher struct {
	re *regexp.Regexp
	// kind, of the default formats, must be what the name begins with, or stand in it
	// after a dot: "in" or "out".
	kind string
}

// The default format but for what it looks ahead for, which Go cannot.
const defaultFormat = `^.*?(?:(?:^|\W)(?P<batch>\d+)[^\d\s]+)?(?P<case>\d+)[^\d\s]*$`

// place is a batch or a case as a name tells it: a number where it is one.
type place struct {
	number bool
	n      int64
	text   string
}

func placeOf(text string) place {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return place{number: true, n: n}
	}
	return place{text: text}
}

// compare puts words before numbers.
func (p place) compare(q place) int {
	if p.number != q.number {
		if q.number {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(p.n, q.n), strings.Compare(p.text, q.text))
}

// find returns batch and case of a name; batched is false where there is no batch.
func (m matcher) find(name string) (batch, one place, batched, ok bool) {
	if lower := strings.ToLower(name); m.kind != "" && !strings.HasPrefix(lower, m.kind) && !strings.Contains(lower, "."+m.kind) {
		return place{}, place{}, false, false
	}
	at := m.re.FindStringSubmatchIndex(name)
	if at == nil {
		return place{}, place{}, false, false
	}
	group := func(word string) (place, bool) {
		i := m.re.SubexpIndex(word)
		if i < 0 || at[2*i] < 0 {
			return place{}, false
		}
		return placeOf(name[at[2*i]:at[2*i+1]]), true
	}
	one, ok = group("case")
	batch, batched = group("batch")
	return batch, one, batched, ok
}

// pairOf is what names say of one case.
type pairOf struct{ in, out string }

// addMatching takes the cases from the names of the archive's files.
func (b *builder) addMatching(n *yaml.Node) {
	at := n
	if at == nil {
		at = b.doc.Root
	}
	conf := b.open(b.doc, n, "test_cases", nil)
	conf.only("test_cases", "input_format", "output_format", "case_points")
	if b.archive == nil {
		if b.top.get("archive") == nil {
			b.doc.Refuse(at, "test_cases must be a list where there is no archive")
		}
		return
	}
	input, okIn := b.matcher(conf, "input_format", "in")
	output, okOut := b.matcher(conf, "output_format", "out")
	if !okIn || !okOut {
		return
	}
	found, batches := map[place]map[place]*pairOf{}, map[place]bool{}
	b.match(at, input, found, batches, func(p *pairOf) *string { return &p.in })
	b.match(at, output, found, batches, func(p *pairOf) *string { return &p.out })
	order := func(all []place) []place { slices.SortFunc(all, place.compare); return all }
	points := b.casePoints(conf)
	var groups []place
	for g := range found {
		groups = append(groups, g)
	}
	for i, g := range order(groups) {
		worth, ok := points(i)
		if !ok {
			b.doc.Refuse(at, "case_points must have a number for each of %d cases and batches", len(groups))
			return
		}
		if !b.room(at, len(found[g])) {
			return
		}
		var cases []place
		for c := range found[g] {
			cases = append(cases, c)
		}
		b.addFound(at, found[g], order(cases), batches[g], worth)
	}
	if len(groups) == 0 {
		b.doc.Refuse(at, "no file of %s has the name of a case: state input_format and output_format, or list the cases", b.archive.name)
	}
}

// addFound adds a batch, or the one case that is in none.
func (b *builder) addFound(at *yaml.Node, found map[place]*pairOf, cases []place, batched bool, worth string) {
	mapping := func(pairs ...string) *values {
		n := &yaml.Node{Kind: yaml.MappingNode, Line: at.Line}
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i+1] != "" {
				n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: pairs[i], Line: at.Line},
					&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: pairs[i+1], Line: at.Line})
			}
		}
		return b.open(b.doc, n, "a case", b.top)
	}
	var all []*values
	conf := mapping("points", worth)
	for _, c := range cases {
		pair := found[c]
		if pair.in == "" || pair.out == "" {
			b.Note(b.archive.name, "has no counterpart of %s: it is taken for empty", cmp.Or(pair.in, pair.out))
		}
		one := mapping("in", pair.in, "out", pair.out)
		one.parent = conf
		all = append(all, one)
	}
	switch {
	case batched:
		b.batch(conf, all)
	case len(all) > 1:
		b.doc.Refuse(at, "files %s and %s both are one case that is in no batch", cmp.Or(found[cases[0]].in, found[cases[0]].out),
			cmp.Or(found[cases[1]].in, found[cases[1]].out))
	default:
		b.single(all[0])
	}
}

// match looks at every file of the archive. Of two files for the same case the later
// one counts, as it does for DMOJ.
func (b *builder) match(at *yaml.Node, m matcher, found map[place]map[place]*pairOf, batches map[place]bool, part func(*pairOf) *string) {
	for _, name := range b.archive.order {
		batch, one, batched, ok := m.find(name)
		if !ok {
			continue
		}
		if batched {
			batches[batch] = true
		} else {
			batch = one
		}
		if found[batch] == nil {
			found[batch] = map[place]*pairOf{}
		}
		if found[batch][one] == nil {
			found[batch][one] = &pairOf{}
		}
		if p := part(found[batch][one]); *p == "" || noisy(*p) || !noisy(name) {
			if *p != "" && !noisy(*p) && !noisy(name) {
				b.doc.Note(at, "%s and %s both are the same file of a case: the later one counts", *p, name)
			}
			*p = name
		}
	}
}

// noisy names are of files that systems put into archives.
func noisy(name string) bool {
	return slices.ContainsFunc(strings.Split(strings.TrimSuffix(name, "/"), "/"), func(part string) bool { return part == "" || noise(part) })
}

// matcher reads a format of names: a regular expression of Python that must match from
// the start, letters of either case being equal.
func (b *builder) matcher(conf *values, key, kind string) (matcher, bool) {
	n := conf.get(key)
	if n == nil {
		return matcher{regexp.MustCompile(`(?i)` + defaultFormat), kind}, true
	}
	re, err := regexp.Compile(`(?i)^(?:` + conf.d.Text(n, key) + `)`)
	switch {
	case err != nil:
		b.doc.Refuse(n, "%s is not supported, list the cases instead: %v", key, err)
	case re.SubexpIndex("case") < 0:
		b.doc.Refuse(n, "%s must have a group (?P<case>...)", key)
	}
	return matcher{re: re}, err == nil
}

// casePoints are the points of the cases and batches that are found, in their order.
func (b *builder) casePoints(conf *values) func(i int) (string, bool) {
	n := conf.get("case_points")
	if n == nil {
		return func(int) (string, bool) { return "", true } // those of the file
	}
	if manifest.Kind(n) != yaml.SequenceNode {
		b.doc.Refuse(n, "case_points must be a list")
		return func(int) (string, bool) { return "", true }
	}
	list := conf.d.List(n, "case_points")
	return func(i int) (string, bool) {
		if i >= len(list) {
			return "", false
		}
		if _, err := judge.ParseScore(list[i]); err != nil {
			b.doc.Refuse(n, "case_points %v", err)
		}
		return list[i], true
	}
}
