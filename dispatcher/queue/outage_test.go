package queue

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"judgefarm/internal/testenv"
)

// Redis is killed and comes back: what Push accepted is delivered, feeders and
// workers go on by themselves.
func TestRestart(t *testing.T) {
	t.Parallel()
	server := testenv.StartRedis(t, "--appendonly", "yes", "--appendfsync", "always")
	cfg := Config{URL: "redis://" + server.Addr, Logger: quiet}
	q := newQueue(t, cfg)
	feed(t, newQueue(t, cfg))
	came := make(chan string, 100)
	takeUp(t, cfg, 2, func(_ context.Context, j Job) { came <- j.ID })
	push(t, q, "before", Train, "a", false)
	next(t, came)

	for round := range 2 {
		missing := map[string]bool{}
		for i := range 20 {
			id := fmt.Sprintf("%d-%d", round, i)
			missing[id] = true
			push(t, q, id, Train, "a", false)
		}
		server.Kill()
		began := time.Now()
		if err := q.Push(t.Context(), Job{ID: "down", Priority: Train}, false); err == nil {
			t.Error("Push without Redis succeeded")
		}
		if d := time.Since(began); d > 10*time.Second {
			t.Errorf("Push without Redis returned after %v, want about 3 s at most", d)
		}
		server.Start()
		for len(missing) > 0 {
			delete(missing, next(t, came)) // one that was under way may come twice
		}
	}
}

// A worker can be stopped while Redis is away.
func TestStopDuringOutage(t *testing.T) {
	t.Parallel()
	server := testenv.StartRedis(t)
	cfg := Config{URL: "redis://" + server.Addr, Logger: quiet}
	q := newQueue(t, cfg)
	feed(t, newQueue(t, cfg))
	started, release := make(chan struct{}), make(chan struct{})
	stop := takeUp(t, cfg, 2, func(context.Context, Job) {
		close(started)
		<-release
	})
	push(t, q, "1", Train, "a", false)
	next(t, started)
	server.Kill()
	close(release)
	stopped := make(chan struct{})
	go func() { stop(); close(stopped) }()
	next(t, stopped)
}

func TestFrozenRedisIsBounded(t *testing.T) {
	t.Parallel()
	server := testenv.StartRedis(t)
	q := newQueue(t, Config{URL: "redis://" + server.Addr, Logger: quiet})
	push(t, q, "1", Train, "a", false)
	server.Freeze()
	defer server.Thaw()
	began := time.Now()
	if err := q.Push(t.Context(), Job{ID: "2", Priority: Train}, false); err == nil {
		t.Error("Push succeeded on a frozen Redis")
	}
	if got := q.RetryAfter(t.Context()); got != unknownRetry {
		t.Errorf("RetryAfter on a frozen Redis: got %v, want %v", got, unknownRetry)
	}
	if d := time.Since(began); d > 20*time.Second {
		t.Errorf("Push and RetryAfter took %v, want about 6 s at most", d)
	}
}

// A feeder is woken by the channel, whoever pushes, and by workers that make room.
func TestFeederIsWoken(t *testing.T) {
	t.Parallel()
	cfg := Config{URL: "redis://" + testenv.Redis(t), Logger: quiet}
	q, feeder := newQueue(t, cfg), newQueue(t, cfg)
	feeder.look = time.Hour
	feed(t, feeder)
	for q.client.PubSubNumSub(t.Context(), q.channel()).Val()[q.channel()] != 1 {
		if t.Context().Err() != nil {
			t.Fatal("no feeder subscribed")
		}
	}
	came := make(chan string, 100)
	takeUp(t, cfg, 1, func(_ context.Context, j Job) { came <- j.ID })
	for i := range cap(came) { // many more than asynq has room for
		push(t, q, fmt.Sprint(i), Train, "a", false)
	}
	for range cap(came) {
		next(t, came)
	}
}

func TestReadyRefusesEviction(t *testing.T) {
	t.Parallel()
	q := newQueue(t, Config{URL: "redis://" + testenv.Redis(t)})
	if err := q.Ready(t.Context()); err != nil {
		t.Errorf("Ready with noeviction: %v", err)
	}
	if err := q.client.ConfigSet(t.Context(), "maxmemory-policy", "volatile-lru").Err(); err != nil {
		t.Fatalf("CONFIG SET: %v", err)
	}
	if err := q.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "fix: ") {
		t.Errorf("Ready with volatile-lru: got %v, want an error with the fix", err)
	}
	if err := newQueue(t, Config{URL: "redis://127.0.0.1:1"}).Ready(t.Context()); err == nil {
		t.Error("Ready without a server succeeded")
	}
	if err := newQueue(t, Config{URL: embedded(t)}).Ready(t.Context()); err != nil {
		t.Errorf("Ready with the embedded Redis: %v", err)
	}
}

func TestConfigErrors(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"", "http://127.0.0.1", "127.0.0.1:6379"} {
		if _, err := New(Config{URL: url}); err == nil {
			t.Errorf("New with URL %q succeeded", url)
		}
		if _, err := NewSource(Config{URL: url}); err == nil {
			t.Errorf("NewSource with URL %q succeeded", url)
		}
	}
}
