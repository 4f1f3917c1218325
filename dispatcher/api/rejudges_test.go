package api_test

import (
	"net/http"
	"strings"
	"testing"

	"judgefarm/judge"
)

func TestRejudges(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	j := s.do(t, "POST", "/v1/submissions", hello).judgement(t, http.StatusCreated)
	body := `{"submissions":["` + j.ID + `"]}`
	s.do(t, "POST", "/v1/rejudges", body).problem(t, http.StatusUnprocessableEntity) // not final
	s.Finish(t, s.Start(t, j.ID), judge.Accepted)
	events := s.do(t, "GET", "/v1/submissions/"+j.ID+"/events", "")
	res := s.do(t, "POST", "/v1/rejudges", body)
	r := decoded[judge.Rejudge](t, res, http.StatusCreated)
	path := "/v1/rejudges/" + r.ID
	if r.Total != 1 || r.State != judge.RejudgeJudging || res.Header.Get("Location") != path {
		t.Errorf("got %+v at %q", r, res.Header.Get("Location"))
	}
	s.do(t, "POST", path+"/apply", "").problem(t, http.StatusConflict)
	s.Finish(t, s.Start(t, r.Submissions[0].Judgement), judge.WrongAnswer)
	if r := decoded[judge.Rejudge](t, s.do(t, "GET", path, ""), http.StatusOK); r.State != judge.RejudgeReady || r.Changed != 1 {
		t.Errorf("got %+v", r)
	}
	if again := s.do(t, "GET", "/v1/submissions/"+j.ID+"/events", ""); string(again.body) != string(events.body) {
		t.Errorf("before it is applied the events are %s, were %s", again.body, events.body)
	}
	if r := decoded[judge.Rejudge](t, s.do(t, "POST", path+"/apply", ""), http.StatusOK); r.State != judge.RejudgeApplied {
		t.Errorf("got %+v", r)
	}
	if got := s.do(t, "GET", "/v1/submissions/"+j.ID, "").judgement(t, http.StatusOK); *got.Verdict != judge.WrongAnswer || got.Number != 2 || got.ID != j.ID {
		t.Errorf("got %+v", got)
	}
	if again := s.do(t, "GET", "/v1/submissions/"+j.ID+"/events", ""); !strings.Contains(string(again.body), `"verdict":"WA"`) {
		t.Errorf("after it is applied the events are %s", again.body)
	}
	s.do(t, "DELETE", path, "").problem(t, http.StatusConflict)

	second := decoded[judge.Rejudge](t, s.do(t, "POST", "/v1/rejudges", body), http.StatusCreated)
	if res := s.do(t, "DELETE", "/v1/rejudges/"+second.ID, ""); res.StatusCode != http.StatusNoContent {
		t.Errorf("got %d %s", res.StatusCode, res.body)
	}
	s.do(t, "POST", "/v1/rejudges/"+second.ID+"/apply", "").problem(t, http.StatusConflict)
	type list struct{ Rejudges []judge.Rejudge }
	if l := decoded[list](t, s.do(t, "GET", "/v1/rejudges", ""), http.StatusOK); len(l.Rejudges) != 2 || l.Rejudges[0].ID != second.ID {
		t.Errorf("got %+v", l)
	}
	for path, method := range map[string]string{"/v1/rejudges/x": "GET", "/v1/rejudges/x/apply": "POST"} {
		s.do(t, method, path, "").problem(t, http.StatusNotFound)
	}
	s.do(t, "POST", "/v1/rejudges", `{"all":true}`).problem(t, http.StatusUnprocessableEntity)
	s.do(t, "POST", "/v1/rejudges", `{}`).problem(t, http.StatusUnprocessableEntity)
}
