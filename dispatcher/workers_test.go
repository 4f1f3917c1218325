package dispatcher_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"judgefarm/dispatcher"
	"judgefarm/internal/blob"
	"judgefarm/judge"
)

func TestLanguagesOfWorkers(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	blobs := blob.NewMemory(0)
	announce := func(name string, at time.Time, infos ...judge.LanguageInfo) {
		doc, err := json.Marshal(judge.WorkerInfo{Name: name, Slots: 1, Languages: infos, At: at})
		if err != nil {
			t.Fatal(err)
		}
		if err := blobs.Put(t.Context(), judge.WorkerPrefix+name+".json", bytes.NewReader(doc), int64(len(doc)), ""); err != nil {
			t.Fatal(err)
		}
	}
	announce("a", now, judge.LanguageInfo{ID: "c", Missing: "apt-get install gcc"}, judge.LanguageInfo{ID: "rust", Available: true, Version: "1.63"})
	announce("b", now.Add(-2*time.Minute), judge.LanguageInfo{ID: "c", Available: true, Version: "12.2"})
	for key, doc := range map[string]string{"none": "", "half": `{"name":"half","langu`, "other": `{"name":7}`} {
		if err := blobs.Put(t.Context(), judge.WorkerPrefix+key+".json", strings.NewReader(doc), int64(len(doc)), ""); err != nil {
			t.Fatal(err)
		}
	}
	announce("longdead", now.Add(-25*time.Hour), judge.LanguageInfo{ID: "go", Available: true, Version: "1.18"})
	announce("dead", now.Add(-4*time.Minute), judge.LanguageInfo{ID: "go", Available: true, Version: "1.19"})

	list := &dispatcher.Languages{
		Blobs: blobs, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return now },
		Defined: []judge.LanguageInfo{{ID: "c"}, {ID: "go"}, {ID: "rust"}},
	}
	got, err := list.List(t.Context())
	if err != nil || len(got) != 3 {
		t.Fatalf("List = %+v, %v, want three languages", got, err)
	}
	if c := got[0]; c.ID != "c" || !c.Available || c.Version != "12.2" || c.Missing != "" {
		t.Errorf("c = %+v, want it as the worker that has it says", c)
	}
	if g := got[1]; g.ID != "go" || g.Available || g.Missing == "" {
		t.Errorf("go = %+v, want it unavailable: its worker was silent for long", g)
	}
	if r := got[2]; !r.Available {
		t.Errorf("rust = %+v, want it available", r)
	}
	keys, err := blobs.List(t.Context(), judge.WorkerPrefix, "", 10)
	if want := []string{"workers/a.json", "workers/b.json", "workers/dead.json", "workers/half.json", "workers/none.json", "workers/other.json"}; err != nil || !slices.Equal(keys, want) {
		t.Errorf("got %q, %v, want %q: what a worker of long ago said is removed", keys, err, want)
	}
}
