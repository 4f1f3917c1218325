// Package replay reads submissions that were judged before, by this or another judge,
// and compares what they earn now with what they earned then. Judging is not its work.
package replay

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"judgefarm/judge"
	"judgefarm/languages"
)

// maxLine bounds one line; maxFaults those that are told.
const (
	maxLine   = 64 << 20
	maxFaults = 50
)

// Line is one submission of a file.
type Line struct {
	Number  int    // in the file, from 1
	ID      string // as the file calls it; "" where it does not
	Request judge.Request
	Was     judge.Judgement // what is known of it
	CPU     judge.Millis    // that it took then; 0 is not known
}

// document is a line in our own words.
type document struct {
	ID       string             `json:"id"`
	Problem  string             `json:"problem"`
	Language string             `json:"language"`
	Files    []judge.FileJSON   `json:"files"`
	Source   string             `json:"source"`
	FileName string             `json:"file_name"`
	Tests    []judge.TestJSON   `json:"tests"`
	Checker  *judge.CheckerSpec `json:"checker"`
	Limits   *judge.LimitsJSON  `json:"limits"`
	Verdict  string             `json:"verdict"`
	Score    *float64           `json:"score"`
	CPU      judge.Millis       `json:"cpu_ms"`
	Memory   judge.Kibibytes    `json:"memory_kib"`
}

// judge0 is a line as Judge0 shows a submission; what else it shows is not looked at.
type judge0 struct {
	Token    string      `json:"token"`
	Source   *string     `json:"source_code"`
	Language json.Number `json:"language_id"`
	Stdin    string      `json:"stdin"`
	Expected *string     `json:"expected_output"`
	Base64   bool        `json:"base64_encoded"`
	StatusID int         `json:"status_id"`
	Status   struct {
		ID int `json:"id"`
	} `json:"status"`
	Time   json.Number `json:"time"`
	CPU    json.Number `json:"cpu_time_limit"`
	Wall   json.Number `json:"wall_time_limit"`
	Memory json.Number `json:"memory_limit"`
}

// Read calls f for each submission of the file until it returns an error. Empty lines
// are passed over. Faults of lines are told together, in a *judge.BadRequest with
// fields "name:line"; f is not called for such a line.
func Read(r io.Reader, name string, set *languages.Set, f func(Line) error) error {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 64<<10), maxLine)
	var faults []*judge.FieldError
	number := 0
	for in.Scan() {
		number++
		text := bytes.TrimSpace(in.Bytes())
		if len(text) == 0 {
			continue
		}
		line, err := parse(text, set)
		if err != nil {
			faults = append(faults, &judge.FieldError{Field: fmt.Sprintf("%s:%d", name, number), Reason: err.Error()})
			if len(faults) == maxFaults {
				break
			}
			continue
		}
		line.Number = number
		if err := f(line); err != nil {
			return err
		}
	}
	if err := in.Err(); errors.Is(err, bufio.ErrTooLong) {
		faults = append(faults, &judge.FieldError{Field: fmt.Sprintf("%s:%d", name, number+1), Reason: fmt.Sprintf("must be at most %d MiB", maxLine>>20)})
	} else if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	return judge.Refuse(faults...)
}

// parse reads one line; the error says what is wrong with which field.
func parse(text []byte, set *languages.Set) (Line, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return Line{}, fmt.Errorf("must be one JSON object: %w", err)
	}
	if _, ok := fields["source_code"]; ok {
		return parseJudge0(text, set)
	}
	for _, feed := range []string{"data", "op"} {
		if _, ok := fields[feed]; ok && fields["verdict"] == nil {
			return Line{}, fmt.Errorf("is an event of a contest feed, which has no sources; join submissions, sources and judgements into lines as docs/replay.md has them")
		}
	}
	var doc document
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&doc); err != nil {
		return Line{}, errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	return doc.line(set)
}

