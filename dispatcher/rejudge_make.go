package dispatcher

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"judgefarm/dispatcher/queue"
	"judgefarm/dispatcher/results"
	"judgefarm/internal/blob"
	"judgefarm/judge"
)

const (
	rejudgeTimeout = 5 * time.Minute // to make one
	maxIntent      = 512 << 20       // bytes of an admitted submission; admission allows less
)

// again is a submission on its way into a rejudge.
type again struct {
	field string // of the request, for faults
	rec   results.Record
	doc   *judge.Admitted
	id    string // of the new record
	skip  string // why it is left out
}

// Rejudge has submissions judged once more, after all that wait at a higher
// priority. Their judgements stay as they are: the new ones are kept apart until
// ApplyRejudge. Of a problem, what is not final or no longer kept is left out and
// counted, and where it has more than results.MaxRejudged the rest is named by
// Rejudge.Next; of named submissions that is a fault. Errors are a *judge.BadRequest or
// wrap ErrRejudgesFull or ErrUnavailable.
func (s *Service) Rejudge(ctx context.Context, req judge.RejudgeRequest) (judge.Rejudge, error) {
	if err := checkRejudge(req); err != nil {
		return judge.Rejudge{}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, rejudgeTimeout, errSlow)
	defer cancel()
	p, err := s.toRejudge(ctx, req)
	if err != nil {
		return judge.Rejudge{}, err
	}
	id, err := newID()
	if err != nil {
		return judge.Rejudge{}, err
	}
	r := results.Rejudge{ID: id, Problem: req.Problem, CreatedAt: s.cfg.Now().UTC(), State: judge.RejudgeJudging,
		Skipped: p.skipped, Next: p.next}
	var faults []*judge.FieldError
	var kept []*again
	for _, a := range p.all {
		if a.skip == "" {
			kept = append(kept, a)
			r.Members = append(r.Members, results.Rejudged{
				Submission: a.rec.ID, Judgement: a.id, Number: a.rec.Number, Was: judge.SideOf(a.rec.Judgement)})
			continue
		}
		r.Skipped++
		faults = append(faults, &judge.FieldError{Field: a.field, Reason: a.skip})
	}
	if req.Problem == "" {
		if err := judge.Refuse(faults...); err != nil {
			return judge.Rejudge{}, err
		}
	}
	switch {
	case len(kept) == 0 && req.After != "":
		return judge.Rejudge{}, refusal("after", "has no submission behind it that is final and still kept")
	case len(kept) == 0:
		return judge.Rejudge{}, refusal("problem", "has no submission that is final and still kept")
	}
	if err := s.claimAll(ctx, kept); err != nil {
		return judge.Rejudge{}, err
	}
	// Once it is begun a caller who hangs up must not leave it half done.
	ctx, cancelMake := context.WithTimeoutCause(context.WithoutCancel(ctx), rejudgeTimeout, errSlow)
	defer cancelMake()
	if err := s.makeRejudge(ctx, r, kept); err != nil {
		return judge.Rejudge{}, err
	}
	s.log.Info("rejudge made", "rejudge", id, "problem", req.Problem, "submissions", len(kept), "skipped", r.Skipped)
	return s.describeRejudge(ctx, r)
}

// claimAll claims the packages that are judged with, also those that no problem names,
// and refuses where one is gone.
func (s *Service) claimAll(ctx context.Context, all []*again) error {
	seen := map[string]bool{}
	for _, a := range all {
		pkg := a.doc.Package
		if pkg == "" || seen[pkg] {
			continue
		}
		seen[pkg] = true
		if err := s.claim(ctx, pkg); err != nil {
			return err
		}
		_, err := s.cfg.Blobs.Stat(ctx, blob.ContentKey(packageHex(pkg)))
		if errors.Is(err, blob.ErrNotFound) {
			return refusal(a.field, "was judged with a version of %s that is no longer kept", a.doc.Problem.ID)
		}
		if err != nil {
			return storeError("look for package", err)
		}
	}
	return nil
}

// part is a part of what is to be judged again.
type part struct {
	all     []*again
	skipped int    // of parts before, in which there was nothing to judge
	next    string // where the problem has more
}

// toRejudge reads the submissions that the request names, or the next part of a
// problem's with one that can be judged.
func (s *Service) toRejudge(ctx context.Context, req judge.RejudgeRequest) (p part, err error) {
	for {
		ids := req.Submissions
		if req.Problem != "" {
			if ids, err = s.cfg.Results.SubmissionsOf(ctx, req.Problem, req.After, results.MaxRejudged+1); err != nil {
				return p, storeError("list submissions of "+req.Problem, err)
			}
		}
		p.next = ""
		if len(ids) > results.MaxRejudged {
			ids = ids[:results.MaxRejudged]
			p.next = ids[len(ids)-1]
		}
		p.all, err = s.readAll(ctx, ids, req.SameVersion)
		if err != nil || p.next == "" || slices.ContainsFunc(p.all, func(a *again) bool { return a.skip == "" }) {
			return p, err
		}
		p.skipped, req.After = p.skipped+len(p.all), p.next
	}
}

