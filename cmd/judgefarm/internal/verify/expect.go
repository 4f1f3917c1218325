package verify

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"judgefarm/judge"
	"judgefarm/judge/engine"
	"judgefarm/testcases"
)

// Judged is what came of a labelled submission.
type Judged struct {
	Doc    *judge.Judgement
	Jury   map[string]string // by case, what the checker told the jury; nil: nobody knows
	Points *engine.Points    // nil: there are none, or nobody knows

	crash string // "FILE:LINE" of the submission, where it went wrong; "" is not known
}

// JudgedOf takes an engine's outcome.
func JudgedOf(out *engine.Outcome) Judged {
	j := Judged{Doc: &out.Judgement, Jury: map[string]string{}, Points: out.Points}
	for _, o := range out.Outputs {
		j.Jury[o.Case] = o.Jury
	}
	return j
}

// Unmet lists what the label promises and does not hold. What only the jury knows is
// left out where the judgement does not tell it.
func Unmet(sub testcases.Labelled, got Judged) []string {
	u := &unmet{got: got}
	doc := got.Doc
	switch {
	case doc.Verdict == nil:
		u.say("", "it was not judged")
		return u.all
	case sub.Broken:
		u.say("", "was judged and got %s; its label says that the package is broken for it", *doc.Verdict)
		return u.all
	case sub.Allowed != nil && !slices.Contains(sub.Allowed, *doc.Verdict):
		u.say("", "expected %s, got %s%s", Words(sub.Allowed), *doc.Verdict, first(doc))
	}
	for _, e := range sub.Expect {
		u.verdicts(e)
		u.points(e)
		u.message(e)
	}
	return u.all
}

// unmet collects; each is said once.
type unmet struct {
	got Judged
	all []string
}

func (u *unmet) say(where, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if where != "" {
		text += " (" + where + ")"
	}
	if !slices.Contains(u.all, text) {
		u.all = append(u.all, text)
	}
}

// runs are those of the cases that e is about, and ran. A submission that was not
// compiled earned its verdict on each.
func (u *unmet) runs(e testcases.Expectation) []judge.Run {
	doc := u.got.Doc
	if len(doc.Cases) == 0 {
		return []judge.Run{{Name: "every case", Verdict: *doc.Verdict}}
	}
	var runs []judge.Run
	for _, r := range doc.Cases {
		if r.Verdict != judge.Skipped && e.Matches(r.Name) {
			runs = append(runs, r)
		}
	}
	return runs
}

func (u *unmet) verdicts(e testcases.Expectation) {
	runs := u.runs(e)
	if len(e.Permitted) > 0 {
		for _, r := range runs {
			if !slices.Contains(e.Permitted, r.Verdict) {
				u.say(e.Origin, "permitted%s is %s, got %s on case %s%s", of(e), Words(e.Permitted), r.Verdict, r.Name, said(r))
				break // the first is enough
			}
		}
	}
	if len(e.Required) > 0 && !slices.ContainsFunc(runs, func(r judge.Run) bool { return slices.Contains(e.Required, r.Verdict) }) {
		u.say(e.Origin, "required%s is %s on at least one case, got %s", of(e), Words(e.Required), seen(runs))
	}
}

func (u *unmet) message(e testcases.Expectation) {
	if e.Message == "" || u.got.Jury == nil {
		return
	}
	for name, text := range u.got.Jury {
		if e.Matches(name) && strings.Contains(text, e.Message) {
			return
		}
	}
	u.say(e.Origin, "no case%s has a judge message with %.200q", of(e), e.Message)
}

