package results

import (
	"context"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// Waiters come and go while the first connection to Redis is still being made.
func TestHubWaitsForNoConnection(t *testing.T) {
	t.Parallel()
	dialled, refuse := make(chan struct{}, 100), make(chan struct{})
	client := redis.NewClient(&redis.Options{MaxRetries: -1, Dialer: func(context.Context, string, string) (net.Conn, error) {
		dialled <- struct{}{}
		<-refuse
		return nil, net.ErrClosed
	}})
	h := newHub(client, "c", slog.New(slog.DiscardHandler))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, id := range []string{"a", "b"} {
			h.remove(id, h.add(id, true))
		}
		<-dialled
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Error("a waiter waits for the connection")
	}
	close(refuse)
	<-done
	if err := h.close(); err != nil {
		t.Error(err)
	}
	if err := client.Close(); err != nil {
		t.Error(err)
	}
}
