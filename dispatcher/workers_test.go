package dispatcher_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

// gated is a store whose lists wait.
type gated struct {
	blob.Store
	asked chan struct{} // one for each list
	open  chan struct{} // closed when lists are answered
}

func (g *gated) List(ctx context.Context, prefix, after string, max int) ([]string, error) {
	g.asked <- struct{}{}
	<-g.open
	return g.Store.List(ctx, prefix, after, max)
}

// While one caller reads the others wait for its answer, as long as their contexts
// last, and read nothing themselves.
func TestLanguagesAreReadOnce(t *testing.T) {
	t.Parallel()
	g := &gated{Store: blob.NewMemory(0), asked: make(chan struct{}, 10), open: make(chan struct{})}
	list := &dispatcher.Languages{Blobs: g, Log: slog.New(slog.DiscardHandler), Defined: []judge.LanguageInfo{{ID: "c"}}}
	answers := make(chan error, 4)
	ask := func() {
		got, err := list.List(t.Context())
		if err == nil && len(got) != 1 {
			err = fmt.Errorf("got %d languages", len(got))
		}
		answers <- err
	}
	go ask()
	<-g.asked
	gone, hangUp := context.WithCancel(t.Context())
	hangUp()
	if _, err := list.List(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the end of the caller's context", err)
	}
	for range 3 {
		go ask()
	}
	close(g.open)
	for range 4 {
		if err := <-answers; err != nil {
			t.Error(err)
		}
	}
	if n := len(g.asked); n > 0 {
		t.Errorf("the workers were listed %d times more", n)
	}
}
