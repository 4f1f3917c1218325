package judge

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"
)

// Request is a submission on the wire: the body of POST /v1/submissions. It has
// either a problem or tests. Zero limits are taken from the problem, then from
// DefaultLimits.
type Request struct {
	Language string            `json:"language" doc:"id or alias of a language, see GET /v1/languages" minLength:"1" maxLength:"64"`
	Files    []FileJSON        `json:"files" doc:"source files; the first is the main file" minItems:"1"`
	Problem  string            `json:"problem,omitempty" doc:"id of an uploaded problem, in place of tests; ID@VERSION for one that is not current" maxLength:"139"`
	Tests    []TestJSON        `json:"tests,omitempty" doc:"inline tests, in place of a problem"`
	Checker  *CheckerSpec      `json:"checker,omitempty" doc:"overrides the problem's checker; tokens where neither names one"`
	Limits   *LimitsJSON       `json:"limits,omitempty" doc:"what is not stated comes from the problem, then from the defaults"`
	Stop     Stop              `json:"stop,omitempty" enum:"first_fail,hardest_first,group,never" doc:"when remaining cases are skipped: after the first that is not accepted, the same with the cases in the order in which a failure is found soonest, where they cannot change the points of their group, or never; first_fail by default, group for problems with points"`
	Labels   map[string]string `json:"labels,omitempty" doc:"kept and given back, never read by the judge"`
	Priority string            `json:"priority,omitempty" enum:"interactive,train,batch" doc:"interactive by default; a lower one waits for every higher one"`
	FairKey  string            `json:"fair_key,omitempty" maxLength:"128" doc:"keys take turns within a priority; such as a user, course or training run"`
}

// FileJSON is a source file in a document.
type FileJSON struct {
	Name     string `json:"name" doc:"relative path" minLength:"1" maxLength:"255"`
	Content  string `json:"content"`
	Encoding string `json:"encoding,omitempty" enum:"utf-8,base64" doc:"of content; base64 for bytes that are not UTF-8"`
}

// FileJSONOf marks the file's bytes as UTF-8 or base64.
func FileJSONOf(f File) FileJSON {
	text, encoding := Encode(f.Data)
	return FileJSON{Name: f.Name, Content: text, Encoding: encoding}
}

// File decodes; the error is safe to show and says what is wrong with the content.
func (f FileJSON) File() (File, error) {
	data, err := Decode(f.Content, f.Encoding)
	if err != nil {
		return File{}, fmt.Errorf("decode content: %w", err)
	}
	return File{Name: f.Name, Data: data}, nil
}

// TestJSON is an inline test in a document. Encoding is of stdin and expected both.
type TestJSON struct {
	Stdin    string `json:"stdin,omitempty"`
	Expected string `json:"expected" doc:"what the checker compares the output with"`
	Encoding string `json:"encoding,omitempty" enum:"utf-8,base64" doc:"of stdin and expected; base64 for bytes that are not UTF-8"`
}

// Test is the bytes of an inline test.
type Test struct{ Stdin, Expected []byte }

// TestJSONOf marks the test's bytes as UTF-8, or base64 when either is not UTF-8.
func TestJSONOf(t Test) TestJSON {
	if utf8.Valid(t.Stdin) && utf8.Valid(t.Expected) {
		return TestJSON{Stdin: string(t.Stdin), Expected: string(t.Expected), Encoding: EncodingUTF8}
	}
	return TestJSON{Stdin: base64.StdEncoding.EncodeToString(t.Stdin), Expected: base64.StdEncoding.EncodeToString(t.Expected), Encoding: EncodingBase64}
}

// Test decodes; the error is safe to show and says which text is wrong.
func (t TestJSON) Test() (Test, error) {
	stdin, err := Decode(t.Stdin, t.Encoding)
	if err != nil {
		return Test{}, fmt.Errorf("decode stdin: %w", err)
	}
	expected, err := Decode(t.Expected, t.Encoding)
	if err != nil {
		return Test{}, fmt.Errorf("decode expected: %w", err)
	}
	return Test{Stdin: stdin, Expected: expected}, nil
}

// Admitted is a submission as the dispatcher accepted it: the blob under
// results.Record.Request, written once by the dispatcher and read by workers.
type Admitted struct {
	ID        string            `json:"id"`
	CreatedAt time.Time         `json:"created_at"`
	Language  string            `json:"language"` // a language's id, aliases resolved
	Files     []FileJSON        `json:"files"`
	Limits    LimitsJSON        `json:"limits"`            // as stated, clamped to the dispatcher's bounds
	Stop      Stop              `json:"stop"`              // never empty
	Checker   *CheckerSpec      `json:"checker,omitempty"` // nil keeps the problem's
	Labels    map[string]string `json:"labels,omitempty"`

	// Problem and Package are set for an uploaded problem: what was current when
	// the submission came. Package is "sha256:..." of the packed problem, whose
	// blob is sha256/ab/<digest>; Problem.Digest is testcases.Problem.Digest.
	Problem *ProblemRef `json:"problem,omitempty"`
	Package string      `json:"package,omitempty"`
	// Tests are set for an inline problem.
	Tests []TestJSON `json:"tests,omitempty"`
}

// ParseAdmitted reads the document. A document that cannot be read, or holds an
// unknown field (of a newer dispatcher), is an error: nothing is guessed.
func ParseAdmitted(b []byte) (*Admitted, error) {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	var a Admitted
	if err := dec.Decode(&a); err != nil {
		return nil, fmt.Errorf("read admitted submission: %w", err)
	}
	if a.ID == "" || a.Language == "" || (a.Package == "") == (len(a.Tests) == 0) {
		return nil, fmt.Errorf("read admitted submission %q: id, language, or exactly one of package and tests is missing", a.ID)
	}
	return &a, nil
}

// Submission is what the engine judges.
func (a *Admitted) Submission() (Submission, error) {
	sub := Submission{
		ID: a.ID, Language: a.Language, Limits: a.Limits.Limits(),
		Stop: a.Stop, Checker: a.Checker, Labels: a.Labels,
	}
	for i, f := range a.Files {
		file, err := f.File()
		if err != nil {
			return Submission{}, fmt.Errorf("files[%d]: %w", i, err)
		}
		sub.Files = append(sub.Files, file)
	}
	return sub, nil
}

// InlineTests are the decoded tests, in order; nil for an uploaded problem.
func (a *Admitted) InlineTests() ([]Test, error) {
	var tests []Test
	for i, t := range a.Tests {
		test, err := t.Test()
		if err != nil {
			return nil, fmt.Errorf("tests[%d]: %w", i, err)
		}
		tests = append(tests, test)
	}
	return tests, nil
}
