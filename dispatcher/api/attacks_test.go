package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"judgefarm/judge"
)

// D37: a name that leads astray is the client's error, told before anything is
// stored or in the line.
func TestNamesThatLeadAstray(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	for _, name := range []string{
		"", ".", "..", "../a.py", "a/../../b.py", "a/..", "./a.py", "a//b.py", "a/", "/", "/etc/passwd", "//etc/passwd",
		"a\x00.py", "a.py\x00", "\x00", "a\nb.py", "a\x7f.py", "a\\b.py", `..\a.py`, strings.Repeat("a", 256), strings.Repeat("a/", 127) + "bc",
		strings.Repeat("é", 128), "a/b/../../../c.py",
	} {
		body, err := json.Marshal(judge.Request{
			Language: "python3", Files: []judge.FileJSON{{Name: "ok.py", Content: "print(1)"}, {Name: name, Content: "x"}},
			Tests: []judge.TestJSON{{Expected: "1\n"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		p := s.do(t, "POST", "/v1/submissions", string(body)).problem(t, http.StatusUnprocessableEntity)
		if !strings.Contains(fmt.Sprint(p), "files[1].name") {
			t.Errorf("name %q: the answer does not name the field: %+v", name, p)
		}
	}
	if jobs := s.Line.Jobs(); len(jobs) != 0 {
		t.Errorf("in the line: %+v", jobs)
	}
	if keys, err := s.Blobs.List(t.Context(), "", "", 10); err != nil || len(keys) != 0 {
		t.Errorf("stored: %q, %v", keys, err)
	}
}
