package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"judgefarm/dispatcher"
	"judgefarm/dispatcher/api"
	"judgefarm/dispatcher/dispatchertest"
	"judgefarm/judge"
)

// server is the API over a farm in memory, on a loopback port.
type server struct {
	*dispatchertest.Farm
	URL string
}

func serve(t *testing.T, change func(*api.Config)) *server {
	return serveFarm(t, dispatchertest.New(t, nil), change)
}

func serveFarm(t *testing.T, f *dispatchertest.Farm, change func(*api.Config)) *server {
	t.Helper()
	cfg := api.Config{Service: f.Service, Log: slog.New(slog.DiscardHandler)}
	if change != nil {
		change(&cfg)
	}
	h, err := api.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return &server{Farm: f, URL: srv.URL}
}

// answer is a response that was read whole.
type answer struct {
	*http.Response
	body []byte
}

func (s *server) do(t *testing.T, method, path, body string, header ...string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" && method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{res, b}
}

// judgement decodes strictly: an unknown field is a mistake in the document.
func (a answer) judgement(t *testing.T, status int) judge.Judgement {
	t.Helper()
	if a.StatusCode != status {
		t.Fatalf("got status %d, want %d: %s", a.StatusCode, status, a.body)
	}
	dec := json.NewDecoder(bytes.NewReader(a.body))
	dec.DisallowUnknownFields()
	var j judge.Judgement
	if err := dec.Decode(&j); err != nil {
		t.Fatalf("decode %s: %v", a.body, err)
	}
	return j
}

// problem checks that the answer is a problem document and returns it.
func (a answer) problem(t *testing.T, status int) api.Problem {
	t.Helper()
	if a.StatusCode != status {
		t.Fatalf("got status %d, want %d: %s", a.StatusCode, status, a.body)
	}
	if ct := a.Header.Get("Content-Type"); ct != "application/problem+json" {
		t.Errorf("got content type %q", ct)
	}
	var p api.Problem
	if err := json.Unmarshal(a.body, &p); err != nil {
		t.Fatalf("decode %s: %v", a.body, err)
	}
	if p.Status != status || p.Title != http.StatusText(status) || p.Type == "" || p.Detail == "" {
		t.Errorf("got problem %s", a.body)
	}
	if p.RequestID == "" || p.RequestID != a.Header.Get("X-Request-Id") {
		t.Errorf("got request id %q, header %q", p.RequestID, a.Header.Get("X-Request-Id"))
	}
	return p
}

const hello = `{"language":"python3","files":[{"name":"a.py","content":"print(3)"}],"tests":[{"stdin":"1 2\n","expected":"3\n"}]}`

func TestSubmitAndGet(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	res := s.do(t, "POST", "/v1/submissions", `{"language":"python3","files":[{"name":"a.py","content":"print(1)"}],
		"tests":[{"stdin":"1 2\n","expected":"3\n"}],"checker":{"name":"tokens"},
		"limits":{"cpu_ms":1000,"wall_ms":3000,"memory_kib":262144,"output_kib":1024,"tasks":64},
		"stop":"first_fail","labels":{"course":"x"}}`)
	j := res.judgement(t, http.StatusCreated)
	if j.State != judge.Queued || j.Labels["course"] != "x" || res.Header.Get("Location") != "/v1/submissions/"+j.ID {
		t.Errorf("got %s at %q", res.body, res.Header.Get("Location"))
	}
	for _, name := range []string{"verdict", "score", "compile", "failed", "language", "limits", "enforced", "reward"} {
		if !strings.Contains(string(res.body), `"`+name+`":null`) {
			t.Errorf("%s is not there as null: %s", name, res.body)
		}
	}
	for _, name := range []string{"cases", "tamper"} {
		if !strings.Contains(string(res.body), `"`+name+`":[]`) {
			t.Errorf("%s is not there as an empty list: %s", name, res.body)
		}
	}
	a := s.Start(t, j.ID)
	s.Case(t, a, 0, 2)
	got := s.do(t, "GET", "/v1/submissions/"+j.ID, "").judgement(t, http.StatusOK)
	if got.State != judge.Judging || len(got.Cases) != 1 {
		t.Errorf("got state %s with %d cases, want judging with 1", got.State, len(got.Cases))
	}
	s.Finish(t, a, judge.WrongAnswer)
	if got := s.do(t, "GET", "/v1/submissions/"+j.ID, "").judgement(t, http.StatusOK); *got.Verdict != judge.WrongAnswer {
		t.Errorf("got %+v", got)
	}
}

func TestFullAndDown(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	s.Line.Bound = 1
	s.do(t, "POST", "/v1/submissions", hello).judgement(t, http.StatusCreated)
	res := s.do(t, "POST", "/v1/submissions", hello)
	res.problem(t, http.StatusTooManyRequests)
	if got := res.Header.Get("Retry-After"); got != "3" {
		t.Errorf("got Retry-After %q, want the line's 3", got)
	}

	s = serve(t, nil)
	s.Line.Down(errors.New("dial tcp 10.1.2.3:6379: connection refused"))
	res = s.do(t, "POST", "/v1/submissions", hello)
	res.problem(t, http.StatusServiceUnavailable)
	if res.Header.Get("Retry-After") == "" || strings.Contains(string(res.body), "10.1.2.3") {
		t.Errorf("got Retry-After %q and %s", res.Header.Get("Retry-After"), res.body)
	}
}

