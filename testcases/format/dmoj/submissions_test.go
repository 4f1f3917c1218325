package dmoj_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"judgefarm/judge"
	"judgefarm/testcases"
)

// labelled reads one test of the package of two cases.
func labelled(t *testing.T, test string, more map[string]string) []testcases.Labelled {
	t.Helper()
	add := map[string]string{"tests/one/test.yml": test, "tests/one/a.py": "print(3)\n", "tests/one/b.py": "print(4)\n"}
	for name, text := range more {
		add[name] = text
	}
	return open(t, add).Submissions
}

func TestSubmissions(t *testing.T) {
	t.Parallel()
	const head = "language: PY3\ntime: 0.25\nmemory: 8192\nsource: a.py\n"
	wrong := []judge.Verdict{judge.WrongAnswer, judge.PresentationError}
	s := labelled(t, head, nil)[0]
	if s.Path != "tests/one/a.py" || s.Language != "python3" || s.Label != "AC" || !slices.Equal(s.Allowed, []judge.Verdict{judge.Accepted}) ||
		s.Limits.CPU != 250*time.Millisecond || s.Limits.Wall != 750*time.Millisecond || s.Limits.Memory != 8*judge.MiB || string(s.Files[0].Data) != "print(3)\n" {
		t.Errorf("got %+v", s)
	}
	for _, c := range []struct {
		test    string
		allowed []judge.Verdict
		expect  []testcases.Expectation
		broken  bool
	}{
		{head + "expect: WA", wrong, []testcases.Expectation{{Permitted: wrong}}, false},
		{head + "expect: CE", []judge.Verdict{judge.CompileError, judge.CompileTimeLimit}, nil, false},
		{head + "expect: [RTE, MLE]", []judge.Verdict{judge.MemoryLimit, judge.RuntimeError, judge.SecurityViolation},
			[]testcases.Expectation{{Permitted: []judge.Verdict{judge.RuntimeError, judge.SecurityViolation, judge.MemoryLimit}}}, false},
		{head + "expect: '*'", nil, nil, false},
		{head + "expect: IE", nil, nil, true},
		{head + "cases: [WA, SC]", wrong, []testcases.Expectation{
			{Cases: "cases1/1", Permitted: wrong}, {Cases: "cases1/2", Permitted: []judge.Verdict{judge.Skipped}}}, false},
		{head + "cases: {2: WA}", wrong, []testcases.Expectation{
			{Cases: "cases1/1", Permitted: []judge.Verdict{judge.Accepted}}, {Cases: "cases1/2", Permitted: wrong}}, false},
	} {
		s := labelled(t, c.test, nil)[0]
		same := len(s.Expect) == len(c.expect)
		for i := range min(len(s.Expect), len(c.expect)) {
			same = same && s.Expect[i].Cases == c.expect[i].Cases && slices.Equal(s.Expect[i].Permitted, c.expect[i].Permitted)
		}
		if !slices.Equal(s.Allowed, c.allowed) || !same || s.Broken != c.broken {
			t.Errorf("%s: got %v, %+v, broken %v, want %+v", strings.TrimPrefix(c.test, head), s.Allowed, s.Expect, s.Broken, c)
		}
	}
	points := labelled(t, head+"score: 3\nscore_cases: {2: 4}\n", nil)[0]
	if e := points.Expect[len(points.Expect)-1]; len(e.Points) != 2 || e.Points["cases1/1"].String() != "3" || e.Points["cases1/2"].String() != "4" {
		t.Errorf("points: got %+v", points.Expect)
	}
}

// A test may have several files, of which later ones change earlier ones; several
// sources; and be for others than us.
func TestSubmissionFiles(t *testing.T) {
	t.Parallel()
	const head = "language: PY2\ntime: 1\nmemory: 1\nsource: [a.py, b.py]\n"
	all := labelled(t, head, map[string]string{"tests/one/test.linux.yml": "expect: WA\nlanguage: TUR\n", "tests/one/test.freebsd.yml": "expect: TLE\n"})
	if len(all) != 2 || all[1].Path != "tests/one/b.py" || all[0].Label != "WA" || all[0].Language != "tur" || all[0].Limits.Memory != 4*judge.KiB {
		t.Errorf("got %+v", all)
	}
	for name, test := range map[string]string{"skip": head + "skip: yes\n", "arch": head + "arch: [vax]\n"} {
		if all := labelled(t, test, nil); len(all) != 0 {
			t.Errorf("%s: got %+v", name, all)
		}
	}
	p := open(t, map[string]string{"tests/none/a.py": "", "tests/one/test.freebsd.yml": "x: y\n"})
	if len(p.Submissions) != 0 || len(p.Jury.Notes) != 2 {
		t.Errorf("no tests: got %+v, %+v", p.Submissions, p.Jury.Notes)
	}
}
