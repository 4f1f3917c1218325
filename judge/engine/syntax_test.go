package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"judgefarm/judge"
	"judgefarm/judge/compile"
	"judgefarm/judge/engine"
	"judgefarm/judge/sandbox/sandboxtest"
)

// Sources are checked once, after a first run that ended with a status and, where the
// language says so, said something of the kind.
func TestWhenSourcesAreChecked(t *testing.T) {
	t.Parallel()
	programs := map[string]sandboxtest.Program{
		"misspelt": func(p *sandboxtest.Proc) int {
			fmt.Fprintln(p.Stderr, "SyntaxError: no")
			return 1
		},
	}
	programs["broken check"] = programs["misspelt"]
	programs["other words"] = func(p *sandboxtest.Proc) int {
		fmt.Fprintln(p.Stderr, "NameError: no")
		return 1
	}
	programs["crash"] = func(p *sandboxtest.Proc) int {
		fmt.Fprintln(p.Stderr, "SyntaxError: no")
		p.Signal = 11
		return 0
	}
	programs["later"] = func(p *sandboxtest.Proc) int {
		in := make([]byte, 1)
		if _, err := p.Stdin.Read(in); err != nil || in[0] != '1' {
			fmt.Fprintln(p.Stderr, "SyntaxError: no")
			return 1
		}
		fmt.Fprint(p.Stdout, "1")
		return 0
	}
	const ce, rte = judge.CompileError, judge.RuntimeError
	for _, c := range []struct {
		program string
		lies    string // what the check looks at instead of the program
		want    judge.Verdict
		cases   []judge.Verdict
	}{
		{"misspelt", "misspelt", ce, nil},
		{"misspelt", "good", rte, []judge.Verdict{rte, judge.Skipped}},
		{"other words", "misspelt", rte, []judge.Verdict{rte, judge.Skipped}},
		{"crash", "misspelt", rte, []judge.Verdict{rte, judge.Skipped}},
		{"later", "misspelt", rte, []judge.Verdict{judge.Accepted, rte}},
	} {
		e, _ := newEngine(t, programs)
		e.Compiler = &liar{compiler{t}, c.lies}
		sub := submission(c.program)
		sub.Language = "python3"
		out, err := e.Judge(t.Context(), engine.Job{Submission: sub, Problem: problem(t, "1", "1", "2", "2")}, engine.Watcher{})
		if err != nil {
			t.Errorf("%s: %v", c.program, err)
			continue
		}
		if out.Judgement.Cases == nil {
			t.Errorf("%s: the document has null for cases, want a list", c.program)
		}
		if j := out.Judgement; *j.Verdict != c.want || !slices.Equal(verdicts(j), c.cases) {
			t.Errorf("%s, check says %s: got %s %v, want %s %v", c.program, c.lies, *j.Verdict, verdicts(j), c.want, c.cases)
		}
	}
	e, _ := newEngine(t, programs)
	sub := submission("broken check")
	sub.Language = "python3"
	var failed *judge.Failed
	if _, err := e.Judge(t.Context(), engine.Job{Submission: sub, Problem: problem(t, "1", "1")}, engine.Watcher{}); !errors.As(err, &failed) {
		t.Errorf("a check that cannot be run: got %v, want our failure", err)
	}
}

// liar checks other sources than it is given.
type liar struct {
	compiler
	source string
}

func (l *liar) Check(ctx context.Context, req compile.Request) (*compile.Result, error) {
	req.Files = []judge.File{{Name: "main.py", Data: []byte(l.source)}}
	return l.compiler.Check(ctx, req)
}
