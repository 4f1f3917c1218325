package verify

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"judgefarm/judge"
)

// What is remembered comes back from JSON and tells what changed, and nothing else.
func TestChanges(t *testing.T) {
	t.Parallel()
	half := 0.5
	report := &Report{
		Digest: "sha256:1", Checker: "tokens@1", Time: &TimeLimit{Limit: 1000},
		Toolchains: map[string]judge.LanguageRef{"c": {ID: "c", Version: "12", Toolchain: "a"}, "python3": {ID: "python3", Version: "3.11", Toolchain: "b"}},
		Submissions: []Row{
			{Path: "a", Verdict: judge.Accepted, Slowest: 100}, {Path: "b", Verdict: judge.WrongAnswer, Slowest: 1},
			{Path: "c", Verdict: judge.Accepted, Score: &half}, {Path: "d", Missing: "no toolchain"}, {Path: "e", Verdict: judge.Accepted},
		},
		Findings: []Finding{{Fault, checkInput, "data/1.in", 2, "is odd"}, {Warning, checkUnused, "x", 0, "y"}},
	}
	text, err := json.Marshal(report.Record(time.Unix(0, 0).UTC(), "v1", "6.1"))
	if err != nil {
		t.Fatal(err)
	}
	var old Record
	if err := json.Unmarshal(text, &old); err != nil {
		t.Fatal(err)
	}
	if same := old.Changes(report.Record(time.Now(), "v1", "6.1")); len(same) > 0 {
		t.Errorf("changes of nothing: %q", same)
	}
	all := 1.0
	report.Toolchains = map[string]judge.LanguageRef{"c": {ID: "c", Version: "12", Toolchain: "z"}, "python3": {ID: "python3", Version: "3.12"}, "go": {Version: "1.26"}}
	report.Checker, report.Time = "tokens@2", &TimeLimit{Limit: 2000}
	report.Submissions = []Row{
		{Path: "a", Verdict: judge.TimeLimit, Slowest: 200}, {Path: "b", Verdict: judge.WrongAnswer, Slowest: 15},
		{Path: "c", Verdict: judge.Accepted, Score: &all}, {Path: "d", Verdict: judge.Accepted},
	}
	report.Findings = []Finding{{Fault, checkInput, "data/2.in", 0, "is odd"}}
	want := []string{
		"kernel: 6.12, was 6.1", "judgefarm: v2, was v1", "c: another toolchain of version 12", "go: 1.26, was not used", "python3: 3.12, was 3.11",
		"checker: tokens@2, was tokens@1", "time limit: 2s, was 1s", "a: TLE, was AC", "a: 200ms of CPU time, was 100ms",
		"c: another score than before", "d: AC, was not judged", "e: is not judged any more, was AC",
		"new fault: data/2.in: is odd", "no fault any more: data/1.in:2: is odd",
	}
	if got := old.Changes(report.Record(time.Now(), "v2", "6.12")); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
