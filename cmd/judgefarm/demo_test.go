package main

import (
	"bytes"
	"strings"
	"testing"

	"judgefarm/internal/daemon"
	"judgefarm/judge"
	"judgefarm/testcases"
)

// What we could not judge says nothing of a label, unless the label is just that.
func TestDemoEnds(t *testing.T) {
	t.Parallel()
	judged := func(v judge.Verdict) *judge.Judgement { return &judge.Judgement{State: judge.Judged, Verdict: &v} }
	failed := &judge.Judgement{State: judge.FailedState, Failed: &judge.Failed{Kind: judge.FailChecker, Reason: "it crashed"}}
	row := func(got *judge.Judgement) *labelled {
		return &labelled{problem: "p", language: "c", got: got, sub: testcases.Labelled{Path: "a.c", Allowed: []judge.Verdict{judge.Accepted}}}
	}
	broken := row(failed)
	broken.sub = testcases.Labelled{Path: "b.c", Broken: true}
	for _, tt := range []struct {
		name string
		rows []*labelled
		want int
		mark string
	}{
		{"as they say", []*labelled{row(judged(judge.Accepted)), broken}, daemon.ExitOK, "2 submissions judged in 0.0 s, 0 differ, 0 could not be judged"},
		{"one differs", []*labelled{row(judged(judge.WrongAnswer)), row(failed)}, daemon.ExitNotAccepted, "DIFFERS"},
		{"one failed", []*labelled{row(judged(judge.Accepted)), row(failed)}, daemon.ExitFailed, "0 differ, 1 could not be judged"},
	} {
		var out bytes.Buffer
		err := printDemo(&daemon.Env{App: daemon.App{Stdout: &out}}, tt.rows, 0)
		if got := daemon.ExitCode(err); got != tt.want {
			t.Errorf("%s: ends with %d, want %d", tt.name, got, tt.want)
		}
		if !strings.Contains(out.String(), tt.mark) {
			t.Errorf("%s: printed\n%s\nwithout %q", tt.name, out.String(), tt.mark)
		}
	}
}
