package api_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"judgefarm/dispatcher"
	"judgefarm/dispatcher/api"
	"judgefarm/dispatcher/dispatchertest"
	"judgefarm/judge"
)

func TestRefusals(t *testing.T) {
	t.Parallel()
	f := dispatchertest.New(t, func(c *dispatcher.Config) { c.Bounds.Package = 1000 })
	s := serveFarm(t, f, func(c *api.Config) { c.MaxBody = 2000 })
	for name, c := range map[string]struct {
		method, path, body, contentType string
		status                          int
		field                           string // of one fault; "-" for none
	}{
		"unknown field":         {"POST", "/v1/submissions", `{"language":"c","files":[],"tests":[],"wings":2}`, "", 422, "wings"},
		"unknown inner field":   {"POST", "/v1/submissions", `{"language":"c","files":[{"name":"a","content":"","mode":7}],"tests":[{"expected":""}]}`, "", 422, "files[0].mode"},
		"missing field":         {"POST", "/v1/submissions", `{"files":[{"name":"a","content":""}],"tests":[{"expected":""}]}`, "", 422, "language"},
		"missing inner field":   {"POST", "/v1/submissions", `{"language":"c","files":[{"content":""}],"tests":[{"expected":""}]}`, "", 422, "files[0].name"},
		"wrong type":            {"POST", "/v1/submissions", `{"language":7,"files":[{"name":"a","content":""}]}`, "", 422, "language"},
		"wrong word":            {"POST", "/v1/submissions", `{"language":"c","files":[{"name":"a","content":""}],"tests":[{"expected":""}],"stop":"x"}`, "", 422, "stop"},
		"found by the service":  {"POST", "/v1/submissions", `{"language":"cobol","files":[{"name":"/a","content":""}],"tests":[{"expected":""}]}`, "", 422, "files[0].name"},
		"huge number":           {"POST", "/v1/submissions", `{"language":"c","files":[{"name":"a","content":""}],"tests":[{"expected":""}],"limits":{"tasks":1e99}}`, "", 422, "body"},
		"no JSON":               {"POST", "/v1/submissions", `{"language":`, "", 400, "body"},
		"two documents":         {"POST", "/v1/submissions", hello + hello, "", 400, "body"},
		"no body":               {"POST", "/v1/submissions", "", "application/json", 400, "-"},
		"not UTF-8":             {"POST", "/v1/submissions", strings.Replace(hello, "print", "\xff", 1), "", 400, "body"},
		"lone surrogate":        {"POST", "/v1/submissions", strings.Replace(hello, "print", `\ud800x`, 1), "", 400, "body"},
		"large body":            {"POST", "/v1/submissions", `{"language":"` + strings.Repeat("x", 2000) + `"}`, "", 413, "-"},
		"form":                  {"POST", "/v1/submissions", "a=b", "application/x-www-form-urlencoded", 415, "-"},
		"text":                  {"POST", "/v1/submissions", hello, "text/plain", 415, "-"},
		"long key":              {"POST", "/v1/submissions", hello, "", 422, "Idempotency-Key"},
		"unknown query":         {"GET", "/v1/submissions/x?wings=2", "", "", 422, "wings"},
		"bad query":             {"GET", "/v1/submissions/x?wait=perhaps", "", "", 422, "wait"},
		"unknown submission":    {"GET", "/v1/submissions/x", "", "", 404, "-"},
		"unknown wait":          {"GET", "/v1/submissions/x?wait=true", "", "", 404, "-"},
		"unknown cancel":        {"POST", "/v1/submissions/x/cancel", "", "", 404, "-"},
		"unknown events":        {"GET", "/v1/submissions/x/events", "", "", 404, "-"},
		"unknown problem":       {"GET", "/v1/problems/x", "", "", 404, "-"},
		"bad problem":           {"PUT", "/v1/problems/x", "hello", "application/zip", 422, "package"},
		"bad problem id":        {"PUT", "/v1/problems/.x", "hello", "application/zip", 422, "id"},
		"large problem":         {"PUT", "/v1/problems/x", strings.Repeat("x", 1001), "application/zip", 413, "-"},
		"problem in a form":     {"PUT", "/v1/problems/x", "x", "multipart/form-data; boundary=y", 415, "-"},
		"unknown path":          {"GET", "/v2/x", "", "", 404, "-"},
		"root":                  {"GET", "/", "", "", 404, "-"},
		"method not there":      {"DELETE", "/v1/submissions/x", "", "", 405, "-"},
		"method of another way": {"GET", "/v1/submissions", "", "", 405, "-"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var header []string
			if c.contentType != "" {
				header = append(header, "Content-Type", c.contentType)
			}
			if name == "long key" {
				header = append(header, "Idempotency-Key", strings.Repeat("k", 256))
			}
			res := s.do(t, c.method, c.path, c.body, header...)
			p := res.problem(t, c.status)
			found := c.field == "-" && len(p.Errors) == 0
			for _, e := range p.Errors {
				found = found || e.Field == c.field && e.Reason != ""
			}
			if !found {
				t.Errorf("got %s, want a fault of %q", res.body, c.field)
			}
			if c.status == http.StatusMethodNotAllowed && res.Header.Get("Allow") == "" {
				t.Error("405 without Allow")
			}
			if c.body != "" && len(c.body) > 20 && bytes.Contains(res.body, []byte(c.body)) {
				t.Errorf("the body is echoed: %s", res.body)
			}
		})
	}
	if jobs := s.Line.Jobs(); len(jobs) != 0 {
		t.Errorf("refused submissions are in the line: %v", jobs)
	}
}

