package judge

import (
	"fmt"
	"strings"
)

// Difference is how a judgement differs from an earlier one of the same files, with
// the evidence for it. Text of programs in it is bounded; it may hold what a checker
// told the submitter.
type Difference struct {
	Case  string `json:"case,omitempty" doc:"the first case whose verdict is another"`
	Cause string `json:"cause" doc:"what is known of why: limits and usage, exit, the checker's message, versions"`
}

// maxCauseText bounds what of a program's text a cause quotes.
const maxCauseText = 200

// Compare tells why the later judgement has another verdict or score; nil when it has
// the same. Of the earlier one only the verdict need be known.
func Compare(was, is Judgement) *Difference {
	if sameVerdict(was, is) && sameScore(was.Score, is.Score) {
		return nil
	}
	d := &Difference{}
	var parts []string
	say := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	switch {
	case is.State == FailedState && is.Failed != nil:
		say("we failed: %s: %s", is.Failed.Kind, is.Failed.Reason)
	case is.State != Judged:
		say("is %s", is.State)
	case is.Compile != nil && is.Compile.Verdict != "":
		say("does not compile (%s): %s", is.Compile.Verdict, quoted(logOf(is.Compile)))
	default:
		d.Case = firstDifference(was, is)
		if run := runOf(is, d.Case); run != nil {
			say("%s", evidence(*run, is.Limits))
		}
		if run := runOf(was, d.Case); run != nil {
			say("before: %s", evidence(*run, was.Limits))
		}
	}
	if was.Compile != nil && was.Compile.Verdict != "" && is.State == Judged {
		say("did not compile before")
	}
	if n, m := len(was.Cases), len(is.Cases); n > 0 && m > 0 && n != m {
		say("%d cases, before %d", m, n)
	}
	parts = append(parts, versions(was, is)...)
	if len(parts) == 0 {
		say("another score")
	}
	d.Cause = strings.Join(parts, "; ")
	return d
}

func sameVerdict(a, b Judgement) bool {
	if a.State != b.State {
		return false
	}
	return a.Verdict == nil && b.Verdict == nil || a.Verdict != nil && b.Verdict != nil && *a.Verdict == *b.Verdict
}

// sameScore takes a score that is not known for the same.
func sameScore(a, b *float64) bool { return a == nil || b == nil || *a == *b }

// firstDifference is the first case that has another verdict than it had; where the
// earlier runs are not known, the first that is not accepted.
func firstDifference(was, is Judgement) string {
	before := map[string]Verdict{}
	for _, run := range was.Cases {
		before[run.Name] = run.Verdict
	}
	for _, run := range is.Cases {
		v, known := before[run.Name]
		if known && v != run.Verdict || len(before) > 0 && !known || len(before) == 0 && run.Verdict != Accepted {
			return run.Name
		}
	}
	return ""
}

func runOf(j Judgement, name string) *Run {
	for i := range j.Cases {
		if j.Cases[i].Name == name {
			return &j.Cases[i]
		}
	}
	return nil
}

// evidence is what a run's verdict rests on.
func evidence(r Run, l *LimitsJSON) string {
	if r.Verdict == Skipped {
		return fmt.Sprintf("case %s %s", r.Name, r.Verdict)
	}
	text := fmt.Sprintf("case %s %s: cpu %.1f ms, wall %.1f ms, %d KiB", r.Name, r.Verdict, float64(r.Usage.CPU), float64(r.Usage.Wall), r.Usage.Memory)
	if l != nil {
		text = fmt.Sprintf("case %s %s: cpu %.1f of %.0f ms, wall %.1f of %.0f ms, %d of %d KiB", r.Name, r.Verdict,
			float64(r.Usage.CPU), float64(l.CPU), float64(r.Usage.Wall), float64(l.Wall), r.Usage.Memory, l.Memory)
	}
	switch {
	case r.Signal != "":
		text += ", " + r.Signal
	case r.Exit != nil && *r.Exit != 0:
		text += fmt.Sprintf(", exit status %d", *r.Exit)
	}
	if r.Cause != "" {
		text += ", " + r.Cause
	}
	if r.Message != "" {
		text += ", " + quoted(r.Message)
	}
	return text
}

// versions tells what judged otherwise: the problem, the toolchain, the checker.
func versions(was, is Judgement) []string {
	var parts []string
	if a, b := was.Problem, is.Problem; a != nil && b != nil && a.Digest != b.Digest {
		text := "another problem"
		if a.Version != 0 && b.Version != 0 {
			text = fmt.Sprintf("problem at version %d, before %d", b.Version, a.Version)
		}
		parts = append(parts, text)
	}
	if a, b := was.Language, is.Language; a != nil && b != nil && a.Toolchain != b.Toolchain {
		parts = append(parts, fmt.Sprintf("toolchain %s %s, before %s %s", b.ID, quoted(b.Version), a.ID, quoted(a.Version)))
	}
	if was.Checker != "" && is.Checker != "" && was.Checker != is.Checker {
		parts = append(parts, fmt.Sprintf("checker %s, before %s", is.Checker, was.Checker))
	}
	return parts
}

func logOf(c *Compile) string {
	if c.Log == nil || c.Log.Encoding == EncodingBase64 {
		return ""
	}
	return c.Log.Text
}

// quoted is the first line of a program's text, bounded and without control characters.
func quoted(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	if len(s) > maxCauseText {
		s = string(wholeRunes([]byte(s[:maxCauseText]))) + "..."
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return '\ufffd'
		}
		return r
	}, s)
}
