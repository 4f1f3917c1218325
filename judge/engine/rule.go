package engine

import (
	"fmt"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"judgefarm/judge"
	"judgefarm/judge/checker"
	"judgefarm/judge/sandbox"
)

// causeVerdicts translates what ended a run into a verdict, for every cause but a
// normal exit. docs/verdicts.md is this table in words.
var causeVerdicts = map[sandbox.Cause]judge.Verdict{
	sandbox.CauseSignal:   judge.RuntimeError,
	sandbox.CauseCPU:      judge.TimeLimit,
	sandbox.CauseWall:     judge.WallTimeLimit,
	sandbox.CauseIdle:     judge.IdleLimit,
	sandbox.CauseMemory:   judge.MemoryLimit,
	sandbox.CauseOutput:   judge.OutputLimit,
	sandbox.CauseFileSize: judge.OutputLimit,
	sandbox.CauseSyscall:  judge.SecurityViolation,
	sandbox.CauseExec:     judge.RuntimeError,
}

// needsRuling reports whether the checker decides: the program ended by itself
// with status 0, within every limit.
func needsRuling(rep *sandbox.Report) bool {
	return rep.Cause == sandbox.CauseExit && rep.Exit == 0
}

// rule is the one place where a verdict is made. The ruling counts only when
// needsRuling(rep). An unknown cause is a fault of ours.
func rule(rep *sandbox.Report, ruling checker.Ruling) (judge.Verdict, error) {
	if rep.Cause == sandbox.CauseExit {
		if rep.Exit != 0 {
			return judge.RuntimeError, nil
		}
		return ruled(ruling)
	}
	v, ok := causeVerdicts[rep.Cause]
	if !ok {
		return "", judge.Fail(judge.FailInternal, fmt.Errorf("rule: unknown cause %q", rep.Cause))
	}
	return v, nil
}

// ruled is the verdict of a checker that was asked.
func ruled(ruling checker.Ruling) (judge.Verdict, error) {
	switch ruling.Verdict {
	case judge.Accepted, judge.WrongAnswer, judge.PresentationError:
		return ruling.Verdict, nil
	}
	return "", judge.Fail(judge.FailChecker, fmt.Errorf("rule: checker gave %q", ruling.Verdict))
}

// explain tells the submitter what ended a run that the checker did not rule on.
func explain(rep *sandbox.Report, lim judge.Limits) string {
	switch rep.Cause {
	case sandbox.CauseExit:
		return fmt.Sprintf("exited with status %d", rep.Exit)
	case sandbox.CauseSignal:
		return "ended by " + signalName(rep.Signal)
	case sandbox.CauseCPU:
		return fmt.Sprintf("CPU time over %v", lim.CPU)
	case sandbox.CauseWall:
		return fmt.Sprintf("wall time over %v", lim.Wall)
	case sandbox.CauseIdle:
		return fmt.Sprintf("wall time over %v, most of it spent waiting", lim.Wall)
	case sandbox.CauseMemory:
		return fmt.Sprintf("memory over %d KiB", judge.KibibytesOf(lim.Memory))
	case sandbox.CauseOutput:
		return fmt.Sprintf("output over %d bytes", lim.Output)
	case sandbox.CauseFileSize:
		return "wrote a file larger than allowed"
	case sandbox.CauseSyscall:
		if name := forbidden(rep, false); name != "" {
			return "ended for the forbidden system call " + name
		}
		return "ended for a forbidden system call"
	case sandbox.CauseExec:
		return "could not be started: " + rep.Evidence.ExecError
	}
	return ""
}

// forbidden is the call that ended a strict run. Its arguments are what the program
// chose: they could carry hidden input out, so they are told only where that is shown.
func forbidden(rep *sandbox.Report, reveal bool) string {
	name, _, _ := strings.Cut(rep.Evidence.Syscall, "(")
	if reveal {
		return rep.Evidence.Syscall
	}
	return name
}

// signalName returns SIGSEGV for 11.
func signalName(n int) string {
	if name := unix.SignalName(syscall.Signal(n)); name != "" {
		return name
	}
	return fmt.Sprintf("signal %d", n)
}

// total is the verdict of a judgement: that of the first case, in order, that is
// not accepted. A judgement without a run that counts is accepted only when there
// were no cases to skip.
func total(runs []judge.Run) judge.Verdict {
	for _, r := range runs {
		if r.Verdict != judge.Accepted && r.Verdict != judge.Skipped {
			return r.Verdict
		}
	}
	return judge.Accepted
}

// share is the score of a problem that does not say otherwise: accepted cases
// over all cases.
func share(runs []judge.Run) float64 {
	if len(runs) == 0 {
		return 0
	}
	accepted := 0
	for _, r := range runs {
		if r.Verdict == judge.Accepted {
			accepted++
		}
	}
	return float64(accepted) / float64(len(runs))
}