// Names of unknown fields are the sender's, as values are: an answer does not repeat
// megabytes of them.
func TestLongNamesAreNotEchoed(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	long := strings.Repeat("é", 1<<19)
	for name, body := range map[string]string{
		"field": `{"` + long + `":1}`,
		"label": strings.Replace(hello, `{`, `{"labels":{"`+long+`":1},`, 1),
		"file":  strings.Replace(hello, `"name"`, `"`+long+`":1,"name"`, 1),
	} {
		res := s.do(t, "POST", "/v1/submissions", body)
		if res.problem(t, http.StatusUnprocessableEntity); len(res.body) > 4<<10 || !strings.Contains(string(res.body), "éé...") {
			t.Errorf("%s: got %d bytes: %.300s", name, len(res.body), res.body)
		}
	}
}

// Faults of the schema and faults that only the service can tell come in one
// answer, each field once.
func TestAllFaultsInOneAnswer(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	res := s.do(t, "POST", "/v1/submissions", `{"language":"cobol","wings":2,"files":[{"content":""},{"name":"/a","content":7},{"name":"b","content":"*","encoding":"base64"}],
		"problem":"none","checker":{"name":"magic"},"limits":{"cpu_ms":"much","tasks":1000000}}`, "Idempotency-Key", "k\xff")
	want := []string{"Idempotency-Key", "checker.name", "files[0].name", "files[1].content", "files[1].name", "files[2].content", "language",
		"limits.cpu_ms", "limits.tasks", "problem", "wings"}
	var got []string
	for _, e := range res.problem(t, http.StatusUnprocessableEntity).Errors {
		got = append(got, e.Field)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("got faults of %q, want %q: %s", got, want, res.body)
	}
}

