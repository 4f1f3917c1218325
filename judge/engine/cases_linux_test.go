package engine_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"judgefarm/judge"
	"judgefarm/judge/engine"
	"judgefarm/testcases"
	"judgefarm/testcases/format"
)

// sideBySideLanguages are those whose labelled submissions are judged twice: they
// start fast, and what the boxes do is the same for all.
var sideBySideLanguages = []string{"c", "cpp", "python"}

// Every labelled submission gets the verdicts that it gets case after case, and
// those that its label allows.
func TestSideBySideOnBundledProblems(t *testing.T) {
	t.Parallel()
	serial, _ := realEngineOf(t, 3)
	cfg := serial.Config
	cfg.Slots = engine.NewSlots(3)
	parallel := engine.New(cfg)
	root := "../../testcases/testdata/problems"
	dirs, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	judged := 0
	for _, d := range dirs {
		p, err := format.Open(filepath.Join(root, d.Name()))
		if err != nil {
			t.Fatal(err)
		}
		for _, labelled := range p.Submissions {
			lang, ok := serial.Languages.ForFiles(labelled.Files)
			if !ok || !slices.Contains(sideBySideLanguages, lang.ID) || labelled.Language != "" && labelled.Language != lang.ID {
				continue
			}
			sub := judge.Submission{ID: labelled.Path, Language: lang.ID, Files: labelled.Files}
			want := judgeFor(t, serial, sub, p)
			got := judgeFor(t, parallel, sub, p)
			if !slices.Equal(verdicts(got), verdicts(want)) || !slices.Contains(labelled.Allowed, *got.Verdict) {
				t.Errorf("%s %s: got %v, case after case %v, the label allows %v", d.Name(), labelled.Path, verdicts(got), verdicts(want), labelled.Allowed)
			}
			judged++
		}
	}
	if judged < 20 {
		t.Errorf("%d submissions were judged, want at least 20: is the folder still there?", judged)
	}
}

func judgeFor(t *testing.T, e *engine.Engine, sub judge.Submission, p *testcases.Problem) judge.Judgement {
	t.Helper()
	out, err := e.Judge(t.Context(), engine.Job{Submission: sub, Problem: p}, engine.Watcher{})
	if err != nil {
		t.Fatalf("%s: %v", sub.ID, err)
	}
	return out.Judgement
}
