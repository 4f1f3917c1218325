package verify

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"judgefarm/judge"
	"judgefarm/judge/engine"
	"judgefarm/languages"
	"judgefarm/testcases"
)

// entry is one labelled submission on its way.
type entry struct {
	sub          testcases.Labelled
	lang         *languages.Language
	missing      string // why it is not judged
	hidden       bool   // not asked for: the time limit is derived from it at most
	lower, upper []testcases.Expectation
	slow         bool // it is to be too slow
	alone        bool
	rounds       []*Judged
	beyond       *Judged // at a longer limit
	broken       bool    // it could not be judged
	promised     bool    // as its label says
}

// lookAtSubmissions judges the labelled submissions and compares.
func (v *verification) lookAtSubmissions(ctx context.Context) error {
	entries := v.entries(ctx)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	limit, err := v.limit(ctx, entries)
	if err != nil {
		return err
	}
	for round := range max(v.opts.Repeat, 1) {
		if err := v.round(ctx, entries, round, limit); err != nil {
			return err
		}
	}
	if err := v.settle(ctx, entries, limit); err != nil {
		return err
	}
	if err := v.beyond(ctx, entries, limit); err != nil {
		return err
	}
	v.compare(entries, limit)
	v.room(entries, limit)
	v.coverage(entries)
	return nil
}

// entries are the submissions of the package.
func (v *verification) entries(ctx context.Context) []*entry {
	var all []*entry
	for _, sub := range v.p.Submissions {
		e := &entry{sub: sub, hidden: !matches(v.opts.Submissions, sub.Path)}
		all = append(all, e)
		e.lower, e.upper = bounds(v.p.Format, sub)
		e.slow = len(e.upper) > 0 || onlySlow(sub.Allowed)
		v.language(ctx, e)
	}
	return all
}

// language settles the language of a submission, or why it is not judged.
func (v *verification) language(ctx context.Context, e *entry) {
	severity, why := Fault, "its language is told neither by its name nor by the package"
	if e.sub.Language != "" {
		severity, why = Warning, fmt.Sprintf("is not judged: no language is called %.64q here", e.sub.Language)
	}
	if lang, ok := LanguageFor(v.cfg.Languages, e.sub.Language, e.sub.Files); ok {
		_, err := v.cfg.Compiler.Inspect(ctx, lang)
		if e.lang = lang; err == nil {
			if allowed := v.p.Languages; allowed != nil && !slices.Contains(allowed, lang.ID) && !e.hidden {
				v.found(Warning, checkSubmission, e.sub.Path, 0, "is in %s, which the problem does not allow: its languages are %s", lang.ID, strings.Join(allowed, ", "))
			}
			return
		}
		severity, why = Warning, fmt.Sprintf("is not judged: %v", err)
	}
	e.missing = why
	if !e.hidden {
		v.found(severity, checkSubmission, e.sub.Path, 0, "%s", why)
	}
}

// LanguageFor is the language of a submission: as stated, or as its files' names and
// content tell.
func LanguageFor(set *languages.Set, stated string, files []judge.File) (*languages.Language, bool) {
	if stated != "" {
		return set.Find(stated)
	}
	return set.ForFiles(files)
}

// matches reports whether a pattern matches the path below submissions/, the whole
// path or a folder of it.
func matches(pattern, at string) bool {
	if pattern == "" {
		return true
	}
	for _, name := range []string{at, strings.TrimPrefix(at, "submissions/")} {
		for ; name != "." && name != "/"; name = path.Dir(name) {
			if ok, err := path.Match(pattern, name); err == nil && ok {
				return true
			}
		}
	}
	return false
}

