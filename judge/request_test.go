package judge

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestAdmittedRoundTrip(t *testing.T) {
	t.Parallel()
	raw := []byte("\xff\x00\xfe\n")
	a := Admitted{
		ID: "x", CreatedAt: time.Unix(5, 0).UTC(), Language: "c", Stop: StopNever,
		Files:  []FileJSON{FileJSONOf(File{Name: "a.c", Data: raw}), FileJSONOf(File{Name: "b.h", Data: []byte("é")})},
		Limits: Limits{CPU: 1500 * time.Microsecond, Memory: MiB}.JSON(),
		Tests:  []TestJSON{TestJSONOf(Test{Stdin: []byte("1\n"), Expected: raw}), TestJSONOf(Test{Expected: []byte("ok")})},
	}
	b, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ParseAdmitted(b)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(*got, a) {
		t.Fatalf("got %+v, want %+v", *got, a)
	}
	sub, err := got.Submission()
	if err != nil {
		t.Fatal(err)
	}
	if string(sub.Files[0].Data) != string(raw) || string(sub.Files[1].Data) != "é" || sub.Limits.CPU != 1500*time.Microsecond {
		t.Errorf("got submission %+v", sub)
	}
	tests, err := got.InlineTests()
	if err != nil {
		t.Fatal(err)
	}
	if string(tests[0].Stdin) != "1\n" || string(tests[0].Expected) != string(raw) || string(tests[1].Expected) != "ok" {
		t.Errorf("got tests %q", tests)
	}
}

func TestParseAdmittedRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, want string }{
		"not JSON":         {"{", "unexpected EOF"},
		"unknown field":    {`{"id":"x","language":"c","package":"p","wings":2}`, "wings"},
		"no problem":       {`{"id":"x","language":"c"}`, "exactly one"},
		"two problems":     {`{"id":"x","language":"c","package":"p","tests":[{"expected":""}]}`, "exactly one"},
		"no id":            {`{"language":"c","package":"p"}`, "id"},
		"no language":      {`{"id":"x","package":"p"}`, "language"},
		"wrong field type": {`{"id":7}`, "id"},
	} {
		if _, err := ParseAdmitted([]byte(c.in)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error with %q", name, err, c.want)
		}
	}
}

func TestBrokenBase64NamesTheField(t *testing.T) {
	t.Parallel()
	a := Admitted{
		Files: []FileJSON{{Name: "a", Content: "ok"}, {Name: "b", Content: "*", Encoding: EncodingBase64}},
		Tests: []TestJSON{{Expected: "*", Encoding: EncodingBase64}},
	}
	if _, err := a.Submission(); err == nil || !strings.HasPrefix(err.Error(), "files[1]: decode content") {
		t.Errorf("files: got %v", err)
	}
	if _, err := a.InlineTests(); err == nil || !strings.HasPrefix(err.Error(), "tests[0]: decode expected") {
		t.Errorf("tests: got %v", err)
	}
}
