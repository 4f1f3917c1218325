package verify

import (
	"context"
	"slices"
	"time"

	"judgefarm/judge"
)

// settleTries is how often a time that is news is measured again. Where all of them
// are slower than before, so is the program, or the machine is busy all the while.
const settleTries = 3

// settle measures again, alone, what Options.Since does not bear out.
func (v *verification) settle(ctx context.Context, entries []*entry, limit time.Duration) error {
	if v.opts.Since == nil {
		return nil
	}
	var tasks []task
	for _, e := range entries {
		if len(e.rounds) == 0 || e.rounds[0] == nil {
			continue
		}
		at := slices.IndexFunc(v.opts.Since.Submissions, func(s Remembered) bool { return s.Path == e.sub.Path })
		if at < 0 {
			tasks = append(tasks, func(ctx context.Context) error { return v.least(ctx, e, limit) })
		} else if was := v.opts.Since.Submissions[at].Slowest; slower(e, was) {
			tasks = append(tasks, func(ctx context.Context) error {
				for try := 0; try < settleTries && slower(e, was); try++ {
					if err := v.least(ctx, e, limit); err != nil {
						return err
					}
				}
				return nil
			})
		}
	}
	return v.run(ctx, true, tasks)
}

// slower reports a submission that now takes so much more time that it is news.
func slower(e *entry, was judge.Millis) bool {
	now := slowest(e.rounds[0].Doc)
	return now > was && isNews(now, was)
}

// least judges a submission again and keeps that where it took less time and came to
// the same.
func (v *verification) least(ctx context.Context, e *entry, limit time.Duration) error {
	before := e.rounds[0]
	if err := v.once(ctx, e, 0, limit); err != nil {
		return err
	}
	was, is := before.Doc, e.rounds[0].Doc
	if was.Verdict == nil || is.Verdict == nil || *was.Verdict != *is.Verdict || slowest(is) > slowest(was) {
		e.rounds[0] = before
		return nil
	}
	e.alone = true
	return nil
}

// slowest is the most CPU time that a case took.
func slowest(doc *judge.Judgement) judge.Millis {
	most := judge.Millis(0)
	for _, r := range doc.Cases {
		if r.Verdict != judge.Skipped {
			most = max(most, r.Usage.CPU)
		}
	}
	return most
}
