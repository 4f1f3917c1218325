package languages

import (
	"math"
	"time"

	"judgefarm/judge"
)

// Apply returns the limits of a run in this language: time multiplied and
// extended, the task limit raised to the runtime's floor. The memory limit stays
// the problem's; what the runtime itself needs is Slack.
func (l *Language) Apply(limits judge.Limits) judge.Limits {
	limits.CPU = l.Allowance.stretch(limits.CPU)
	limits.Wall = l.Allowance.stretch(limits.Wall)
	limits.Tasks = max(limits.Tasks, l.Allowance.Tasks)
	return limits.Capped()
}

// Slack is the memory that the runtime may use beside the problem's limit.
func (l *Language) Slack() judge.Bytes { return l.Allowance.Memory.Bytes() }

// stretch rounds to the microsecond, so that a factor like 1.1 shows no noise.
func (a Allowance) stretch(d time.Duration) time.Duration {
	if a.TimeFactor != 0 && a.TimeFactor != 1 {
		d = time.Duration(math.Round(float64(d)*a.TimeFactor/1e3) * 1e3)
	}
	return d + a.Time
}
