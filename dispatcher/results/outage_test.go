package results_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"judgefarm/dispatcher/results"
	"judgefarm/internal/testenv"
	"judgefarm/judge"
)

func open(t *testing.T, addr string, cfg results.Config) *results.Redis {
	t.Helper()
	cfg.URL = "redis://" + addr
	s, err := results.NewRedis(cfg)
	if err != nil {
		t.Fatalf("NewRedis: %v", err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func dial(t *testing.T, addr string) *redis.Client {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: addr})
	t.Cleanup(func() { c.Close() })
	return c
}

func judging(t *testing.T, s results.Store, id string) judge.Attempt {
	t.Helper()
	if err := s.Create(t.Context(), results.Record{ID: id}); err != nil {
		t.Fatalf("Create: %v", err)
	}
	a, err := s.Lease(t.Context(), id, "w", time.Hour)
	if err != nil {
		t.Fatalf("Lease: %v", err)
	}
	return a
}

// startWaits starts n waits and returns where each puts its state or error.
func startWaits(ctx context.Context, s results.Store, id string, n int) <-chan string {
	out := make(chan string, n)
	for range n {
		go func() {
			r, err := s.Wait(ctx, id)
			if err != nil {
				out <- err.Error()
				return
			}
			out <- string(r.State)
		}()
	}
	return out
}

// subscribed waits until n connections hold the subscription.
func subscribed(t *testing.T, c *redis.Client, n int64) {
	t.Helper()
	const channel = "{jf}:events"
	for t.Context().Err() == nil {
		if got, err := c.PubSubNumSub(t.Context(), channel).Result(); err == nil && got[channel] == n {
			return
		}
	}
	t.Fatalf("no %d subscriptions", n)
}

func TestWaitersShareOneConnectionAndSurviveItsLoss(t *testing.T) {
	t.Parallel()
	addr := testenv.Redis(t)
	s, other, c := open(t, addr, results.Config{}), open(t, addr, results.Config{}), dial(t, addr)
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()
	a := judging(t, other, "s1")
	const waiters = 50
	states := startWaits(ctx, s, "s1", waiters)
	subscribed(t, c, 1)
	if n, err := c.ClientKillByFilter(ctx, "TYPE", "pubsub").Result(); n != 1 || err != nil {
		t.Fatalf("connections of %d waiters: killed %d, %v; want 1", waiters, n, err)
	}
	if err := other.Finish(ctx, a, judge.Judgement{ID: "s1", State: judge.Judged}); err != nil {
		t.Fatalf("Finish: %v", err)
	}
	began := time.Now()
	for range waiters {
		if got := <-states; got != "judged" {
			t.Fatalf("Wait: got %s, want judged", got)
		}
	}
	// Under the 10 s after which a waiter would look by itself.
	if d := time.Since(began); d > 8*time.Second {
		t.Errorf("waiters learnt it after %v", d)
	}
}

func TestWaitSurvivesRestart(t *testing.T) {
	t.Parallel()
	server := testenv.StartRedis(t, "--appendonly", "yes", "--appendfsync", "always")
	s := open(t, server.Addr, results.Config{})
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()
	a := judging(t, s, "s1")
	c := dial(t, server.Addr)
	if err := c.ConfigResetStat(ctx).Err(); err != nil {
		t.Fatalf("CONFIG RESETSTAT: %v", err)
	}
	states := startWaits(ctx, s, "s1", 1)
	followed := make(chan string, 1)
	go func() {
		for after := int64(2); ; {
			events, err := s.Events(ctx, "s1", after)
			if err != nil {
				followed <- err.Error()
				return
			}
			after = events[len(events)-1].Seq
		}
	}()
	subscribed(t, c, 1)
	for stats := ""; !strings.Contains(stats, "cmdstat_hget:") || !strings.Contains(stats, "cmdstat_lrange:"); {
		stats = c.Info(ctx, "commandstats").Val() // until both have read for the first time
	}
	if err := c.Ping(ctx).Err(); err != nil { // the answers to both are out when this one is
		t.Fatalf("PING: %v", err)
	}
	server.Kill()
	if _, err := s.Renew(ctx, a, time.Hour); err == nil {
		t.Error("Renew without Redis succeeded")
	}
	server.Start()
	if err := s.Progress(ctx, a, results.CaseEvent{Total: 1, Run: judge.Run{Name: "1"}}); err != nil {
		t.Fatalf("Progress after the restart: %v", err)
	}
	if err := s.Finish(ctx, a, judge.Judgement{ID: "s1", State: judge.Judged}); err != nil {
		t.Fatalf("Finish after the restart: %v", err)
	}
	if got := <-states; got != "judged" {
		t.Errorf("Wait over a restart: got %s, want judged", got)
	}
	if got := <-followed; got != "EOF" {
		t.Errorf("Events over a restart ended with %s, want EOF", got)
	}
}

// A Redis that does not answer at all must not hold a caller.
func TestFrozenRedisIsBounded(t *testing.T) {
	t.Parallel()
	server := testenv.StartRedis(t)
	s := open(t, server.Addr, results.Config{})
	a := judging(t, s, "s1")
	server.Freeze()
	defer server.Thaw()
	began := time.Now()
	if _, err := s.Renew(t.Context(), a, time.Hour); err == nil {
		t.Error("Renew succeeded on a frozen Redis")
	}
	if d := time.Since(began); d > 10*time.Second {
		t.Errorf("Renew returned after %v, want about 3 s at most", d)
	}
}

// A connection that is closed gives io.EOF in the client. Events must not pass it on:
// there it says that the submission is final.
func TestCutIsNotTheEndOfEvents(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			// Read first: a close with unread data would be a reset, not an end.
			_, _ = conn.Read(make([]byte, 4096))
			conn.Close()
		}
	}()
	s := open(t, listener.Addr().String(), results.Config{})
	if _, err := s.Events(t.Context(), "s1", 0); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("Events over a cut connection: got %v, want an error that is not io.EOF", err)
	}
	if _, err := s.Get(t.Context(), "s1"); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("Get over a cut connection: got %v, want an error that is not io.EOF", err)
	}
	if _, err := s.Wait(t.Context(), "s1"); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("Wait over a cut connection: got %v, want an error that is not io.EOF", err)
	}
}

