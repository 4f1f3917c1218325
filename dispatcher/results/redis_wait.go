package results

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/redis/go-redis/v9"

	"judgefarm/judge"
)

// The first byte of a stored event and of its message on the channel.
const (
	kindState = 's'
	kindCase  = 'c'
	kindFinal = 'f'
)

// rereadAfter is how long a waiter trusts that it would have been woken. A message
// of a channel can be lost where a proxy hides that the connection was cut.
const rereadAfter = 10 * time.Second

// retryAfter is the pause of a waiter when Redis does not answer.
const retryAfter = 200 * time.Millisecond

// Events implements Store. Once the first read succeeded it waits through outages of Redis.
func (s *Redis) Events(ctx context.Context, id string, after int64) ([]Event, error) {
	w := s.hub.add(id, false)
	defer s.hub.remove(id, w)
	for first := true; ; first = false {
		events, err := s.eventsNow(ctx, id, after)
		if len(events) > 0 || (err != nil && (first || isAnswer(err))) {
			return events, err
		}
		if err := w.wait(ctx, err != nil); err != nil {
			return nil, err
		}
	}
}

// isAnswer reports whether the error is told by the store, not by its absence.
func isAnswer(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, ErrNotFound) }

// errCut stands for the io.EOF of a connection that Redis closed: here io.EOF is
// the end of the events, and a cut must never read as that.
var errCut = errors.New("redis closed the connection")

// cut returns the error of the client without io.EOF in it.
func cut(err error) error {
	if errors.Is(err, io.EOF) {
		return errCut
	}
	return err
}

// eventsNow returns the events after the number that are there, or none.
func (s *Redis) eventsNow(ctx context.Context, id string, after int64) ([]Event, error) {
	short, cancel := context.WithTimeout(ctx, opTimeout)
	defer cancel()
	keys := []string{s.subKey(id), s.eventsKey(id)}
	out, err := s.run.events.Run(short, s.client, keys, after, eventsPerRead).Slice()
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, fmt.Errorf("read events of %s: %w", id, cut(err))
	case len(out) == 0:
		return nil, fmt.Errorf("read events of %s: %w", id, ErrNotFound)
	case after >= number(out, 1) && judge.State(text(out, 0)).Final():
		return nil, io.EOF
	}
	stored := nested(out, 3)
	events := make([]Event, 0, len(stored))
	for i := range stored {
		data := text(stored, i)
		if data == "" {
			return nil, fmt.Errorf("read events of %s: event %d is empty", id, i)
		}
		e := Event{Seq: number(out, 2) + int64(i), Data: []byte(data[1:])}
		switch data[0] {
		case kindState:
			e.Type = EventState
		case kindCase:
			e.Type = EventCase
		case kindFinal:
			e.Type = EventFinal
		}
		events = append(events, e)
	}
	if len(events) == 0 || events[len(events)-1].Type != EventFinal {
		return events, nil
	}
	f, err := s.read(ctx, id)
	if err != nil {
		return nil, err
	}
	return fillFinal(events, f)
}

// Wait implements Store. Once the first read succeeded it waits through outages of Redis.
func (s *Redis) Wait(ctx context.Context, id string) (Record, error) {
	w := s.hub.add(id, true)
	defer s.hub.remove(id, w)
	for first := true; ctx.Err() == nil; first = false {
		state, err := s.state(ctx, id)
		switch {
		case ctx.Err() != nil: // the record as it is, below
		case err != nil && (first || isAnswer(err)):
			return Record{}, err
		case err == nil && state.Final():
			return s.Get(ctx, id)
		default:
			_ = w.wait(ctx, err != nil) // its error is that ctx ended
		}
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), opTimeout)
	defer cancel()
	return s.Get(last, id)
}

func (s *Redis) state(ctx context.Context, id string) (judge.State, error) {
	ctx, cancel := context.WithTimeout(ctx, opTimeout)
	defer cancel()
	state, err := s.client.HGet(ctx, s.subKey(id), "state").Result()
	if errors.Is(err, redis.Nil) {
		err = ErrNotFound
	}
	if err != nil {
		return "", fmt.Errorf("wait for %s: %w", id, cut(err))
	}
	return judge.State(state), nil
}

// wait returns when there may be something new, soon when Redis did not answer,
// or with the cause when ctx ended.
func (w *waiter) wait(ctx context.Context, down bool) error {
	pause := rereadAfter
	if down {
		pause = retryAfter
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-w.wake:
	case <-timer.C:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}
