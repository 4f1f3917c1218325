package api_test

import (
	"archive/zip"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"judgefarm/judge"
)

// push uploads a package of one case whose answer is text.
func (s *server) push(t *testing.T, id, text string) judge.ProblemInfo {
	t.Helper()
	res := s.do(t, "PUT", "/v1/problems/"+id, zipOf(t, "1.in", "1\n", "1.out", text), "Content-Type", "application/zip")
	return decoded[judge.ProblemInfo](t, res, http.StatusOK)
}

// zipOf returns a zip of files, name and content in turn.
func zipOf(t *testing.T, files ...string) string {
	t.Helper()
	var b strings.Builder
	z := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		w, err := z.Create(files[i])
		if err == nil {
			_, err = w.Write([]byte(files[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func decoded[T any](t *testing.T, res answer, status int) (v T) {
	t.Helper()
	if res.StatusCode != status {
		t.Fatalf("got status %d, want %d: %s", res.StatusCode, status, res.body)
	}
	if err := json.Unmarshal(res.body, &v); err != nil {
		t.Fatalf("decode %s: %v", res.body, err)
	}
	return v
}

func TestProblemVersions(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	s.push(t, "p", "1")
	if got := s.push(t, "p", "2"); got.Version != 2 {
		t.Errorf("got version %d, want 2", got.Version)
	}
	v := decoded[judge.ProblemVersions](t, s.do(t, "GET", "/v1/problems/p/versions", ""), http.StatusOK)
	if v.Current != 2 || len(v.Versions) != 2 || v.Versions[0].Version != 2 {
		t.Errorf("got %+v", v)
	}
	if got := decoded[judge.ProblemInfo](t, s.do(t, "POST", "/v1/problems/p/rollback", ""), http.StatusOK); got.Version != 1 {
		t.Errorf("rolled back to version %d, want 1", got.Version)
	}
	if got := decoded[judge.ProblemInfo](t, s.do(t, "GET", "/v1/problems/p", ""), http.StatusOK); got.Version != 1 {
		t.Errorf("got version %d, want 1", got.Version)
	}
	if got := decoded[judge.ProblemInfo](t, s.do(t, "GET", "/v1/problems/p?version=2", ""), http.StatusOK); got.Version != 2 {
		t.Errorf("got version %d, want 2", got.Version)
	}
	for path, method := range map[string]string{
		"/v1/problems/p?version=3": "GET", "/v1/problems/p/rollback?version=3": "POST", "/v1/problems/p/rollback": "POST",
		"/v1/problems/q/versions": "GET", "/v1/problems/q/rollback": "POST", "/v1/problems/q": "DELETE",
	} {
		s.do(t, method, path, "").problem(t, http.StatusNotFound)
	}
	s.do(t, "POST", "/v1/problems/p/rollback?version=-1", "").problem(t, http.StatusUnprocessableEntity)
	in, err := s.Service.GetProblem(t.Context(), "p", 2)
	if err != nil {
		t.Fatal(err)
	}
	q := judge.Quarantine{Reason: "it crashed", Failures: 5, Worker: "w1"}
	if _, err := s.Results.Quarantine(t.Context(), in.Package, q); err != nil {
		t.Fatal(err)
	}
	if got := decoded[judge.ProblemInfo](t, s.do(t, "GET", "/v1/problems/p", ""), http.StatusOK); got.Quarantine != nil {
		t.Errorf("another version is in quarantine: %+v", got)
	}
	if got := decoded[judge.ProblemVersions](t, s.do(t, "GET", "/v1/problems/p/versions", ""), http.StatusOK); got.Versions[0].Quarantine == nil {
		t.Errorf("the version is not in quarantine: %+v", got)
	}
	if res := s.do(t, "GET", "/metrics", ""); !strings.Contains(string(res.body), "\njudge_quarantined_packages 1\n") {
		t.Error("the metrics do not tell of a package in quarantine")
	}
	for range 2 {
		decoded[judge.ProblemInfo](t, s.do(t, "POST", "/v1/problems/p/release?version=2", ""), http.StatusOK)
	}
	if got := decoded[judge.ProblemInfo](t, s.do(t, "GET", "/v1/problems/p?version=2", ""), http.StatusOK); got.Quarantine != nil {
		t.Errorf("after its release: %+v", got)
	}
	body := strings.Replace(hello, `"tests":[{"stdin":"1 2\n","expected":"3\n"}]`, `"problem":"p@2"`, 1)
	j := s.do(t, "POST", "/v1/submissions", body).judgement(t, http.StatusCreated)
	if j.Problem == nil || j.Problem.Version != 2 || j.Problem.ID != "p" {
		t.Errorf("got problem %+v, want version 2 of p", j.Problem)
	}
	if res := s.do(t, "DELETE", "/v1/problems/p", ""); res.StatusCode != http.StatusNoContent || len(res.body) != 0 {
		t.Errorf("got %d %q, want 204", res.StatusCode, res.body)
	}
	s.do(t, "GET", "/v1/problems/p", "").problem(t, http.StatusNotFound)
	if res := s.do(t, "PATCH", "/v1/problems/p", ""); res.StatusCode != http.StatusMethodNotAllowed || res.Header.Get("Allow") != "GET, PUT, DELETE" {
		t.Errorf("got %d, Allow %q", res.StatusCode, res.Header.Get("Allow"))
	}
}

func TestListProblems(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	type page struct {
		Problems []judge.ProblemInfo
		Next     string
	}
	list := func(query string) (string, string) {
		p := decoded[page](t, s.do(t, "GET", "/v1/problems"+query, ""), http.StatusOK)
		ids := make([]string, len(p.Problems))
		for i, info := range p.Problems {
			ids[i] = info.ID
		}
		return strings.Join(ids, " "), p.Next
	}
	if res := s.do(t, "GET", "/v1/problems", ""); !strings.Contains(string(res.body), `"problems":[]`) {
		t.Errorf("got %s, want an empty list", res.body)
	}
	for _, id := range []string{"c", "a", "b"} {
		s.push(t, id, "1")
	}
	for query, want := range map[string]string{
		"": "a b c ", "?limit=2": "a b b", "?limit=2&after=b": "c ", "?after=c": " ", "?limit=3": "a b c c",
	} {
		if ids, next := list(query); fmt.Sprint(ids, " ", next) != want {
			t.Errorf("%s: got %q and next %q, want %q", query, ids, next, want)
		}
	}
	s.do(t, "GET", "/v1/problems?limit=101", "").problem(t, http.StatusUnprocessableEntity)
	s.do(t, "GET", "/v1/problems?page=2", "").problem(t, http.StatusUnprocessableEntity)
}
