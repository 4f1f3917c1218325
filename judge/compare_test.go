package judge

import (
	"strings"
	"testing"
)

// judged is a judgement with a verdict for each case.
func judged(verdict Verdict, cases ...Verdict) Judgement {
	j := Judgement{State: Judged, Verdict: &verdict, Limits: &LimitsJSON{CPU: 1000, Wall: 3000, Memory: 65536}}
	for i, v := range cases {
		j.Cases = append(j.Cases, Run{Name: string(rune('a' + i)), Verdict: v, Usage: UsageJSON{CPU: 12.5, Wall: 20, Memory: 900}})
	}
	return j
}

func TestCompare(t *testing.T) {
	t.Parallel()
	with := func(j Judgement, change func(*Judgement)) Judgement { change(&j); return j }
	one, half := 1.0, 0.5
	broken := judged(CompileError)
	broken.Compile = &Compile{Verdict: CompileError, Log: TextOf([]byte("a.c:1: no\x07 semicolon\nmore"), 30)}
	exit := 3
	for name, c := range map[string]struct {
		was, is Judgement
		at      string
		want    []string // parts of the cause; none: no difference
	}{
		"same":           {judged(Accepted, Accepted), judged(Accepted, Accepted), "", nil},
		"score unknown":  {judged(Accepted), with(judged(Accepted), func(j *Judgement) { j.Score = &one }), "", nil},
		"verdict":        {judged(Accepted, Accepted, Accepted), judged(TimeLimit, Accepted, TimeLimit), "b", []string{"case b TLE: cpu 12.5 of 1000 ms, wall 20.0 of 3000 ms, 900 of 65536 KiB", "before: case b AC"}},
		"old runs gone":  {judged(Accepted), judged(WrongAnswer, Accepted, WrongAnswer, Skipped), "b", []string{"case b WA"}},
		"a case more":    {judged(Accepted, Accepted), judged(WrongAnswer, Accepted, WrongAnswer), "b", []string{"2 cases, before 1"}},
		"score":          {with(judged(Accepted), func(j *Judgement) { j.Score = &one }), with(judged(Accepted), func(j *Judgement) { j.Score = &half }), "", []string{"another score"}},
		"compiles not":   {judged(Accepted, Accepted), broken, "", []string{"does not compile (CE): a.c:1: no\ufffd semicolon"}},
		"compiles now":   {broken, judged(Accepted, Accepted), "", []string{"did not compile before"}},
		"we failed":      {judged(Accepted), Judgement{State: FailedState, Failed: &Failed{Kind: FailChecker, Reason: "it crashed"}}, "", []string{"we failed: checker: it crashed"}},
		"not judged yet": {judged(Accepted), Judgement{State: Queued}, "", []string{"is queued"}},
		"message and exit": {judged(Accepted, Accepted), with(judged(RuntimeError, RuntimeError), func(j *Judgement) {
			j.Cases[0].Exit, j.Cases[0].Message, j.Cases[0].Cause = &exit, "ended with 3", "exit_status"
		}), "a", []string{"exit status 3, exit_status, ended with 3"}},
		"versions": {
			with(judged(Accepted, Accepted), func(j *Judgement) {
				j.Problem, j.Language, j.Checker = &ProblemRef{ID: "p", Version: 1, Digest: "x"}, &LanguageRef{ID: "c", Version: "12", Toolchain: "s"}, "tokens@1"
			}),
			with(judged(WrongAnswer, WrongAnswer), func(j *Judgement) {
				j.Problem, j.Language, j.Checker = &ProblemRef{ID: "p", Version: 2, Digest: "y"}, &LanguageRef{ID: "c", Version: "13", Toolchain: "t"}, "lines@1"
			}), "a", []string{"problem at version 2, before 1", "toolchain c 13, before c 12", "checker lines@1, before tokens@1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := Compare(c.was, c.is)
			if d == nil {
				if c.want != nil {
					t.Fatalf("no difference, want %q", c.want)
				}
				return
			}
			if c.want == nil || d.Case != c.at {
				t.Errorf("got case %q, cause %q, want case %q and %q", d.Case, d.Cause, c.at, c.want)
			}
			for _, part := range c.want {
				if !strings.Contains(d.Cause, part) {
					t.Errorf("got cause %q, want %q in it", d.Cause, part)
				}
			}
		})
	}
}