func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	first := s.do(t, "POST", "/v1/submissions", hello, "Idempotency-Key", "k").judgement(t, http.StatusCreated)
	spaced := strings.ReplaceAll(hello, ",", " , ")
	again := s.do(t, "POST", "/v1/submissions", spaced, "Idempotency-Key", "k").judgement(t, http.StatusCreated)
	if again.ID != first.ID || len(s.Line.Jobs()) != 1 {
		t.Errorf("got %s then %s, %d in line", first.ID, again.ID, len(s.Line.Jobs()))
	}
	other := strings.Replace(hello, "print(3)", "print(4)", 1)
	p := s.do(t, "POST", "/v1/submissions", other, "Idempotency-Key", "k").problem(t, http.StatusUnprocessableEntity)
	if len(p.Errors) != 1 || p.Errors[0].Field != "Idempotency-Key" {
		t.Errorf("got %+v", p)
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	j := s.do(t, "POST", "/v1/submissions", hello).judgement(t, http.StatusCreated)
	if got := s.do(t, "POST", "/v1/submissions/"+j.ID+"/cancel", "").judgement(t, http.StatusOK); got.State != judge.Cancelled {
		t.Errorf("got %s", got.State)
	}
	j = s.do(t, "POST", "/v1/submissions", hello).judgement(t, http.StatusCreated)
	a := s.Start(t, j.ID)
	if got := s.do(t, "POST", "/v1/submissions/"+j.ID+"/cancel", "").judgement(t, http.StatusAccepted); got.State != judge.Judging {
		t.Errorf("got %s", got.State)
	}
	if cancel, err := s.Results.Renew(t.Context(), a, time.Minute); err != nil || !cancel {
		t.Errorf("the worker hears cancel %v, %v", cancel, err)
	}
	s.Finish(t, a, judge.Accepted)
	if got := s.do(t, "POST", "/v1/submissions/"+j.ID+"/cancel", "").judgement(t, http.StatusOK); got.State != judge.Judged {
		t.Errorf("got %s, want what was final to stay", got.State)
	}
}

func TestLanguages(t *testing.T) {
	t.Parallel()
	list := []judge.LanguageInfo{{ID: "c", Name: "C", Available: true, Version: "14.2"}, {ID: "go", Name: "Go", Missing: "golang-go"}}
	s := serve(t, func(c *api.Config) {
		c.Languages = func(context.Context) ([]judge.LanguageInfo, error) { return list, nil }
	})
	var got struct{ Languages []judge.LanguageInfo }
	res := s.do(t, "GET", "/v1/languages", "")
	if err := json.Unmarshal(res.body, &got); err != nil || res.StatusCode != 200 || fmt.Sprint(got.Languages) != fmt.Sprint(list) {
		t.Errorf("got %s, %v", res.body, err)
	}
	s = serve(t, func(c *api.Config) {
		c.Languages = func(context.Context) ([]judge.LanguageInfo, error) { return nil, dispatcher.ErrUnavailable }
	})
	s.do(t, "GET", "/v1/languages", "").problem(t, http.StatusServiceUnavailable)
	s = serve(t, nil)
	if res := s.do(t, "GET", "/v1/languages", ""); !strings.Contains(string(res.body), `"languages":[]`) {
		t.Errorf("got %s", res.body)
	}
}

func TestHealthReadyMetrics(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	s.do(t, "POST", "/v1/submissions", hello).judgement(t, http.StatusCreated)
	s.do(t, "POST", "/v1/submissions", `{}`).problem(t, http.StatusUnprocessableEntity)
	s.do(t, "POST", "/v1/submissions", strings.Replace(hello, "python3", "x", 1)).problem(t, http.StatusUnprocessableEntity)
	s.do(t, "GET", "/nope", "")
	if res := s.do(t, "GET", "/healthz", ""); res.StatusCode != http.StatusOK {
		t.Errorf("healthz: %d", res.StatusCode)
	}
	if res := s.do(t, "GET", "/readyz", ""); res.StatusCode != http.StatusOK || !strings.Contains(string(res.body), `"queue"`) {
		t.Errorf("readyz: %d %s", res.StatusCode, res.body)
	}
	res := s.do(t, "GET", "/metrics", "")
	for _, want := range []string{
		`judge_api_requests_total{route="POST /v1/submissions",status="201"} 1`,
		`judge_api_requests_total{route="POST /v1/submissions",status="422"} 2`,
		`judge_api_requests_total{route="none",status="404"} 1`,
		`judge_submissions_accepted_total{priority="interactive"} 1`,
		`judge_submissions_refused_total{reason="bad_request"} 2`,
		`judge_queue_depth_jobs{priority="interactive"} 1`,
		`judge_queue_depth_jobs{priority="batch"} 0`,
	} {
		if !strings.Contains(string(res.body), want) {
			t.Errorf("metrics lack %s in\n%s", want, res.body)
		}
	}
	down := serve(t, nil)
	down.Line.Down(errors.New("down"))
	res = down.do(t, "GET", "/readyz", "")
	if res.StatusCode != http.StatusServiceUnavailable || !strings.Contains(string(res.body), "start Redis") {
		t.Errorf("readyz with the line down: %d %s", res.StatusCode, res.body)
	}
	if res := down.do(t, "GET", "/metrics", ""); res.StatusCode != http.StatusOK || strings.Contains(string(res.body), "judge_queue_depth_jobs{") {
		t.Errorf("metrics with the line down: %d\n%s", res.StatusCode, res.body)
	}
}

func TestRequestID(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	if got := s.do(t, "GET", "/nope", "", "X-Request-Id", "abc-1").Header.Get("X-Request-Id"); got != "abc-1" {
		t.Errorf("got %q, want the caller's id", got)
	}
	if got := s.do(t, "GET", "/nope", "", "X-Request-Id", `a"b c`).Header.Get("X-Request-Id"); got == "" || strings.Contains(got, " ") {
		t.Errorf("got %q, want an id of ours", got)
	}
}
