package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/hibiken/asynq"
)

const (
	// handTime is how long a job may be on its way into asynq, or pending there
	// without a look: what a feeder's or a worker's crash holds a job at most, with
	// the second between two looks.
	handTime = 3 * time.Second
	// handBatch is how many jobs one script hands over.
	handBatch = 32
	// feedPoll is how often a feeder looks although nothing woke it: a message of a
	// channel can be lost.
	feedPoll = 250 * time.Millisecond
	// maintainEach is how many of these pass between looks for overdue jobs and
	// silent workers: a second.
	maintainEach = 4
	// archiveEvery is how often tasks that asynq archived are deleted.
	archiveEvery = 10 * time.Minute
	// taskTimeout must be set, else asynq cancels after 30 minutes; our leases and
	// limits end a run.
	taskTimeout = 10 * 365 * 24 * time.Hour
)

// taskType is the type of every asynq task of ours.
const taskType = "judge"

// Feed implements Line. Several feeders may run at once, each dispatcher one. A
// job is marked as handed over before it is enqueued in asynq, and goes back when
// it does not arrive there, so a feeder's crash loses nothing. Feed outlives
// outages of Redis; it returns nil when ctx ends.
func (q *Queue) Feed(ctx context.Context) error {
	sub := q.client.Subscribe(ctx, q.channel())
	defer sub.Close()
	messages := sub.Channel()
	poll, maintain, archive := time.NewTicker(q.look), time.NewTicker(maintainEach*q.look), time.NewTicker(archiveEvery)
	defer poll.Stop()
	defer maintain.Stop()
	defer archive.Stop()
	up := health{log: q.cfg.Logger, what: "feed queue"}
	for ctx.Err() == nil {
		err := q.handOverAll(ctx)
		up.report(ctx, err)
		if err != nil {
			select {
			case <-poll.C: // the pause while Redis is down
			case <-ctx.Done():
			}
			continue
		}
		select {
		case <-q.wake:
			drain(messages) // most likely of the same push
		case <-messages:
			drain(messages)
			drain(q.wake)
		case <-poll.C:
		case <-maintain.C:
			up.report(ctx, q.maintain(ctx))
		case <-archive.C:
			up.report(ctx, q.clearArchive())
		case <-ctx.Done():
		}
	}
	return nil
}

// drain takes the messages that are there: one look answers all of them.
func drain[T any](messages <-chan T) {
	for {
		select {
		case _, ok := <-messages:
			if !ok {
				return
			}
		default:
			return
		}
	}
}

// handOverAll hands over as many jobs as asynq has room for.
func (q *Queue) handOverAll(ctx context.Context) error {
	for {
		n, err := q.handOver(ctx)
		if err != nil || n < handBatch {
			return err
		}
	}
}

func (q *Queue) handOver(ctx context.Context) (int, error) {
	out, err := q.do(ctx, q.run.pop, handBatch, q.hand.Milliseconds(), q.cfg.Shallow).Slice()
	if err != nil {
		return 0, fmt.Errorf("take jobs from the line: %w", err)
	}
	for i := 0; i+1 < len(out); i += 2 {
		data, isText := out[i].(string)
		n, isNumber := out[i+1].(int64)
		if !isText || !isNumber {
			return 0, fmt.Errorf("take jobs from the line: redis script gave %T and %T", out[i], out[i+1])
		}
		if err := q.enqueue(ctx, []byte(data), n); err != nil {
			return 0, err // it and those after it go back when they are overdue
		}
	}
	return len(out) / 2, nil
}

// enqueue gives one job to asynq. The task's id is new each time, so that a task
// that asynq holds as active for ever (hibiken/asynq#1144) is in nobody's way.
// MaxRetry 0: asynq never redelivers, a dead worker's job comes back by its lease.
func (q *Queue) enqueue(ctx context.Context, data []byte, n int64) error {
	var j Job
	if err := json.Unmarshal(data, &j); err != nil {
		return fmt.Errorf("decode job: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, opTimeout)
	defer cancel()
	_, err := q.asynq.EnqueueContext(ctx, asynq.NewTask(taskType, data),
		asynq.Queue(q.cfg.Prefix), asynq.TaskID(j.ID+"."+strconv.FormatInt(n, 10)),
		asynq.MaxRetry(0), asynq.Timeout(taskTimeout))
	// A conflict is this very task: it was enqueued, the answer was lost, the client tried again.
	if err != nil && !errors.Is(err, asynq.ErrTaskIDConflict) {
		return fmt.Errorf("enqueue job %s: %w", j.ID, err)
	}
	return nil
}

// maintain puts overdue jobs back and forgets silent workers.
func (q *Queue) maintain(ctx context.Context) error {
	n, err := q.do(ctx, q.run.overdue, q.hand.Milliseconds(), handBatch).Int()
	if err != nil {
		return fmt.Errorf("put overdue jobs back: %w", err)
	}
	if n > 0 {
		q.cfg.Logger.Info("put jobs back that a feeder or worker lost", "jobs", n)
	}
	_, _, err = q.Workers(ctx)
	return err
}

// clearArchive deletes what asynq archived: tasks of dead workers, of no use to us.
func (q *Queue) clearArchive() error {
	// The inspector shares our connection: its Close would be an error.
	if _, err := asynq.NewInspectorFromRedisClient(q.client).DeleteAllArchivedTasks(q.cfg.Prefix); err != nil {
		return fmt.Errorf("clear asynq's archive: %w", err)
	}
	return nil
}

func (c *conn) channel() string { return "{" + c.cfg.Prefix + "}:q:wake" }
