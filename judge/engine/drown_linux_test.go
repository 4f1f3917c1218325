package engine_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"judgefarm/judge"
	"judgefarm/testcases"
)

// Interactors that take all that they are told, each in another way.
var greedy = map[string]string{
	"all in memory":    "import sys; sys.exit(42 if sys.stdin.read().strip() == 'yes' else 43)",
	"a line in memory": "import sys; sys.exit(42 if input() == 'yes' else 43)",
	"all on disk": `
import sys
log = open(sys.argv[3] + "judgemessage.txt", "w")
for line in sys.stdin:
    log.write(line)
    log.flush()
sys.exit(42 if line.strip() == "yes" else 43)
`,
	"nothing": "import sys; sys.exit(42 if sys.stdin.read(100000).strip() == 'yes' else 1)",
	"nothing and talks back": `
import sys
while True:
    said = sys.stdin.read(1 << 16)
    if said.strip() == "yes": sys.exit(42)
    if not said: sys.exit(43)
    print("more" * 10000, flush=True)
`,
}

// D41 of the attacks: whoever drowns the interactor goes over the output limit, is
// wrong, or runs out of time (where both wait for the other to read, too); it is never
// our failure and nobody hangs.
func TestDrownedInteractors(t *testing.T) {
	t.Parallel()
	e, _ := realEngine(t)
	drowns := []judge.Verdict{judge.OutputLimit, judge.WrongAnswer, judge.TimeLimit, judge.WallTimeLimit, judge.IdleLimit}
	for kind, interactor := range greedy {
		for name, c := range map[string]struct {
			source string
			want   []judge.Verdict
		}{
			"honest":       {"print('yes', flush=True); import sys; sys.stdout.close()", []judge.Verdict{judge.Accepted}},
			"lines":        {"while True: print('no ' * 300)", drowns},
			"one line":     {"import sys\nwhile True: sys.stdout.write('x' * 65536)", drowns},
			"two children": {"import os\nos.fork()\nwhile True: os.write(1, b'x' * 65536)", drowns},
		} {
			if name == "two children" && kind != "all in memory" {
				continue
			}
			own := script("talk.py", interactor, testcases.ProtocolKattis)
			wall := 4 * time.Second
			if name == "honest" || kind == "nothing" {
				wall = patience
			}
			own.Limits = judge.Limits{Memory: 64 * judge.MiB, CPU: 5 * time.Second, Wall: wall + 6*time.Second}
			p := &testcases.Problem{
				Kind: testcases.Interactive, Interactor: own,
				Limits: judge.Limits{CPU: 2 * time.Second, Wall: wall},
				Groups: []testcases.Group{{Name: "secret", Cases: []testcases.Case{caseOf("secret/1", "", "")}}},
			}
			j, err := judgePython(t, e, p, c.source)
			if err != nil {
				t.Errorf("%s drowns an interactor that keeps %s: %v, %v", name, kind, err, errors.Unwrap(err))
				continue
			}
			if !slices.Contains(c.want, *j.Verdict) {
				t.Errorf("%s, an interactor that keeps %s: got %s, want %s: %+v", name, kind, *j.Verdict, c.want, j.Cases)
			}
			if kind == "nothing" && name != "honest" && *j.Verdict != judge.OutputLimit {
				t.Errorf("%s breaks an interactor: got %s, want OLE", name, *j.Verdict)
			}
			if *j.Verdict == judge.OutputLimit && !strings.Contains(j.Cases[0].Message, "1048576 bytes") {
				t.Errorf("%s: message %q does not name the limit", name, j.Cases[0].Message)
			}
		}
	}
}

// The same of checkers: they get a file that is bounded, whatever was printed.
func TestDrownedCheckers(t *testing.T) {
	t.Parallel()
	e, _ := realEngine(t)
	check := script("check.py", "import sys; sys.exit(42 if sys.stdin.buffer.read() == b'yes\\n' else 43)", testcases.ProtocolKattis)
	for name, c := range map[string]struct {
		source string
		want   judge.Verdict
	}{
		"honest":       {"print('yes')", judge.Accepted},
		"without end":  {"while True: print('no')", judge.OutputLimit},
		"to the limit": {"print('x' * (4 * 2**20 - 1))", judge.WrongAnswer},
		"one more":     {"print('x' * (4 * 2**20))", judge.OutputLimit},
		"on stderr":    {"import sys\nprint('yes')\nwhile True: print('no', file=sys.stderr)", judge.OutputLimit},
	} {
		p := &testcases.Problem{
			Checker: judge.CheckerSpec{Name: testcases.CustomChecker}, CheckerProgram: check,
			Limits: judge.Limits{CPU: 10 * time.Second, Output: 4 * judge.MiB},
			Groups: []testcases.Group{{Name: "secret", Cases: []testcases.Case{caseOf("secret/1", "", "")}}},
		}
		j, err := judgePython(t, e, p, c.source)
		if err != nil || *j.Verdict != c.want {
			t.Errorf("%s: got %+v, %v, want %s", name, j, err, c.want)
		}
	}
}

// A dialogue is kept where that is asked for, and changes no verdict.
func TestDialogues(t *testing.T) {
	t.Parallel()
	e, _ := realEngine(t)
	e.Dialogue = 1 * judge.KiB
	p := &testcases.Problem{
		Kind: testcases.Interactive, Interactor: script("guess.py", guess, testcases.ProtocolKattis),
		Groups: []testcases.Group{{Name: "secret", Cases: []testcases.Case{caseOf("secret/1", "777", "")}}},
	}
	for source, want := range map[string]struct {
		verdict  judge.Verdict
		dialogue string
	}{
		"print('ask 5', flush=True); input(); print('answer 777')": {judge.Accepted, "> ask 5\n< more\n> answer 777\n"},
		"print('ask 5', flush=True); input(); 1 / 0":               {judge.RuntimeError, "> ask 5\n< more\n"},
		"print('answer 1')": {judge.WrongAnswer, "> answer 1\n"},
	} {
		out, err := judgeOutcome(t, e, p, source)
		if err != nil || *out.Judgement.Verdict != want.verdict || string(out.Outputs[0].Dialogue) != want.dialogue {
			t.Errorf("%q: got %+v, %v, want %s with %q", source, out, err, want.verdict, want.dialogue)
		}
	}
	p.Interactor = script("break.py", "input(); raise SystemExit(1)", testcases.ProtocolKattis)
	out, err := judgeOutcome(t, e, p, "while True: print('no')")
	if err != nil || *out.Judgement.Verdict != judge.OutputLimit || !strings.HasPrefix(string(out.Outputs[0].Dialogue), "> no\n> no\n") {
		t.Errorf("drowned: got %+v, %v, want OLE with what was said", out, err)
	}
}
