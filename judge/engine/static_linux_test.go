package engine_test

import (
	"strings"
	"testing"

	"judgefarm/judge"
	"judgefarm/judge/engine"
	"judgefarm/testcases"
)

// lookAtText refuses submissions with the word that it gets as argument, and tells what
// else it was given.
const lookAtText = `
import os, sys
language, entry, feedback, word = sys.argv[1:5]
said = " ".join([language, entry] + sorted(f for f in os.listdir(".") if f != "feedback"))
open(feedback + "judgemessage.txt", "w").write(said)
if any(word in open(f).read() for f in os.listdir(".") if os.path.isfile(f)): sys.exit(43)
open(feedback + "score_multiplier.txt", "w").write("0.5")
sys.exit(42)
`

// A static validator looks at the submission's files and not at what they print. It rules
// whatever checker a request asks for, and no submission can lay scores before it.
func TestStaticCases(t *testing.T) {
	t.Parallel()
	e, _ := realEngine(t)
	for name, c := range map[string]struct {
		language string
		files    []judge.File
		want     judge.Verdict
		score    float64
		jury     string
	}{
		"accepted":  {"python3", []judge.File{{Name: "main.py", Data: []byte("print(3)")}, {Name: "lib.py"}}, judge.Accepted, 15, "python3 main.py lib.py main.py"},
		"refused":   {"python3", []judge.File{{Name: "main.py", Data: []byte("print(3) # goto")}}, judge.WrongAnswer, 10, "python3 main.py main.py"},
		"in C":      {"c", []judge.File{{Name: "a.c", Data: []byte("#include <stdio.h>\nint main() { puts(\"3\"); }")}}, judge.Accepted, 15, "c a.c a.c"},
		"renamed":   {"c", []judge.File{{Name: "solution", Data: []byte("#include <stdio.h>\nint main() { puts(\"3\"); }")}}, judge.Accepted, 15, "c main.c main.c"},
		"wrong":     {"python3", []judge.File{{Name: "main.py", Data: []byte("print(4)")}}, judge.WrongAnswer, 5, "python3 main.py main.py"},
		"own score": {"python3", []judge.File{{Name: "main.py", Data: []byte("print(3) # goto")}, {Name: "feedback/score.txt", Data: []byte("100")}}, judge.WrongAnswer, 10, ""},
	} {
		look := caseOf("secret/=static", "", "")
		look.Static, look.Rule, look.Points, look.CheckerArgs = true, 1, score(10), []string{"goto"}
		run := caseOf("secret/1", "", "3\n")
		run.Points = score(10)
		p := &testcases.Problem{
			Rules: []testcases.Rule{{Checker: judge.CheckerSpec{Name: testcases.CustomChecker}, Program: script("static.py", lookAtText, testcases.ProtocolKattisStatic)}},
			Score: &testcases.Aggregate{}, Groups: []testcases.Group{{Name: "secret", Cases: []testcases.Case{look, run}}},
		}
		if err := p.Seal(); err != nil {
			t.Fatal(err)
		}
		out, err := e.Judge(t.Context(), engine.Job{Problem: p, Submission: judge.Submission{
			ID: "s", Language: c.language, Files: c.files, Checker: &judge.CheckerSpec{Name: "exact"},
		}}, engine.Watcher{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		j := out.Judgement
		if *j.Verdict != c.want || *j.Score != c.score || out.Outputs[0].Jury != c.jury || !strings.Contains(j.Checker, "custom@1") {
			t.Errorf("%s: got %s, %v points, %q by %s, want %+v", name, *j.Verdict, *j.Score, out.Outputs[0].Jury, j.Checker, c)
		}
	}
}
