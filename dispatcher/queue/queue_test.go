package queue

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"judgefarm/internal/testenv"
)

// patience bounds waits for what must come soon.
const patience = 30 * time.Second

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

func TestOrder(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, fresh func() Config) {
		for _, test := range []struct {
			name string
			push []string // id priority fair [front]
			want []string
		}{
			{"oldest first", []string{"1 train a", "2 train a", "3 train a"}, []string{"1", "2", "3"}},
			{"priority before age", []string{"1 batch a", "2 train a", "3 interactive a"}, []string{"3", "2", "1"}},
			{"fair keys take turns", []string{"a1 train a", "a2 train a", "a3 train a", "b1 train b", "c1 train c", "c2 train c"},
				[]string{"a1", "b1", "c1", "a2", "c2", "a3"}},
			{"front before all turns", []string{"a1 train a", "b1 train b", "f1 train b front", "f2 train a front"},
				[]string{"f1", "f2", "a1", "b1"}},
			{"front stays in its priority", []string{"1 interactive a", "2 batch a front"}, []string{"1", "2"}},
			{"twice is once", []string{"1 train a", "2 train a", "1 train b", "1 train a front"}, []string{"1", "2"}},
			{"no fair key, odd fair keys", []string{"1 train ", "2 train a:}{\n", "3 train ", "4 train a:}{\n"}, []string{"1", "2", "3", "4"}},
		} {
			t.Run(test.name, func(t *testing.T) {
				q := newQueue(t, fresh())
				for _, p := range test.push {
					j, front := parse(p)
					push(t, q, j.ID, j.Priority, j.FairKey, front)
				}
				if got := pop(t, q, 100); !slices.Equal(got, test.want) {
					t.Errorf("pushed %q: got %v, want %v", test.push, got, test.want)
				}
			})
		}
	})
}

func TestTurnsStayFairAsJobsComeAndGo(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, fresh func() Config) {
		q := newQueue(t, fresh())
		for i := range 4 {
			push(t, q, fmt.Sprintf("a%d", i), Train, "a", false)
		}
		push(t, q, "b0", Train, "b", false)
		got := pop(t, q, 3) // a0 b0 a1
		push(t, q, "b1", Train, "b", false)
		if err := q.Remove(t.Context(), "a2"); err != nil {
			t.Fatalf("Remove: %v", err)
		}
		got = append(got, pop(t, q, 10)...)
		if want := []string{"a0", "b0", "a1", "a3", "b1"}; !slices.Equal(got, want) {
			t.Errorf("order: got %v, want %v", got, want)
		}
	})
}

func TestBound(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, fresh func() Config) {
		cfg := fresh()
		cfg.Bound = 3
		q := newQueue(t, cfg)
		push(t, q, "1", Train, "a", false)
		push(t, q, "2", Batch, "b", false)
		push(t, q, "3", Interactive, "c", false)
		if got := pop(t, q, 1); len(got) != 1 { // handed over still counts
			t.Fatalf("pop: got %v", got)
		}
		if err := q.Push(t.Context(), Job{ID: "4", Priority: Interactive}, false); !errors.Is(err, ErrFull) {
			t.Errorf("Push over the bound: got %v, want ErrFull", err)
		}
		wantDepth(t, q, 1, 1, 1)
		push(t, q, "1", Train, "a", false) // is there already
		push(t, q, "5", Train, "a", true)  // came back
		wantDepth(t, q, 1, 2, 1)
		for _, id := range []string{"2", "5", "missing", "2"} {
			if err := q.Remove(t.Context(), id); err != nil {
				t.Errorf("Remove %s: %v", id, err)
			}
		}
		push(t, q, "6", Batch, "a", false)
		wantDepth(t, q, 1, 1, 1)
		if got, want := pop(t, q, 10), []string{"1", "6"}; !slices.Equal(got, want) {
			t.Errorf("left in the line: got %v, want %v", got, want)
		}
		for _, bad := range []Job{{ID: "7"}, {Priority: Train}, {ID: "7", Priority: "urgent"}} {
			if err := q.Push(t.Context(), bad, false); err == nil || errors.Is(err, ErrFull) {
				t.Errorf("Push %+v: got %v, want an error that says why", bad, err)
			}
		}
	})
}

