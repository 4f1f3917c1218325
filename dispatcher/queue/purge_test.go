package queue

import (
	"context"
	"testing"

	"judgefarm/internal/testenv"
)

func TestPurgeLeavesNothingOfItsOwn(t *testing.T) {
	t.Parallel()
	url := "redis://" + testenv.Redis(t)
	mine, other := Config{URL: url, Prefix: "mine", Logger: quiet}, Config{URL: url, Prefix: "other", Logger: quiet}
	q, theirs := newQueue(t, mine), newQueue(t, other)
	push(t, q, "1", Train, "a", false)
	push(t, theirs, "1", Train, "a", false)
	push(t, q, "2", Train, "a", false)
	if n, err := q.handOver(t.Context()); err != nil || n != 2 {
		t.Fatalf("handOver = %d, %v", n, err)
	}
	if err := q.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	keys, err := q.client.Keys(t.Context(), "*mine*").Result()
	if err != nil || len(keys) != 0 {
		t.Errorf("keys after Purge = %v, %v, want none", keys, err)
	}
	if got := pop(t, theirs, 2); len(got) != 1 {
		t.Errorf("another line has %v after Purge, want its job", got)
	}
}

func TestServerCPU(t *testing.T) {
	t.Parallel()
	q := newQueue(t, Config{URL: "redis://" + testenv.Redis(t), Logger: quiet})
	before, err := q.ServerCPU(t.Context())
	if err != nil || before <= 0 {
		t.Fatalf("ServerCPU = %v, %v, want more than nothing", before, err)
	}
	e, err := StartEmbedded(context.WithoutCancel(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if used, err := newQueue(t, Config{URL: e.URL, Logger: quiet}).ServerCPU(t.Context()); err == nil {
		t.Errorf("ServerCPU of the embedded redis = %v, want an error", used)
	}
}
