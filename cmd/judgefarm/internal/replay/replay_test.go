package replay

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"judgefarm/judge"
	"judgefarm/languages"
)

func set(t testing.TB) *languages.Set {
	t.Helper()
	s, err := languages.Load(languages.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func read(t *testing.T, text string) ([]Line, error) {
	t.Helper()
	var lines []Line
	err := Read(strings.NewReader(text), "old.ndjson", set(t), func(l Line) error {
		lines = append(lines, l)
		return nil
	})
	return lines, err
}

func TestRead(t *testing.T) {
	t.Parallel()
	lines, err := read(t, `{"id":"7","problem":"sum","language":"py","source":"print(3)","verdict":"Accepted","score":1,"cpu_ms":12.5,"memory_kib":900}

{"problem":"sum","files":[{"name":"b.c","content":"aW50","encoding":"base64"}],"verdict":"WRONG-ANSWER"}
{"source":"x","file_name":"a.cpp","language":"cpp17","tests":[{"stdin":"1","expected":"2"}],"verdict":"Runtime Error (SIGSEGV)","limits":{"cpu_ms":100}}
{"token":"t","source_code":"print(3)","language_id":71,"stdin":"1 2","expected_output":"3\n","status":{"id":5,"description":"x"},"time":"1.002","cpu_time_limit":"1.0","memory_limit":128000,"created_at":"y"}
{"source_code":"cHJpbnQoMyk=\n","language_id":71,"expected_output":"Mw==","base64_encoded":true,"status_id":4,"stdin":""}
`)
	if err != nil || len(lines) != 5 {
		t.Fatalf("got %d lines, %v", len(lines), err)
	}
	a, b, c, d, e := lines[0], lines[1], lines[2], lines[3], lines[4]
	if a.ID != "7" || a.Number != 1 || a.Request.Language != "python3" || a.Request.Problem != "sum" || a.Request.Files[0].Name == "" ||
		*a.Was.Verdict != judge.Accepted || *a.Was.Score != 1 || a.CPU != 12.5 {
		t.Errorf("first line: %+v", a)
	}
	if b.Number != 3 || !strings.HasPrefix(b.Request.Language, "c") || *b.Was.Verdict != judge.WrongAnswer || b.Was.Score != nil {
		t.Errorf("second line: %+v", b)
	}
	if *c.Was.Verdict != judge.RuntimeError || c.Request.Files[0].Name != "a.cpp" || c.Request.Limits.CPU != 100 || len(c.Request.Tests) != 1 {
		t.Errorf("third line: %+v", c)
	}
	if d.ID != "t" || *d.Was.Verdict != judge.TimeLimit || d.Request.Language != "python3" || d.Request.Limits.CPU != 1000 ||
		d.Request.Limits.Memory != 128000 || d.CPU != 1002 || d.Request.Tests[0].Stdin != "1 2" {
		t.Errorf("line of Judge0: %+v, limits %+v", d, d.Request.Limits)
	}
	if *e.Was.Verdict != judge.WrongAnswer || e.Request.Files[0].Content != "print(3)" || e.Request.Tests[0].Expected != "3" {
		t.Errorf("line of Judge0 in base64: %+v", e)
	}
}

// Every fault is told with its line and field; good lines between them are read.
func TestReadRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`nonsense`: "must be one JSON object",
		`{"problem":"p","source":"x","language":"c","verdict":"AC","wings":2}`:                          `unknown field "wings"`,
		`{"problem":"p","source":"x","language":"c"}`:                                                   "verdict: must be a verdict",
		`{"problem":"p","source":"x","language":"c","verdict":"SK"}`:                                    "verdict: must be a verdict",
		`{"problem":"p","source":"x","language":"klingon","verdict":"AC"}`:                              "language: must be an id",
		`{"problem":"p","source":"x","file_name":"../a.c","verdict":"AC"}`:                              "files[0]",
		`{"problem":"p","files":[{"name":"a.c","content":"!","encoding":"base64"}],"verdict":"AC"}`:     "files[0]",
		`{"problem":"p","files":[{"name":"a.c","content":""}],"source":"x","verdict":"AC"}`:             "source: must be absent",
		`{"problem":"p","tests":[{"expected":"1"}],"source":"x","language":"c","verdict":"AC"}`:         "tests: must be absent",
		`{"source_code":"x","language_id":71,"expected_output":"1","status":{"id":13}}`:                 "status: 13 is no verdict",
		`{"source_code":"x","language_id":9999,"expected_output":"1","status":{"id":3}}`:                "language_id: no language here",
		`{"source_code":"x","language_id":71,"status":{"id":3}}`:                                        "expected_output: is missing",
		`{"source_code":"%","language_id":71,"expected_output":"","base64_encoded":true,"status_id":3}`: "source_code: ",
		`{"type":"judgements","op":"create","data":{"id":"1","judgement_type_id":"AC"}}`:                "event of a contest feed",
		`{"id":"1","problem":"p","source":"x","language":"c","verdict":"AC","cpu_ms":"many"}`:           "cpu_ms",
	} {
		good := `{"problem":"p","source":"x","language":"c","verdict":"AC"}`
		lines, err := read(t, good+"\n"+text+"\n"+good+"\n")
		if !judge.IsBadRequest(err) || !strings.Contains(err.Error(), "old.ndjson:2: ") || !strings.Contains(err.Error(), want) || len(lines) != 2 {
			t.Errorf("%s: got %d lines, %v, want %q", text, len(lines), err, want)
		}
	}
}

