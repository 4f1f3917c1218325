package testcases_test

import (
	"archive/zip"
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"

	"judgefarm/judge"
	"judgefarm/testcases"
)

func files(pairs ...string) []judge.File {
	var all []judge.File
	for i := 0; i < len(pairs); i += 2 {
		all = append(all, judge.File{Name: pairs[i], Data: []byte(pairs[i+1])})
	}
	return all
}

func zipOf(t *testing.T, entries []judge.File) []judge.File {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		f, err := w.Create(e.Name)
		if err == nil {
			_, err = f.Write(e.Data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return files("answers.zip", b.String())
}

func caseNames(names ...string) *testcases.Problem {
	p := &testcases.Problem{Groups: []testcases.Group{{Name: "secret"}}}
	for _, n := range names {
		name, output, _ := strings.Cut(n, ":")
		p.Groups[0].Cases = append(p.Groups[0].Cases, testcases.Case{Name: name, Output: output})
	}
	return p
}

func TestOutputs(t *testing.T) {
	t.Parallel()
	p := caseNames("secret/1", "secret/2", "other/2", "stated:output_003.txt")
	for name, c := range map[string]struct {
		files []judge.File
		want  string // case=data, sorted
	}{
		"none":                {nil, ""},
		"last part":           {files("1.out", "a"), "secret/1=a"},
		"other endings":       {files("1.ans", "a", "x/2", "q", "secret/2.txt", "b"), "refused"},
		"whole names":         {files("secret/2", "a", "other/2.ans", "b"), "other/2=b secret/2=a"},
		"could be two cases'": {files("2.out", "a"), "refused"},
		"stated":              {files("output_003.txt", "a"), "stated=a"},
		"stated, in a folder": {files("mine/output_003.txt", "a"), "stated=a"},
		"by another name":     {files("stated.out", "a"), "refused"},
		"of no case":          {files("main.cpp", "a"), "refused"},
		"twice":               {files("1.out", "a", "1.ans", "b"), "refused"},
		"archive":             {zipOf(t, files("x/1.out", "a", "output_003.txt", "b", "__MACOSX/x", "", ".DS_Store", "")), "secret/1=a stated=b"},
		"archive with others": {zipOf(t, files("readme", "a")), "refused"},
		"hostile archive":     {zipOf(t, files("../1.out", "a")), "refused"},
		"no archive":          {files("answers.zip", "a"), "refused"},
	} {
		found, err := p.Outputs(c.files)
		got := []string{}
		for _, k := range slices.Sorted(maps.Keys(found)) {
			got = append(got, k+"="+string(found[k]))
		}
		if judge.IsBadRequest(err) {
			got = []string{"refused"}
		} else if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
	both := caseNames("a", "a.out")
	if found, err := both.Outputs(files("a.out", "x")); !judge.IsBadRequest(err) {
		t.Errorf("a.out of the cases a and a.out: got %q, %v", found, err)
	}
	if found, err := both.Outputs(files("a.ans", "x", "a.out.out", "y")); err != nil || string(found["a"]) != "x" || string(found["a.out"]) != "y" {
		t.Errorf("names that only one of a and a.out has: got %q, %v", found, err)
	}
	if found, err := caseNames("secret/1").Outputs(files("main.text", "a")); err != nil || string(found["secret/1"]) != "a" {
		t.Errorf("the only file of the only case: got %q, %v", found, err)
	}
}

// Outputs that come with a program are told by the names that the problem states.
func TestSplit(t *testing.T) {
	t.Parallel()
	p := caseNames("1:output_1.txt", "2:output_2.txt", "3:output_3.txt")
	if p.Mixed() {
		t.Error("mixed without a case that takes an output")
	}
	p.Groups[0].Cases[0].Handed, p.Groups[0].Cases[1].Handed = testcases.HandedOnly, testcases.HandedMaybe
	program, outputs, err := p.Split(files("main.cpp", "m", "x/output_1.txt", "a", "output_3.txt", "b"))
	if err != nil || !p.Mixed() || len(program) != 2 || len(outputs) != 1 || string(outputs["1"]) != "a" {
		t.Errorf("got %+v, %q, %v", program, outputs, err)
	}
	if _, _, err = p.Split(files("output_2.txt", "m", "x/output_2.txt", "a")); !judge.IsBadRequest(err) {
		t.Errorf("twice: got %v", err)
	}
}

// An archive that unpacks to more than any problem needs is refused.
func TestOutputsBomb(t *testing.T) {
	t.Parallel()
	_, err := testcases.Unzipped(zipOf(t, []judge.File{{Name: "a.out", Data: make([]byte, 1<<20)}, {Name: "b.out", Data: []byte("x")}}), 1<<20)
	if !judge.IsBadRequest(err) || !strings.Contains(err.Error(), "unpack to at most") {
		t.Errorf("got %v", err)
	}
}

func FuzzOutputs(f *testing.F) {
	f.Add([]byte("PK\x05\x06"))
	f.Fuzz(func(t *testing.T, b []byte) {
		found, err := caseNames("a", "b").Outputs(files("x.zip", string(b)))
		if err == nil && len(found) > 2 {
			t.Errorf("got %q", found)
		}
	})
}
