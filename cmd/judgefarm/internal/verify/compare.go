package verify

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"judgefarm/judge"
	"judgefarm/judge/engine"
	"judgefarm/testcases"
)

// mustPass reports a submission that is to be accepted on every case.
func mustPass(s testcases.Labelled) bool {
	only := func(v []judge.Verdict) bool { return slices.Equal(v, []judge.Verdict{judge.Accepted}) }
	return only(s.Allowed) || slices.ContainsFunc(s.Expect, func(e testcases.Expectation) bool { return e.Cases == "" && only(e.Permitted) })
}

// mustFail reports a submission that is to be refused.
func mustFail(s testcases.Labelled) bool {
	without := func(v []judge.Verdict) bool { return len(v) > 0 && !slices.Contains(v, judge.Accepted) }
	return without(s.Allowed) || slices.ContainsFunc(s.Expect, func(e testcases.Expectation) bool { return without(e.Required) || e.Partial || e.Above != nil })
}

// compare makes the rows of the table and tells what labels do not hold.
func (v *verification) compare(entries []*entry, limit time.Duration) {
	for _, e := range entries {
		if e.hidden {
			continue
		}
		row := Row{Path: e.sub.Path, Expected: expected(e.sub), Missing: e.missing, Alone: e.alone || v.opts.Alone}
		if e.lang != nil {
			row.Language = e.lang.ID
		}
		if len(e.rounds) > 0 && e.rounds[0] != nil {
			v.fill(&row, e, limit)
		} else if e.promised {
			row.Missing, row.promised = "it could not be judged, as it should be", true
		} else if row.Missing == "" {
			row.Missing = "it could not be judged"
		}
		v.report.Submissions = append(v.report.Submissions, row)
	}
}

// expected is what a label promises, in a cell.
func expected(sub testcases.Labelled) string {
	if n := len(sub.Allowed); n > 0 && n <= 3 && !ofCases(sub) {
		return Words(sub.Allowed)
	}
	return sub.Label
}

func (v *verification) fill(row *Row, e *entry, limit time.Duration) {
	for i, got := range e.rounds {
		if got == nil {
			continue
		}
		row.Rounds++
		for _, text := range Unmet(e.sub, *got) {
			if !slices.Contains(row.Unmet, text) {
				row.Unmet = append(row.Unmet, text)
				v.report.add(e.blame(got, text))
			}
		}
		if i > 0 {
			v.flaky(e, e.rounds[0].Doc, got.Doc, i)
		}
	}
	doc := e.rounds[0].Doc
	if doc.Language != nil {
		v.report.Toolchains[doc.Language.ID] = *doc.Language
	}
	v.report.Checker = doc.Checker
	if doc.Verdict != nil {
		row.Verdict = *doc.Verdict
	}
	if v.p.Scores() {
		row.Score = doc.Score
	}
	row.Slowest = slowest(doc)
	for _, r := range doc.Cases {
		if r.Verdict == judge.Skipped {
			continue
		}
		row.Memory = max(row.Memory, r.Usage.Memory.Bytes())
		if r.Verdict != judge.Accepted {
			row.Fails = append(row.Fails, r.Name)
		}
	}
	if lim, err := engine.Limits(judge.Limits{CPU: limit}, v.p.Limits); err == nil {
		s := stretchOf(e.lang, v.p.TimeFactors[e.lang.ID])
		row.OfLimit = float64(row.Slowest.Duration()) / float64(s.stretched(lim.CPU))
	}
	if doc.Compile != nil {
		row.Compile = doc.Compile.Usage.CPU
	}
	if e.beyond != nil && timedOut(e.upper, e.beyond.Doc) {
		row.Beyond = v.p.Jury.Time.LimitToTLE.Float()
	}
}

// blame says who is at fault for what does not hold: the package, unless the machine
// was too busy to tell.
func (e *entry) blame(got *Judged, text string) Finding {
	file, line := e.place(got)
	if why := disturbed(got.Doc); why != "" {
		return Finding{Failure, checkSubmission, file, line, text + "; " + why}
	}
	return Finding{Fault, checkSubmission, file, line, text}
}

