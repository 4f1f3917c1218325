// Package worker takes submissions from the queue, judges each under a leased and
// fenced attempt, keeps the artifacts and records the judgement. It decides what
// is judged again; how to judge is judge/engine. It never imports the dispatcher:
// they meet at dispatcher/queue and dispatcher/results.
//
//	job -> Lease -> load request and problem -> engine.Judge -> Keep -> Finish
//	       |<------------- in a slot ---------------------->|<- settling ->|
//	       |  heartbeat: Renew, and the context ends on a cancel, a drain or
//	       |  a lost lease
//
// A slot takes the next job while the artifacts of the one before are stored. As
// many as there are slots may be settling; with more a slot waits.
package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"judgefarm/dispatcher/queue"
	"judgefarm/dispatcher/results"
	"judgefarm/internal/blob"
	"judgefarm/judge"
	"judgefarm/judge/engine"
	"judgefarm/testcases"
	"judgefarm/worker/artifacts"
)

// Defaults of Config.
const (
	DefaultLease     = 5 * time.Second
	DefaultHeartbeat = 1 * time.Second
	DefaultPatience  = 30 * time.Second
)

// settleTime bounds the writes that end an attempt, which go on when its context has ended.
const settleTime = 30 * time.Second

// The reasons for which a running attempt is ended.
var (
	errCancelled = errors.New("cancelled by its submitter")
	errLost      = errors.New("lease lost")
	errDrained   = errors.New("worker is draining")
)

// Problems gives problems by digest; testcases/cache is one.
type Problems interface {
	// Get returns the problem of a package ("sha256:..."); release says that it is no
	// longer in use. Errors are a *judge.Failed.
	Get(ctx context.Context, pkg string) (p *testcases.Problem, release func(), err error)
}

// Keeper keeps artifacts; worker/artifacts has it.
type Keeper interface {
	Keep(ctx context.Context, a judge.Attempt, j *judge.Judgement, files []artifacts.Artifact) error
}

// Config is what a worker needs. Fields without a stated default are required.
type Config struct {
	Name      string // unique in the farm; appears in results
	Slots     int    // submissions judged at once, at least 1
	Source    queue.Source
	Line      queue.Line // takes back what this worker gives up
	Results   results.Store
	Blobs     blob.Store
	Problems  Problems
	Judge     engine.Judge
	Artifacts Keeper
	Metrics   *Metrics      // nil measures nothing
	Lease     time.Duration // how long a silent attempt stays ours; 0 is DefaultLease
	Heartbeat time.Duration // 0 is DefaultHeartbeat
	// Patience is how long an attempt tries to read or write what the blob store
	// refuses although it says that it is well; 0 is DefaultPatience. While the store
	// is away an attempt waits for it.
	Patience time.Duration
	// Well says whether this host can judge, as far as that is known without trying;
	// the error names the fix. It is asked after faults of ours: the worker takes no
	// more until it returns nil. nil is a host that is always well.
	Well func(ctx context.Context) error
	// Quarantine is for how many submissions in a row a problem's checker or interactor
	// may fail here until submissions to it fail at once; 0 is DefaultQuarantine,
	// negative is without end.
	Quarantine int
	Log        *slog.Logger // nil is slog.Default
}

// Worker judges what its source delivers.
type Worker struct {
	Config
	rest     rest
	streaks  streaks
	settling chan struct{} // holds an entry for each attempt that was judged and is not settled
}

// New returns a worker, or says what the configuration lacks.
func New(cfg Config) (*Worker, error) {
	if cfg.Name == "" || cfg.Slots < 1 {
		return nil, fmt.Errorf("configure worker: a name and at least one slot are needed, have %q and %d", cfg.Name, cfg.Slots)
	}
	if cfg.Lease == 0 {
		cfg.Lease = DefaultLease
	}
	if cfg.Heartbeat == 0 {
		cfg.Heartbeat = DefaultHeartbeat
	}
	if cfg.Heartbeat*2 > cfg.Lease {
		return nil, fmt.Errorf("configure worker: the lease of %v must be at least twice the heartbeat of %v", cfg.Lease, cfg.Heartbeat)
	}
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	if cfg.Metrics == nil {
		cfg.Metrics = NewMetrics(nil)
	}
	if cfg.Patience == 0 {
		cfg.Patience = DefaultPatience
	}
	if cfg.Quarantine == 0 {
		cfg.Quarantine = DefaultQuarantine
	}
	if cfg.Well == nil {
		cfg.Well = func(context.Context) error { return nil }
	}
	return &Worker{Config: cfg, settling: make(chan struct{}, cfg.Slots)}, nil
}

// Run judges until take ends, then waits for what is being judged. When work ends
// too, what is still running goes back into the queue with its attempt uncharged.
func (w *Worker) Run(take, work context.Context) error {
	w.Metrics.slots.Set(float64(w.Slots))
	err := w.Source.Take(take, work, w.Slots, func(work context.Context, job queue.Job) { w.handle(take, work, job) })
	for range cap(w.settling) { // until none is left
		w.settling <- struct{}{}
	}
	return err
}

// handle judges one delivery. It returns nothing: whatever happens the delivery is
// used up, and results decide what comes back.
func (w *Worker) handle(take, work context.Context, job queue.Job) {
	log := w.Log.With("submission", job.ID)
	w.waitWell(take) // a job that came while this slot was idle and another failed
	if take.Err() != nil {
		w.putBack(context.WithoutCancel(work), log, job, front)
		return
	}
	defer w.waitWell(take) // of this slot, without a job in its hand
	w.Metrics.busy.Inc()
	defer w.Metrics.busy.Dec()
	asked := time.Now()
	a, err := w.Results.Lease(work, job.ID, w.Name, w.Lease)
	switch {
	case errors.Is(err, results.ErrNotOpen), errors.Is(err, results.ErrNotFound):
		log.Debug("delivery dropped", "cause", err)
		return
	case err != nil:
		// The record stays queued; the dispatcher's sweep puts it back into the line.
		log.Error("lease submission", "error", err)
		return
	}
	ctx, end := w.hold(work, a, asked, log)
	later := false
	defer func() { // also after a panic: then the lease runs out
		if !later {
			end()
		}
	}()
	t := w.attempt(ctx, log, a)
	w.watchChecker(context.WithoutCancel(work), log, t) // in the slot: in the order of the attempts
	if t.err != nil {
		w.conclude(ctx, work, t) // in the slot: after a fault it may have to rest
		return
	}
	later = true
	w.settling <- struct{}{}
	go func() { // Run waits for it
		defer func() { <-w.settling }()
		defer end()
		defer t.recovered()
		w.conclude(ctx, work, t)
	}()
}
