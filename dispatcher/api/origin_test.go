package api_test

import (
	"net/http"
	"testing"
)

// A page of another origin must not use a visitor's browser to change anything: a
// request without a type, or without a body, is sent without asking first.
func TestPagesOfOtherOriginsChangeNothing(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	host := s.URL[len("http://"):]
	for name, c := range map[string]struct {
		method, path string
		header       []string
		refused      bool
	}{
		"submit":              {"POST", "/v1/submissions", []string{"Sec-Fetch-Site", "cross-site"}, true},
		"another port":        {"POST", "/v1/submissions", []string{"Sec-Fetch-Site", "same-site"}, true},
		"without a type":      {"POST", "/v1/submissions", []string{"Content-Type", "", "Sec-Fetch-Site", "cross-site"}, true},
		"an old browser":      {"POST", "/v1/submissions", []string{"Origin", "http://elsewhere.example"}, true},
		"a file":              {"POST", "/v1/submissions", []string{"Origin", "null"}, true},
		"roll back":           {"POST", "/v1/problems/x/rollback", []string{"Sec-Fetch-Site", "cross-site"}, true},
		"cancel":              {"POST", "/v1/submissions/x/cancel", []string{"Sec-Fetch-Site", "cross-site"}, true},
		"apply":               {"POST", "/v1/rejudges/x/apply", []string{"Sec-Fetch-Site", "cross-site"}, true},
		"delete":              {"DELETE", "/v1/problems/x", []string{"Sec-Fetch-Site", "cross-site"}, true},
		"read":                {"GET", "/v1/languages", []string{"Sec-Fetch-Site", "cross-site", "Origin", "http://elsewhere.example"}, false},
		"a program":           {"POST", "/v1/submissions", nil, false},
		"its own page":        {"POST", "/v1/submissions", []string{"Sec-Fetch-Site", "same-origin", "Origin", "http://" + host}, false},
		"its own, no headers": {"POST", "/v1/submissions", []string{"Origin", "http://" + host}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body := ""
			if c.path == "/v1/submissions" {
				body = hello
			}
			res := s.do(t, c.method, c.path, body, c.header...)
			if c.refused {
				res.problem(t, http.StatusForbidden)
			} else if res.StatusCode >= http.StatusBadRequest {
				t.Errorf("got status %d: %s", res.StatusCode, res.body)
			}
		})
	}
	t.Cleanup(func() {
		if n := len(s.Line.Jobs()); n != 3 {
			t.Errorf("%d submissions are in the line, want 3", n)
		}
	})
}
