package verify

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"judgefarm/judge"
	"judgefarm/languages"
	"judgefarm/testcases"
)

// TimeLimit is the limit that submissions were judged with and how much room it leaves.
type TimeLimit struct {
	Limit      judge.Millis `json:"limit_ms"`           // of a language without allowances
	Derived    bool         `json:"derived"`            // from the accepted submissions
	Stated     bool         `json:"stated"`             // by the package; neither: by the caller, or the default
	Slowest    string       `json:"slowest,omitempty"`  // the submission that needs most of it
	Needs      judge.Millis `json:"needs_ms,omitempty"` // what that one took, as in a language without allowances
	Room       float64      `json:"room,omitempty"`     // the limit as a multiple of needs
	AskedRoom  float64      `json:"asked_room,omitempty"`
	AskedBound float64      `json:"asked_beyond,omitempty"` // too slow ones must be so at so many times the limit
	Write      string       `json:"write,omitempty"`        // what to write into the package
}

// mostDerived is the limit under which submissions run whose time gives the limit.
const mostDerived = 60 * time.Second

// tooSlow are the verdicts that stand for being too slow.
var tooSlow = []judge.Verdict{judge.TimeLimit, judge.WallTimeLimit, judge.IdleLimit, judge.OutputLimit}

// bounds tells what a submission says about the time limit: lower are expectations on
// whose cases the limit must leave it room, upper those on which it must be too short.
// By the text of the Kattis format every list of permitted verdicts without TLE counts,
// and so it does in its packages; of others those that permit AC.
func bounds(format string, sub testcases.Labelled) (lower, upper []testcases.Expectation) {
	stated := false
	for _, e := range sub.Expect {
		stated = stated || len(e.Permitted)+len(e.Required) > 0 || e.Time != testcases.TimeUnstated
		switch {
		case e.Time == testcases.TimeLower, e.Time == testcases.TimeUnstated && permitsNoTime(e.Permitted) && counts(format, e.Permitted):
			lower = append(lower, e)
		case e.Time == testcases.TimeUpper, e.Time == testcases.TimeUnstated && onlySlow(e.Required):
			upper = append(upper, e)
		}
	}
	if stated {
		return lower, upper
	}
	switch {
	case slices.Equal(sub.Allowed, []judge.Verdict{judge.Accepted}):
		return []testcases.Expectation{{}}, nil
	case onlySlow(sub.Allowed):
		return nil, []testcases.Expectation{{}}
	}
	return nil, nil
}

func counts(format string, permitted []judge.Verdict) bool {
	return strings.HasPrefix(format, "kattis") || slices.Contains(permitted, judge.Accepted)
}

func permitsNoTime(permitted []judge.Verdict) bool {
	return len(permitted) > 0 && !slices.Contains(permitted, judge.TimeLimit)
}

// onlySlow reports verdicts of which TLE is one and all mean too slow.
func onlySlow(verdicts []judge.Verdict) bool {
	return slices.Contains(verdicts, judge.TimeLimit) &&
		!slices.ContainsFunc(verdicts, func(v judge.Verdict) bool { return !slices.Contains(tooSlow, v) })
}

// needs is the limit, of a language without allowances, that would be exactly `times`
// as long as the submission took on the cases of the expectations.
func needs(lower []testcases.Expectation, doc *judge.Judgement, s stretch, times judge.Score) time.Duration {
	most := time.Duration(0)
	for _, r := range doc.Cases {
		if r.Verdict == judge.Skipped || !slices.ContainsFunc(lower, func(e testcases.Expectation) bool { return e.Matches(r.Name) }) {
			continue
		}
		most = max(most, r.Usage.CPU.Duration())
	}
	if times.Sign() > 0 {
		most = scaled(most, times)
	}
	return s.unstretched(most)
}

// stretch is what a language's allowance and the problem's factor make of a limit.
type stretch struct {
	factor float64 // of both together
	extra  time.Duration
}

func stretchOf(l *languages.Language, factor judge.Score) stretch {
	s := stretch{factor: 1, extra: l.Allowance.Time}
	if f := l.Allowance.TimeFactor; f != 0 {
		s.factor = f
	}
	if factor.Sign() > 0 {
		s.factor *= factor.Float()
		s.extra = time.Duration(float64(s.extra) * factor.Float())
	}
	return s
}

func (s stretch) unstretched(d time.Duration) time.Duration {
	return max(0, time.Duration(float64(d-s.extra)/s.factor))
}

func (s stretch) stretched(d time.Duration) time.Duration {
	return time.Duration(float64(d)*s.factor) + s.extra
}

// derive is the least limit that leaves the slowest submission room and is a multiple
// of the resolution. most is what needs gave with the rule's ratio.
func derive(rule testcases.TimeRule, most time.Duration) time.Duration {
	limit := max(most, seconds(rule.AtLeast), time.Millisecond)
	if step := seconds(rule.Resolution); step > 0 {
		limit = (limit + step - 1) / step * step
	}
	return limit
}

// seconds converts exactly to the nanosecond.
func seconds(s judge.Score) time.Duration { return scaled(time.Second, s) }

// scaled multiplies and rounds up.
func scaled(d time.Duration, times judge.Score) time.Duration {
	text, _ := times.MarshalText() // a fraction
	r, ok := new(big.Rat).SetString(string(text))
	if !ok {
		return 0
	}
	r.Mul(r, new(big.Rat).SetInt64(int64(d)))
	n, rest := new(big.Int).QuoRem(r.Num(), r.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		n.Add(n, big.NewInt(1))
	}
	return time.Duration(n.Int64())
}

// written says where a derived limit is stated in a package of the format.
func written(format string, limit time.Duration) string {
	value := fmt.Sprintf("%g", limit.Seconds())
	switch {
	case format == "kattis legacy":
		return "a file .timelimit that holds " + value + ", or --cpu " + value + "s"
	case strings.HasPrefix(format, "kattis"):
		return "limits: {time_limit: " + value + "} in problem.yaml, or --cpu " + value + "s"
	case format == "plain":
		return "limits: {cpu: " + value + "s} in problem.yaml"
	}
	return "--cpu " + value + "s"
}

// demanded is the severity of a broken rule about the time limit: since 2023 the
// Kattis format says that the limit must keep to its ratios, before it advises so.
func demanded(format string) Severity {
	if strings.HasPrefix(format, "kattis 2") {
		return Fault
	}
	return Warning
}
