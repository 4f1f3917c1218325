package engine

import (
	"errors"
	"testing"
	"time"

	"judgefarm/judge"
	"judgefarm/judge/checker"
	"judgefarm/judge/sandbox"
)

func TestRule(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		rep    sandbox.Report
		ruling judge.Verdict
		want   judge.Verdict
	}{
		{"right output", sandbox.Report{Cause: sandbox.CauseExit}, judge.Accepted, judge.Accepted},
		{"wrong output", sandbox.Report{Cause: sandbox.CauseExit}, judge.WrongAnswer, judge.WrongAnswer},
		{"layout", sandbox.Report{Cause: sandbox.CauseExit}, judge.PresentationError, judge.PresentationError},
		{"right output, status 1", sandbox.Report{Cause: sandbox.CauseExit, Exit: 1}, judge.Accepted, judge.RuntimeError},
		{"cpu, whatever it printed", sandbox.Report{Cause: sandbox.CauseCPU, Signal: 9}, judge.Accepted, judge.TimeLimit},
		{"cpu over at a normal end", sandbox.Report{Cause: sandbox.CauseCPU}, judge.Accepted, judge.TimeLimit},
		{"wall", sandbox.Report{Cause: sandbox.CauseWall, Signal: 9}, "", judge.WallTimeLimit},
		{"idle", sandbox.Report{Cause: sandbox.CauseIdle, Signal: 9}, "", judge.IdleLimit},
		{"memory", sandbox.Report{Cause: sandbox.CauseMemory, Signal: 9}, "", judge.MemoryLimit},
		{"memory of a child, parent exits 0", sandbox.Report{Cause: sandbox.CauseMemory}, judge.Accepted, judge.MemoryLimit},
		{"output", sandbox.Report{Cause: sandbox.CauseOutput, Signal: 9}, "", judge.OutputLimit},
		{"file size", sandbox.Report{Cause: sandbox.CauseFileSize, Signal: 25}, "", judge.OutputLimit},
		{"its own SIGKILL", sandbox.Report{Cause: sandbox.CauseSignal, Signal: 9}, "", judge.RuntimeError},
		{"segfault", sandbox.Report{Cause: sandbox.CauseSignal, Signal: 11}, "", judge.RuntimeError},
		{"system call", sandbox.Report{Cause: sandbox.CauseSyscall, Signal: 31}, "", judge.SecurityViolation},
		{"exec", sandbox.Report{Cause: sandbox.CauseExec, Exit: -1}, "", judge.RuntimeError},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := rule(&tt.rep, checker.Ruling{Verdict: tt.ruling})
			if err != nil || got != tt.want {
				t.Errorf("rule(%+v, %q) = %q, %v, want %q", tt.rep, tt.ruling, got, err, tt.want)
			}
			if wants := tt.rep.Cause == sandbox.CauseExit && tt.rep.Exit == 0; needsRuling(&tt.rep) != wants {
				t.Errorf("needsRuling(%+v) = %v, want %v", tt.rep, !wants, wants)
			}
			if !needsRuling(&tt.rep) && explain(&tt.rep, judge.Limits{CPU: time.Second}) == "" {
				t.Errorf("explain(%+v) says nothing", tt.rep)
			}
		})
	}
}

func TestRuleKeepsOurFaultsApart(t *testing.T) {
	t.Parallel()
	for name, rep := range map[string]sandbox.Report{
		"checker gave no verdict": {Cause: sandbox.CauseExit},
		"unknown cause":           {Cause: "sunspots"},
	} {
		v, err := rule(&rep, checker.Ruling{Verdict: judge.TimeLimit})
		var failed *judge.Failed
		if v != "" || !errors.As(err, &failed) {
			t.Errorf("%s: rule = %q, %v, want no verdict and a *judge.Failed", name, v, err)
		}
	}
}

func TestTotalAndShare(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		runs  []judge.Verdict
		want  judge.Verdict
		share float64
	}{
		{"all accepted", []judge.Verdict{"AC", "AC"}, "AC", 1},
		{"first failure counts", []judge.Verdict{"AC", "WA", "TLE", "AC"}, "WA", .5},
		{"skipped after it", []judge.Verdict{"AC", "RTE", "SK", "SK"}, "RTE", .25},
	}
	for _, tt := range tests {
		runs := make([]judge.Run, len(tt.runs))
		for i, v := range tt.runs {
			runs[i].Verdict = v
		}
		if got := total(runs); got != tt.want {
			t.Errorf("%s: total(%v) = %q, want %q", tt.name, tt.runs, got, tt.want)
		}
		if got := share(runs); got != tt.share {
			t.Errorf("%s: share(%v) = %v, want %v", tt.name, tt.runs, got, tt.share)
		}
	}
}

func TestLimitsOfRequestAndProblem(t *testing.T) {
	t.Parallel()
	problem := judge.Limits{CPU: 2 * time.Second, Wall: 4 * time.Second, Memory: 64 * judge.MiB}
	tests := []struct {
		name    string
		request judge.Limits
		want    judge.Limits
	}{
		{"the problem's", judge.Limits{}, judge.Limits{CPU: 2 * time.Second, Wall: 4 * time.Second, Memory: 64 * judge.MiB, Output: judge.MiB, Tasks: 64}},
		{"a larger cpu limit gets its own wall limit", judge.Limits{CPU: 10 * time.Second},
			judge.Limits{CPU: 10 * time.Second, Wall: 30 * time.Second, Memory: 64 * judge.MiB, Output: judge.MiB, Tasks: 64}},
	}
	for _, tt := range tests {
		got, err := Limits(tt.request, problem)
		if err != nil || got != tt.want {
			t.Errorf("%s: Limits(%+v) = %+v, %v, want %+v", tt.name, tt.request, got, err, tt.want)
		}
	}
	if _, err := Limits(judge.Limits{Wall: time.Millisecond}, problem); !judge.IsBadRequest(err) {
		t.Errorf("Limits(wall below cpu) = %v, want a bad request", err)
	}
}
