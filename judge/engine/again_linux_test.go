package engine_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"judgefarm/judge"
	"judgefarm/judge/engine"
	"judgefarm/judge/sandbox"
	"judgefarm/testcases"
)

// numbered tells every program, as its last argument, how many came before it.
type numbered struct {
	sandbox.Runner
	n atomic.Int32
}

func (r *numbered) Run(ctx context.Context, spec sandbox.Spec) (*sandbox.Report, error) {
	spec.Args = append(slices.Clone(spec.Args), strconv.Itoa(int(r.n.Add(1))-1))
	return r.Runner.Run(ctx, spec)
}

// A program that breaks its interactor or manager, and behaves when all is had once
// more, gets what comes of the second time: it makes no failure of ours by a coin.
func TestSecondDialogues(t *testing.T) {
	t.Parallel()
	e, _ := realEngine(t)
	interactor := script("talk.py", `
import sys
line = sys.stdin.readline()
if len(line) > 100: sys.exit(3)
sys.exit(42 if line == "yes\n" else 43)
`, testcases.ProtocolKattis)
	manager := script("manager.py", `
import sys
assert sys.stdin.read() == "5\n"
line = open(sys.argv[1]).readline()
if len(line) > 100: sys.exit(3)
print(1.0 if line == "yes\n" else 0.0)
`, testcases.ProtocolCMS)
	floods, breaks := "say('x' * 1000000)", "say('x' * 1000)"
	for name, c := range map[string]struct {
		first, second string
		want          judge.Verdict // "" is our failure
	}{
		"then right":            {floods, "say('yes')", judge.Accepted},
		"then wrong":            {breaks, "say('no')", judge.WrongAnswer},
		"then a crash":          {floods, "1 / 0", judge.RuntimeError},
		"then a flood":          {breaks, floods, judge.OutputLimit},
		"then broken once more": {floods, breaks, ""},
	} {
		for _, p := range []*testcases.Problem{
			{Kind: testcases.Interactive, Interactor: interactor},
			{Kind: testcases.Communication, Processes: 1, Interactor: manager},
		} {
			p.Limits = judge.Limits{CPU: 5 * time.Second, Wall: patience, Output: 256 * judge.KiB}
			p.Groups = []testcases.Group{{Name: "secret", Cases: []testcases.Case{caseOf("secret/1", "5\n", "")}}}
			cfg := e.Config
			cfg.Runner = &numbered{Runner: cfg.Runner}
			j, err := judgePython(t, engine.New(cfg), p, "import sys\ndef say(s): print(s, flush=True)\n"+
				"if sys.argv[-1] == '0':\n    "+c.first+"\nelse:\n    "+c.second+"\n")
			var failed *judge.Failed
			switch {
			case c.want == "":
				if !errors.As(err, &failed) || failed.Kind != judge.FailChecker {
					t.Errorf("%s, %s: got %+v, %v, want our failure", p.Kind, name, j, err)
				}
			case err != nil || *j.Verdict != c.want:
				t.Errorf("%s, %s: got %+v, %v, want %s", p.Kind, name, j, err, c.want)
			}
		}
	}
}