// judge judges once. It reports nil when that could not be done, which it has noted.
func (v *verification) judge(ctx context.Context, e *entry, cpu time.Duration, stop judge.Stop) (*Judged, error) {
	limits := e.sub.Limits
	if cpu > 0 {
		limits.CPU, limits.Wall = cpu, 0
	}
	out, err := v.cfg.Judge.Judge(ctx, engine.Job{Problem: v.open(), Submission: judge.Submission{
		ID: e.sub.Path, Language: e.lang.ID, Files: e.sub.Files, Main: e.sub.Main, Limits: limits, Stop: stop,
	}}, engine.Watcher{})
	if err == nil {
		got := JudgedOf(out)
		got.crashed(e, out)
		return &got, nil
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	e.broken = true
	_, _, packages := packageFault(err)
	switch {
	case e.sub.Broken && packages:
		e.promised = true
	case judge.IsBadRequest(err) && len(e.sub.Allowed)+len(e.sub.Expect) == 0: // nothing that it could fail to be
		v.found(Note, checkSubmission, e.sub.Path, 0, "is refused: %v", err)
		e.missing = "it is refused, and its label promises nothing"
	case judge.IsBadRequest(err):
		v.found(Fault, checkSubmission, e.sub.Path, 0, "is refused: %v", err)
	case packages:
		v.checkerFault(v.p.CheckerProgram, err)
	default:
		v.found(Failure, checkSubmission, e.sub.Path, 0, "%v", err)
	}
	return nil, nil
}

// open is the problem without its list of languages: what the jury wrote in another one
// shows as much about it.
func (v *verification) open() *testcases.Problem {
	p := *v.p
	p.Languages = nil
	return &p
}

// stop says how far a submission is judged. What is to be too slow needs its limit on
// every case, so it is stopped at the first unless its label speaks of cases. A problem
// whose groups stop has other points without stopping.
func (v *verification) stop(e *entry) judge.Stop {
	switch {
	case v.opts.Fast, v.stops(), e.slow && !ofCases(e.sub):
		return ""
	}
	return judge.StopNever
}

func (v *verification) stops() bool {
	found := false
	v.p.Walk(func(g *testcases.Group, _ *testcases.Case) { found = found || g.Stop })
	return found
}

// ofCases reports whether the label promises something of single cases.
func ofCases(sub testcases.Labelled) bool {
	return slices.ContainsFunc(sub.Expect, func(e testcases.Expectation) bool {
		return len(e.Permitted)+len(e.Required) > 0 || e.Message != "" || e.Points != nil
	})
}

// once judges a submission for one round.
func (v *verification) once(ctx context.Context, e *entry, round int, limit time.Duration) error {
	stop := v.stop(e)
	got, err := v.judge(ctx, e, limit, stop)
	if err == nil && got != nil && stop == "" && !v.stops() && len(Unmet(e.sub, *got)) > 0 && skipped(got.Doc) {
		got, err = v.judge(ctx, e, limit, judge.StopNever) // the cases that were skipped may hold the promise
	}
	if err != nil || got == nil {
		return err
	}
	for len(e.rounds) <= round {
		e.rounds = append(e.rounds, nil)
	}
	e.rounds[round] = got
	return nil
}

func skipped(doc *judge.Judgement) bool {
	return slices.ContainsFunc(doc.Cases, func(r judge.Run) bool { return r.Verdict == judge.Skipped })
}

// round judges every submission once: side by side, and then alone those whose outcome
// a busy machine could have changed.
func (v *verification) round(ctx context.Context, entries []*entry, round int, limit time.Duration) error {
	var together, alone []task
	for _, e := range entries {
		if e.hidden || e.missing != "" || e.broken || len(e.rounds) > round && e.rounds[round] != nil {
			continue
		}
		t := func(ctx context.Context) error { return v.once(ctx, e, round, limit) }
		if e.slow || e.alone {
			e.alone = true
			alone = append(alone, t)
		} else {
			together = append(together, t)
		}
	}
	if err := v.run(ctx, false, together); err != nil {
		return err
	}
	if !v.opts.Alone {
		for _, e := range entries {
			if len(e.rounds) > round && e.rounds[round] != nil && !e.alone && near(e.rounds[round].Doc) {
				e.alone = true
				alone = append(alone, func(ctx context.Context) error { return v.once(ctx, e, round, limit) })
			}
		}
	}
	return v.run(ctx, true, alone)
}

// near reports a run that used more than half of its time, or was ended for time, which
// a case may have less of: what runs beside it may cost it up to as much again, through
// shared caches, memory and cores, and no more. So may a compiler that ran out of time.
func near(doc *judge.Judgement) bool {
	if doc.Verdict != nil && *doc.Verdict == judge.CompileTimeLimit {
		return true
	}
	if doc.Limits == nil {
		return false
	}
	return slices.ContainsFunc(doc.Cases, func(r judge.Run) bool {
		switch r.Verdict {
		case judge.Skipped:
			return false
		case judge.TimeLimit, judge.WallTimeLimit, judge.IdleLimit:
			return true
		}
		return 2*r.Usage.CPU > doc.Limits.CPU || 2*r.Usage.Wall > doc.Limits.Wall
	})
}

// beyond judges again, at the longer limit that the format names, what is to be too
// slow and was.
func (v *verification) beyond(ctx context.Context, entries []*entry, limit time.Duration) error {
	ratio := v.p.Jury.Time.LimitToTLE
	if ratio.Cmp(judge.ScoreOf(1)) <= 0 {
		return nil
	}
	lim, err := engine.Limits(judge.Limits{CPU: limit}, v.p.Limits)
	if err != nil {
		return nil // told where it was judged
	}
	var tasks []task
	for _, e := range entries {
		if e.hidden || len(e.upper) == 0 || len(e.rounds) == 0 || e.rounds[0] == nil || !timedOut(e.upper, e.rounds[0].Doc) {
			continue
		}
		tasks = append(tasks, func(ctx context.Context) (err error) {
			e.beyond, err = v.judge(ctx, e, scaled(lim.CPU, ratio), "") // one case that takes so long is enough
			if err == nil && e.beyond != nil && !timedOut(e.upper, e.beyond.Doc) && skipped(e.beyond.Doc) {
				e.beyond, err = v.judge(ctx, e, scaled(lim.CPU, ratio), judge.StopNever)
			}
			return err
		})
	}
	return v.run(ctx, true, tasks)
}

// timedOut reports a case of the expectations on which the submission was too slow.
func timedOut(on []testcases.Expectation, doc *judge.Judgement) bool {
	return slices.ContainsFunc(doc.Cases, func(r judge.Run) bool {
		return slices.Contains(tooSlow, r.Verdict) && slices.ContainsFunc(on, func(e testcases.Expectation) bool { return e.Matches(r.Name) })
	})
}
