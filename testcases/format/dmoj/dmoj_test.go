package dmoj_test

import (
	"archive/zip"
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"judgefarm/internal/manifest/manifesttest"
	"judgefarm/judge"
	"judgefarm/testcases"
	"judgefarm/testcases/format/dmoj"
)

const none = manifesttest.None

// base is a small package; each test adds to it. none removes.
func base() map[string]string {
	return map[string]string{
		"init.yml":     "test_cases:\n- {in: 1.in, out: 1.out, points: 5}\n- {in: 2.in, out: 2.out, points: 10}\n",
		"1.in":         "1 2\n",
		"1.out":        "3\n",
		"2.in":         "2 2\n",
		"2.out":        "4\n",
		"limits.csv":   "sum,1.5,65536\n",
		"check.py":     "def check(process_output, judge_output, **kwargs): return True\n",
		"check.cpp":    "int main() { return 0; }\n",
		"helper.h":     "\n",
		"gen.py":       "print(1)\n",
		"statement.md": "# Sum\n",
	}
}

func write(t testing.TB, add map[string]string) string {
	t.Helper()
	return manifesttest.Write(t, "sum", base(), add)
}

func open(t *testing.T, add map[string]string) *testcases.Problem {
	t.Helper()
	dir := write(t, add)
	if !dmoj.Detect(dir) {
		t.Error("the package was not recognised")
	}
	p, err := dmoj.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// initYML is a package whose init.yml is this.
func initYML(text string) map[string]string { return map[string]string{"init.yml": text} }

func faults(t *testing.T, add map[string]string) []string {
	t.Helper()
	_, err := dmoj.Open(write(t, add))
	if err == nil {
		return nil
	}
	return manifesttest.Faults(t, err)
}

// zipped is an archive of files, in the order given as name, text, name, text.
func zipped(t testing.TB, files ...string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		f, err := w.Create(files[i])
		if err == nil {
			_, err = f.Write([]byte(files[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// shape writes a problem's groups as "batch1[1 2]" with what they are worth, what they
// come after, and "!" where they stop.
func shape(p *testcases.Problem) string {
	var b strings.Builder
	for _, g := range p.Groups {
		b.WriteString(g.Name + "[")
		for i, c := range g.Cases {
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(strings.TrimPrefix(c.Name, g.Name+"/") + "=" + c.Points.String())
		}
		b.WriteByte(']')
		if g.Score != nil {
			b.WriteString(string(g.Score.Mode))
			if g.Score.Max != nil {
				b.WriteString("<=" + g.Score.Max.String())
			}
		}
		if g.Stop {
			b.WriteByte('!')
		}
		if len(g.After) > 0 {
			b.WriteString(" after " + strings.Join(g.After, ","))
		}
		b.WriteString("; ")
	}
	return strings.TrimSuffix(b.String(), "; ")
}

func read(t *testing.T, d testcases.Data) string {
	t.Helper()
	b, err := testcases.ReadAll(d, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestOpen(t *testing.T) {
	t.Parallel()
	p := open(t, nil)
	if p.ID != "sum" || p.Format != "dmoj" || p.Checker.Name != "dmoj/standard" || shape(p) != "cases1[1=5 2=10]" || p.Digest == "" {
		t.Errorf("got %q, %s, checker %v, %s", p.ID, p.Format, p.Checker, shape(p))
	}
	want := judge.Limits{CPU: 1500 * time.Millisecond, Wall: 4500 * time.Millisecond, Memory: 64 * judge.MiB, Output: 24 * judge.MiB}
	if p.Limits != want || p.Jury.Time.Elsewhere != "" || !p.Scores() {
		t.Errorf("got limits %+v, want %+v", p.Limits, want)
	}
	if unused := p.Jury.Unused; !slices.Equal(unused, []string{"check.cpp", "check.py", "gen.py", "helper.h"}) {
		t.Errorf("got unused files %q", unused)
	}
}

// Groups, points and dependencies, as the judge and the site of DMOJ count them.
func TestCases(t *testing.T) {
	t.Parallel()
	const c = "{in: 1.in, out: 1.out}"
	for text, want := range map[string]string{
		"points: 7\ntest_cases: [" + c + "]":       "cases1[1=7]",
		"test_cases: [{}]":                         "cases1[1=1]",
		"test_cases: [{points: 0.5}, {points: 2}]": "cases1[1=0.5 2=2]",
		"test_cases:\n- " + c + "\n- batched: [" + c + ", " + c + "]\n  points: 4\n- " + c:           "cases1[1=1]; batch1[2=4 3=4]min!; cases2[4=1]",
		"test_cases:\n- batched: [{}]\n- batched: [{}]\n- batched: [{}]\n  dependencies: [1, 2]":     "batch1[1=1]min!; batch2[2=1]min!; batch3[3=1]min! after batch1,batch2",
		"test_cases:\n- batched: [{points: 2}, {points: 3}]\n":                                       "batch1[1=2 2=3]min<=3!",
		"test_cases: [{points: 0}, {points: 0}, {points: 5}, {points: 0}, {}]":                       "cases1[1=0 2=0]!; cases2[3=5] after cases1; cases3[4=0]! after cases1; cases4[5=1] after cases1,cases3",
		"test_cases:\n- {batched: [{}], points: 0}\n- {}\n":                                          "batch1[1=0]min!; cases1[2=1] after batch1",
		"pretest_test_cases: [{points: 9}]\ntest_cases: [{points: 5}]":                               "cases1[1=0]!; cases2[2=5] after cases1",
		"a: &a {points: 3}\ntest_cases:\n- <<: *a\n- {<<: [*a, {points: 4}]}\n- {<<: *a, points: 5}": "cases1[1=3 2=3 3=5]",
	} {
		if got := shape(open(t, initYML(text))); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", text, got, want)
		}
	}
}

// Data comes from the package or its archive, and is text unless it is binary. What is
// stated for a batch or the file holds for cases that state nothing.
func TestData(t *testing.T) {
	t.Parallel()
	archive := zipped(t, "a/1.in", "in\r\nthe\rzip", "1.out", "zip\n", "2.in", "not this")
	p := open(t, map[string]string{
		"data.zip": archive, "2.in": "", "2.out": "two\r\n\nlines",
		"init.yml": "archive: data.zip\nout: 1.out\ntest_cases:\n- {in: a/1.in}\n- {in: 2.in, out: 2.out}\n" +
			"- {in: a/1.in, binary_data: true}\n- batched: [{in: a/1.in}]\n  out: 2.out\n",
	})
	want := [][2]string{{"in\nthe\nzip\n", "3\n"}, {"", "two\n\nlines\n"}, {"in\r\nthe\rzip", "3\n"}, {"in\nthe\nzip\n", "two\n\nlines\n"}}
	for i, c := range p.Cases() {
		if got := [2]string{read(t, c.Input), read(t, c.Answer)}; got != want[i] {
			t.Errorf("case %s: got %q, want %q", c.Name, got, want[i])
		}
		if c.Input.Size() != int64(len(want[i][0])) {
			t.Errorf("case %s: size %d of %q", c.Name, c.Input.Size(), want[i][0])
		}
	}
}

// Cases by the names of the archive's files.
func TestMatching(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		conf, want string
		files      []string
	}{
		{"", "cases1[1=1]; batch1[2=1 3=1]min!; cases2[4=1]", []string{"1.in", "1.out", "2.1.in", "2.1.out", "2.2.in", "2.2.out", "3.in", "3.out"}},
		{"", "cases1[1=1 2=1]", []string{"test.10.in", "test.10.out", "test.9.in", "test.9.out", "readme"}},
		{"points: 3", "cases1[1=3 2=3]", []string{"in01.txt", "out01.txt", "in02.txt", "out02.txt"}},
		{"test_cases: {case_points: [5, 0]}", "cases1[1=5]; cases2[2=0]!", []string{"1.in", "1.out", "2.in", "2.out"}},
		{"test_cases: {input_format: '((?P<batch>\\w+)\\.)?(?P<case>\\d+)\\.in', output_format: '((?P<batch>\\w+)\\.)?(?P<case>\\d+)\\.out'}",
			"batch1[1=1]min!; cases1[2=1]", []string{"1.in", "1.out", "a.1.in", "a.1.out"}},
		{"test_cases: {input_format: '^(?P<case>\\d+)\\.IN$', output_format: '^(?P<case>\\d+)\\.ans$'}", "cases1[1=1]", []string{"7.in", "7.ans"}},
		{"", "cases1[1=1]", []string{"1.in", "1.out", "__MACOSX/._1.in", "__MACOSX/._1.out"}},
	} {
		var files []string
		for _, name := range c.files {
			files = append(files, name, name+"\n")
		}
		p := open(t, map[string]string{
			"data.zip": zipped(t, files...), "init.yml": "archive: data.zip\n" + c.conf, "1.in": none, "1.out": none, "2.in": none, "2.out": none,
		})
		if got := shape(p); got != c.want {
			t.Errorf("%s of %q:\ngot  %s\nwant %s", c.conf, c.files, got, c.want)
		}
		for _, one := range p.Cases() {
			in, out := read(t, one.Input), read(t, one.Answer)
			if strings.Contains(in, "MACOSX") || !strings.Contains(in, "in") || in == out || out == "" {
				t.Errorf("%q: got input %q and answer %q", c.files, in, out)
			}
		}
	}
}
