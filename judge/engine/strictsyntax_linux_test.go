package engine_test

import (
	"errors"
	"testing"

	"judgefarm/judge"
	"judgefarm/judge/engine"
	"judgefarm/judge/sandbox"
	"judgefarm/testcases"
)

// A check that runs code of a program in strict mode does so in strict mode; where it
// runs none, a syntax error stays one.
func TestStrictSyntaxErrors(t *testing.T) {
	t.Parallel()
	e, _ := realEngine(t)
	const forks = `BEGIN { if ($^C) { my $p = fork; exit 0 unless $p; waitpid $p, 0; die "no" } }
print STDERR "no at main.pl line 1.\nBEGIN failed--compilation aborted at main.pl line 1.\n"; exit 1;
`
	for _, c := range []struct {
		sub    judge.Submission
		strict bool
		want   judge.Verdict
	}{
		{source("perl", "main.pl", forks), true, judge.RuntimeError},
		{source("perl", "main.pl", forks), false, judge.CompileError}, // the check does run it, and says what the run says
		{source("perl", "main.pl", "my $x = ;\n"), true, judge.CompileError},
		{source("racket", "main.rkt", "#lang racket/base\n(display 3\n"), true, judge.CompileError},
		{source("javascript", "main.js", "let x = ;\n"), true, judge.CompileError},
	} {
		p := &testcases.Problem{Groups: []testcases.Group{{Name: "secret", Cases: []testcases.Case{caseOf("secret/1", "1\n", "3\n")}}}}
		p.Limits.Ptrace = c.strict
		if err := p.Seal(); err != nil {
			t.Fatal(err)
		}
		out, err := e.Judge(t.Context(), engine.Job{Problem: p, Submission: c.sub}, engine.Watcher{})
		var failed *judge.Failed
		if errors.Is(err, sandbox.ErrHost) || errors.As(err, &failed) && failed.Kind == judge.FailToolchain {
			t.Logf("missing: %v", err)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if j := out.Judgement; *j.Verdict != c.want {
			t.Errorf("%s strict %t: got %s, want %s: %+v %s", c.sub.Language, c.strict, *j.Verdict, c.want, j.Cases, out.CompileLog)
		}
	}
}
