package worker

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"judgefarm/dispatcher/results"
	"judgefarm/judge"
)

const (
	// progressAfter is how long a finished run waits for others to be told with it:
	// telling costs a script in Redis and a wake-up of every listener's process, more
	// than what a short run costs.
	progressAfter = 50 * time.Millisecond
	// progressMost bounds the runs that one call tells: they may hold 128 KiB each.
	progressMost = 32
)

// progress tells the results store of the finished runs of one attempt, beside the
// judging. At most all runs of the submission wait in it, which its outcome holds
// anyhow.
type progress struct {
	store results.Store
	a     judge.Attempt
	log   *slog.Logger

	mu      sync.Mutex
	waiting []results.CaseEvent
	some    chan struct{} // holds one: something waits
	end     chan struct{}
	ended   chan struct{}
}

// tellProgress starts telling; flush ends it.
func (w *Worker) tellProgress(ctx context.Context, a judge.Attempt, log *slog.Logger) *progress {
	p := &progress{
		store: w.Results, a: a, log: log,
		some: make(chan struct{}, 1), end: make(chan struct{}), ended: make(chan struct{}),
	}
	go p.run(ctx)
	return p
}

// finished is an engine.Watcher.Case.
func (p *progress) finished(index, total int, run judge.Run) {
	p.mu.Lock()
	p.waiting = append(p.waiting, results.CaseEvent{Index: index, Total: total, Run: run})
	p.mu.Unlock()
	select {
	case p.some <- struct{}{}:
	default: // tell takes all that wait
	}
}

// flush tells what still waits and returns when that is done. No run may be added
// afterwards.
func (p *progress) flush() {
	close(p.end)
	<-p.ended
}

func (p *progress) run(ctx context.Context) {
	defer close(p.ended)
	for open := true; open; {
		select {
		case <-p.end:
			open = false
		case <-ctx.Done():
			return
		case <-p.some:
			open = p.rest(ctx)
		}
		p.tell(ctx)
	}
}

// rest waits for runs that can be told together and reports whether more may come.
func (p *progress) rest(ctx context.Context) bool {
	timer := time.NewTimer(progressAfter)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return true
	case <-p.end:
		return false
	}
}

func (p *progress) tell(ctx context.Context) {
	p.mu.Lock()
	runs := p.waiting
	p.waiting = nil
	p.mu.Unlock()
	for len(runs) > 0 && ctx.Err() == nil {
		n := min(len(runs), progressMost)
		// Lost events cost a listener some lines; the judgement has the runs.
		if err := p.store.Progress(ctx, p.a, runs[:n]...); err != nil && ctx.Err() == nil {
			p.log.Warn("publish progress", "error", err)
		}
		runs = runs[n:]
	}
}
