package engine

import (
	"os"
	"strings"
	"testing"

	"judgefarm/judge"
	"judgefarm/testcases"
)

const tableOfPoints = "| group | rule | results | points | verdict |"

// The worked examples of docs/scoring.md are what the engine computes, and leaves out.
func TestDocumentedPoints(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/scoring.md")
	if err != nil {
		t.Fatal(err)
	}
	tables := strings.Split(string(text), tableOfPoints)[1:]
	if len(tables) < 9 {
		t.Fatalf("%d tables", len(tables))
	}
	for i, table := range tables {
		var rows [][]string
		for line := range strings.Lines(table) {
			if cells := strings.Split(strings.TrimSpace(line), "|"); len(cells) == 7 && !strings.HasPrefix(cells[1], "--") {
				rows = append(rows, cells[1:6])
			} else if line != "\n" && len(cells) != 7 {
				break
			}
		}
		for _, row := range rows {
			for k := range row {
				row[k] = strings.TrimSpace(row[k])
			}
		}
		documented(t, i+1, rows)
	}
}

// documented computes one table, whose last row is the problem's.
func documented(t *testing.T, nth int, rows [][]string) {
	t.Helper()
	p, results := &testcases.Problem{}, map[string]earned{}
	for _, row := range rows[:len(rows)-1] {
		g := testcases.Group{Name: row[0]}
		g.Score, g.After, g.Also = ruleOf(t, row[1])
		for k, word := range strings.Fields(row[2]) {
			c := testcases.Case{Name: caseName(row[0], k+1)}
			if worth, result, stated := strings.Cut(word, ":"); stated {
				c.Points, word = number(t, worth), result
			}
			g.Cases = append(g.Cases, c)
			if word != "SK" {
				results[c.Name] = resultOf(t, word)
			}
		}
		p.Groups = append(p.Groups, g)
	}
	last := rows[len(rows)-1]
	p.Score, _, _ = ruleOf(t, last[1])
	plan := newPlan(p, "")
	for i, c := range p.Cases() {
		e, ran := results[c.Name]
		if plan.skips(i) == ran {
			t.Errorf("table %d: %s is run: %v, which is not what is documented", nth, c.Name, !ran)
		}
		if !ran {
			e.verdict = judge.Skipped
		}
		plan.told(i, e)
	}
	tally := &tally{results: results}
	got, most, err := tally.totalOf(t.Context(), p)
	if err != nil {
		t.Fatalf("table %d: %v", nth, err)
	}
	if points := got.score.String() + " of " + most.String(); points != last[3] || string(got.verdict) != last[4] {
		t.Errorf("table %d: %s, %s, documented are %s, %s", nth, points, got.verdict, last[3], last[4])
	}
	for k, row := range rows[:len(rows)-1] {
		s, err := tally.combine(t.Context(), p.Groups[k])
		if err != nil || s.score.String() != row[3] || string(s.verdict) != row[4] {
			t.Errorf("table %d: %s: %v, %s, %v, documented are %s, %s", nth, row[0], s.score, s.verdict, err, row[3], row[4])
		}
	}
}

// caseName is what the table calls "GROUP N".
func caseName(group string, n int) string { return group + "/" + string(rune('0'+n)) }

// ruleOf reads "least x 40, after first, with first 2".
func ruleOf(t *testing.T, text string) (a *testcases.Aggregate, after, also []string) {
	t.Helper()
	modes := map[string]testcases.ScoreMode{
		"sum": testcases.ModeSum, "least": testcases.ModeMin, "greatest": testcases.ModeMax, "average": testcases.ModeAverage,
		"product": testcases.ModeProduct, "all": testcases.ModeAll,
	}
	a = &testcases.Aggregate{}
	for i, part := range strings.Split(text, ", ") {
		words := strings.Fields(part)
		if i == 0 {
			mode, ok := modes[words[0]]
			if !ok {
				t.Fatalf("no rule is called %q", part)
			}
			a.Mode = mode
			if words = words[1:]; len(words) == 2 && words[0] == "x" {
				a.Scale = number(t, words[1])
			}
			continue
		}
		switch words[0] {
		case "each":
			a.Accept = number(t, words[1])
		case "rejected":
			a.Reject = number(t, words[1])
		case "at": // most
			a.Threshold = number(t, words[2])
		case "after":
			after = append(after, words[1])
		case "with":
			also = append(also, words[1]+"/"+words[2])
		default:
			t.Fatalf("%q is no part of a rule", part)
		}
	}
	return a, after, also
}

// resultOf reads a verdict, a share, or points of a checker: "7p".
func resultOf(t *testing.T, word string) earned {
	t.Helper()
	points, absolute := strings.CutSuffix(word, "p")
	switch {
	case absolute:
		return earned{verdict: judge.Accepted, points: number(t, points)}
	case strings.Trim(word, "0123456789./") == "":
		return earned{verdict: judge.Accepted, share: number(t, word)}
	}
	return earned{verdict: judge.Verdict(word)}
}

func number(t *testing.T, text string) *judge.Score {
	t.Helper()
	above, below, divided := strings.Cut(text, "/")
	s, err := judge.ParseScore(above)
	if err == nil && divided {
		var d judge.Score
		d, err = judge.ParseScore(below)
		s = s.Over(d)
	}
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return &s
}
