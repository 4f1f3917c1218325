package packed

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"judgefarm/internal/manifest"
	"judgefarm/judge"
	"judgefarm/testcases"
)

// filler gives every field of a problem a value that no other field has.
type filler struct{ n int }

func (f *filler) fill(v reflect.Value, depth int) {
	f.n++
	switch t := v.Type(); {
	case t == dataType:
		v.Set(reflect.ValueOf(testcases.BytesData(fmt.Appendf(nil, "data %d", f.n))))
	case t == bytesType:
		v.SetBytes(fmt.Appendf(nil, "source %d", f.n))
	case t == scoreType:
		v.Set(reflect.ValueOf(judge.ShareOf(int64(f.n), 7)))
	case v.Kind() == reflect.String:
		v.SetString(fmt.Sprintf("text <%d> \xff", f.n))
	case v.Kind() == reflect.Bool:
		v.SetBool(true)
	case v.CanInt():
		v.SetInt(int64(f.n) << 20)
	case v.Kind() == reflect.Pointer && depth > 0:
		v.Set(reflect.New(t.Elem()))
		f.fill(v.Elem(), depth-1)
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			f.fill(v.Field(i), depth)
		}
	case v.Kind() == reflect.Array:
		for i := range v.Len() {
			f.fill(v.Index(i), depth)
		}
	case v.Kind() == reflect.Slice && depth > 0:
		v.Set(reflect.MakeSlice(t, 2, 2))
		f.fill(v.Index(0), depth-1) // the second stays zero
	case v.Kind() == reflect.Map && depth > 0:
		item := reflect.New(t.Elem()).Elem()
		f.fill(item, depth-1)
		v.Set(reflect.MakeMap(t))
		v.SetMapIndex(reflect.ValueOf(fmt.Sprintf("key %d", f.n)), item)
		v.SetMapIndex(reflect.ValueOf("zero"), reflect.Zero(t.Elem()))
	}
}

// same compares values, data and sources by their bytes and scores by their value.
func same(t *testing.T, at string, a, b reflect.Value) {
	t.Helper()
	if isNil(a) != isNil(b) {
		t.Errorf("%s: got nil %v, want %v", at, isNil(b), isNil(a))
		return
	}
	if isNil(a) {
		return
	}
	switch a.Type() {
	case dataType:
		x, errX := testcases.ReadAll(a.Interface().(testcases.Data), 1<<20)
		y, errY := testcases.ReadAll(b.Interface().(testcases.Data), 1<<20)
		if err := errors.Join(errX, errY); err != nil || !bytes.Equal(x, y) {
			t.Errorf("%s: got data %q, want %q: %v", at, y, x, err)
		}
		return
	case scoreType:
		if x, y := a.Interface().(judge.Score), b.Interface().(judge.Score); x.Cmp(y) != 0 {
			t.Errorf("%s: got score %v, want %v", at, y, x)
		}
		return
	}
	switch a.Kind() {
	case reflect.Pointer:
		same(t, at, a.Elem(), b.Elem())
	case reflect.Struct:
		for i := range a.NumField() {
			same(t, at+"."+a.Type().Field(i).Name, a.Field(i), b.Field(i))
		}
	case reflect.Slice, reflect.Array:
		if a.Len() != b.Len() {
			t.Errorf("%s: got %d items, want %d", at, b.Len(), a.Len())
			return
		}
		for i := range a.Len() {
			same(t, at, a.Index(i), b.Index(i))
		}
	case reflect.Map:
		if a.Len() != b.Len() {
			t.Errorf("%s: got %d keys, want %d", at, b.Len(), a.Len())
			return
		}
		for _, key := range a.MapKeys() {
			if !b.MapIndex(key).IsValid() {
				t.Errorf("%s: key %q is gone", at, key)
				continue
			}
			same(t, at, a.MapIndex(key), b.MapIndex(key))
		}
	default:
		if !a.Equal(b) {
			t.Errorf("%s: got %v, want %v", at, b, a)
		}
	}
}