// A body of a few megabytes can have a million faults. It is refused at once, and
// what is told of it stays short.
func TestManyFaults(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	fields := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"u%d":1,`, i)
		}
		return `{` + b.String() + hello[1:]
	}
	for name, c := range map[string]struct {
		body, detail string
		told         int
	}{
		"millions of files":    {`{"language":"c","files":[{}` + strings.Repeat(",{}", 4<<20) + `]}`, "at most 100 files", 1},
		"a file too many":      {strings.Replace(hello, `"files":[`, `"files":[`+strings.Repeat(`{"name":"b.py","content":""},`, 100), 1), "files: must be at most 100", 1},
		"commas in strings":    {strings.Replace(hello, "print", strings.Repeat(`,\",`, 100_000), 1), "", 0},
		"thousands of unknown": {fields(5000), "and 4990 more", 101},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			res := s.do(t, "POST", "/v1/submissions", c.body)
			if c.told == 0 {
				if res.StatusCode != http.StatusCreated {
					t.Errorf("status = %d, want 201: %.300s", res.StatusCode, res.body)
				}
				return
			}
			p := res.problem(t, http.StatusUnprocessableEntity)
			if len(p.Errors) != c.told || !strings.Contains(p.Detail, c.detail) || len(res.body) > 20_000 {
				t.Errorf("%d faults in %d bytes, detail %.300q, want %d faults and %q", len(p.Errors), len(res.body), p.Detail, c.told, c.detail)
			}
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("refused after %v", took)
			}
		})
	}
}

// A chunked body has no length that could be looked at first.
func TestLargeChunkedBody(t *testing.T) {
	t.Parallel()
	s := serve(t, func(c *api.Config) { c.MaxBody = 2000 })
	req, err := http.NewRequestWithContext(t.Context(), "POST", s.URL+"/v1/submissions",
		io.MultiReader(strings.NewReader(`{"language":"`), strings.NewReader(strings.Repeat("x", 4000))))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, _ := io.ReadAll(res.Body)
	answer{res, b}.problem(t, http.StatusRequestEntityTooLarge)
}

