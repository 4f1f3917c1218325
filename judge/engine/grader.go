package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"judgefarm/judge"
	"judgefarm/judge/checker"
	"judgefarm/judge/compile"
	"judgefarm/judge/sandbox"
	"judgefarm/testcases"
)

// graderLimits are what a grader may use.
var graderLimits = judge.Limits{
	CPU: 10 * time.Second, Wall: 30 * time.Second, Memory: judge.GiB, Output: 64 * judge.KiB, Tasks: 64,
}

// code is what graders know of verdicts; Problem package format, legacy, "Graders".
func code(v judge.Verdict) string {
	switch v {
	case judge.Accepted:
		return "AC"
	case judge.TimeLimit, judge.WallTimeLimit, judge.IdleLimit:
		return "TLE"
	case judge.WrongAnswer, judge.PresentationError, judge.OutputLimit:
		return "WA"
	}
	return "RTE"
}

// grade runs the problem's own grader in a box: a line "CODE SCORE" for each result
// in, one out. What was skipped is not among them.
func (s *session) grade(ctx context.Context, a *testcases.Aggregate, items []scored) (scored, error) {
	var lines strings.Builder
	for _, i := range items {
		if i.verdict != judge.Skipped {
			fmt.Fprintf(&lines, "%s %s\n", code(i.verdict), i.score)
		}
	}
	lang, err := checker.LanguageOf(s.Languages, a.Grader)
	if err != nil {
		return scored{}, judge.Fail(judge.FailProblem, err)
	}
	res, err := s.Compiler.Compile(ctx, compile.Request{Language: lang, Files: a.Grader.Files})
	if err != nil {
		return scored{}, err
	}
	if res.Executable == nil {
		return scored{}, &judge.Failed{Kind: judge.FailProblem, Reason: fmt.Sprintf("the grader does not compile (%s)", res.Verdict),
			Retryable: res.Verdict == judge.CompileTimeLimit, Err: fmt.Errorf("%.2000s", res.Log)}
	}
	defer res.Executable.Release()
	limits := lang.Apply(graderLimits)
	cmd, err := compile.CommandOf(lang, res.Executable, limits)
	if err != nil {
		return scored{}, judge.Fail(judge.FailToolchain, err)
	}
	in, err := stdin(testcases.BytesData([]byte(lines.String())))
	if err != nil {
		return scored{}, judge.Fail(judge.FailInternal, err)
	}
	defer in.Close()
	rep, err := s.Runner.Run(ctx, sandbox.Spec{
		Args: slices.Concat(cmd.Args, a.GraderArgs), Env: cmd.Env, Root: cmd.Root, Mounts: cmd.Mounts, Slack: cmd.Slack,
		Limits: limits, Stdin: in,
	})
	if err != nil {
		return scored{}, s.fault(ctx, judge.FailSandbox, err)
	}
	return graded(rep)
}

// graded reads a grader's one line.
func graded(rep *sandbox.Report) (scored, error) {
	bad := &judge.Failed{Kind: judge.FailProblem, Reason: "the grader gave no result", Retryable: true,
		Err: fmt.Errorf("grader ended with %s %d and said %.500q, %.500q", rep.Cause, rep.Exit, rep.Stdout.Data, rep.Stderr.Data)}
	words := strings.Fields(string(rep.Stdout.Data))
	if rep.Cause != sandbox.CauseExit || rep.Exit != 0 || len(words) != 2 {
		return scored{}, bad
	}
	verdicts := map[string]judge.Verdict{
		"AC": judge.Accepted, "WA": judge.WrongAnswer, "RTE": judge.RuntimeError, "TLE": judge.TimeLimit,
	}
	v, ok := verdicts[words[0]]
	score, err := judge.ParseScore(words[1])
	if !ok || err != nil {
		return scored{}, bad
	}
	return scored{v, score}, nil
}
