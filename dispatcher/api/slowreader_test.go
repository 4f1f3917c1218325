package api_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"judgefarm/dispatcher/api"
	"judgefarm/judge"
)

// large returns the id of a submission whose document is larger than what a
// connection holds.
func (s *server) large(t *testing.T) string {
	t.Helper()
	j := s.do(t, "POST", "/v1/submissions", hello).judgement(t, http.StatusCreated)
	a := s.Start(t, j.ID)
	v := judge.Accepted
	j.State, j.Verdict, j.Cases = judge.Judged, &v, []judge.Run{{Name: strings.Repeat("x", 32<<20), Verdict: v}}
	if err := s.Results.Finish(t.Context(), a, j); err != nil {
		t.Fatal(err)
	}
	return j.ID
}

// Who asks for a large document and never reads it does not keep it in memory.
func TestClientThatReadsNothingIsDropped(t *testing.T) {
	t.Parallel()
	s := serve(t, func(c *api.Config) { c.WriteTimeout = 100 * time.Millisecond })
	id := s.large(t)
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET /v1/submissions/%s HTTP/1.1\r\nHost: x\r\n\r\n", id)
	s.awaitMetric(t, `judge_api_requests_total{route="GET /v1/submissions/{id}",status="200"} 1`)
	if b, err := io.ReadAll(conn); err == nil && len(b) > 32<<20 {
		t.Errorf("got all %d bytes", len(b))
	}
}

// The time limit is for a client that takes nothing: one that reads has all of it, and
// the connection is as good as before.
func TestConnectionOutlivesTheTimeLimitOfAnAnswer(t *testing.T) {
	t.Parallel()
	for slow := 50 * time.Millisecond; ; slow *= 4 { // a host that stands still may reach a short limit
		s := serve(t, func(c *api.Config) { c.WriteTimeout, c.MaxWait = slow, 4*slow })
		id := s.large(t)
		j := s.do(t, "POST", "/v1/submissions", hello).judgement(t, http.StatusCreated)
		whole, err := http.Get(s.URL + "/v1/submissions/" + id)
		if err == nil {
			var n int64
			n, err = io.Copy(io.Discard, whole.Body)
			whole.Body.Close()
			if err == nil && n < 32<<20 {
				t.Fatalf("got %d bytes", n)
			}
		}
		if err == nil {
			s.do(t, "GET", "/v1/submissions/"+j.ID+"?wait=true", "").judgement(t, http.StatusAccepted)
			return
		}
		if slow > 10*time.Second {
			t.Fatal(err)
		}
	}
}
