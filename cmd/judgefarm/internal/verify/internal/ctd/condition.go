package ctd

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// test evaluates a condition.
func (m *machine) test(t *node) (bool, error) {
	switch t.op {
	case "!":
		ok, err := m.test(t.kids[0])
		return !ok, err
	case "&&", "||":
		ok, err := m.test(t.kids[0])
		if err != nil || ok == (t.op == "||") {
			return ok, err
		}
		return m.test(t.kids[1])
	case "ISEOF":
		return m.at == len(m.in), nil
	case "MATCH":
		v, err := m.eval(t.kids[0])
		if err == nil && !v.isStr {
			err = fail(t.line, "MATCH is for texts, not for %v", v)
		}
		return err == nil && m.at < len(m.in) && strings.IndexByte(v.text, m.in[m.at]) >= 0, err
	case "UNIQUE":
		return m.unique(t)
	case "INARRAY":
		return m.inArray(t)
	}
	left, err := m.eval(t.kids[0])
	if err != nil {
		return false, err
	}
	right, err := m.eval(t.kids[1])
	if err != nil {
		return false, err
	}
	order, err := compare(left, right)
	return map[string]bool{
		"<": order < 0, ">": order > 0, "<=": order <= 0, ">=": order >= 0, "==": order == 0, "!=": order != 0,
	}[t.op], wrong(t, err)
}

// unique reports whether the tuples of several arrays are all different.
func (m *machine) unique(t *node) (bool, error) {
	first := m.vars[t.kids[0].name]
	seen := make(map[string]bool, len(first))
	for _, v := range t.kids[1:] {
		if len(m.vars[v.name]) != len(first) {
			return false, fail(t.line, "UNIQUE: %s and %s have other indices", t.kids[0].name, v.name)
		}
	}
	for _, index := range slices.Sorted(maps.Keys(first)) {
		var b strings.Builder
		for _, v := range t.kids {
			val, ok := m.vars[v.name][index]
			if !ok {
				return false, fail(t.line, "UNIQUE: %s and %s have other indices", t.kids[0].name, v.name)
			}
			key := val.key()
			b.WriteString(strconv.Itoa(len(key)) + ":" + key)
		}
		if m.steps++; seen[b.String()] {
			return false, nil
		}
		seen[b.String()] = true
	}
	return true, nil
}

func (m *machine) inArray(t *node) (bool, error) {
	v, err := m.eval(t.kids[0])
	if err != nil {
		return false, err
	}
	return m.has[t.kids[1].name][v.key()] > 0, nil
}