func TestLeasesEndByTheClockOfRedis(t *testing.T) {
	t.Parallel()
	addr := testenv.Redis(t)
	right := open(t, addr, results.Config{})
	for _, skew := range []time.Duration{-time.Hour, time.Hour} {
		skewed := open(t, addr, results.Config{Now: func() time.Time { return time.Now().Add(skew) }})
		id := fmt.Sprintf("skew %v", skew)
		judging(t, skewed, id) // for an hour
		for name, s := range map[string]*results.Redis{"right": right, "skewed": skewed} {
			now := time.Now()
			if s == skewed {
				now = now.Add(skew)
			}
			if got, err := s.Reap(t.Context(), now.Add(59*time.Minute), 10); len(got) != 0 || err != nil {
				t.Errorf("%s, reaped by the %s clock after 59 minutes: got %d, %v; want none", id, name, len(got), err)
			}
		}
		if got, err := skewed.Reap(t.Context(), time.Now().Add(skew+61*time.Minute), 10); len(got) != 1 || err != nil {
			t.Errorf("%s, reaped after an hour: got %d, %v; want 1", id, len(got), err)
		}
	}
}

func TestReadyRefusesEviction(t *testing.T) {
	t.Parallel()
	addr := testenv.Redis(t)
	s, c := open(t, addr, results.Config{}), dial(t, addr)
	if err := s.Ready(t.Context()); err != nil {
		t.Fatalf("Ready with noeviction: %v", err)
	}
	if err := c.ConfigSet(t.Context(), "maxmemory-policy", "allkeys-lru").Err(); err != nil {
		t.Fatalf("CONFIG SET: %v", err)
	}
	err := s.Ready(t.Context())
	if err == nil || !strings.Contains(err.Error(), "allkeys-lru") || !strings.Contains(err.Error(), "fix: CONFIG SET maxmemory-policy noeviction") {
		t.Errorf("Ready with allkeys-lru: got %v, want the policy and the fix", err)
	}
}

// A Redis that answers and takes no writes accepts nothing.
func TestReadyWrites(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ set, undo []any }{
		"maxmemory": {[]any{"CONFIG", "SET", "maxmemory", "1"}, []any{"CONFIG", "SET", "maxmemory", "0"}},
		"primary":   {[]any{"REPLICAOF", "127.0.0.1", "1"}, []any{"REPLICAOF", "NO", "ONE"}},
	} {
		addr := testenv.Redis(t)
		s, direct := open(t, addr, results.Config{}), dial(t, addr)
		if err := direct.Do(t.Context(), c.set...).Err(); err != nil {
			t.Fatalf("%v: %v", c.set, err)
		}
		if err := s.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "fix: ") || !strings.Contains(err.Error(), name) {
			t.Errorf("Ready after %v: got %v, want an error with the fix that names %s", c.set, err, name)
		}
		if err := direct.Do(t.Context(), c.undo...).Err(); err != nil {
			t.Fatalf("%v: %v", c.undo, err)
		}
		if err := s.Ready(t.Context()); err != nil {
			t.Errorf("Ready after %v: %v", c.undo, err)
		}
	}
}

// No key may be left behind, and every key carries the hash tag.
func TestKeysEnd(t *testing.T) {
	t.Parallel()
	addr := testenv.Redis(t)
	s, c := open(t, addr, results.Config{Prefix: "x"}), dial(t, addr)
	a := judging(t, s, "s1")
	if err := s.Progress(t.Context(), a, results.CaseEvent{Total: 1}); err != nil {
		t.Fatalf("Progress: %v", err)
	}
	if keys := c.Keys(t.Context(), "*").Val(); len(keys) == 0 || len(c.Keys(t.Context(), "{x}:*").Val()) != len(keys) {
		t.Errorf("keys: got %v, want all to start with {x}:", keys)
	}
	if err := s.Finish(t.Context(), a, judge.Judgement{ID: "s1", State: judge.Judged}); err != nil {
		t.Fatalf("Finish: %v", err)
	}
	if _, err := s.Reap(t.Context(), time.Now().Add(25*time.Hour), 10); err != nil {
		t.Fatalf("Reap: %v", err)
	}
	if keys := c.Keys(t.Context(), "*").Val(); len(keys) != 0 {
		t.Errorf("keys after the retention: got %v, want none", keys)
	}
}