// points compares exactly what was promised of points.
func (u *unmet) points(e testcases.Expectation) {
	p := u.got.Points
	if e.Score == nil && !e.Partial && e.Above == nil && e.Fraction == nil && e.Points == nil {
		return
	}
	if p == nil {
		if u.got.Jury != nil {
			p = &engine.Points{} // nothing ran: nothing was given
		} else {
			return
		}
	}
	totals := map[string]engine.Scored{"": p.Total}
	if e.Cases != "" {
		totals = map[string]engine.Scored{}
		for name, s := range p.Groups {
			if e.Matches(name) && !e.Matches(path.Dir(name)) {
				totals[name] = s
			}
		}
		if len(totals) == 0 && (e.Score != nil || e.Fraction != nil) {
			u.say(e.Origin, "no group of points is called %.100q", e.Cases)
		}
	}
	for name, s := range totals {
		u.total(e, name, s)
	}
	for _, name := range sorted(e.Points) {
		if got := p.Cases[name]; got.Cmp(e.Points[name]) != 0 {
			u.say(e.Origin, "case %s should give %v points, gave %v", name, e.Points[name], got)
		}
	}
}

func (u *unmet) total(e testcases.Expectation, group string, s engine.Scored) {
	what := "the score"
	if group != "" {
		what = "the score of " + group
	}
	if e.Score != nil && !within(s.Score, e.Score, e.Round) {
		u.say(e.Origin, "%s should be %s, is %v", what, span(e.Score), s.Score)
	}
	if e.Partial && s.Score.Cmp(s.Most) >= 0 {
		u.say(e.Origin, "%s should be less than all, is %v of %v", what, s.Score, s.Most)
	}
	if e.Above != nil && s.Score.Cmp(*e.Above) <= 0 {
		u.say(e.Origin, "%s should be more than %v, the best there is, is %v", what, *e.Above, s.Score)
	}
	if e.Fraction != nil {
		share := judge.Score{}
		if s.Most.Sign() != 0 {
			share = s.Score.Over(s.Most)
		}
		if !within(share, e.Fraction, e.Round) {
			u.say(e.Origin, "%s should be %s of what can be reached, is %v", what, span(e.Fraction), share)
		}
	}
}

// within compares with bounds, inclusive; rounded ones allow half of their last place.
func within(got judge.Score, bounds *[2]judge.Score, rounded bool) bool {
	low, high := bounds[0], bounds[1]
	if rounded {
		low, high = low.Sub(half(low)), high.Add(half(high))
	}
	return got.Cmp(low) >= 0 && got.Cmp(high) <= 0
}

// half of the last place of a decimal number.
func half(s judge.Score) judge.Score {
	_, places, _ := strings.Cut(s.String(), ".")
	step := judge.ScoreOf(1)
	for range places {
		step = step.Div(10)
	}
	return step.Div(2)
}

func span(b *[2]judge.Score) string {
	if b[0].Cmp(b[1]) == 0 {
		return b[0].String()
	}
	return fmt.Sprintf("%v to %v", b[0], b[1])
}

// of names the cases that an expectation is about, when it is not about all.
func of(e testcases.Expectation) string {
	if e.Cases == "" {
		return ""
	}
	return " for " + e.Cases
}

// first tells the case that decided.
func first(doc *judge.Judgement) string {
	for _, r := range doc.Cases {
		if r.Verdict != judge.Accepted && r.Verdict != judge.Skipped {
			return " on case " + r.Name + said(r)
		}
	}
	return ""
}

func said(r judge.Run) string {
	if r.Message == "" {
		return ""
	}
	line, _, _ := strings.Cut(r.Message, "\n")
	return ": " + line
}

// seen lists the verdicts of runs, each once.
func seen(runs []judge.Run) string {
	var all []judge.Verdict
	for _, r := range runs {
		if !slices.Contains(all, r.Verdict) {
			all = append(all, r.Verdict)
		}
	}
	if len(all) == 0 {
		return "no run"
	}
	return Words(all)
}

// Words lists verdicts for people; many at once are told by what is not among them.
func Words(verdicts []judge.Verdict) string {
	all := make([]string, len(verdicts))
	for i, v := range verdicts {
		all[i] = string(v)
	}
	return strings.Join(all, " or ")
}
