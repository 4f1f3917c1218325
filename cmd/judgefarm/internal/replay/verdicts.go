package replay

import (
	"strings"

	"judgefarm/judge"
)

// words are what other judges call their verdicts, in lower case without what is not
// a letter. An id of ours is one of them.
func words() map[string]judge.Verdict {
	all := map[string]judge.Verdict{
		"accepted": judge.Accepted, "ok": judge.Accepted, "correct": judge.Accepted,
		"wronganswer": judge.WrongAnswer, "nooutput": judge.WrongAnswer, "no": judge.WrongAnswer,
		"presentationerror": judge.PresentationError,
		"timelimitexceeded": judge.TimeLimit, "timelimit": judge.TimeLimit, "timeout": judge.TimeLimit,
		"idlenesslimitexceeded": judge.IdleLimit,
		"memorylimitexceeded":   judge.MemoryLimit, "memorylimit": judge.MemoryLimit,
		"outputlimitexceeded": judge.OutputLimit, "outputlimit": judge.OutputLimit,
		"runtimeerror": judge.RuntimeError, "re": judge.RuntimeError, "ir": judge.RuntimeError, "rterror": judge.RuntimeError,
		"runerror":          judge.RuntimeError,
		"securityviolation": judge.SecurityViolation, "securityviolated": judge.SecurityViolation, "rf": judge.SecurityViolation,
		"compileerror": judge.CompileError, "compilationerror": judge.CompileError, "compilererror": judge.CompileError,
	}
	for _, v := range judge.Verdicts() {
		if v != judge.Skipped {
			all[strings.ToLower(string(v))] = v
		}
	}
	return all
}

// verdictOf reads a verdict in the words of this or another judge: "AC", "Accepted",
// "WRONG-ANSWER", "Runtime Error (SIGSEGV)".
func verdictOf(text string) (judge.Verdict, bool) {
	text, _, _ = strings.Cut(text, "(")
	word := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' {
			return r
		}
		return -1
	}, strings.ToLower(text))
	v, ok := words()[word]
	return v, ok
}

// judge0Verdict is a status of Judge0 by its id. Those of its own faults, and of
// what is not judged, are none.
func judge0Verdict(id int) (judge.Verdict, bool) {
	switch {
	case id == 3:
		return judge.Accepted, true
	case id == 4:
		return judge.WrongAnswer, true
	case id == 5:
		return judge.TimeLimit, true
	case id == 6:
		return judge.CompileError, true
	case id >= 7 && id <= 12:
		return judge.RuntimeError, true
	}
	return "", false
}

// class puts together what most judges do not tell apart.
func class(v judge.Verdict) judge.Verdict {
	switch v {
	case judge.PresentationError:
		return judge.WrongAnswer
	case judge.WallTimeLimit, judge.IdleLimit:
		return judge.TimeLimit
	case judge.SecurityViolation:
		return judge.RuntimeError
	case judge.CompileTimeLimit:
		return judge.CompileError
	}
	return v
}

// Agree reports whether two verdicts say the same: exactly, or as far as most judges
// tell verdicts apart (PE is WA; WTL and ILE are TLE; SV is RTE; CTL is CE).
func Agree(was, is judge.Verdict, exact bool) bool {
	if exact {
		return was == is
	}
	return class(was) == class(is)
}
