package checker_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"judgefarm/judge"
	"judgefarm/judge/checker"
	"judgefarm/judge/checker/checkertest"
	"judgefarm/judge/sandbox/sandboxtest"
	"judgefarm/languages"
	"judgefarm/testcases"
)

// answering makes a checker of the protocol whose program says and exits as told.
func answering(t *testing.T, p testcases.Protocol, exit int, stdout, stderr string, files map[string]string) (checker.Checker, *sandboxtest.Fake) {
	t.Helper()
	fake := &sandboxtest.Fake{Default: func(proc *sandboxtest.Proc) int {
		io.WriteString(proc.Stdout, stdout)
		io.WriteString(proc.Stderr, stderr)
		for name, text := range files {
			proc.Files["feedback/"+name] = []byte(text)
		}
		return exit
	}}
	own := kattisProgram()
	own.Protocol, own.Args = p, []string{"-own"}
	c, err := checker.New(judge.CheckerSpec{Name: "custom", Args: []string{"-spec"}}, checker.Deps{
		Runner: fake, Compiler: compiled{}, Language: &languages.Language{ID: "x"}, Program: own, Dir: t.TempDir(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return c, fake
}

// Every answer that a protocol knows, and what it does not know is our failure.
func TestProtocols(t *testing.T) {
	t.Parallel()
	const failed = judge.Verdict("failed")
	type answer struct {
		exit           int
		stdout, stderr string
		files          map[string]string
		want           judge.Verdict
		share, points  string
	}
	for protocol, answers := range map[testcases.Protocol][]answer{
		testcases.ProtocolKattis: {
			{exit: 42, want: judge.Accepted}, {exit: 43, want: judge.WrongAnswer}, {exit: 0, want: failed}, {exit: 1, want: failed},
			{exit: 42, files: map[string]string{"score.txt": "88.37\n"}, want: judge.Accepted, points: "88.37"},
			{exit: 42, files: map[string]string{"score_multiplier.txt": "0.25"}, want: judge.Accepted, share: "0.25"},
			{exit: 42, files: map[string]string{"score_multiplier.txt": "1.25"}, want: failed},
			{exit: 42, files: map[string]string{"score.txt": "many"}, want: failed},
			{exit: 42, files: map[string]string{"score.txt": "1", "score_multiplier.txt": "1"}, want: failed},
			{exit: 43, files: map[string]string{"score.txt": "0"}, want: judge.WrongAnswer},
			{exit: 42, files: map[string]string{"score.txt": ""}, want: failed},
			{exit: 42, files: map[string]string{"score_multiplier.txt": "0.5" + strings.Repeat("\n", 1<<16)}, want: failed},
		},
		testcases.ProtocolTestlibPercent: {
			{exit: 0, want: judge.Accepted}, {exit: 1, want: judge.WrongAnswer}, {exit: 3, want: failed},
			{exit: 7, stderr: "points 12.5 ok", want: judge.Accepted, share: "0.125"}, {exit: 7, stderr: "points 100", want: judge.Accepted, share: "1"},
			{exit: 7, stderr: "points 100.5", want: failed}, {exit: 7, stderr: "points 0", want: judge.WrongAnswer},
		},
		testcases.ProtocolTestlib: {
			{exit: 0, stderr: "ok 3 numbers", want: judge.Accepted}, {exit: 1, stderr: "wrong answer", want: judge.WrongAnswer},
			{exit: 2, want: judge.PresentationError}, {exit: 4, want: judge.PresentationError}, {exit: 8, want: judge.PresentationError},
			{exit: 3, stderr: "FAIL no", want: failed}, {exit: 5, want: failed}, {exit: 139, want: failed},
			{exit: 7, stderr: "points 12.5 half", want: judge.Accepted, points: "12.5"}, {exit: 7, stderr: "points 0", want: judge.WrongAnswer},
			{exit: 7, stderr: "12", want: judge.Accepted, points: "12"}, {exit: 7, stderr: "points lots", want: failed},
			{exit: 50, stderr: "partially correct (50) ok", want: judge.Accepted, share: "0.25"},
			{exit: 0, stderr: "partially correct (0) nothing", want: judge.WrongAnswer},
			{exit: 201, stderr: "partially correct (201)", want: failed},
		},
		testcases.ProtocolCMS: {
			{exit: 0, stdout: "1.0\n", stderr: "translate:success", want: judge.Accepted}, {exit: 0, stdout: "0", want: judge.WrongAnswer},
			{exit: 0, stdout: "0.5\nmore\n", want: judge.Accepted, share: "0.5"}, {exit: 0, stdout: "", want: failed},
			{exit: 0, stdout: "1.5", want: failed}, {exit: 0, stdout: "nan", want: failed}, {exit: 1, stdout: "1", want: failed},
		},
		testcases.ProtocolExit: {{exit: 0, want: judge.Accepted}, {exit: 1, want: judge.WrongAnswer}, {exit: 2, want: failed}},
		testcases.ProtocolCOCI: {
			{exit: 0, want: judge.Accepted}, {exit: 1, want: judge.WrongAnswer}, {exit: 7, stderr: "note\npartial 1/4\n", want: judge.Accepted, share: "0.25"},
			{exit: 7, stderr: "partial 0/9", want: judge.Accepted, share: "0"}, {exit: 7, stderr: "partial 1/0", want: failed}, {exit: 7, stderr: "partial 5/4", want: failed}, {exit: 7, want: failed},
		},
		testcases.ProtocolPEG: {
			{exit: 0, want: judge.Accepted}, {exit: 1, want: judge.WrongAnswer}, {exit: 3, want: failed},
			{exit: 0, stdout: "about\n1\n2\n", want: judge.Accepted, share: "0.5"}, {exit: 1, stdout: "1.5\n6", want: judge.Accepted, share: "0.25"},
			{exit: 0, stdout: "3\n2", want: failed}, {exit: 0, stdout: "1\n0", want: judge.Accepted},
		},
	} {
		for _, a := range answers {
			c, _ := answering(t, protocol, a.exit, a.stdout, a.stderr, a.files)
			r, err := c.Check(t.Context(), checkertest.Input("answer", "output"))
			got, share, points := r.Verdict, "", ""
			if r.Share != nil {
				share = r.Share.String()
			}
			if r.Points != nil {
				points = r.Points.String()
			}
			if err != nil {
				got = failed
				var f *judge.Failed
				if !errors.As(err, &f) || f.Kind != judge.FailChecker || (a.stderr != "" && f.Reason == a.stderr) {
					t.Errorf("%s: got %v", protocol, err)
				}
			}
			if got != a.want || share != a.share || points != a.points {
				t.Errorf("%s, %+v: got %s, share %q, points %q, %v", protocol, a, got, share, points, err)
			}
		}
	}
}

// A package may have a command line of its own.
func TestProgramCall(t *testing.T) {
	t.Parallel()
	fake := &sandboxtest.Fake{Default: func(*sandboxtest.Proc) int { return 0 }}
	own := kattisProgram()
	own.Protocol, own.Call = testcases.ProtocolExit, []string{"-a={answer_file}", "{input_file}", "two words"}
	c, err := checker.New(judge.CheckerSpec{Name: "custom"}, checker.Deps{
		Runner: fake, Compiler: compiled{}, Language: &languages.Language{ID: "x"}, Program: own, Dir: t.TempDir(),
	})
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Check(t.Context(), checkertest.Input("answer", "output"))
	want := []string{"/exe/check", "-a=/judge/answer", "/judge/input", "two words"}
	if got := fake.Specs()[0].Args; err != nil || r.Verdict != judge.Accepted || !slices.Equal(got, want) {
		t.Errorf("got %q, %v, %v, want %q", got, r, err, want)
	}
}

// How each protocol names the files, and in which order arguments come.
func TestProtocolArguments(t *testing.T) {
	t.Parallel()
	for protocol, want := range map[testcases.Protocol][]string{
		testcases.ProtocolKattis:  {"/judge/input", "/judge/answer", "/work/feedback/"},
		testcases.ProtocolTestlib: {"/judge/input", "/judge/output", "/judge/answer"},
		testcases.ProtocolCMS:     {"/judge/input", "/judge/answer", "/judge/output"},
		testcases.ProtocolPEG:     {"/judge/answer", "/judge/output", "/judge/input"},
	} {
		c, fake := answering(t, protocol, 1, "", "", nil)
		in := checkertest.Input("answer", "output")
		in.Args = []string{"-case"}
		c.Check(t.Context(), in)
		want = slices.Concat([]string{"/exe/check"}, want, []string{"-own", "-spec", "-case"})
		if spec := fake.Specs()[0]; !slices.Equal(spec.Args, want) || (spec.Stdin != nil) != (protocol == testcases.ProtocolKattis) {
			t.Errorf("%s: got %q, stdin %v, want %q", protocol, spec.Args, spec.Stdin != nil, want)
		}
	}
	own := kattisProgram()
	own.Protocol = "none"
	_, err := checker.New(judge.CheckerSpec{Name: "custom"}, checker.Deps{
		Runner: &sandboxtest.Fake{}, Compiler: compiled{}, Language: &languages.Language{ID: "x"}, Program: own,
	})
	if !judge.IsBadRequest(err) {
		t.Errorf("a protocol that is not there: got %v, want a bad request", err)
	}
}
