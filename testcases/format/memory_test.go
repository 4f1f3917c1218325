package format_test

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"testing"

	"judgefarm/judge"
	"judgefarm/testcases"
	"judgefarm/testcases/format"
)

// dataIn counts the data of a value, whatever field it is in, and reads all of it.
func dataIn(t *testing.T, v reflect.Value) (n int) {
	t.Helper()
	if v.Type() == reflect.TypeFor[testcases.Data]() {
		if v.IsNil() {
			return 0
		}
		if _, err := testcases.ReadAll(v.Interface().(testcases.Data), 1<<20); err != nil {
			t.Errorf("read data: %v", err)
		}
		return 1
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			n = dataIn(t, v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			n += dataIn(t, v.Field(i))
		}
	case reflect.Slice:
		for i := range v.Len() {
			n += dataIn(t, v.Index(i))
		}
	}
	return n
}

// The archive that Open has read may go: all data is in memory, that for verification too.
func TestArchiveInMemory(t *testing.T) {
	t.Parallel()
	file := func(s string) testcases.Data { return testcases.BytesData([]byte(s)) }
	recipe := func(reads string, stdin *testcases.Recipe) *testcases.Recipe {
		gen := &testcases.Program{Name: "gen.py", Files: []judge.File{{Name: "gen.py"}}}
		return &testcases.Recipe{Program: gen, Input: file(reads), Stdin: stdin}
	}
	p := &testcases.Problem{Groups: []testcases.Group{{Name: "secret", Cases: []testcases.Case{{
		Name: "secret/1", Input: file("1"), Answer: file("2"), Files: []testcases.CaseFile{{Name: "a", Data: file("3")}},
	}, {
		Name: "secret/2", InputFrom: recipe("9", recipe("10", nil)), AnswerFrom: recipe("11", nil),
	}}}}}
	p.Jury.InvalidInputs = []testcases.Sample{{Name: "a", Input: file("4")}}
	p.Jury.ValidOutputs = []testcases.Sample{{Name: "b", Input: file("5"), Answer: file("6"), Output: file("7")}}
	p.Jury.InvalidOutput = []testcases.Sample{{Name: "c", Output: file("8")}}
	var archive bytes.Buffer
	if err := format.PackProblem(p, &archive); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "p.tar.gz")
	if err := os.WriteFile(path, archive.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := format.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := dataIn(t, reflect.ValueOf(got)); n != 11 {
		t.Errorf("%d pieces of data, want 11", n)
	}
}

// Data that cases share is in memory once, and counts once.
func TestSharedDataInMemory(t *testing.T) {
	t.Parallel()
	large := testcases.BytesData(make([]byte, 10<<20))
	var cases []testcases.Case
	for i := range 30 { // 300 MiB, were they not one
		cases = append(cases, testcases.Case{Name: "secret/" + strconv.Itoa(i), Input: large, Answer: testcases.BytesData(nil)})
	}
	var archive bytes.Buffer
	if err := format.PackProblem(&testcases.Problem{Groups: []testcases.Group{{Name: "secret", Cases: cases}}}, &archive); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "p.tar.gz")
	if err := os.WriteFile(path, archive.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	p, err := format.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := p.Cases()[29].Input.Size(); n != 10<<20 {
		t.Errorf("got %d bytes", n)
	}
}
