package engine_test

import (
	"testing"

	"judgefarm/judge"
	"judgefarm/testcases"
)

// Where a problem allows no writing of files, a program finds its files and those of the
// case and writes its output file; nothing else.
func TestSealedProblem(t *testing.T) {
	t.Parallel()
	e, _ := realEngine(t)
	const reads = "import os\nassert open('t.txt').read() == 'text'\n"
	for name, c := range map[string]struct {
		sealed bool
		output string
		source string
		want   judge.Verdict
	}{
		"reads":           {true, "", reads + "print(9)", judge.Accepted},
		"writes":          {true, "", reads + "open('new', 'w')\nprint(9)", judge.RuntimeError},
		"changes":         {true, "", reads + "open('t.txt', 'a')\nprint(9)", judge.RuntimeError},
		"removes":         {true, "", reads + "os.remove('t.txt')\nprint(9)", judge.RuntimeError},
		"elsewhere":       {true, "", reads + "open('/tmp/new', 'w').write('x')\nprint(9)", judge.Accepted},
		"open":            {false, "", reads + "open('new', 'w')\nprint(9)", judge.Accepted},
		"output":          {true, "out.txt", reads + "open('out.txt', 'w').write('9')", judge.Accepted},
		"output and more": {true, "out.txt", reads + "open('out.txt', 'w').write('9')\nopen('out2.txt', 'w')", judge.RuntimeError},
		"output removed":  {true, "out.txt", reads + "os.remove('out.txt')", judge.RuntimeError},
		"no output":       {true, "out.txt", reads, judge.WrongAnswer},
	} {
		one := caseOf("secret/1", "3\n", "9\n")
		one.Files = []testcases.CaseFile{{Name: "t.txt", Data: testcases.BytesData([]byte("text"))}}
		p := &testcases.Problem{Sealed: c.sealed, OutputFile: c.output, Groups: []testcases.Group{{Name: "secret", Cases: []testcases.Case{one}}}}
		if j, err := judgePython(t, e, p, c.source); err != nil || *j.Verdict != c.want {
			t.Errorf("%s: got %+v, %v, want %s", name, j, err, c.want)
		}
	}
}
