package dispatcher

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"judgefarm/dispatcher/results"
	"judgefarm/judge"
)

// rejudgeReads is how many records are read or written at one time for a rejudge.
const rejudgeReads = 16

// rejudgeMade is the age at which a rejudge has been made, or never will be: a new
// judgement that is not there then is lost.
const rejudgeMade = 3 * rejudgeTimeout

// GetRejudge returns a rejudge with the difference that it would make, or made. Errors
// wrap ErrNoRejudge or ErrUnavailable.
func (s *Service) GetRejudge(ctx context.Context, id string) (judge.Rejudge, error) {
	r, err := s.cfg.Results.GetRejudge(ctx, id)
	if err != nil {
		return judge.Rejudge{}, storeError("get rejudge "+id, err)
	}
	return s.describeRejudge(ctx, r)
}

// Rejudges lists the rejudges that are kept, the newest first, without their submissions.
func (s *Service) Rejudges(ctx context.Context) ([]judge.Rejudge, error) {
	list, err := s.cfg.Results.ListRejudges(ctx)
	if err != nil {
		return nil, storeError("list rejudges", err)
	}
	all := make([]judge.Rejudge, 0, len(list))
	for _, r := range list {
		all = append(all, judge.Rejudge{
			ID: r.ID, State: r.State, Problem: r.Problem, CreatedAt: r.CreatedAt, Total: len(r.Members), Skipped: r.Skipped, Next: r.Next,
		})
	}
	return all, nil
}

// ApplyRejudge makes the new judgements those of their submissions: all of them at
// once, or, with an error, none. What we could not judge keeps the judgement that it
// has. Errors wrap ErrNoRejudge, ErrUnfinished, ErrMissing, ErrOutdated,
// ErrDropped or ErrUnavailable; after the last it may have been applied, and can be applied again.
func (s *Service) ApplyRejudge(ctx context.Context, id string) (judge.Rejudge, error) {
	n, err := s.cfg.Results.ApplyRejudge(ctx, id)
	if err != nil {
		return judge.Rejudge{}, storeError("apply rejudge", err)
	}
	if n > 0 {
		s.log.Info("rejudge applied", "rejudge", id, "submissions", n)
	}
	return s.GetRejudge(ctx, id)
}

// DropRejudge leaves the submissions as they are and ends what is still to be judged.
// Errors wrap ErrNoRejudge, ErrApplied or ErrUnavailable.
func (s *Service) DropRejudge(ctx context.Context, id string) error {
	r, err := s.cfg.Results.GetRejudge(ctx, id)
	if err == nil {
		err = s.cfg.Results.DropRejudge(ctx, id)
	}
	if err != nil {
		return storeError("drop rejudge", err)
	}
	for _, m := range r.Members {
		if _, err := s.Cancel(ctx, m.Judgement); err != nil && !errors.Is(err, results.ErrNotFound) {
			return err
		}
	}
	s.log.Info("rejudge dropped", "rejudge", id)
	return nil
}

// describeRejudge looks at every old and new judgement.
func (s *Service) describeRejudge(ctx context.Context, r results.Rejudge) (judge.Rejudge, error) {
	doc := judge.Rejudge{
		ID: r.ID, State: r.State, Problem: r.Problem, CreatedAt: r.CreatedAt, Total: len(r.Members), Skipped: r.Skipped, Next: r.Next,
		Submissions: make([]judge.RejudgeSubmission, len(r.Members)),
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(rejudgeReads)
	absent := judge.Queued
	if r.State == judge.RejudgeJudging && s.cfg.Now().Sub(r.CreatedAt) > rejudgeMade {
		absent = judge.FailedState // whoever waits for it would wait for ever
	}
	for i, m := range r.Members {
		g.Go(func() (err error) {
			doc.Submissions[i], err = s.describeRejudged(ctx, m, absent)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return judge.Rejudge{}, err
	}
	for _, one := range doc.Submissions {
		if one.New.State.Final() {
			doc.Final++
			if one.New.State != judge.Judged {
				doc.Failed++
			} else if one.Changed {
				doc.Changed++
			}
		}
	}
	if doc.State == judge.RejudgeJudging && doc.Final == doc.Total {
		doc.State = judge.RejudgeReady
	}
	return doc, nil
}

// describeRejudged takes a new judgement that is not there for one in the state absent.
func (s *Service) describeRejudged(ctx context.Context, m results.Rejudged, absent judge.State) (judge.RejudgeSubmission, error) {
	one := judge.RejudgeSubmission{Submission: m.Submission, Judgement: m.Judgement, Old: m.Was, New: judge.RejudgeSide{State: absent}}
	fresh, err := s.cfg.Results.Get(ctx, m.Judgement)
	if errors.Is(err, results.ErrNotFound) {
		return one, nil // not created yet, or no longer kept
	}
	if err != nil {
		return one, storeError("get submission "+m.Judgement, err)
	}
	one.New = judge.SideOf(fresh.Judgement)
	if !one.New.State.Final() {
		return one, nil
	}
	was := judge.Judgement{State: m.Was.State, Verdict: m.Was.Verdict, Score: m.Was.Score}
	old, err := s.cfg.Results.Get(ctx, m.Submission)
	switch {
	case errors.Is(err, results.ErrNotFound):
	case err != nil:
		return one, storeError("get submission "+m.Submission, err)
	case old.Number == m.Number: // it is still the judgement that the new one would replace
		was = old.Judgement
	}
	one.Difference = judge.Compare(was, fresh.Judgement)
	one.Changed = one.Difference != nil && one.New.State == judge.Judged
	return one, nil
}

// checkRejudge refuses requests that name nothing or too much.
func checkRejudge(req judge.RejudgeRequest) error {
	switch n := len(req.Submissions); {
	case n > 0 && req.Problem != "":
		return refusal("submissions", "must be absent where problem names all of them")
	case n == 0 && req.Problem == "":
		return refusal("submissions", "must name at least one where problem names none")
	case req.After != "" && req.Problem == "":
		return refusal("after", "is for problem only")
	case n > results.MaxRejudged:
		return refusal("submissions", "must be at most %d, are %d", results.MaxRejudged, n)
	}
	return nil
}

func refusal(field, format string, args ...any) error {
	return judge.Refuse(&judge.FieldError{Field: field, Reason: fmt.Sprintf(format, args...)})
}
