package artifacts_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"judgefarm/internal/blob"
	"judgefarm/judge"
	"judgefarm/worker/artifacts"
)

func attempt() judge.Attempt { return judge.Attempt{Submission: "0190-id", Fence: 7, Charged: 1} }

func judgement() *judge.Judgement {
	verdict := judge.WrongAnswer
	return &judge.Judgement{ID: "0190-id", State: judge.Judged, Verdict: &verdict, Tamper: []string{}, Cases: []judge.Run{}}
}

func files() []artifacts.Artifact {
	return []artifacts.Artifact{
		{Kind: artifacts.CompileLog, Data: []byte("warning")},
		{Kind: artifacts.Stdout, Case: "sample/1", Verdict: judge.Accepted, Data: []byte("1")},
		{Kind: artifacts.Stderr, Case: "sample/1", Verdict: judge.Accepted},
		{Kind: artifacts.Stdout, Case: "secret/2", Verdict: judge.WrongAnswer, Data: []byte("0123456789+")},
		{Kind: artifacts.Stderr, Case: "secret/2", Verdict: judge.WrongAnswer, Data: []byte("0123456789")},
		{Kind: artifacts.Stdout, Case: "secret/3", Verdict: judge.Skipped, Data: []byte("never")},
	}
}

func read(t *testing.T, s blob.Store, key string) string {
	t.Helper()
	r, _, err := s.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestKeepByPolicy(t *testing.T) {
	t.Parallel()
	failed := []string{"cases/secret/2/stderr", "cases/secret/2/stdout", "cases/secret/2/stdout.cut", "compile.log", "judgement.json"}
	tests := []struct {
		policy artifacts.Policy
		want   []string
	}{
		{artifacts.KeepNone, nil},
		{artifacts.KeepFailed, failed},
		{"", failed},
		{artifacts.KeepAll, slices.Concat([]string{"cases/sample/1/stdout"}, failed[:3], []string{"cases/secret/3/stdout"}, failed[3:])},
	}
	for _, tt := range tests {
		store := blob.NewMemory(0)
		var objects int
		var size int64
		k, err := artifacts.New(artifacts.Config{Store: store, Policy: tt.policy, MaxStream: 10,
			Stored: func(n int, b int64, err error) { objects, size = n, b }})
		if err != nil {
			t.Fatal(err)
		}
		if err := k.Keep(t.Context(), attempt(), judgement(), files()); err != nil {
			t.Fatalf("%s: %v", tt.policy, err)
		}
		got, err := store.List(t.Context(), "", "", 100)
		if err != nil {
			t.Fatal(err)
		}
		var total int64
		for i, key := range got {
			n, _ := store.Stat(t.Context(), key)
			total += n
			got[i] = strings.TrimPrefix(key, "judgements/0190-id/7/")
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: kept %q, want %q", tt.policy, got, tt.want)
		}
		if objects != len(got) || size != total {
			t.Errorf("%s: told %d objects of %d bytes, stored %d of %d", tt.policy, objects, size, len(got), total)
		}
	}
}

func TestKeepContent(t *testing.T) {
	t.Parallel()
	store := blob.NewMemory(0)
	k, err := artifacts.New(artifacts.Config{Store: store, MaxStream: 10})
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Keep(t.Context(), attempt(), judgement(), files()); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		"cases/secret/2/stdout":     "0123456789",
		"cases/secret/2/stdout.cut": "kept the first 10 of 11 bytes\n",
		"cases/secret/2/stderr":     "0123456789", // at the bound is within it
		"compile.log":               "warning",
	} {
		if got := read(t, store, artifacts.Prefix(attempt())+key); got != want {
			t.Errorf("%s holds %q, want %q", key, got, want)
		}
	}
	cut := []artifacts.Artifact{{Kind: artifacts.Stdout, Case: "secret/3", Verdict: judge.WrongAnswer, Data: []byte("0123"), Total: 400}}
	if err := k.Keep(t.Context(), attempt(), judgement(), cut); err != nil {
		t.Fatal(err)
	}
	if got := read(t, store, artifacts.Prefix(attempt())+"cases/secret/3/stdout.cut"); got != "kept the first 4 of 400 bytes\n" {
		t.Errorf("cut before: note %q", got)
	}
	var got judge.Judgement
	if err := json.Unmarshal([]byte(read(t, store, artifacts.Prefix(attempt())+"judgement.json")), &got); err != nil {
		t.Fatal(err)
	}
	if got.ID != "0190-id" || got.State != judge.Judged || *got.Verdict != judge.WrongAnswer {
		t.Errorf("judgement.json holds %+v", got)
	}
}

