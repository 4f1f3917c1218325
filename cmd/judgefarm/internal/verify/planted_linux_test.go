package verify_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"judgefarm/cmd/judgefarm/internal/verify"
)

// The programs of the package below: numbers from 1 to 100 are squared, with any
// number of zeros before.
const (
	inputValidator = `import sys
for n, line in enumerate(sys.stdin, 1):
    if not (line.strip().isdigit() and 1 <= int(line) <= 100):
        print(f"line {n}: {line.strip()!r} is no number from 1 to 100")
        sys.exit(43)
sys.exit(42)
`
	outputValidator = `import sys
got = sys.stdin.buffer.read().decode("latin-1").split()
want = open(sys.argv[2]).read().split()
if len(got) != len(want):
    sys.exit(43)
for n, (a, b) in enumerate(zip(got, want), 1):
    if not a.isdigit() or a.lstrip("0") != b.lstrip("+0"):
        open(sys.argv[3] + "judgemessage.txt", "w").write(f"token {n} is {a}, not {b}")
        open(sys.argv[3] + "teammessage.txt", "w").write(f"line {n} is wrong")
        sys.exit(43)
sys.exit(42)
`
	right = "import sys\nfor line in sys.stdin: print(int(line) ** 2)\n"
)

// sound is a package without a fault.
func sound() map[string]string {
	return map[string]string{
		"problem.yaml":                       "name: squares\nlicense: cc by\nvalidation: custom\n",
		".timelimit":                         "1\n",
		"input_validators/format.py":         inputValidator,
		"output_validators/compare.py":       outputValidator,
		"data/sample/1.in":                   "2\n",
		"data/sample/1.ans":                  "4\n",
		"data/secret/01.in":                  "3\n5\n",
		"data/secret/01.ans":                 "9\n25\n",
		"submissions/accepted/right.py":      right,
		"submissions/wrong_answer/double.py": "import sys\nfor line in sys.stdin: print(int(line) * 3)\n",
	}
}

// gone is the text of a file that is not there.
const gone = "\x00"

func with(base map[string]string, more map[string]string) map[string]string {
	all := maps.Clone(base)
	maps.Copy(all, more)
	maps.DeleteFunc(all, func(_, text string) bool { return text == gone })
	return all
}

// dice are a program that is right by chance, and cases enough to show it.
func dice() map[string]string {
	tree := map[string]string{"submissions/rejected/dice.py": "import random, sys\nfor line in sys.stdin: print(int(line) ** 2 + random.getrandbits(1))\n"}
	for n := range 20 {
		tree[fmt.Sprintf("data/secret/a%02d.in", n)] = fmt.Sprintln(n + 10)
		tree[fmt.Sprintf("data/secret/a%02d.ans", n)] = fmt.Sprintln((n + 10) * (n + 10))
	}
	return tree
}

// planted is a fault of a package and what tells it.
type planted struct {
	severity    verify.Severity
	where, text string // "file:line", and a part of the text
}