func write(t *testing.T, p *testcases.Problem) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := Write(&out, p); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// unpack writes the archive's files, changed by edit, into a folder.
func unpack(t *testing.T, archive []byte, edit func(files map[string][]byte)) string {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if files[h.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
	if edit != nil {
		edit(files)
	}
	dir := t.TempDir()
	for name, b := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, b, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// decode reads a folder without asking whether the problem makes sense.
func decode(t *testing.T, dir string) (*testcases.Problem, error) {
	t.Helper()
	folder, err := manifest.Open(dir, manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d := &decoder{folder: folder, used: map[string]bool{}, sources: map[string][]byte{}}
	p := &testcases.Problem{}
	d.problem(p)
	d.unused()
	return p, folder.Refusal()
}

// Every field of a problem, those that are added later included, comes back as it was.
func TestEveryFieldComesBack(t *testing.T) {
	t.Parallel()
	var p testcases.Problem
	(&filler{}).fill(reflect.ValueOf(&p).Elem(), 9)
	p.ID, p.Digest = "", ""
	archive := write(t, &p)
	got, err := decode(t, unpack(t, archive, nil))
	if err != nil {
		t.Fatal(err)
	}
	same(t, "problem", reflect.ValueOf(p), reflect.ValueOf(*got))
	if !bytes.Equal(write(t, got), archive) {
		t.Error("packed again it has other bytes")
	}
	p.ID, p.Digest = "who", "sha256:1"
	if !bytes.Equal(write(t, &p), archive) {
		t.Error("who the problem is changes its package")
	}
}

// small is a problem with a program, data that is there and data that is not.
func small() *testcases.Problem {
	data := func(s string) testcases.Data { return testcases.BytesData([]byte(s)) }
	program := &testcases.Program{Name: "gen", Language: "python3", Files: []judge.File{{Name: "gen.py", Data: []byte("print(1)")}}}
	half := judge.ShareOf(1, 3)
	return &testcases.Problem{
		Name: "Small", Format: "plain",
		Checker: judge.CheckerSpec{Name: "custom"}, CheckerProgram: program,
		Groups: []testcases.Group{{Name: "secret", Score: &testcases.Aggregate{Scale: &half}, Cases: []testcases.Case{
			{Name: "secret/1", Input: data("1"), Answer: data("")},
			{Name: "secret/2", InputFrom: &testcases.Recipe{Program: program, Args: []string{"2"}}, Answer: data("1")},
		}}},
	}
}

func TestOpen(t *testing.T) {
	t.Parallel()
	p := small()
	if err := p.Seal(); err != nil {
		t.Fatal(err)
	}
	got, err := Open(unpack(t, write(t, p), nil))
	if err != nil || got.Digest != p.Digest || got.Format != "plain" || !got.Pending() {
		t.Errorf("got %+v, %v, want digest %s", got, err, p.Digest)
	}
}

// What is not as it was written is refused, naming file and place.
func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	edit := func(old, new string) func(map[string][]byte) {
		return func(files map[string][]byte) {
			was := files[manifestName]
			files[manifestName] = bytes.Replace(was, []byte(old), []byte(new), 1)
			if bytes.Equal(was, files[manifestName]) {
				panic("nothing to replace: " + old)
			}
		}
	}
	blob := func(files map[string][]byte) string { return slices.Sorted(maps.Keys(files))[0] }
	for name, c := range map[string]struct {
		edit func(map[string][]byte)
		want string
	}{
		"no JSON":        {edit(`{"package"`, `{"package`), "judgefarm.json: is no manifest"},
		"newer package":  {edit(`judgefarm 1`, `judgefarm 2`), `package must be "judgefarm 1", is "judgefarm 2"`},
		"more keys":      {edit(`{"package"`, `{"more":1,"package"`), "must have package and problem"},
		"unknown field":  {edit(`"name":"Small"`, `"wings":2`), "problem.wings is not known: the package is of a newer version"},
		"field twice":    {edit(`"name":"Small"`, `"name":"Small","name":"x"`), `"name" is there twice`},
		"number as text": {edit(`"name":"Small"`, `"name":7`), "problem.name must be a text"},
		"text as list":   {edit(`"groups":[`, `"groups":"x","submissions":[`), "problem.groups must be a list"},
		"bad score":      {edit(`"1/3"`, `"1/0"`), "problem.groups[0].score.scale must be a whole number or a fraction"},
		"bad blob name":  {edit(`"input":"`, `"input":"../`), "problem.groups[0].cases[0].input must name a blob"},
		"blob missing":   {func(f map[string][]byte) { delete(f, blob(f)) }, "which is missing"},
		"blob damaged":   {func(f map[string][]byte) { f[blob(f)] = []byte("other") }, "is damaged: its SHA-256 is"},
		"a file more":    {func(f map[string][]byte) { f["blobs/x"] = nil }, "blobs/x: is not named by judgefarm.json"},
		"no sense":       {edit(`"name":"secret/2"`, `"name":"secret/1"`), "case name is used twice"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Open(unpack(t, write(t, small()), c.edit))
			if !judge.IsBadRequest(err) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// A chain of recipes without end costs no more than its first links.
func TestDepthIsBounded(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"stdin":`, 5000) + "{}" + strings.Repeat("}", 5000)
	text := `{"package":"judgefarm 1","problem":{"groups":[{"cases":[{"input_from":` + deep + `}]}]}}`
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, manifestName), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); !judge.IsBadRequest(err) || !strings.Contains(err.Error(), "lies too deep") {
		t.Errorf("got %.300v", err)
	}
}

// What a few bytes of a manifest stand for takes far more memory: it is counted, and the
// faults of many cases are told in part.
func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	for cases, want := range map[int]string{
		1_000_000: "problem.groups[0].cases holds more values than fit into 128 MiB",
		10_000:    "faults more",
	} {
		text := `{"package":"judgefarm 1","problem":{"groups":[{"name":"a","cases":[{}` + strings.Repeat(",{}", cases-1) + `]}]}}`
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, manifestName), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir); !judge.IsBadRequest(err) || !strings.Contains(err.Error(), want) || len(err.Error()) > 100_000 {
			t.Errorf("%d cases: got %.300v", cases, err)
		}
	}
}

// FuzzOpen: no manifest makes the reader fail otherwise than by a refusal, and what
// it takes is written and read again with the same digest.
func FuzzOpen(f *testing.F) {
	var seed bytes.Buffer
	enc := &encoder{blobs: map[string]testcases.Data{}}
	problem, err := enc.problem(small())
	if err != nil {
		f.Fatal(err)
	}
	text, err := manifestOf(problem)
	if err != nil {
		f.Fatal(err)
	}
	seed.Write(text)
	f.Add(seed.Bytes())
	f.Add([]byte(`{"package":"judgefarm 1","problem":{}}`))
	f.Add([]byte(`{"package":"judgefarm 1","problem":{"limits":{"cpu":1e9},"jury":{"time":{"ac_to_limit":"2"}}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		dir := t.TempDir()
		for sum, data := range enc.blobs {
			b, err := testcases.ReadAll(data, 1<<20)
			path := filepath.Join(dir, blobsFolder, sum)
			if err := errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, b, 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, manifestName), text, 0o644); err != nil {
			t.Fatal(err)
		}
		p, err := Open(dir)
		if err != nil {
			if !judge.IsBadRequest(err) {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		again, err := Open(unpack(t, write(t, p), nil))
		if err != nil || again.Digest != p.Digest {
			t.Fatalf("%q: written again it reads as %v, %v", text, again, err)
		}
	})
}