func TestReadEndsWithItsCaller(t *testing.T) {
	t.Parallel()
	stop := errors.New("enough")
	n := 0
	text := strings.Repeat(`{"problem":"p","source":"x","language":"c","verdict":"AC"}`+"\n", 3)
	err := Read(strings.NewReader(text), "f", set(t), func(Line) error { n++; return stop })
	if !errors.Is(err, stop) || n != 1 {
		t.Errorf("got %v after %d lines", err, n)
	}
}

func TestVerdicts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]judge.Verdict{
		"AC": "AC", "ac": "AC", "Accepted": "AC", "CORRECT": "AC", "OK": "AC", "NO-OUTPUT": "WA", "Wrong Answer": "WA", "run-error": "RTE",
		"Runtime Error (NZEC)": "RTE", "RE": "RTE", "IR": "RTE", "TIMELIMIT": "TLE", "Time Limit Exceeded": "TLE",
		"IDLENESS_LIMIT_EXCEEDED": "ILE", "SECURITY_VIOLATED": "SV", "MEMORY_LIMIT_EXCEEDED": "MLE", "COMPILATION_ERROR": "CE", "compiler-error": "CE", "SV": "SV", "OLE": "OLE",
	} {
		if got, ok := verdictOf(text); !ok || got != want {
			t.Errorf("%q is %q, %v, want %s", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "SK", "Internal Error", "judging", "IE", "("} {
		if got, ok := verdictOf(text); ok {
			t.Errorf("%q is taken for %s", text, got)
		}
	}
	for _, c := range []struct {
		was, is     judge.Verdict
		like, equal bool
	}{
		{"AC", "AC", true, true}, {"TLE", "WTL", true, false}, {"TLE", "ILE", true, false}, {"WA", "PE", true, false}, {"RTE", "SV", true, false},
		{"CE", "CTL", true, false}, {"RTE", "MLE", false, false}, {"AC", "WA", false, false}, {"TLE", "OLE", false, false},
	} {
		if Agree(c.was, c.is, false) != c.like || Agree(c.was, c.is, true) != c.equal {
			t.Errorf("%s and %s: got %v and exactly %v", c.was, c.is, Agree(c.was, c.is, false), Agree(c.was, c.is, true))
		}
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	line := func(n int, v judge.Verdict) Line {
		return Line{Number: n, Request: judge.Request{Problem: "p", Language: "c"}, Was: judge.Judgement{State: judge.Judged, Verdict: &v}}
	}
	judged := func(v judge.Verdict) judge.Judgement {
		return judge.Judgement{State: judge.Judged, Verdict: &v, Cases: []judge.Run{{Name: "1", Verdict: v, Usage: judge.UsageJSON{CPU: 9}}}}
	}
	r := NewReport(false, false)
	r.Add(line(3, "AC"), judged("WA"), nil)
	r.Add(line(1, "AC"), judged("AC"), nil)
	r.Add(line(4, "TLE"), judged("WTL"), nil)
	r.Add(line(2, "AC"), judge.Judgement{State: judge.FailedState, Failed: &judge.Failed{Kind: judge.FailChecker, Reason: "it crashed"}}, nil)
	half, one := 0.5, 1.0
	scored := line(6, "AC")
	scored.Was.Score = &one
	j := judged("AC")
	j.Score = &half
	r.Add(scored, j, nil)
	if n := r.Add(line(5, "AC"), judge.Judgement{}, errors.New("no such package")); n != 6 {
		t.Errorf("%d lines, want 6", n)
	}
	r.Finish()
	if r.Lines != 6 || r.Agree != 2 || r.Differ != 2 || r.Failed != 2 {
		t.Errorf("got %+v", r)
	}
	var rows []string
	for _, row := range r.Rows {
		rows = append(rows, fmt.Sprintf("%d %s>%s %s", row.Line, row.Old, row.New, row.Failed))
	}
	if got := strings.Join(rows, "; "); got != "2 AC> checker: it crashed; 3 AC>WA ; 5 AC> no such package; 6 AC>AC " {
		t.Errorf("got rows %s", got)
	}
	if d := r.Rows[1].Difference; d == nil || d.Case != "1" || !strings.Contains(d.Cause, "cpu 9.0 ms") {
		t.Errorf("got difference %+v", d)
	}
	if r.Rows[3].Difference == nil || r.Matrix["AC"]["WA"] != 1 || r.Matrix["AC"]["failed"] != 2 || r.Matrix["TLE"]["WTL"] != 1 {
		t.Errorf("got matrix %v, rows %+v", r.Matrix, r.Rows)
	}
}

// FuzzRead: whatever a line holds, it is read or refused with its number.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		`{"problem":"p","source":"x","language":"c","verdict":"AC"}`, `{"source_code":"x","language_id":"71","expected_output":"1","status":{"id":3},"time":"1"}`,
		`{"files":[{"name":"a.c"}],"verdict":"no","tests":[{"encoding":"base64"}]}`, `{"data":1}`, `[]`, `null`,
	} {
		f.Add(s)
	}
	langs := set(f)
	f.Fuzz(func(t *testing.T, text string) {
		n := 0
		err := Read(strings.NewReader(text), "f", langs, func(l Line) error {
			n++
			if l.Request.Language == "" || len(l.Request.Files) == 0 || l.Request.Files[0].Name == "" || l.Was.Verdict == nil {
				t.Errorf("%q is read as %+v", text, l)
			}
			return nil
		})
		if err != nil && (!judge.IsBadRequest(err) || !strings.Contains(err.Error(), "f:")) {
			t.Errorf("%q: %v", text, err)
		}
	})
}