// disturbed tells of a run that ran out of wall time while others had its core for a
// quarter of it or more.
func disturbed(doc *judge.Judgement) string {
	for _, r := range doc.Cases {
		late := r.Verdict == judge.WallTimeLimit || r.Verdict == judge.IdleLimit
		if late && r.Noise != nil && r.Noise.RunDelay != nil && 4**r.Noise.RunDelay >= r.Usage.Wall {
			return fmt.Sprintf("on case %s it waited %v of %v for a core that others had: try again when this machine is less busy",
				r.Name, r.Noise.RunDelay.Duration().Round(time.Millisecond), r.Usage.Wall.Duration().Round(time.Millisecond))
		}
	}
	return ""
}

// place is the line of the submission that its compiler or interpreter complained of.
func (e *entry) place(got *Judged) (file string, line int) {
	if at := strings.LastIndexByte(got.crash, ':'); at > 0 {
		if _, err := fmt.Sscanf(got.crash[at+1:], "%d", &line); err == nil {
			return got.crash[:at], line
		}
	}
	return e.sub.Path, 0
}

// crashed finds that line while the outputs are there.
func (j *Judged) crashed(e *entry, out *engine.Outcome) {
	note := func(text string) bool {
		file, line := program(e.sub.Path, e.sub.Files, text)
		if line > 0 {
			j.crash = fmt.Sprintf("%s:%d", file, line)
		}
		return line > 0
	}
	if len(out.Judgement.Cases) == 0 {
		note(string(out.CompileLog))
		return
	}
	for _, o := range out.Outputs {
		if o.Verdict == judge.RuntimeError && note(string(o.Stderr)) {
			return
		}
	}
}

// flaky tells what a later round gave otherwise than the first.
func (v *verification) flaky(e *entry, a, b *judge.Judgement, round int) {
	tell := func(format string, args ...any) {
		v.report.add(Finding{Fault, checkFlaky, e.sub.Path, 0, fmt.Sprintf(format, args...) + fmt.Sprintf(" in round %d", round+1)})
	}
	if a.Verdict != nil && b.Verdict != nil && *a.Verdict != *b.Verdict {
		tell("got %s in round 1 and %s", *a.Verdict, *b.Verdict)
	}
	if a.Score != nil && b.Score != nil && *a.Score != *b.Score && v.p.Scores() {
		tell("scored %g in round 1 and %g", *a.Score, *b.Score)
	}
	for i, r := range a.Cases {
		if i < len(b.Cases) && r.Verdict != judge.Skipped && b.Cases[i].Verdict != judge.Skipped && r.Verdict != b.Cases[i].Verdict {
			tell("case %s: got %s in round 1 and %s", r.Name, r.Verdict, b.Cases[i].Verdict)
			return
		}
	}
}

// coverage lists the cases that no wrong submission fails.
func (v *verification) coverage(entries []*entry) {
	wrong, failed := 0, map[string]bool{}
	for _, e := range entries {
		if !mustFail(e.sub) || len(e.rounds) == 0 || e.rounds[0] == nil || len(e.rounds[0].Doc.Cases) == 0 {
			continue
		}
		wrong++
		for _, r := range e.rounds[0].Doc.Cases {
			if r.Verdict != judge.Accepted && r.Verdict != judge.Skipped {
				failed[r.Name] = true
			}
		}
	}
	if wrong == 0 || v.opts.Submissions != "" || v.opts.Fast {
		return
	}
	for _, c := range v.p.Cases() {
		if !failed[c.Name] {
			v.report.Unfailed = append(v.report.Unfailed, c.Name)
		}
	}
	if n := len(v.report.Unfailed); n > 0 {
		v.report.add(Finding{Note, checkCoverage, "", 0, fmt.Sprintf(
			"%d of %s are failed by no wrong submission (too slow ones are stopped at their first): %s",
			n, plural(v.report.Cases, "case"), some(v.report.Unfailed))})
	}
}

// some lists the first of many names.
func some(names []string) string {
	const most = 20
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
}

// limit is the time limit that all submissions are judged with: the caller's, the
// package's or the one derived; 0 leaves it to the defaults. Submissions that it was
// derived from have their first round then.
func (v *verification) limit(ctx context.Context, entries []*entry) (time.Duration, error) {
	rule := v.p.Jury.Time
	switch {
	case v.opts.CPU > 0:
		return v.opts.CPU, nil
	case v.p.Limits.CPU > 0:
		return 0, nil
	case rule.AcToLimit.Sign() == 0:
		return 0, nil
	}
	return v.deriveLimit(ctx, entries)
}
