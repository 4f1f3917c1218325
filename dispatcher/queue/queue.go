// Package queue is the line of waiting submissions: our own bounded backlog in
// Redis, by priority and then fair between keys, feeding one shallow asynq queue
// that delivers to workers. It is the only importer of asynq. Whether a delivery
// is still wanted is told by dispatcher/results: its fencing decides, this
// package may deliver twice and never loses what Push accepted while Redis lives.
package queue

import (
	"context"
	"errors"
	"time"
)

// ErrFull is returned by Push when the backlog is at its bound; RetryAfter tells
// when to try again.
var ErrFull = errors.New("queue is full")

// The priorities, first to last. A lower one starves while a higher one waits;
// within one, fair keys take turns.
const (
	Interactive = "interactive"
	Train       = "train"
	Batch       = "batch"
)

// Job is what waits: ids only.
type Job struct {
	ID       string    `json:"id"`
	Priority string    `json:"priority"`
	FairKey  string    `json:"fair_key"`
	Enqueued time.Time `json:"enqueued"`
}

// Line is the dispatcher's side.
type Line interface {
	// Push adds a job; a job that already waits stays where it is. front skips the
	// bound and the turn: for submissions that come back from a lost worker.
	Push(ctx context.Context, j Job, front bool) error
	// Remove takes a waiting job out; a missing one is no error.
	Remove(ctx context.Context, id string) error
	// Depth counts the waiting jobs by priority, those handed to asynq included.
	Depth(ctx context.Context) (map[string]int, error)
	// RetryAfter estimates when a refused Push may succeed, from the rate of the last minute.
	RetryAfter(ctx context.Context) time.Duration
	// Feed moves jobs from the backlog into asynq until ctx ends. Every dispatcher runs one.
	Feed(ctx context.Context) error
	Ready(ctx context.Context) error
}

// Handler judges one job. A job is acknowledged whatever the handler does: what
// must be judged again comes back by results.Release, Reap and Push.
type Handler func(ctx context.Context, j Job)

// Source is the worker's side.
type Source interface {
	// Take delivers jobs to h, at most slots at once, until take ends; then it
	// waits for the handlers that run. Handlers get a context that ends with work.
	Take(take, work context.Context, slots int, h Handler) error
}
