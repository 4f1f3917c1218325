package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"judgefarm/judge"
)

// printJSON prints one document, indented.
func printJSON(w io.Writer, doc any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(doc)
}

// printTable aligns rows of tab-separated cells.
func printTable(w io.Writer, header string, rows []string) error {
	tab := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(tab, strings.ReplaceAll(header, " | ", "\t"))
	for _, row := range rows {
		fmt.Fprintln(tab, row)
	}
	return tab.Flush()
}

// printJudgement shows a judgement to a person.
func printJudgement(w io.Writer, j *judge.Judgement) error {
	if c := j.Compile; c != nil && c.Log != nil && c.Log.Bytes > 0 {
		fmt.Fprintf(w, "compiler:\n%s\n", strings.TrimRight(shown(c.Log), "\n"))
	}
	rows := make([]string, len(j.Cases))
	for i, run := range j.Cases {
		rows[i] = fmt.Sprintf("%s\t%s\t%.1f ms\t%.1f ms\t%d KiB\t%s",
			run.Name, run.Verdict, float64(run.Usage.CPU), float64(run.Usage.Wall), run.Usage.Memory, firstLine(run.Message))
		if run.Verdict == judge.Skipped {
			rows[i] = fmt.Sprintf("%s\t%s\t\t\t\t", run.Name, run.Verdict)
		}
	}
	if len(rows) > 0 {
		if err := printTable(w, "CASE | VERDICT | CPU | WALL | MEMORY | MESSAGE", rows); err != nil {
			return err
		}
	}
	switch {
	case j.Failed != nil:
		_, err := fmt.Fprintf(w, "failed: %s\n", j.Failed.Error())
		return err
	case j.Verdict == nil:
		_, err := fmt.Fprintf(w, "%s\n", j.State)
		return err
	}
	_, err := fmt.Fprintf(w, "%s  score %s  (%s)\n", *j.Verdict, score(j.Score), languageOf(j))
	return err
}

func score(s *float64) string {
	if s == nil {
		return "-"
	}
	return fmt.Sprintf("%.4g", *s)
}

func languageOf(j *judge.Judgement) string {
	if j.Language == nil {
		return "language unknown"
	}
	return j.Language.ID + " " + j.Language.Version
}

// shown is text for a terminal: what is not UTF-8 stays base64, and no control
// character of a submission reaches the terminal.
func shown(t *judge.Text) string {
	text := strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (r < ' ' || r >= 0x7f && r < 0xa0) {
			return '\ufffd'
		}
		return r
	}, t.Text)
	if t.Truncated {
		text += fmt.Sprintf("\n... cut, %d bytes in all", t.Bytes)
	}
	return text
}

func firstLine(s string) string {
	line, rest, more := strings.Cut(s, "\n")
	if more && strings.TrimSpace(rest) != "" {
		line += " ..."
	}
	return shown(&judge.Text{Text: line})
}