// Packages with faults of every kind: each is told by file, and by line where the file
// has lines. docs/verify.md has this list.
func TestPlantedFaults(t *testing.T) {
	t.Parallel()
	cfg := realConfig(t, 2)
	for name, c := range map[string]struct {
		tree   map[string]string
		repeat int
		want   []planted
	}{
		"no fault": {tree: sound()},
		"data and programs": {tree: with(sound(), map[string]string{
			"output_validators/compare.py":        strings.Replace(outputValidator, "if len", "first = got[0]\nif len", 1),
			"data/secret/02.in":                   "7\n101\n",
			"data/secret/02.ans":                  "49\n10201\n",
			"data/sample/2.in":                    "6\n7\n",
			"data/sample/2.ans":                   "36\n+49\n",
			"data/secret/04.in":                   "3\n5\n",
			"data/secret/04.ans":                  "9\n25\n",
			"data/secret/05.in":                   "1\n8\r\n",
			"data/secret/05.ans":                  "1\n64\n",
			"data/secret/06.in":                   "11",
			"data/secret/06.ans":                  "121\n",
			"data/secret/old.txt":                 "?",
			"data/invalid_input/odd.in":           "100\n",
			"data/invalid_output/same.in":         "3\n",
			"data/invalid_output/same.ans":        "9\n",
			"data/invalid_output/same.out":        "09\n",
			"data/valid_output/spaced.in":         "3\n4\n",
			"data/valid_output/spaced.ans":        "9\n16\n",
			"data/valid_output/spaced.out":        "9\n17\n",
			"submissions/accepted/off.py":         "import sys\nfor line in sys.stdin: print(int(line) * 2)\n",
			"submissions/accepted/crash.py":       "import sys\nfor line in sys.stdin:\n    print(int(line) ** 2 // (int(line) != 5))\n",
			"submissions/accepted/typo.c":         "#include <stdio.h>\nint main(void) {\n\treturn x;\n}\n",
			"submissions/accepted/near.py":        right + "import time\nwhile time.process_time() < 0.3: pass\n",
			"submissions/accepted/what.py2":       "print 1\n",
			"submissions/wrong_answer/right.py":   right,
			"submissions/time_limit_exceeded/q.c": "#include <stdio.h>\nint main(void) { puts(\"0\"); }\n",
		}), want: []planted{
			{verify.Fault, "data/secret/02.in:2", "input validator input_validators/format.py refuses it: line 2: '101'"},
			{verify.Fault, "data/sample/2.ans:2", "the checker gives WA to the answer itself: token 2 is +49"},
			{verify.Warning, "output_validators/compare.py:4", "the checker exited with status 1 on case secret/06, not with 42 or 43, given an empty output"},
			{verify.Warning, "data/secret/04.in", "is the same input as data/secret/01.in"},
			{verify.Warning, "data/secret/05.in:2", "carriage return"},
			{verify.Warning, "data/secret/06.in", "no line feed at its end"},
			{verify.Warning, "data/secret/old.txt", "nothing refers to this file"},
			{verify.Fault, "data/invalid_input/odd.in", "every input validator accepts it"},
			{verify.Fault, "data/invalid_output/same.out", "the checker accepts it"},
			{verify.Fault, "data/valid_output/spaced.out:2", "is a valid output and the checker gives it WA: token 2 is 17"},
			{verify.Fault, "submissions/accepted/off.py", "expected AC, got WA on case sample/2: line 1 is wrong"},
			{verify.Fault, "submissions/accepted/crash.py:3", "expected AC, got RTE on case secret/01"},
			{verify.Fault, "submissions/accepted/typo.c:3", "expected AC, got CE"},
			{verify.Warning, "submissions/accepted/near.py", "leaves too little room"},
			{verify.Fault, "submissions/wrong_answer/right.py", "expected WA or PE, got AC"},
			{verify.Warning, "submissions/accepted/what.py2", "no language is called \"python2\" here"},
			{verify.Fault, "submissions/time_limit_exceeded/q.c", "got WA"},
		}},
		"a program that throws dice": {repeat: 3, tree: with(sound(), dice()), want: []planted{
			{verify.Fault, "submissions/rejected/dice.py", "in round 1 and"},
		}},
		"a checker that is none": {tree: with(sound(), map[string]string{
			"output_validators/compare.py": "import sys\nif len(sys.argv) > 2:\n    raise SystemExit(0)\n",
		}), want: []planted{
			{verify.Fault, "output_validators/compare.py", "the checker exited with status 0"},
		}},
		"programs that do not compile": {tree: with(sound(), map[string]string{
			"input_validators/format.py": "import sys\nif True\n    sys.exit(42)\n", "input_validators/second.c": "int main(void) {\n\treturn 42\n}\n",
		}), want: []planted{
			{verify.Fault, "input_validators/second.c:2", "does not compile (CE)"},
		}},
		"scripts in Checktestdata": {tree: with(sound(), map[string]string{
			"input_validators/format.py":  gone,
			"input_validators/lines.ctd":  "WHILE(!ISEOF)\n  INT(1, 4) NEWLINE\nEND\n",
			"input_validators/typo.ctd":   "INT(1, 4)\nNEWLIN\n",
			"input_validators/broken.ctd": "ASSERT(!ISEOF)\nREGEX(\".*\")\nASSERT(x == 1)\n",
			"data/invalid_input/five.in":  "5\n",
		}), want: []planted{
			{verify.Fault, "data/secret/01.in:2", "the input validator input_validators/lines.ctd refuses it: line 2, column 1: 5 is not from 1 to 4 (line 2 of the script)"},
			{verify.Fault, "input_validators/typo.ctd:2", "cannot be read: line 2: unknown command NEWLIN"},
			{verify.Fault, "input_validators/broken.ctd", "cannot be run: line 3: variable x[] has no value"},
		}},
		"expectations of 2025-09": {tree: with(sound(), map[string]string{
			"problem.yaml":                 "problem_format_version: 2025-09\nname: squares\nuuid: 0\nlicense: cc by\ntype: pass-fail\nlimits:\n  time_limit: 1.5\n",
			".timelimit":                   gone,
			"submissions/submissions.yaml": "accepted/right.py:\n  sample: {required: [WA]}\nwrong_answer/double.py:\n  permitted: [AC, WA]\n  required: [WA]\n  message: never said\n",
		}), want: []planted{
			{verify.Fault, "submissions/accepted/right.py", "required for sample is WA or PE on at least one case, got AC (submissions/submissions.yaml:2)"},
			{verify.Fault, "submissions/wrong_answer/double.py", "no case has a judge message with \"never said\" (submissions/submissions.yaml:3)"},
			{verify.Fault, "problem.yaml:7", "the time limit of 1.5s is no multiple of the resolution of 1s"},
		}},
		"points": {tree: with(sound(), map[string]string{
			"problem.yaml":              "name: squares\nlicense: cc by\nvalidation: custom\ntype: scoring\n",
			"data/testdata.yaml":        "on_reject: continue\ngrader_flags: sum\n",
			"submissions/mixed/half.py": "# @EXPECTED_RESULTS@: CORRECT, WRONG-ANSWER\n# @EXPECTED_SCORE@: 3\n" + right,
		}), want: []planted{
			{verify.Fault, "submissions/mixed/half.py", "the score should be 3, is"},
		}},
		"structure, Kattis": {tree: with(sound(), map[string]string{
			"problem.yaml":                 "problem_format_version: 2025-09\nname: squares\nlimits:\n  memory: lots\ncolour: red\n",
			"data/secret/02.in":            "4\n",
			"data/secret/03.ans":           "16\n",
			"data/secret/test_group.yaml":  "hardness: 3\n",
			"submissions/submissions.yaml": "accepted:\n  permitted: [OK]\n",
		}), want: []planted{
			{verify.Fault, "problem.yaml:4", "memory"},
			{verify.Fault, "problem.yaml:5", "unknown key"},
			{verify.Fault, "data/secret/02.in", "has no answer"},
			{verify.Fault, "data/secret/03.ans", "is an answer without an input"},
			{verify.Fault, "data/secret/test_group.yaml:1", "unknown key"},
			{verify.Fault, "submissions/submissions.yaml:2", "permitted must be of AC, WA, TLE, RTE"},
		}},
		"structure, Polygon": {tree: map[string]string{
			"problem.xml": `<problem short-name="squares">
<judging><testset name="tests">
<time-limit>soon</time-limit>
<memory-limit>1000000000</memory-limit>
<test-count>2</test-count>
<input-path-pattern>tests/%02d</input-path-pattern><answer-path-pattern>tests/%02d.a</answer-path-pattern>
<tests><test method="manual"/><test method="manual"/></tests>
</testset></judging>
<assets><checker name="std::wcmp.cpp"/><solutions>
<solution tag="mostly-right"><source path="solutions/a.py" type="python.3"/></solution>
</solutions></assets></problem>`,
			"tests/01": "2\n", "tests/01.a": "4\n", "solutions/a.py": right,
		}, want: []planted{
			{verify.Fault, "problem.xml:3", "time-limit"},
			{verify.Fault, "problem.xml:7", "has no answer tests/02.a"},
			{verify.Fault, "tests/02", "is missing"},
		}},
		"structure, plain": {tree: map[string]string{
			"problem.yaml": "name: squares\nlimits:\n  cpu: 1\nchecker: guess\n", "data/secret/1.in": "1\n", "data/secret/1.ans": "1\n", "data/secret/1.out": "1\n",
			"submissions/acepted/a.py": right,
		}, want: []planted{
			{verify.Fault, "problem.yaml:3", "cpu"},
			{verify.Fault, "problem.yaml:4", "must be one of tokens"},
			{verify.Fault, "data/secret/1.out", "is a second answer"},
			{verify.Fault, "submissions/acepted/a.py", "must lie in one of"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := verified(t, &cfg, c.tree, verify.Options{Repeat: c.repeat})
			for _, w := range c.want {
				if !told(r, w) {
					t.Errorf("%s %s: %q is not told", w.severity, w.where, w.text)
				}
			}
			if len(c.want) == 0 && r.Faults+r.Warnings+r.Failed > 0 || t.Failed() {
				for _, f := range r.Findings {
					t.Logf("told: %s %v", f.Severity, f)
				}
				t.Errorf("%d faults, %d warnings, %d failures", r.Faults, r.Warnings, r.Failed)
			}
		})
	}
}

func told(r *verify.Report, w planted) bool {
	for _, f := range r.Findings {
		if f.Severity == w.severity && f.Where() == w.where && strings.Contains(f.Text, w.text) {
			return true
		}
	}
	return false
}
