package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"judgefarm/judge"
)

// matrix counts pairs of old and new verdicts, scores left aside.
type matrix map[string]map[string]int

func (m matrix) add(was, is string) {
	was, _, _ = strings.Cut(was, " ")
	is, _, _ = strings.Cut(is, " ")
	if m[was] == nil {
		m[was] = map[string]int{}
	}
	m[was][is]++
}

// print shows the old verdicts as rows and the new ones as columns; what stayed is on
// the diagonal.
func (m matrix) print(w io.Writer) error {
	seen := map[string]bool{}
	for was, row := range m {
		seen[was] = true
		for is := range row {
			seen[is] = true
		}
	}
	order := map[string]int{}
	for i, v := range judge.Verdicts() {
		order[string(v)] = i - len(judge.Verdicts()) // before all that is no verdict
	}
	all := slices.SortedFunc(maps.Keys(seen), func(a, b string) int {
		if order[a] != order[b] {
			return order[a] - order[b]
		}
		return strings.Compare(a, b)
	})
	rows := make([]string, len(all))
	for i, was := range all {
		rows[i] = was
		for _, is := range all {
			cell := "."
			if n := m[was][is]; n > 0 {
				cell = fmt.Sprint(n)
			}
			rows[i] += "\t" + cell
		}
	}
	return printTable(w, "OLD \\ NEW | "+strings.Join(all, " | "), rows)
}