// refusing is a store that refuses some keys and counts how many Puts run at once.
type refusing struct {
	*blob.Memory
	refuse       string
	err          error
	takes        time.Duration // of a synctest bubble's clock
	running, top atomic.Int64
}

func (r *refusing) Put(ctx context.Context, key string, src io.Reader, size int64, contentType string) error {
	now := r.running.Add(1)
	defer r.running.Add(-1)
	for top := r.top.Load(); now > top && !r.top.CompareAndSwap(top, now); top = r.top.Load() {
	}
	if r.takes > 0 {
		time.Sleep(r.takes)
	}
	if r.refuse != "" && strings.HasSuffix(key, r.refuse) {
		return r.err
	}
	return r.Memory.Put(ctx, key, src, size, contentType)
}

func TestKeepFailsWhole(t *testing.T) {
	t.Parallel()
	for _, refuse := range []string{"compile.log", "stdout", "stdout.cut", "judgement.json"} {
		store := &refusing{Memory: blob.NewMemory(0), refuse: refuse, err: errors.New("bucket is on fire")}
		var told error
		k, err := artifacts.New(artifacts.Config{Store: store, MaxStream: 10, Stored: func(_ int, _ int64, err error) { told = err }})
		if err != nil {
			t.Fatal(err)
		}
		if err := k.Keep(t.Context(), attempt(), judgement(), files()); !errors.Is(err, store.err) || !errors.Is(told, store.err) {
			t.Errorf("%s refused: Keep() = %v, told %v, want the store's error", refuse, err, told)
		}
		if _, err := store.Stat(t.Context(), artifacts.Prefix(attempt())+"judgement.json"); !errors.Is(err, blob.ErrNotFound) {
			t.Errorf("%s refused: judgement.json is there (%v) although the rest is not", refuse, err)
		}
	}
}

func TestKeepIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &refusing{Memory: blob.NewMemory(0), takes: time.Second}
		k, err := artifacts.New(artifacts.Config{Store: store, Policy: artifacts.KeepAll, Parallel: 3})
		if err != nil {
			t.Fatal(err)
		}
		var many []artifacts.Artifact
		for i := range 30 {
			many = append(many, artifacts.Artifact{Kind: artifacts.Stdout, Case: fmt.Sprint(i), Data: []byte("x")})
		}
		start := time.Now()
		if err := k.Keep(t.Context(), attempt(), judgement(), many); err != nil {
			t.Fatal(err)
		}
		if top, took := store.top.Load(), time.Since(start); top != 3 || took != 11*time.Second {
			t.Errorf("%d uploads at one time, %v in all, want 3 and 11s", top, took)
		}
		keys, err := store.List(t.Context(), "", "", 1000)
		if err != nil || len(keys) != 31 {
			t.Errorf("%d objects, %v, want 31", len(keys), err)
		}
	})
}

func TestKeepCancelled(t *testing.T) {
	t.Parallel()
	why := errors.New("lease lost")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	k, err := artifacts.New(artifacts.Config{Store: blob.NewMemory(0)})
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Keep(ctx, attempt(), judgement(), files()); !errors.Is(err, why) {
		t.Errorf("Keep() = %v, want the cause", err)
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	store := blob.NewMemory(0)
	for want, cfg := range map[string]artifacts.Config{
		"must be none, failed or all": {Store: store, Policy: "some"},
		"at least 1":                  {Store: store, MaxStream: -1},
		"no blob store":               {},
	} {
		if _, err := artifacts.New(cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("New(%+v) = %v, want %q", cfg, err, want)
		}
	}
}