func (s *Service) readAll(ctx context.Context, ids []string, same bool) ([]*again, error) {
	all, seen := make([]*again, len(ids)), map[string]bool{}
	g, readCtx := errgroup.WithContext(ctx)
	g.SetLimit(rejudgeReads)
	for i, id := range ids {
		all[i] = &again{field: fmt.Sprintf("submissions[%d]", i)}
		if seen[id] {
			all[i].skip = "is named twice"
			continue
		}
		seen[id] = true
		g.Go(func() error { return s.readAgain(readCtx, all[i], id, same) })
	}
	return all, g.Wait()
}

// readAgain fills in the record and what is to be judged, or why it cannot be.
func (s *Service) readAgain(ctx context.Context, a *again, id string, same bool) (err error) {
	a.rec, err = s.cfg.Results.Get(ctx, id)
	switch {
	case errors.Is(err, results.ErrNotFound):
		a.skip = fmt.Sprintf("is not known, or no longer kept: %.64q", id)
		return nil
	case err != nil:
		return storeError("get submission "+id, err)
	case a.rec.Rejudge != "":
		a.skip = "is itself the judgement of a rejudge"
		return nil
	case !a.rec.State.Final():
		a.skip = "is not final yet: it is " + string(a.rec.State)
		return nil
	case a.rec.State == judge.Cancelled:
		a.skip = "was cancelled"
		return nil
	}
	if a.doc, err = s.readIntent(ctx, a.rec.Request); errors.Is(err, blob.ErrNotFound) {
		a.skip = "has no sources any more"
		return nil
	} else if err != nil {
		return storeError("read submission "+id, err)
	}
	if a.doc.Package != "" && !same {
		info, err := s.findProblem(ctx, a.doc.Problem.ID, 0)
		switch {
		case err == nil:
			a.doc.Problem = &judge.ProblemRef{ID: info.ID, Version: info.Version, Digest: info.Digest}
			a.doc.Package = info.Package
		case !errors.Is(err, ErrNoProblem): // of a deleted one the package is still there
			return err
		}
	}
	a.id, err = newID()
	return err
}

func (s *Service) readIntent(ctx context.Context, key string) (*judge.Admitted, error) {
	r, _, err := s.cfg.Blobs.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	doc, err := io.ReadAll(io.LimitReader(r, maxIntent))
	if err != nil {
		return nil, err
	}
	return judge.ParseAdmitted(doc)
}

// makeRejudge stores what is to be judged, then the set, then each record; those that
// the line has no room for are put into it by the sweep. What cannot be finished is
// dropped: the submissions were not touched.
func (s *Service) makeRejudge(ctx context.Context, r results.Rejudge, all []*again) error {
	g, putCtx := errgroup.WithContext(ctx)
	g.SetLimit(rejudgeReads)
	for _, a := range all {
		g.Go(func() error { return s.storeAgain(putCtx, a, r.CreatedAt) })
	}
	if err := g.Wait(); err != nil {
		return err // the blobs have no record: they are pruned
	}
	if err := s.cfg.Results.CreateRejudge(ctx, r); err != nil {
		return storeError("create rejudge", err)
	}
	g, createCtx := errgroup.WithContext(ctx)
	g.SetLimit(rejudgeReads)
	for _, a := range all {
		g.Go(func() error { return s.queueAgain(createCtx, a, r) })
	}
	if err := g.Wait(); err != nil {
		undo, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), finishTimeout, errSlow)
		defer cancel()
		if dropped := s.DropRejudge(undo, r.ID); dropped != nil {
			s.log.Warn("leave rejudge behind", "rejudge", r.ID, "error", dropped)
		}
		return err
	}
	return nil
}

func (s *Service) storeAgain(ctx context.Context, a *again, now time.Time) error {
	a.doc.ID, a.doc.CreatedAt = a.id, now
	body, err := json.Marshal(a.doc)
	if err != nil {
		return fmt.Errorf("encode submission %s: %w", a.id, err)
	}
	key := intentKey(a.id, "", now)
	if err := s.cfg.Blobs.Put(ctx, key, bytes.NewReader(body), int64(len(body)), "application/json"); err != nil {
		return storeError("store submission "+a.id, err)
	}
	return nil
}

// queueAgain creates the record of one new judgement. All of a rejudge take turns as one.
func (s *Service) queueAgain(ctx context.Context, a *again, r results.Rejudge) error {
	req := Request{Tenant: a.rec.Tenant}
	req.Priority, req.FairKey = queue.Batch, "rejudge "+r.ID
	rec := record(a.doc, req, intentKey(a.id, "", r.CreatedAt))
	rec.Rejudge = r.ID
	if err := s.cfg.Results.Create(ctx, rec); err != nil {
		return storeError("record submission "+a.id, err)
	}
	if err := s.cfg.Line.Push(ctx, job(rec, r.CreatedAt), false); err != nil {
		s.log.Debug("leave rejudged submission to the sweep", "submission", a.id, "error", err)
	}
	return nil
}