func TestBytesSurvive(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	source, stdin, expected := []byte("\xff\xfe\x00é\r\n"), []byte("\x80"), []byte("ok")
	body, err := json.Marshal(judge.Request{
		Language: "c", Files: []judge.FileJSON{judge.FileJSONOf(judge.File{Name: "a.c", Data: source})},
		Tests: []judge.TestJSON{judge.TestJSONOf(judge.Test{Stdin: stdin, Expected: expected}),
			{Stdin: "\u0000 \ufffd 😀 \u2028", Expected: "<&>"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	j := s.do(t, "POST", "/v1/submissions", string(body)).judgement(t, http.StatusCreated)
	doc := s.admitted(t, j.ID)
	sub, err := doc.Submission()
	if err != nil {
		t.Fatal(err)
	}
	tests, err := doc.InlineTests()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(sub.Files[0].Data, source) || !bytes.Equal(tests[0].Stdin, stdin) || !bytes.Equal(tests[0].Expected, expected) {
		t.Errorf("got %q, %q", sub.Files[0].Data, tests[0])
	}
	if string(tests[1].Stdin) != "\x00 \ufffd 😀 \u2028" || string(tests[1].Expected) != "<&>" {
		t.Errorf("got %q", tests[1])
	}

	// And on the way out.
	a := s.Start(t, j.ID)
	out := judge.NewJudgement(j.ID, time.Now())
	verdict := judge.WrongAnswer
	out.State, out.Verdict = judge.Judged, &verdict
	out.Cases = []judge.Run{{Name: "1", Verdict: verdict, Stdout: judge.TextOf(source, int64(len(source)))}}
	if err := s.Results.Finish(t.Context(), a, out); err != nil {
		t.Fatal(err)
	}
	got := s.do(t, "GET", "/v1/submissions/"+j.ID, "").judgement(t, http.StatusOK).Cases[0].Stdout
	back, err := judge.Decode(got.Text, got.Encoding)
	if err != nil || got.Encoding != judge.EncodingBase64 || !bytes.Equal(back, source) {
		t.Errorf("got %+v, %v, want %q as base64", got, err, source)
	}
}

func (s *server) admitted(t *testing.T, id string) *judge.Admitted {
	t.Helper()
	rec, err := s.Results.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	r, _, err := s.Blobs.Get(t.Context(), rec.Request)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := judge.ParseAdmitted(b)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// begin sends the head of a request and a part of its body.
func (s *server) begin(t *testing.T, path string, length int, part string) *net.TCPConn {
	t.Helper()
	address := strings.TrimPrefix(s.URL, "http://")
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	head := "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
	if _, err := fmt.Fprintf(conn, head, path, address, length, part); err != nil {
		t.Fatal(err)
	}
	return conn.(*net.TCPConn)
}

func read(t *testing.T, conn net.Conn) answer {
	t.Helper()
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
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

func TestBodiesThatDoNotArrive(t *testing.T) {
	t.Parallel()
	s := serve(t, func(c *api.Config) { c.BodyTimeout = 100 * time.Millisecond })
	read(t, s.begin(t, "/v1/submissions", 1000, `{"language":`)).problem(t, http.StatusRequestTimeout)
	// net/http reads the rest of a body before it answers: that must end too.
	read(t, s.begin(t, "/v1/submissions/x/cancel", 1000, "x")).problem(t, http.StatusNotFound)
	read(t, s.begin(t, "/nope", 1000, "x")).problem(t, http.StatusNotFound)

	s = serve(t, nil)
	cut := s.begin(t, "/v1/submissions", 1000, `{"language":`)
	if err := cut.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	read(t, cut).problem(t, http.StatusBadRequest)
}

func TestMemoryForBodiesIsBounded(t *testing.T) {
	t.Parallel()
	s := serve(t, func(c *api.Config) { c.MaxBody, c.MaxBodies, c.BodyTimeout = 2000, 2000, 12*time.Second })
	first := s.begin(t, "/v1/submissions", 2000, `{"language":`)
	s.awaitMetric(t, "judge_api_body_bytes 2001")
	res := s.do(t, "POST", "/v1/submissions", hello)
	res.problem(t, http.StatusServiceUnavailable)
	if res.Header.Get("Retry-After") == "" {
		t.Error("503 without Retry-After")
	}
	if err := first.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	read(t, first)
	s.awaitMetric(t, "judge_api_body_bytes 0")
	s.do(t, "POST", "/v1/submissions", hello).judgement(t, http.StatusCreated)
}

// What a request announces takes no memory from others: only what has come of it.
func TestAnnouncedBodiesTakeNoMemory(t *testing.T) {
	t.Parallel()
	s := serve(t, func(c *api.Config) { c.MaxBody, c.MaxBodies = 1<<20, 4<<20 })
	for range 8 {
		s.begin(t, "/v1/submissions", 1<<20, `{"language":`)
	}
	s.awaitMetric(t, fmt.Sprint("judge_api_body_bytes ", 8*4096))
	s.do(t, "POST", "/v1/submissions", hello).judgement(t, http.StatusCreated)
}

// Bodies that are half there and more than the memory for them do not wait for each
// other: one of them gets the reserve, and then the next.
func TestHalfReadBodiesAllArrive(t *testing.T) {
	t.Parallel()
	const size = 64 << 10
	s := serve(t, func(c *api.Config) { c.MaxBody, c.MaxBodies, c.BodyTimeout = size, 2*size, 2*time.Minute })
	body := hello + strings.Repeat(" ", size-len(hello))
	var conns []*net.TCPConn
	for range 2 {
		conns = append(conns, s.begin(t, "/v1/submissions", size, body[:20<<10]))
	}
	s.awaitMetric(t, fmt.Sprint("judge_api_body_bytes ", size)) // all but the reserve
	for range 2 {
		conns = append(conns, s.begin(t, "/v1/submissions", size, body[:20<<10]))
	}
	for _, conn := range conns {
		if _, err := conn.Write([]byte(body[20<<10:])); err != nil {
			t.Fatal(err)
		}
	}
	for _, conn := range conns {
		if got := read(t, conn); got.StatusCode != http.StatusCreated {
			t.Errorf("got %d %s, want 201", got.StatusCode, got.body)
		}
	}
	s.awaitMetric(t, "judge_api_body_bytes 0")
}
