package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"judgefarm/dispatcher/api"
	"judgefarm/dispatcher/queue"
	"judgefarm/judge"
)

func TestWaitHoldsUntilFinal(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	got := make(chan answer, 1)
	go func() { got <- s.do(t, "POST", "/v1/submissions?wait=true", hello) }()
	id := s.awaitJob(t)
	s.Finish(t, s.Start(t, id), judge.Accepted)
	j := (<-got).judgement(t, http.StatusOK)
	if j.ID != id || *j.Verdict != judge.Accepted {
		t.Errorf("got %+v", j)
	}
	if j := s.do(t, "GET", "/v1/submissions/"+id+"?wait=true", "").judgement(t, http.StatusOK); *j.Verdict != judge.Accepted {
		t.Errorf("got %+v", j)
	}
}

// The time limit for the body must not end the wait that follows it.
func TestWaitOutlivesTheBodysTimeLimit(t *testing.T) {
	t.Parallel()
	// A host that stands still may reach a short limit while the body is read: then the
	// same with longer ones.
	for wait := 400 * time.Millisecond; ; wait *= 4 {
		s := serve(t, func(c *api.Config) { c.BodyTimeout, c.MaxWait = wait/4, wait })
		start := time.Now()
		res := s.do(t, "POST", "/v1/submissions?wait=true", hello)
		took := time.Since(start)
		if res.StatusCode == http.StatusAccepted && took >= wait {
			return
		}
		if wait > 20*time.Second {
			t.Fatalf("the wait of %v ended after %v with %d: %s", wait, took, res.StatusCode, res.body)
		}
	}
}

// awaitJob returns the id of the first job in line.
func (s *server) awaitJob(t *testing.T) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := s.Line.Await(ctx, func(jobs []queue.Job) bool { return len(jobs) > 0 }); err != nil {
		t.Fatal(err)
	}
	return s.Line.Jobs()[0].ID
}

func TestWaitIsBounded(t *testing.T) {
	t.Parallel()
	s := serve(t, func(c *api.Config) { c.MaxWait = 10 * time.Millisecond })
	j := s.do(t, "POST", "/v1/submissions?wait=true", hello).judgement(t, http.StatusAccepted)
	if j.State != judge.Queued {
		t.Errorf("got %s", j.State)
	}
	s.do(t, "GET", "/v1/submissions/"+j.ID+"?wait=true", "").judgement(t, http.StatusAccepted)
}

func TestHeldRequestsAreBounded(t *testing.T) {
	t.Parallel()
	s := serve(t, func(c *api.Config) { c.MaxHeld = 1 })
	j := s.do(t, "POST", "/v1/submissions", hello).judgement(t, http.StatusCreated)
	events := s.stream(t, j.ID, "")
	events.next(t)
	s.do(t, "GET", "/v1/submissions/"+j.ID+"?wait=true", "").judgement(t, http.StatusAccepted)
	res := s.do(t, "GET", "/v1/submissions/"+j.ID+"/events", "")
	res.problem(t, http.StatusServiceUnavailable)
	if res.Header.Get("Retry-After") == "" {
		t.Error("503 without Retry-After")
	}
}

// The connection must outlive the time limit of reading the body, and a waiting
// client that hangs up must give its place back.
func TestHangingUpFreesTheWait(t *testing.T) {
	t.Parallel()
	s := serve(t, func(c *api.Config) { c.MaxHeld = 1 })
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, "POST", s.URL+"/v1/submissions?wait=true", strings.NewReader(hello))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	ended := make(chan error, 1)
	go func() {
		res, err := http.DefaultClient.Do(req)
		if err == nil {
			res.Body.Close()
		}
		ended <- err
	}()
	id := s.awaitJob(t)
	s.awaitMetric(t, "judge_api_held_requests 1")
	cancel()
	if err := <-ended; err == nil {
		t.Fatal("the request was answered")
	}
	s.awaitMetric(t, "judge_api_held_requests 0")
	if j := s.do(t, "GET", "/v1/submissions/"+id, "").judgement(t, http.StatusOK); j.State != judge.Queued {
		t.Errorf("got %s: hanging up must not cancel", j.State)
	}
}

// awaitMetric asks until /metrics has the line: there is nothing to wait on.
func (s *server) awaitMetric(t *testing.T, line string) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for !strings.Contains(string(s.do(t, "GET", "/metrics", "").body), "\n"+line+"\n") {
		if time.Now().After(deadline) {
			t.Fatalf("no %q in metrics", line)
		}
	}
}

// event is one server-sent event or comment.
type event struct {
	id      int64
	kind    string
	data    string
	comment bool
}

type stream struct {
	res   *http.Response
	lines *bufio.Scanner
}

func (s *server) stream(t *testing.T, id, last string) *stream {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", s.URL+"/v1/submissions/"+id+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("got status %d, type %s", res.StatusCode, res.Header.Get("Content-Type"))
	}
	return &stream{res, bufio.NewScanner(res.Body)}
}

