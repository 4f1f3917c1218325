package verify

import (
	"context"
	"fmt"
	"slices"
	"time"

	"judgefarm/judge"
	"judgefarm/judge/engine"
)

// deriveLimit finds the time limit from the submissions that it must leave room. They
// run side by side first; the slowest of them, and whatever could be slower, alone.
func (v *verification) deriveLimit(ctx context.Context, entries []*entry) (time.Duration, error) {
	var lower []*entry
	var together []task
	for _, e := range entries {
		if len(e.lower) > 0 && e.missing == "" {
			lower = append(lower, e)
			together = append(together, func(ctx context.Context) error { return v.once(ctx, e, 0, mostDerived) })
		}
	}
	if err := v.run(ctx, false, together); err != nil {
		return 0, err
	}
	most := v.most(lower)
	if !v.opts.Alone {
		var alone []task
		for _, e := range lower {
			if n, ok := v.needs(e); ok && 2*n >= most {
				e.alone = true
				alone = append(alone, func(ctx context.Context) error { return v.once(ctx, e, 0, mostDerived) })
			}
		}
		if err := v.run(ctx, true, alone); err != nil {
			return 0, err
		}
		most = v.most(lower)
	}
	if most == 0 {
		v.withoutLimit(entries, lower)
		return mostDerived, nil
	}
	limit := derive(v.p.Jury.Time, most)
	limit = min(limit, time.Hour)
	for _, e := range lower { // what kept within the derived limit need not be judged again
		if len(e.rounds) > 0 && e.rounds[0] != nil && v.over(e, limit) {
			e.rounds[0], e.alone = nil, true
		}
	}
	return limit, nil
}

// withoutLimit tells that there is no time limit. Whether the package is to blame is
// not known where it has submissions that would give one and this machine judged none.
// What is to be too slow is not judged: for what?
func (v *verification) withoutLimit(entries, lower []*entry) {
	v.unlimited = true
	judged := slices.ContainsFunc(lower, func(e *entry) bool { return len(e.rounds) > 0 && e.rounds[0] != nil })
	if judged || !slices.ContainsFunc(entries, func(e *entry) bool { return len(e.lower) > 0 }) {
		v.found(Fault, checkTime, v.files.manifest(), 0, "there is no time limit, and no submission from which one could be derived: state it")
	} else {
		v.found(Failure, checkTime, v.files.manifest(), 0, "there is no time limit, and no submission from which one is derived could be judged here")
	}
	for _, e := range entries {
		if e.slow && e.missing == "" {
			e.missing = "there is no time limit that it could exceed"
		}
	}
}

// needs is what a submission asks of the limit; ok is false for one that says nothing.
func (v *verification) needs(e *entry) (time.Duration, bool) {
	if len(e.rounds) == 0 || e.rounds[0] == nil {
		return 0, false
	}
	s := stretchOf(e.lang, v.p.TimeFactors[e.lang.ID])
	return needs(e.lower, e.rounds[0].Doc, s, v.p.Jury.Time.AcToLimit), true
}

func (v *verification) most(lower []*entry) time.Duration {
	most := time.Duration(0)
	for _, e := range lower {
		n, _ := v.needs(e)
		most = max(most, n)
	}
	return most
}

// over reports a run that took longer than it could have under the limit.
func (v *verification) over(e *entry, cpu time.Duration) bool {
	lim := judge.Limits{CPU: cpu}.Complete()
	s := stretchOf(e.lang, v.p.TimeFactors[e.lang.ID])
	for _, r := range e.rounds[0].Doc.Cases {
		if r.Usage.CPU.Duration() > s.stretched(lim.CPU) || r.Usage.Wall.Duration() > s.stretched(lim.Wall) {
			return true
		}
	}
	return false
}

// room tells how far accepted submissions are below the limit and too slow ones above.
func (v *verification) room(entries []*entry, limit time.Duration) {
	if v.unlimited {
		return
	}
	lim, err := engine.Limits(judge.Limits{CPU: limit}, v.p.Limits)
	if err != nil {
		return
	}
	rule := v.p.Jury.Time
	t := &TimeLimit{
		Limit: judge.MillisOf(lim.CPU), Stated: v.p.Limits.CPU > 0 && v.opts.CPU == 0,
		Derived:   limit > 0 && v.opts.CPU == 0,
		AskedRoom: rule.AcToLimit.Float(), AskedBound: rule.LimitToTLE.Float(),
	}
	v.report.Time = t
	slowest, lowest := time.Duration(0), 0
	for _, e := range entries {
		if len(e.lower) == 0 || len(e.rounds) == 0 || e.rounds[0] == nil {
			continue
		}
		lowest++
		s := stretchOf(e.lang, v.p.TimeFactors[e.lang.ID])
		if n := needs(e.lower, e.rounds[0].Doc, s, judge.Score{}); n > slowest {
			slowest, t.Slowest = n, e.sub.Path
		}
	}
	if slowest > 0 {
		t.Needs, t.Room = judge.MillisOf(slowest), float64(lim.CPU)/float64(slowest)
	}
	if t.Derived {
		t.Write = written(v.p.Format, lim.CPU)
	} else {
		v.stated(entries, lim.CPU)
	}
	for _, e := range entries {
		if e.beyond != nil && !timedOut(e.upper, e.beyond.Doc) {
			v.report.add(Finding{demanded(v.p.Format), checkTime, e.sub.Path, 0, fmt.Sprintf(
				"is too slow for the limit of %v, yet not for %v times as much, as it must be", lim.CPU, rule.LimitToTLE)})
		}
	}
}

// stated compares a limit that was not derived with the rules of the format.
func (v *verification) stated(entries []*entry, limit time.Duration) {
	rule := v.p.Jury.Time
	if step := seconds(rule.Resolution); step > 0 && rule.Stated && limit%step != 0 && demanded(v.p.Format) == Fault {
		file, line, text := placed(rule.Origin, fmt.Sprintf("the time limit of %v is no multiple of the resolution of %v", limit, step))
		v.report.add(Finding{Fault, checkTime, file, line, text})
	}
	if rule.AcToLimit.Sign() == 0 {
		return
	}
	for _, e := range entries {
		if n, ok := v.needs(e); ok && len(e.lower) > 0 && n > limit {
			v.report.add(Finding{demanded(v.p.Format), checkTime, e.sub.Path, 0, fmt.Sprintf(
				"leaves too little room: %v times what it takes is %v, the limit is %v", rule.AcToLimit, n.Round(time.Millisecond), limit)})
		}
	}
}
