package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"judgefarm/dispatcher/results"
)

const streamRetryMillis = 1000 // when a client should come again after a cut

func (a *api) eventsOperation() huma.Operation {
	o := a.operation("submission-events", http.MethodGet, "/v1/submissions/{id}/events", "Follow a submission",
		"Server-sent events from the first that is kept, or after Last-Event-ID: state (it was queued or a worker began; events "+
			"of earlier attempts are dropped then, so ids have gaps there and cases told before no longer count), case (one finished run, with index and total), final (the submission as GET "+
			"shows it; the last event). Comments come while nothing happens. Answers 204 when there was nothing after "+
			"Last-Event-ID and there will be nothing: clients stop then.",
		op{errors: []int{404, 422, 503}})
	o.Responses["200"] = &huma.Response{
		Description: "events",
		Content:     map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{Type: "string"}}},
	}
	o.Responses["204"] = &huma.Response{Description: "no more events"}
	return o
}

type eventsInput struct {
	ID    string `path:"id" maxLength:"64"`
	Last  int64  `header:"Last-Event-ID" minimum:"0" doc:"id of the last event that was received"`
	After int64  `query:"after" minimum:"0" doc:"as Last-Event-ID, for clients that cannot set headers; the greater counts"`
}

type eventsOutput struct {
	Status int
	Body   func(huma.Context)
}

func (a *api) events(ctx context.Context, in *eventsInput) (*eventsOutput, error) {
	release := a.hold()
	if release == nil {
		return nil, newProblem(http.StatusServiceUnavailable, "too many event streams are open").retryAfter(5 * time.Second)
	}
	j, err := a.service.Get(ctx, in.ID)
	if err != nil {
		release()
		return nil, problemOf(ctx, a.log, err)
	}
	s := &stream{api: a, id: in.ID, after: max(in.Last, in.After)}
	if j.State.Final() { // then Events does not wait
		s.ready, err = a.service.Events(ctx, in.ID, s.after)
		if errors.Is(err, io.EOF) {
			release()
			return &eventsOutput{Body: func(c huma.Context) { c.SetStatus(http.StatusNoContent) }}, nil
		}
		if err != nil {
			release()
			return nil, problemOf(ctx, a.log, err)
		}
	}
	return &eventsOutput{Body: func(c huma.Context) {
		defer release()
		r, w := humago.Unwrap(c)
		s.run(r.Context(), w)
	}}, nil
}

// stream writes the events of one submission to one client.
type stream struct {
	api   *api
	id    string
	after int64
	ready []results.Event // read before the stream began
	w     http.ResponseWriter
	conn  *http.ResponseController
}

// run returns after the final event, when the client has gone or reads nothing, or
// when the server stops.
func (s *stream) run(ctx context.Context, w http.ResponseWriter) {
	s.w, s.conn = w, http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no") // nginx
	w.WriteHeader(http.StatusOK)
	if s.write(fmt.Appendf(nil, "retry: %d\n\n", streamRetryMillis)) != nil {
		return
	}
	for {
		if s.send(s.ready) != nil {
			return
		}
		events, err := s.next(ctx)
		switch {
		case err == nil:
			s.ready = events
		case errors.Is(err, io.EOF) || ctx.Err() != nil || s.api.stopping():
			return
		case errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled):
			s.ready = nil
			if s.write([]byte(": quiet\n\n")) != nil {
				return
			}
		default: // the client comes again with the last id
			s.api.log.Error("read events", "request", requestID(ctx), "submission", s.id, "error", err)
			return
		}
	}
}

func (s *stream) next(ctx context.Context) ([]results.Event, error) {
	held, cancel := s.api.heldContext(ctx, s.api.cfg.Heartbeat)
	defer cancel()
	return s.api.service.Events(held, s.id, s.after)
}

func (s *stream) send(events []results.Event) error {
	if len(events) == 0 {
		return nil
	}
	var b bytes.Buffer
	for _, e := range events {
		fmt.Fprintf(&b, "id: %d\nevent: %s\n", e.Seq, e.Type)
		for line := range bytes.SplitSeq(e.Data, []byte("\n")) {
			fmt.Fprintf(&b, "data: %s\n", line)
		}
		b.WriteByte('\n')
		s.after = e.Seq
	}
	return s.write(b.Bytes())
}

func (s *stream) write(b []byte) error {
	if _, err := s.w.Write(b); err != nil { // which has a time limit, see statusWriter
		return err
	}
	return s.conn.Flush()
}

// stopping reports whether the server shuts down.
func (a *api) stopping() bool {
	select {
	case <-a.cfg.Stopping:
		return true
	default:
		return false
	}
}