// next returns the next event or comment, and false at the end of the stream.
func (s *stream) next(t *testing.T) (e event, ok bool) {
	t.Helper()
	for s.lines.Scan() {
		name, value, _ := strings.Cut(s.lines.Text(), ": ")
		switch name {
		case "":
			if e.comment || e.kind != "" {
				return e, true
			}
			e.comment = value != ""
		case "id":
			id, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			e.id = id
		case "event":
			e.kind = value
		case "data":
			e.data += value
		case "retry":
		default:
			t.Fatalf("got line %q", s.lines.Text())
		}
	}
	return e, false
}

func TestEventsResume(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	j := s.do(t, "POST", "/v1/submissions", hello).judgement(t, http.StatusCreated)
	first := s.stream(t, j.ID, "")
	if e, _ := first.next(t); e.kind != "state" || !strings.Contains(e.data, "queued") {
		t.Fatalf("got %+v, want queued", e)
	}
	a := s.Start(t, j.ID)
	for e, _ := first.next(t); e.kind != "state" || !strings.Contains(e.data, "judging"); e, _ = first.next(t) {
		t.Fatalf("got %+v, want judging", e)
	}
	s.Case(t, a, 0, 2)
	e, _ := first.next(t)
	if e.kind != "case" || !strings.Contains(e.data, `"index":0`) {
		t.Fatalf("got %+v, want the first case", e)
	}
	first.res.Body.Close() // the network breaks

	s.Case(t, a, 1, 2)
	s.Finish(t, a, judge.Accepted)
	second := s.stream(t, j.ID, strconv.FormatInt(e.id, 10))
	seen := e.id
	for _, want := range []string{"case", "final"} {
		e, ok := second.next(t)
		if !ok || e.kind != want || e.id <= seen {
			t.Fatalf("got %+v, want a %s after %d", e, want, seen)
		}
		seen = e.id
		if want == "final" {
			var j judge.Judgement
			if err := json.Unmarshal([]byte(e.data), &j); err != nil || *j.Verdict != judge.Accepted {
				t.Errorf("got %s, %v", e.data, err)
			}
		}
	}
	if e, ok := second.next(t); ok {
		t.Errorf("got %+v after the final event", e)
	}
	res := s.do(t, "GET", "/v1/submissions/"+j.ID+"/events", "", "Last-Event-ID", strconv.FormatInt(seen, 10))
	if res.StatusCode != http.StatusNoContent || len(res.body) != 0 {
		t.Errorf("got %d %q after the end, want 204", res.StatusCode, res.body)
	}
	s.do(t, "GET", "/v1/submissions/"+j.ID+"/events", "", "Last-Event-ID", "x").problem(t, http.StatusUnprocessableEntity)
}

func TestQuietStreamHasHeartbeats(t *testing.T) {
	t.Parallel()
	s := serve(t, func(c *api.Config) { c.Heartbeat = 5 * time.Millisecond })
	j := s.do(t, "POST", "/v1/submissions", hello).judgement(t, http.StatusCreated)
	events := s.stream(t, j.ID, "")
	events.next(t) // queued
	for range 3 {
		if e, ok := events.next(t); !ok || !e.comment {
			t.Fatalf("got %+v, want a comment", e)
		}
	}
	s.Finish(t, s.Start(t, j.ID), judge.Accepted)
	for {
		e, ok := events.next(t)
		if !ok {
			t.Fatal("the stream ended before the final event")
		}
		if e.kind == "final" {
			return
		}
	}
}

// Not parallel: it counts goroutines.
func TestStoppingEndsWhatIsHeldAndNothingLeaks(t *testing.T) {
	http.DefaultClient.CloseIdleConnections()
	before := runtime.NumGoroutine()
	t.Run("server", func(t *testing.T) {
		stop := make(chan struct{})
		s := serve(t, func(c *api.Config) { c.Stopping = stop })
		j := s.do(t, "POST", "/v1/submissions", hello).judgement(t, http.StatusCreated)
		var streams []*stream
		for range 5 {
			events := s.stream(t, j.ID, "")
			events.next(t)
			streams = append(streams, events)
		}
		waited := make(chan answer, 1)
		go func() { waited <- s.do(t, "GET", "/v1/submissions/"+j.ID+"?wait=true", "") }()
		s.awaitMetric(t, "judge_api_held_requests 6")
		close(stop)
		(<-waited).judgement(t, http.StatusAccepted)
		for _, events := range streams {
			if e, ok := events.next(t); ok {
				t.Errorf("got %+v, want the end of the stream", e)
			}
		}
		s.awaitMetric(t, "judge_api_held_requests 0")
	})
	http.DefaultClient.CloseIdleConnections()
	deadline := time.Now().Add(20 * time.Second)
	for runtime.NumGoroutine() > before {
		if time.Now().After(deadline) {
			buf := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
		}
		runtime.Gosched()
	}
}

func TestEventsOfABrokenConnection(t *testing.T) {
	t.Parallel()
	s := serve(t, func(c *api.Config) { c.Heartbeat = 5 * time.Millisecond })
	j := s.do(t, "POST", "/v1/submissions", hello).judgement(t, http.StatusCreated)
	events := s.stream(t, j.ID, "")
	events.next(t)
	events.res.Body.Close()
	s.awaitMetric(t, "judge_api_held_requests 0")
	_, _ = io.Copy(io.Discard, events.res.Body)
}
