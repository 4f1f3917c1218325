package checker_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"judgefarm/judge"
	"judgefarm/judge/checker"
	"judgefarm/judge/checker/checkertest"
	"judgefarm/testcases"
)

// module makes the checker of a Python module that speaks DMOJ's protocol.
func module(t *testing.T, m checker.Maker, source string) checker.Checker {
	t.Helper()
	p := &testcases.Problem{CheckerProgram: &testcases.Program{
		Name: "check.py", Language: "python3", Protocol: testcases.ProtocolDMOJ, Files: []judge.File{{Name: "check.py", Data: []byte(source)}},
	}}
	c, err := m.For(t.Context(), p, judge.CheckerSpec{Name: "custom", Args: []string{`{"most": 3}`}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// dmojInput is a case of 10 points with what is known of a submission.
func dmojInput(in, answer, output string) checker.Input {
	i := input(in, answer, output)
	i.Args = []string{`{"point_value": 10, "case_position": 4, "batch": 2, "binary_data": false}`}
	i.Facts = checker.Facts{Problem: "sum", Source: []byte("print(1)"), CPU: 1500 * time.Millisecond, Memory: 3 * judge.MiB}
	return i
}

func TestDMOJConformance(t *testing.T) {
	t.Parallel()
	m := real(t)
	checkertest.Run(t, checkertest.Suite{
		New: func(t *testing.T) checker.Checker {
			return fixedArgs{module(t, m, "def check(process_output, judge_output, **kwargs):\n    return process_output == judge_output")}
		},
		Answer: "hidden 1\n2\n", Right: "hidden 1\n2\n", Wrong: "seen 1\n2\n",
	})
}

// fixedArgs gives the suite's inputs what a reader of packages gives to cases.
type fixedArgs struct{ checker.Checker }

func (f fixedArgs) Check(ctx context.Context, in checker.Input) (checker.Ruling, error) {
	in.Args = []string{"{}"}
	return f.Checker.Check(ctx, in)
}

// A module's answer is its ruling, with the points that it gives; one that is broken
// is our failure, and what it prints is nothing.
func TestDMOJModules(t *testing.T) {
	t.Parallel()
	m := real(t)
	const ac, wa, failed = judge.Accepted, judge.WrongAnswer, judge.Verdict("failed")
	result := "from dmoj.result import CheckerResult\ndef check(process_output, judge_output, point_value, **kwargs):\n    return "
	for _, c := range []struct {
		source  string
		want    judge.Verdict
		points  string
		message string
	}{
		{"def check(a, b, **kwargs): return a == b'out\\n' and b == b'ans\\n'", ac, "", ""},
		{"def check(a, b, **kwargs): print('passed'); return False", wa, "", "refused"},
		{result + "CheckerResult(False, 0, 'found ' + '\U0001f600' * 100000)", wa, "", "found \U0001f600"},
		{"def check(a, b, judge_input, **kwargs): return judge_input == b'in\\n'", ac, "", ""},
		{"def check(a, b, most, submission_source, **kwargs): return most == 3 and submission_source == b'print(1)'", ac, "", ""},
		{"def check(a, b, *, result, case, **kwargs): return (result.max_memory, result.execution_time, case.position, case.batch) == (3072, 1.5, 4, 2)", ac, "", ""},
		{"def check(a, b, *, case, case_position, problem_id, **kwargs): return case.input_data() == b'in\\n' and problem_id == 'sum'", ac, "", ""},
		{result + "CheckerResult(True, point_value)", ac, "", ""},
		{result + "CheckerResult(True, point_value / 4, 'a quarter')", ac, "2.5", "a quarter"},
		{result + "CheckerResult(True, 0)", ac, "0", ""},
		{result + "CheckerResult(False, 0.1, 'no', 'more')", wa, "0.1", "no\nmore"},
		{result + "CheckerResult(False, 0, '正しくない')", wa, "", "正しくない"},
		{"from dmoj.checkers import standard\ndef check(a, b, **kwargs): return standard.check(a, b'out', **kwargs)", ac, "", ""},
		{"from dmoj.checkers.floats import check as c\ndef check(a, b, **kwargs): return c(b'1.001', b'1', precision=2)", ac, "", ""},
		{"from dmoj.checkers import sorted as s\ndef check(a, b, **kwargs): return s.check(b'1\\n2', b'2\\n1')", ac, "", ""},
		{"from dmoj.utils.unicode import utf8text\ndef check(a, b, **kwargs): return utf8text(a) == 'out\\n'", ac, "", ""},
		{"def check(a, b, **kwargs): return b'\\xff'.decode('utf-8')", wa, "", "invalid unicode"},
		{"def check(a, b, **kwargs): return 1 // 0", failed, "", ""},
		{"def check(a, b, **kwargs): raise SystemExit(0)", failed, "", ""},
		{"import os\ndef check(a, b, **kwargs): os._exit(0)", failed, "", ""},
		{"import os\ndef check(a, b, **kwargs): os.kill(os.getpid(), 9)", failed, "", ""},
		{"from dmoj.error import InternalError\ndef check(a, b, **kwargs): raise InternalError('broken')", failed, "", ""},
		{"def check(a, b): return True", failed, "", ""},
		{"def other(a, b, **kwargs): return True", failed, "", ""},
		{"this is no Python", failed, "", ""},
		{result + "CheckerResult(True, float('nan'))", failed, "", ""},
		{result + "CheckerResult(True, -1)", failed, "", ""},
		{result + "CheckerResult('yes', 1)", failed, "", ""},
	} {
		r, err := module(t, m, c.source).Check(t.Context(), dmojInput("in\n", "ans\n", "out\n"))
		got, points := r.Verdict, ""
		if r.Points != nil {
			points = r.Points.String()
		}
		if err != nil {
			got = failed
			var f *judge.Failed
			if !errors.As(err, &f) || f.Kind != judge.FailChecker {
				t.Errorf("%s: got %v, want a failure of the checker", c.source, err)
			}
		}
		if got != c.want || points != c.points || !strings.Contains(r.Message, c.message) {
			t.Errorf("%s: got %s, points %q, message %q, %v, want %+v", c.source, got, points, r.Message, err, c)
		}
	}
}

// The harness is called with Python's own, and no other language.
func TestDMOJNeedsPython(t *testing.T) {
	t.Parallel()
	p := &testcases.Problem{CheckerProgram: &testcases.Program{
		Language: "cpp17", Protocol: testcases.ProtocolDMOJ, Files: []judge.File{{Name: "check.cpp"}},
	}}
	_, err := real(t).For(t.Context(), p, judge.CheckerSpec{Name: "custom"})
	if !judge.IsBadRequest(err) || !strings.Contains(err.Error(), "python3") {
		t.Errorf("got %v, want a bad request", err)
	}
}
