package verify

import (
	"fmt"
	"slices"
	"time"

	"judgefarm/judge"
)

// Record is what is remembered of a verification, to tell at the next one what changed.
type Record struct {
	Problem     string                       `json:"problem"` // digest
	At          time.Time                    `json:"at"`
	Judgefarm   string                       `json:"judgefarm"` // version
	Kernel      string                       `json:"kernel"`
	Toolchains  map[string]judge.LanguageRef `json:"toolchains"` // of submissions, by language
	Checker     string                       `json:"checker"`
	Limit       judge.Millis                 `json:"limit_ms"`
	Faults      []string                     `json:"faults"`
	Submissions []Remembered                 `json:"submissions"`
}

// Remembered is a submission of a Record.
type Remembered struct {
	Path    string        `json:"path"`
	Verdict judge.Verdict `json:"verdict"`
	Score   *float64      `json:"score,omitempty"`
	Slowest judge.Millis  `json:"slowest_ms"`
}

// Record is what is to be remembered of a report.
func (r *Report) Record(at time.Time, judgefarm, kernel string) Record {
	rec := Record{
		Problem: r.Digest, At: at, Judgefarm: judgefarm, Kernel: kernel, Toolchains: r.Toolchains, Checker: r.Checker,
		Faults: []string{}, Submissions: []Remembered{},
	}
	if r.Time != nil {
		rec.Limit = r.Time.Limit
	}
	for _, f := range r.Findings {
		if f.Severity == Fault {
			rec.Faults = append(rec.Faults, f.String())
		}
	}
	for _, row := range r.Submissions {
		if row.Missing == "" {
			rec.Submissions = append(rec.Submissions, Remembered{row.Path, row.Verdict, row.Score, row.Slowest})
		}
	}
	return rec
}

// Times change a little from run to run. What is less than both of these is no news.
const (
	newsRatio = 1.25
	newsLeast = 20 // ms
)

// isNews reports two CPU times that are too far apart to be the same.
func isNews(a, b judge.Millis) bool {
	slow, fast := max(a, b), min(a, b)
	return slow-fast >= newsLeast && float64(slow) >= newsRatio*float64(fast)
}

// Changes tells what is not as it was, first what may have caused it.
func (old Record) Changes(now Record) []string {
	var all []string
	tell := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if old.Kernel != now.Kernel {
		tell("kernel: %s, was %s", now.Kernel, old.Kernel)
	}
	if old.Judgefarm != now.Judgefarm {
		tell("judgefarm: %s, was %s", now.Judgefarm, old.Judgefarm)
	}
	for _, id := range sorted(now.Toolchains) {
		was, known := old.Toolchains[id]
		switch is := now.Toolchains[id]; {
		case !known:
			tell("%s: %s, was not used", id, is.Version)
		case was.Version != is.Version:
			tell("%s: %s, was %s", id, is.Version, was.Version)
		case was.Toolchain != is.Toolchain:
			tell("%s: another toolchain of version %s", id, is.Version)
		}
	}
	if old.Checker != now.Checker {
		tell("checker: %s, was %s", now.Checker, old.Checker)
	}
	if old.Limit != now.Limit {
		tell("time limit: %v, was %v", now.Limit.Duration(), old.Limit.Duration())
	}
	all = append(all, old.changedSubmissions(now)...)
	for _, f := range now.Faults {
		if !slices.Contains(old.Faults, f) {
			tell("new fault: %s", f)
		}
	}
	for _, f := range old.Faults {
		if !slices.Contains(now.Faults, f) {
			tell("no fault any more: %s", f)
		}
	}
	return all
}

func (old Record) changedSubmissions(now Record) []string {
	var all []string
	tell := func(path, format string, args ...any) {
		all = append(all, path+": "+fmt.Sprintf(format, args...))
	}
	was := map[string]Remembered{}
	for _, s := range old.Submissions {
		was[s.Path] = s
	}
	for _, s := range now.Submissions {
		before, known := was[s.Path]
		delete(was, s.Path)
		switch {
		case !known:
			tell(s.Path, "%s, was not judged", s.Verdict)
			continue
		case before.Verdict != s.Verdict:
			tell(s.Path, "%s, was %s", s.Verdict, before.Verdict)
		}
		if (before.Score == nil) != (s.Score == nil) || s.Score != nil && *before.Score != *s.Score {
			tell(s.Path, "another score than before")
		}
		if isNews(s.Slowest, before.Slowest) {
			tell(s.Path, "%v of CPU time, was %v", s.Slowest.Duration().Round(time.Millisecond), before.Slowest.Duration().Round(time.Millisecond))
		}
	}
	for _, path := range sorted(was) {
		tell(path, "is not judged any more, was %s", was[path].Verdict)
	}
	return all
}
