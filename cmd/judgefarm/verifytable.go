package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"judgefarm/cmd/judgefarm/internal/verify"
	"judgefarm/judge"
)

// printReport shows one problem to a person: the table of its submissions, what was
// found, and a line that sums it up.
func printReport(w io.Writer, r *verify.Report) error {
	fmt.Fprintf(w, "%s: %s\n", r.Package, strings.Join(about(r), ", "))
	if t := r.Time; t != nil {
		fmt.Fprintln(w, aboutTime(t))
	}
	var rows []string
	for _, row := range r.Submissions {
		rows = append(rows, submissionRow(row))
	}
	if len(rows) > 0 {
		if err := printTable(w, "SUBMISSION | LANGUAGE | EXPECTED | GIVEN | SLOWEST | OF LIMIT | ", rows); err != nil {
			return err
		}
	}
	for _, f := range r.Findings {
		fmt.Fprintf(w, "%-8s %s\n", f.Severity, shown(&judge.Text{Text: strings.ReplaceAll(f.String(), "\n", " ")}))
	}
	if r.Since != nil {
		fmt.Fprintf(w, "since %s: %s\n", r.Since.Format(time.DateTime), plural(len(r.Changed), "change"))
		for _, change := range r.Changed {
			fmt.Fprintf(w, "changed  %s\n", shown(&judge.Text{Text: change}))
		}
	}
	sum := plural(r.Faults, "fault") + ", " + plural(r.Warnings, "warning")
	if !r.Complete {
		sum += ", not everything could be looked at"
	}
	_, err := fmt.Fprintf(w, "%s: %s (%.1f s)\n\n", r.Package, sum, r.Took.Duration().Seconds())
	return err
}

func about(r *verify.Report) []string {
	if r.Format == "" {
		return []string{"is no package that can be read"}
	}
	c := r.Checked
	all := []string{r.Format, fmt.Sprintf("%d cases (%d samples)", r.Cases, r.Samples)}
	for _, n := range []struct {
		count int
		what  string
	}{{c.Inputs, "runs of input validators"}, {c.InvalidInputs, "invalid inputs"}, {c.Answers, "answers checked"}, {c.Outputs, "outputs checked"}} {
		if n.count > 0 {
			all = append(all, fmt.Sprintf("%d %s", n.count, n.what))
		}
	}
	return all
}

func aboutTime(t *verify.TimeLimit) string {
	text := fmt.Sprintf("time limit %v", t.Limit.Duration())
	switch {
	case t.Derived:
		text += ", derived"
	case t.Stated:
		text += ", stated"
	}
	if t.Slowest != "" {
		text += fmt.Sprintf("; the slowest that it must leave room needs %v (%s): %.1f times as much", t.Needs.Duration().Round(1e6), below(t.Slowest), t.Room)
	}
	if t.AskedRoom > 0 {
		text += fmt.Sprintf(", asked for are %g", t.AskedRoom)
	}
	if t.Write != "" {
		text += "\nto state it: " + t.Write
	}
	return text
}

func submissionRow(row verify.Row) string {
	mark, given := "ok", string(row.Verdict)
	switch {
	case row.Missing != "":
		mark = "not judged"
	case len(row.Unmet) > 0:
		mark = "DIFFERS"
	}
	if row.Score != nil {
		given += " " + score(row.Score)
	}
	slowest, share := "", ""
	if row.Missing == "" {
		slowest, share = fmt.Sprintf("%.0f ms", float64(row.Slowest)), fmt.Sprintf("%.2f", row.OfLimit)
	}
	if row.Beyond > 0 {
		share = fmt.Sprintf("> %.3g", row.Beyond)
	}
	return strings.Join([]string{below(row.Path), row.Language, row.Expected, given, slowest, share, mark}, "\t")
}

func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

func below(at string) string { return strings.TrimPrefix(at, "submissions/") }
