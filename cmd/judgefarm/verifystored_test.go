package main

import (
	"testing"
	"time"

	"judgefarm/cmd/judgefarm/internal/verify"
	"judgefarm/internal/blob"
	"judgefarm/judge"
)

// Two problems of the same data whose packages have other submissions are remembered
// each by itself.
func TestStoredProblemsOfOneDigest(t *testing.T) {
	t.Parallel()
	s := &stored{blobs: blob.NewMemory(0), kernel: "1.0", now: time.Now}
	for round := range 2 {
		for pkg, path := range map[string]string{"sha256:a1": "accepted/one.py", "sha256:b2": "accepted/two.py"} {
			old, err := s.last(t.Context(), pkg)
			if err != nil {
				t.Fatal(err)
			}
			r := &verify.Report{Digest: "sha256:same", Complete: true, Submissions: []verify.Row{{Path: path, Verdict: judge.Accepted}}}
			if err := s.compare(t.Context(), pkg, old, r); err != nil {
				t.Fatal(err)
			}
			if known := r.Since != nil; known != (round == 1) || len(r.Changed) > 0 {
				t.Errorf("round %d, %s: known %v, changes %q, want none", round, pkg, known, r.Changed)
			}
		}
	}
}
