package queue

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// Embedded is a Redis in this process, for judgefarm serve without another one. It
// persists nothing and moves some 800 jobs a second.
type Embedded struct {
	// URL is for Config.URL here and in dispatcher/results. It holds a password that
	// is new each time: the port is open to all users of this machine.
	URL string

	server *miniredis.Miniredis
	stop   context.CancelFunc
	ended  chan struct{}
}

// StartEmbedded starts one on a random loopback port. It ends with ctx or Close.
func StartEmbedded(ctx context.Context) (*Embedded, error) {
	server := miniredis.NewMiniRedis()
	password := rand.Text()
	server.RequireAuth(password)
	if err := server.StartAddr("127.0.0.1:0"); err != nil {
		return nil, fmt.Errorf("start embedded redis: %w", err)
	}
	ctx, stop := context.WithCancel(ctx)
	e := &Embedded{URL: "redis://:" + password + "@" + server.Addr(), server: server, stop: stop, ended: make(chan struct{})}
	go e.run(ctx)
	return e, nil
}

// run moves the clock by which asynq's keys expire: miniredis does not do it by itself.
func (e *Embedded) run(ctx context.Context) {
	defer close(e.ended)
	defer e.server.Close()
	second := time.NewTicker(time.Second)
	defer second.Stop()
	for {
		select {
		case <-second.C:
			e.server.FastForward(time.Second)
		case <-ctx.Done():
			return
		}
	}
}

// Close ends it and all that it holds.
func (e *Embedded) Close() {
	e.stop()
	<-e.ended
}
