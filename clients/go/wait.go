package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"judgefarm/judge"
)

// Watcher hears of progress while Follow waits; its calls come in order from the
// goroutine of Follow. Nil fields are skipped.
type Watcher struct {
	// State is called when it was queued and when a worker begins; cases told
	// before no longer count then.
	State func(state judge.State, attempt int)
	// Case is called for every finished run; index counts from 0, in any order.
	Case func(index, total int, run judge.Run)
}

// Wait is Follow without a watcher.
func (c *Client) Wait(ctx context.Context, id string) (judge.Judgement, error) {
	return c.Follow(ctx, id, Watcher{})
}

// Follow follows a submission until it is final and returns it. It goes on after a
// broken connection or a restarted server, where it left off, as long as ctx lasts
// and the server is not away for longer than Patience at a time.
func (c *Client) Follow(ctx context.Context, id string, watch Watcher) (judge.Judgement, error) {
	f := &follower{client: c, id: id, watch: watch}
	var spent time.Duration
	for wait := firstPause; ; wait = min(2*wait, mostPause) {
		seen, began := f.last, time.Now()
		err := f.read(ctx)
		if err == nil {
			return f.final(ctx)
		}
		again, after := retryable(err)
		if spent += time.Since(began); f.heard { // it is there, though it cuts streams
			spent = 0
		}
		if f.last > seen {
			wait = firstPause
		}
		again = again && !errors.Is(err, errBroken)
		if after == 0 {
			after = wait/2 + rand.N(wait/2)
		}
		if spent += after; !again || ctx.Err() != nil || spent > c.cfg.Patience {
			return judge.Judgement{}, fmt.Errorf("wait for submission: %w", err)
		}
		if err := c.cfg.Pause(ctx, after); err != nil {
			return judge.Judgement{}, fmt.Errorf("wait for submission: %w", err)
		}
	}
}

var (
	errQuiet = errors.New("the stream of events went quiet")
	errCut   = errors.New("the stream of events was cut")
	// errBroken is not tried again: the same event would come again.
	errBroken = errors.New("the server sent an event that cannot be read")
)

// follower reads the events of one submission over as many connections as it takes.
type follower struct {
	client *Client
	id     string
	watch  Watcher
	last   int64 // id of the last event
	heard  bool  // the connection that just ended said something
	result *judge.Judgement
}

// final returns the judgement of the final event, or asks for it: when the server
// said that nothing more comes, the event was seen before.
func (f *follower) final(ctx context.Context) (judge.Judgement, error) {
	if f.result != nil {
		return *f.result, nil
	}
	return f.client.Get(ctx, f.id)
}

// read follows one connection; nil means that the submission is final.
func (f *follower) read(ctx context.Context) error {
	f.heard = false
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	quiet := time.AfterFunc(f.client.cfg.Quiet, func() { cancel(errQuiet) })
	defer quiet.Stop()
	do := call{method: http.MethodGet, path: submissionPath(f.id) + "/events", header: http.Header{"Accept": {"text/event-stream"}}}
	if f.last > 0 {
		do.header.Set("Last-Event-ID", strconv.FormatInt(f.last, 10))
	}
	res, err := f.client.send(ctx, do)
	if err != nil {
		return because(ctx, err)
	}
	defer res.Body.Close()
	if res.StatusCode == http.StatusNoContent {
		return nil
	}
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, maxAnswer)
	var e event
	for lines.Scan() {
		quiet.Reset(f.client.cfg.Quiet)
		f.heard = true
		if !e.add(lines.Bytes()) {
			continue
		}
		if final, err := f.take(e); final || err != nil {
			return err
		}
		e = event{}
	}
	if err := lines.Err(); err != nil {
		return because(ctx, err)
	}
	return because(ctx, errCut)
}

// because prefers why the context ended to what that broke.
func because(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// take tells the watcher of one event and reports whether it was the final one.
func (f *follower) take(e event) (final bool, err error) {
	if e.id > 0 && e.id <= f.last {
		return false, nil // told before
	}
	switch e.kind {
	case "state":
		var s struct {
			State   judge.State `json:"state"`
			Attempt int         `json:"attempt"`
		}
		if err = json.Unmarshal(e.data.Bytes(), &s); err == nil && f.watch.State != nil {
			f.watch.State(s.State, s.Attempt)
		}
	case "case":
		var c struct {
			Index int `json:"index"`
			Total int `json:"total"`
			judge.Run
		}
		if err = json.Unmarshal(e.data.Bytes(), &c); err == nil && f.watch.Case != nil {
			f.watch.Case(c.Index, c.Total, c.Run)
		}
	case "final":
		f.result = &judge.Judgement{}
		err, final = json.Unmarshal(e.data.Bytes(), f.result), true
	}
	if err != nil {
		return false, fmt.Errorf("%w: %s %d: %w", errBroken, e.kind, e.id, err)
	}
	f.last = max(f.last, e.id)
	return final, nil
}

// event is a server-sent event while its lines come in.
type event struct {
	id   int64
	kind string
	data bytes.Buffer
}

// add takes a line and reports whether the event is complete.
func (e *event) add(line []byte) bool {
	name, value, _ := strings.Cut(string(line), ":")
	value = strings.TrimPrefix(value, " ")
	switch {
	case len(line) == 0:
		return e.kind != "" // else a comment or a retry line
	case name == "id":
		e.id, _ = strconv.ParseInt(value, 10, 64) // of another form: not ours to count
	case name == "event":
		e.kind = value
	case name == "data":
		if e.data.Len() > 0 {
			e.data.WriteByte('\n')
		}
		io.WriteString(&e.data, value)
	}
	return false
}
