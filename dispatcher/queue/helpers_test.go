package queue

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"judgefarm/internal/testenv"
)

// patience bounds waits for what must come soon.
const patience = 2 * time.Minute

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// onBoth runs the test against redis-server and the embedded one. fresh gives a
// configuration with a line of its own.
func onBoth(t *testing.T, test func(t *testing.T, fresh func() Config)) {
	t.Helper()
	run := func(name string, url func(t *testing.T) string) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := url(t)
			var count atomic.Int64
			test(t, func() Config {
				return Config{URL: url, Prefix: fmt.Sprintf("t%d", count.Add(1)), Logger: quiet}
			})
		})
	}
	run("redis", func(t *testing.T) string { return "redis://" + testenv.Redis(t) })
	run("embedded", embedded)
}

func embedded(t *testing.T) string {
	t.Helper()
	e, err := StartEmbedded(context.WithoutCancel(t.Context()))
	if err != nil {
		t.Fatalf("StartEmbedded: %v", err)
	}
	t.Cleanup(e.Close)
	return e.URL
}

func newQueue(t testing.TB, cfg Config) *Queue {
	t.Helper()
	q, err := New(cfg)
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	t.Cleanup(func() { q.Close() })
	return q
}

func push(t testing.TB, q *Queue, id, priority, fair string, front bool) {
	t.Helper()
	if err := q.Push(t.Context(), Job{ID: id, Priority: priority, FairKey: fair}, front); err != nil {
		t.Fatalf("Push %s: %v", id, err)
	}
}

// feed runs Feed until the test ends.
func feed(t testing.TB, q *Queue) {
	t.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- q.Feed(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("Feed: %v", err)
		}
	})
}

// takeUp runs Take until the test ends or stop is called, which waits for it.
func takeUp(t testing.TB, cfg Config, slots int, h Handler) (stop func()) {
	t.Helper()
	s, err := NewSource(cfg)
	if err != nil {
		t.Fatalf("NewSource: %v", err)
	}
	take, end := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := s.Take(take, context.WithoutCancel(t.Context()), slots, h); err != nil {
			t.Errorf("Take: %v", err)
		}
	}()
	stop = sync.OnceFunc(func() {
		end()
		<-ended
		s.Close()
	})
	t.Cleanup(stop)
	return stop
}

// next returns the next value or ends the test.
func next[T any](t testing.TB, values <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-values:
	case <-time.After(patience):
		t.Fatal("nothing came")
	}
	return v
}

func wantDepth(t *testing.T, q *Queue, interactive, train, batch int) {
	t.Helper()
	got, err := q.Depth(t.Context())
	if err != nil || got[Interactive] != interactive || got[Train] != train || got[Batch] != batch || len(got) != 3 {
		t.Errorf("Depth: got %v, %v; want %d, %d, %d", got, err, interactive, train, batch)
	}
}

// pop returns the ids of the jobs in the order in which they would be handed over.
func pop(t *testing.T, q *Queue, most int) (ids []string) {
	t.Helper()
	out, err := q.do(t.Context(), q.run.pop, most, time.Hour.Milliseconds(), 1_000_000).Slice()
	if err != nil {
		t.Fatalf("pop: %v", err)
	}
	for i := 0; i < len(out); i += 2 {
		var j Job
		decode(t, out[i].(string), &j)
		ids = append(ids, j.ID)
	}
	return ids
}

func decode(t testing.TB, text string, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), v); err != nil {
		t.Fatalf("decode %q: %v", text, err)
	}
}

// parse reads "id priority fair [front]".
func parse(s string) (j Job, front bool) {
	parts := strings.SplitN(s, " ", 4)
	return Job{ID: parts[0], Priority: parts[1], FairKey: parts[2]}, len(parts) == 4
}
