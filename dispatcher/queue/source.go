package queue

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/hibiken/asynq"
)

const (
	// announceEvery and announceFor keep a worker's slots in Redis; a dead worker's
	// count for so long.
	announceEvery = 3 * time.Second
	announceFor   = 10 * time.Second
	// ackTime is what asynq gets to acknowledge after the last handler returned.
	ackTime = 10 * time.Second
)

// Taker is the worker's side of the line in Redis. It implements Source.
type Taker struct{ conn }

var _ Source = (*Taker)(nil)

// NewSource returns the worker's side of the line in the Redis of cfg.Client or
// cfg.URL. It does not connect. The caller closes it after Take has returned.
func NewSource(cfg Config) (*Taker, error) {
	c, err := connect(cfg)
	if err != nil {
		return nil, err
	}
	return &Taker{conn: c}, nil
}

// taking is one call of Take.
type taking struct {
	*Taker
	handle Handler
	// slots has a token for each running handler. asynq counts for itself, but it
	// gives a handler up when Redis was away for 30 s and starts another beside it.
	slots chan struct{}
}

// Take implements Source. It outlives outages of Redis. A job that arrives when take
// has ended goes back to the front of the line.
func (t *Taker) Take(take, work context.Context, slots int, h Handler) error {
	if slots < 1 {
		return fmt.Errorf("take jobs: at least 1 slot is needed, got %d", slots)
	}
	if take.Err() != nil {
		return nil
	}
	run := &taking{Taker: t, handle: h, slots: make(chan struct{}, slots)}
	server := asynq.NewServerFromRedisClient(t.client, asynq.Config{
		Concurrency: slots, Queues: map[string]int{t.cfg.Prefix: 1}, TaskCheckInterval: t.cfg.Poll,
		ShutdownTimeout: ackTime,
		// Nothing of ours is scheduled, retried or kept when done: asynq need not look for it.
		DelayedTaskCheckInterval: time.Hour, JanitorInterval: time.Hour,
		Logger: asynqLog{t.cfg.Logger}, LogLevel: asynq.InfoLevel,
	})
	process := func(_ context.Context, task *asynq.Task) error {
		run.process(take, work, task.Payload())
		return nil // acknowledged, whatever happened
	}
	announced, stop := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(announced)
		t.announce(stop, slots)
	}()
	if err := server.Start(asynq.HandlerFunc(process)); err != nil {
		close(stop)
		<-announced
		return fmt.Errorf("start asynq: %w", err)
	}
	<-take.Done()
	close(stop)
	server.Stop()
	for range slots {
		run.slots <- struct{}{} // the handlers that run
	}
	server.Shutdown()
	<-announced
	return nil
}

// process runs the handler for one task. Its contexts are Take's, not asynq's: that
// one ends when Redis was away for 30 s, which is no reason to stop judging.
func (r *taking) process(take, work context.Context, payload []byte) {
	var j Job
	if err := json.Unmarshal(payload, &j); err != nil {
		r.cfg.Logger.Error("drop task that is no job", "error", err)
		return
	}
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	case <-take.Done():
	}
	told := context.WithoutCancel(work)
	if take.Err() != nil {
		if err := r.do(told, r.run.restore, j.ID).Err(); err != nil {
			r.cfg.Logger.Debug("put job back", "submission", j.ID, "error", err) // a feeder does it when it is overdue
		}
		return
	}
	if err := r.do(told, r.run.take, j.ID).Err(); err != nil {
		r.cfg.Logger.Debug("mark job as taken", "submission", j.ID, "error", err) // it comes twice and is fenced
	}
	defer func() {
		if cause := recover(); cause != nil {
			r.cfg.Logger.Error("handler panicked", "submission", j.ID, "cause", cause, "stack", string(debug.Stack()))
		}
	}()
	r.handle(work, j)
}

// announce tells feeders how many slots there are, until stop, then that there are none.
func (t *Taker) announce(stop <-chan struct{}, slots int) {
	name := rand.Text()
	up := health{log: t.cfg.Logger, what: "announce worker"}
	ctx := context.Background() // ended by stop; the farewell comes after it
	again := time.NewTicker(announceEvery)
	defer again.Stop()
	for {
		up.report(ctx, t.do(ctx, t.run.announce, name, slots, announceFor.Milliseconds()).Err())
		select {
		case <-again.C:
		case <-stop:
			if err := t.do(ctx, t.run.announce, name, 0, 0).Err(); err != nil {
				t.cfg.Logger.Debug("withdraw worker", "error", err) // it ends by itself
			}
			return
		}
	}
}
