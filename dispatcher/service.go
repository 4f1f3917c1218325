// Package dispatcher accepts submissions, records them, puts them into the line
// and answers what became of them. It judges nothing and meets workers only in
// dispatcher/queue and dispatcher/results. HTTP is dispatcher/api.
//
// A submission is acknowledged when three things are done, in this order:
//
//	blob     intents/<yyyymmdd>/<id>...  the submission as admitted
//	record   results.Create              state queued
//	line     queue.Push                  an id
//
// Whatever dies in between, what was acknowledged has a record and a blob, and
// Maintain puts every queued record that is not in the line back into it. What
// was not acknowledged may exist as well, and be judged: nobody is told.
package dispatcher

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"judgefarm/dispatcher/queue"
	"judgefarm/dispatcher/results"
	"judgefarm/internal/blob"
	"judgefarm/judge"
	"judgefarm/testcases/format"
)

// Config tells New what a Service stands on. Line, Results, Blobs and Language
// are needed.
type Config struct {
	Line    queue.Line
	Results results.Store
	Blobs   blob.Store
	// Language returns the id of a language by id or alias. It answers for every
	// language that is defined, whether or not a worker has it now.
	Language func(name string) (id string, known bool)

	Bounds   Bounds         // zero fields take the defaults
	Packages format.Options // what problem packages may need beside them

	// IntentRetention is how long admitted submissions are kept in the blob store
	// after they came; 48 h when 0. It must be longer than the retention of
	// results: Idempotency-Keys are kept apart by it.
	IntentRetention time.Duration

	Log *slog.Logger     // nil: slog.Default
	Now func() time.Time // nil: time.Now
}

// Service is the dispatcher. Its methods may be called concurrently.
type Service struct {
	cfg  Config
	log  *slog.Logger
	full gate

	uploads chan struct{} // one entry for each PutProblem that runs
}

// The service's own time limits.
const (
	submitTimeout   = 15 * time.Second // of all of Submit
	finishTimeout   = 10 * time.Second // of what must be finished when the client has gone
	undoTimeout     = 2 * time.Second
	defaultIntents  = 48 * time.Hour
	maxFullPause    = time.Second
	problemsTimeout = 2 * time.Minute
)

var errSlow = errors.New("the stores did not answer in time")

// New returns a Service. It does nothing by itself: run Maintain beside it.
func New(cfg Config) (*Service, error) {
	switch {
	case cfg.Line == nil:
		return nil, errors.New("make dispatcher: Line is missing")
	case cfg.Results == nil:
		return nil, errors.New("make dispatcher: Results is missing")
	case cfg.Blobs == nil:
		return nil, errors.New("make dispatcher: Blobs is missing")
	case cfg.Language == nil:
		return nil, errors.New("make dispatcher: Language is missing")
	}
	cfg.Bounds = cfg.Bounds.or(DefaultBounds())
	if cfg.IntentRetention == 0 {
		cfg.IntentRetention = defaultIntents
	}
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Service{cfg: cfg, log: cfg.Log, uploads: make(chan struct{}, maxUploads)}, nil
}

// Bounds returns the bounds in force, for documents and for bounds further out.
func (s *Service) Bounds() Bounds { return s.cfg.Bounds }

// Get returns what is known of a submission. Errors wrap results.ErrNotFound or
// ErrUnavailable.
func (s *Service) Get(ctx context.Context, id string) (judge.Judgement, error) {
	rec, err := s.cfg.Results.Get(ctx, id)
	if err != nil {
		return judge.Judgement{}, storeError("get submission "+id, err)
	}
	return rec.Judgement, nil
}

// Wait returns the judgement once it is final, or as it is when ctx ends: look at
// its State. Errors as Get.
func (s *Service) Wait(ctx context.Context, id string) (judge.Judgement, error) {
	rec, err := s.cfg.Results.Wait(ctx, id)
	if err != nil {
		return judge.Judgement{}, storeError("wait for submission "+id, err)
	}
	return rec.Judgement, nil
}

// Events returns the events after a sequence number; it waits for one until ctx
// ends, then gives ctx's cause. After the final event it returns io.EOF.
func (s *Service) Events(ctx context.Context, id string, after int64) ([]results.Event, error) {
	events, err := s.cfg.Results.Events(ctx, id, after)
	if err != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, storeError("read events of submission "+id, err)
	}
	return events, nil
}

// Cancel ends a queued submission at once and asks the worker of a judging one
// to stop: then the judgement returned is not final yet. A final one stays as it
// is. Errors as Get.
func (s *Service) Cancel(ctx context.Context, id string) (judge.Judgement, error) {
	state, err := s.cfg.Results.Cancel(ctx, id)
	if err != nil {
		return judge.Judgement{}, storeError("cancel submission "+id, err)
	}
	if state == judge.Cancelled {
		// Only a place in the line is lost if this fails: a worker that gets the
		// job finds that it is not open.
		if err := s.cfg.Line.Remove(ctx, id); err != nil {
			s.log.Warn("leave cancelled job in line", "submission", id, "error", err)
		}
	}
	return s.Get(ctx, id)
}

// Depth counts the waiting jobs by priority.
func (s *Service) Depth(ctx context.Context) (map[string]int, error) {
	depth, err := s.cfg.Line.Depth(ctx)
	if err != nil {
		return nil, storeError("read queue depth", err)
	}
	return depth, nil
}

// Ready says whether submissions can be accepted now, part by part.
func (s *Service) Ready() map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"queue":   s.cfg.Line.Ready,
		"results": s.cfg.Results.Ready,
		"blobs":   s.cfg.Blobs.Ready,
	}
}

// job is the record's place in the line.
func job(r results.Record, now time.Time) queue.Job {
	return queue.Job{ID: r.ID, Priority: r.Priority, FairKey: r.FairKey, Enqueued: now}
}