func (d *document) line(set *languages.Set) (Line, error) {
	l := Line{ID: d.ID, CPU: d.CPU, Was: judge.Judgement{State: judge.Judged, Score: d.Score}}
	verdict, ok := verdictOf(d.Verdict)
	if !ok {
		return l, fmt.Errorf("verdict: must be a verdict such as AC, WA or Accepted, is %.64q", d.Verdict)
	}
	l.Was.Verdict = &verdict
	l.Request = judge.Request{Problem: d.Problem, Tests: d.Tests, Checker: d.Checker, Limits: d.Limits, Files: d.Files}
	if len(d.Files) > 0 && (d.Source != "" || d.FileName != "") {
		return l, errors.New("source: must be absent where files has the sources")
	}
	if d.Problem != "" && len(d.Tests) > 0 {
		return l, errors.New("tests: must be absent where problem names one")
	}
	if len(d.Files) == 0 {
		l.Request.Files = []judge.FileJSON{{Name: d.FileName, Content: d.Source}}
	}
	return l, l.settle(set, d.Language)
}

// settle finds the language and names the file where the line does not.
func (l *Line) settle(set *languages.Set, stated string) error {
	var files []judge.File
	for i, f := range l.Request.Files {
		file, err := f.File()
		if err == nil && (f.Name != "" || stated == "") {
			err = judge.CheckFileName(f.Name)
		}
		if err != nil {
			return fmt.Errorf("files[%d]: %w", i, err)
		}
		files = append(files, file)
	}
	lang, ok := set.ForFiles(files)
	if stated != "" {
		lang, ok = set.Find(stated)
	}
	if !ok {
		return fmt.Errorf("language: must be an id or alias of judgefarm languages, or told by the file's name, is %.64q", stated)
	}
	l.Request.Language = lang.ID
	for i := range l.Request.Files {
		if l.Request.Files[i].Name == "" {
			l.Request.Files[i].Name = lang.Source
		}
	}
	return nil
}

func parseJudge0(text []byte, set *languages.Set) (Line, error) {
	var doc judge0
	if err := json.Unmarshal(text, &doc); err != nil {
		return Line{}, errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	l := Line{ID: doc.Token, Was: judge.Judgement{State: judge.Judged}}
	status := max(doc.StatusID, doc.Status.ID)
	verdict, ok := judge0Verdict(status)
	if !ok {
		return l, fmt.Errorf("status: %d is no verdict of Judge0 about the program (3 to 12)", status)
	}
	l.Was.Verdict = &verdict
	lang, ok := set.FindIn("judge0", doc.Language.String())
	if !ok {
		return l, fmt.Errorf("language_id: no language here has the number %.16q of Judge0", doc.Language)
	}
	if doc.Expected == nil || doc.Source == nil {
		return l, errors.New("expected_output: is missing; without it every output is right")
	}
	source, stdin, expected := *doc.Source, doc.Stdin, *doc.Expected
	for name, s := range map[string]*string{"source_code": &source, "stdin": &stdin, "expected_output": &expected} {
		if !doc.Base64 {
			break
		}
		b, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(*s, "\n", ""))
		if err != nil {
			return l, fmt.Errorf("%s: %w", name, err)
		}
		*s = string(b)
	}
	limits := judge.LimitsJSON{CPU: seconds(doc.CPU), Wall: seconds(doc.Wall), Memory: judge.Kibibytes(seconds(doc.Memory) / 1000)}
	l.CPU = seconds(doc.Time)
	l.Request = judge.Request{
		Language: lang.ID, Files: []judge.FileJSON{judge.FileJSONOf(judge.File{Name: lang.Source, Data: []byte(source)})},
		Tests:  []judge.TestJSON{judge.TestJSONOf(judge.Test{Stdin: []byte(stdin), Expected: []byte(expected)})},
		Limits: &limits,
	}
	return l, nil
}

// seconds reads a number of Judge0, which may be a text, as milliseconds.
func seconds(n json.Number) judge.Millis {
	v, err := strconv.ParseFloat(n.String(), 64)
	if err != nil || !(v >= 0 && v < 1e9) {
		return 0
	}
	return judge.Millis(v * 1000)
}