// Without workers two jobs are past all priority, with them as many as they have slots.
func TestShallow(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, fresh func() Config) {
		cfg := fresh()
		q := newQueue(t, cfg)
		for i := range 20 {
			push(t, q, fmt.Sprint(i), Train, "a", false)
		}
		pending := func() int {
			t.Helper()
			if err := q.handOverAll(t.Context()); err != nil {
				t.Fatalf("handOverAll: %v", err)
			}
			info, err := asynq.NewInspectorFromRedisClient(q.client).GetQueueInfo(cfg.Prefix)
			if err != nil {
				t.Fatalf("GetQueueInfo: %v", err)
			}
			return info.Pending
		}
		if got := pending(); got != 2 {
			t.Errorf("pending without workers: got %d, want 2", got)
		}
		for _, id := range []string{"0", "1"} { // cancelled, but asynq's list holds them
			if err := q.Remove(t.Context(), id); err != nil {
				t.Fatalf("Remove: %v", err)
			}
		}
		if got := pending(); got != 2 {
			t.Errorf("pending after cancels: got %d, want 2", got)
		}
		announce := func(worker string, slots int) {
			t.Helper()
			if err := q.do(t.Context(), q.run.announce, worker, slots, time.Hour.Milliseconds()).Err(); err != nil {
				t.Fatalf("announce: %v", err)
			}
		}
		announce("w1", 3)
		announce("w2", 4)
		if workers, slots, err := q.Workers(t.Context()); workers != 2 || slots != 7 || err != nil {
			t.Errorf("Workers: got %d with %d slots, %v; want 2 with 7", workers, slots, err)
		}
		if got := pending(); got != 7 {
			t.Errorf("pending with 7 slots: got %d, want 7", got)
		}
		announce("w2", 0)
		if workers, slots, err := q.Workers(t.Context()); workers != 1 || slots != 3 || err != nil {
			t.Errorf("Workers after one left: got %d with %d slots, %v; want 1 with 3", workers, slots, err)
		}
		wantDepth(t, q, 0, 18, 0)
	})
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		taken int64
		in    time.Duration
		bound int
		want  time.Duration
	}{
		{0, time.Minute, 100_000, 60 * time.Second},
		{12_000, time.Minute, 100_000, 5 * time.Second}, // 200/s, a share of 1,000
		{600_000, time.Minute, 100_000, time.Second},
		{1, time.Minute, 100_000, 60 * time.Second},
		{60, time.Minute, 10, time.Second},
		{20, time.Minute, 10, 3 * time.Second},
		{100, 100 * time.Millisecond, 100_000, 10 * time.Second}, // a young farm: at least a second
	} {
		if got := retryAfter(test.taken, test.in, test.bound); got != test.want {
			t.Errorf("retryAfter(%d in %v, bound %d): got %v, want %v", test.taken, test.in, test.bound, got, test.want)
		}
	}
	onBoth(t, func(t *testing.T, fresh func() Config) {
		cfg := fresh()
		cfg.Bound = 10
		q := newQueue(t, cfg)
		if got := q.RetryAfter(t.Context()); got != maxRetry {
			t.Errorf("RetryAfter of a farm that takes nothing: got %v, want %v", got, maxRetry)
		}
		for i := range 200 {
			push(t, q, fmt.Sprint(i), Train, "a", true)
			if err := q.do(t.Context(), q.run.take, fmt.Sprint(i)).Err(); err != nil {
				t.Fatalf("take: %v", err)
			}
		}
		if got := q.RetryAfter(t.Context()); got != minRetry {
			t.Errorf("RetryAfter at 200 jobs in a few seconds: got %v, want %v", got, minRetry)
		}
	})
}

// Cancels leave nothing behind, and what they leave for a while is bounded by what waits.
func TestCancelsLeaveNothing(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, fresh func() Config) {
		cfg := fresh()
		q := newQueue(t, cfg)
		line := "{" + cfg.Prefix + "}:q:" + Train + ":fair:a"
		push(t, q, "first", Train, "a", false)
		for i := range 300 {
			id := fmt.Sprint(i)
			push(t, q, id, Train, "a", false)
			if err := q.Remove(t.Context(), id); err != nil {
				t.Fatalf("Remove: %v", err)
			}
			if n := q.client.LLen(t.Context(), line).Val(); n > 103 {
				t.Fatalf("after %d cancels the line holds %d entries for one job", i, n)
			}
		}
		push(t, q, "last", Train, "a", false)
		push(t, q, "other", Train, "b", false)
		if got, want := pop(t, q, 10), []string{"first", "other", "last"}; !slices.Equal(got, want) {
			t.Errorf("line: got %v, want %v", got, want)
		}
		for _, id := range []string{"first", "last", "other"} {
			if err := q.Remove(t.Context(), id); err != nil {
				t.Fatalf("Remove: %v", err)
			}
		}
		wantDepth(t, q, 0, 0, 0)
		keys := q.client.Keys(t.Context(), "*"+cfg.Prefix+"}*").Val()
		slices.Sort(keys)
		prefix := "{" + cfg.Prefix + "}:q:"
		if want := []string{prefix + "depth", prefix + "seq"}; !slices.Equal(keys, want) {
			t.Errorf("keys: got %v, want %v", keys, want)
		}
	})
}
