package dispatcher

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"judgefarm/dispatcher/queue"
	"judgefarm/dispatcher/results"
	"judgefarm/internal/blob"
	"judgefarm/judge"
)

// maxGenerations bounds how often one Idempotency-Key may be refused after its
// record had been made. Refusals before that, the rule, are not counted.
const maxGenerations = 64

// Submit accepts a submission: when it returns nil it is recorded, in the line and
// will reach a final state. Errors are a *judge.BadRequest, a *FullError, or wrap
// ErrUnavailable; after the last the submission may or may not have been accepted,
// and only a Key makes it safe to send it again. A request whose Key is known
// returns the judgement as it stands.
func (s *Service) Submit(ctx context.Context, req Request) (judge.Judgement, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, submitTimeout, errSlow)
	defer cancel()
	if req.Key != "" {
		return s.submitKeyed(ctx, req)
	}
	id, err := newID()
	if err != nil {
		return judge.Judgement{}, err
	}
	return s.accept(ctx, id, "", req)
}

// submitKeyed finds the submission that the key names, or accepts it under an id
// made of the key.
func (s *Service) submitKeyed(ctx context.Context, req Request) (judge.Judgement, error) {
	digest, err := requestDigest(req.Request)
	if err != nil {
		return judge.Judgement{}, err
	}
	for generation := range maxGenerations {
		id := keyedID(req.Tenant, req.Key, generation)
		rec, err := s.cfg.Results.Get(ctx, id)
		if errors.Is(err, results.ErrNotFound) {
			j, err := s.accept(ctx, id, digest, req)
			if !errors.Is(err, results.ErrExists) {
				return j, err
			}
			rec, err = s.cfg.Results.Get(ctx, id) // another dispatcher, or another request, was first
			if err != nil {
				return judge.Judgement{}, storeError("get submission "+id, err)
			}
		} else if err != nil {
			return judge.Judgement{}, storeError("get submission "+id, err)
		}
		if refused, err := s.wasRefused(ctx, rec); err != nil {
			return judge.Judgement{}, err
		} else if refused {
			continue
		}
		return s.replay(ctx, rec, digest)
	}
	return judge.Judgement{}, judge.Refuse(&judge.FieldError{
		Field: "Idempotency-Key", Reason: fmt.Sprintf("was refused %d times; use a new key", maxGenerations)})
}

// wasRefused tells a submission that undo took back from one that was cancelled:
// the first has no blob any more.
func (s *Service) wasRefused(ctx context.Context, rec results.Record) (bool, error) {
	if rec.State != judge.Cancelled {
		return false, nil
	}
	_, err := s.cfg.Blobs.Stat(ctx, rec.Request)
	if err == nil || errors.Is(err, blob.ErrNotFound) {
		return err != nil, nil
	}
	return false, storeError("look for intent", err)
}

// replay answers a key that is known. Its record may come from a dispatcher that
// died before Push: then it is put into the line now. If that fails the sweep of
// Maintain does it, so the submission is acknowledged all the same.
func (s *Service) replay(ctx context.Context, rec results.Record, digest string) (judge.Judgement, error) {
	if !strings.HasSuffix(rec.Request, "."+digest) {
		return judge.Judgement{}, judge.Refuse(&judge.FieldError{
			Field: "Idempotency-Key", Reason: "was used for another request; use a new key"})
	}
	if rec.State == judge.Queued {
		if err := s.cfg.Line.Push(ctx, job(rec, s.cfg.Now()), false); err != nil {
			s.log.Debug("leave replayed submission to the sweep", "submission", rec.ID, "error", err)
		}
	}
	return rec.Judgement, nil
}

// accept admits, stores, records and enqueues. The error wraps results.ErrExists
// when the id is taken.
func (s *Service) accept(ctx context.Context, id, digest string, req Request) (judge.Judgement, error) {
	now := s.cfg.Now().UTC()
	if retry := s.full.refused(now); retry > 0 {
		return judge.Judgement{}, &FullError{RetryAfter: retry}
	}
	doc, err := s.admit(ctx, req)
	if err != nil {
		return judge.Judgement{}, err
	}
	doc.ID, doc.CreatedAt = id, now
	rec := record(doc, req, intentKey(id, digest, now))
	body, err := json.Marshal(doc)
	if err != nil {
		return judge.Judgement{}, fmt.Errorf("encode submission %s: %w", id, err)
	}
	if err := s.cfg.Blobs.Put(ctx, rec.Request, bytes.NewReader(body), int64(len(body)), "application/json"); err != nil {
		return judge.Judgement{}, storeError("store submission "+id, err)
	}
	// From here on a caller who hangs up must not leave things half done.
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), finishTimeout, errSlow)
	defer cancel()
	if err := s.cfg.Results.Create(ctx, rec); err != nil {
		if errors.Is(err, results.ErrExists) {
			s.dropIntent(ctx, rec) // another try of the key was first, with an intent of its own
		}
		return judge.Judgement{}, storeError("record submission "+id, err)
	}
	if err := s.cfg.Line.Push(ctx, job(rec, now), false); err != nil {
		return judge.Judgement{}, s.refusedByLine(ctx, rec, digest != "", err)
	}
	return rec.Judgement, nil
}

// record is what is known of a submission before anyone judged it.
func record(doc *judge.Admitted, req Request, key string) results.Record {
	j := judge.NewJudgement(doc.ID, doc.CreatedAt)
	j.Problem, j.Labels = doc.Problem, doc.Labels
	priority := req.Priority
	if priority == "" {
		priority = queue.Interactive
	}
	return results.Record{
		ID: doc.ID, Request: key, Priority: priority, Tenant: req.Tenant, FairKey: req.FairKey,
		CreatedAt: doc.CreatedAt, State: judge.Queued, Judgement: j,
	}
}

// refusedByLine takes back what Push refused and returns the error for the caller.
func (s *Service) refusedByLine(ctx context.Context, rec results.Record, keyed bool, err error) error {
	full := errors.Is(err, queue.ErrFull)
	if full || !keyed { // a keyed one comes again and is found then
		s.undo(ctx, rec)
	}
	if !full {
		return storeError("enqueue submission "+rec.ID, err)
	}
	retry := max(s.cfg.Line.RetryAfter(ctx), time.Second)
	s.full.shut(s.cfg.Now(), retry)
	return &FullError{RetryAfter: retry}
}

// undo takes an unacknowledged submission back. Where it fails the submission is
// judged and nobody asks for it.
func (s *Service) undo(ctx context.Context, rec results.Record) {
	ctx, cancel := context.WithTimeoutCause(ctx, undoTimeout, errSlow)
	defer cancel()
	state, err := s.cfg.Results.Cancel(ctx, rec.ID)
	if err == nil && state == judge.Cancelled {
		err = errors.Join(s.cfg.Line.Remove(ctx, rec.ID), s.cfg.Blobs.Delete(ctx, rec.Request))
	}
	if err != nil {
		s.log.Warn("leave refused submission behind", "submission", rec.ID, "error", err)
	}
}

// dropIntent removes an intent that no record names. Where it fails it is pruned.
func (s *Service) dropIntent(ctx context.Context, rec results.Record) {
	if err := s.cfg.Blobs.Delete(ctx, rec.Request); err != nil {
		s.log.Debug("leave intent of nobody to pruning", "submission", rec.ID, "error", err)
	}
}

// requestDigest is the same for requests that mean the same: how the JSON was
// written does not matter.
func requestDigest(r judge.Request) (string, error) {
	b, err := json.Marshal(r) // map keys are sorted
	if err != nil {
		return "", fmt.Errorf("digest request: %w", err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16]), nil
}
