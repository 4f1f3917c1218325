package results

import (
	"context"
	"log/slog"
	"sync"

	"github.com/redis/go-redis/v9"
)

// hub fans the messages of one subscription out to the waiters of this process, so
// that any number of them holds one connection to Redis. It subscribes when the
// first waiter comes. Each waiter costs one map entry and holds at most one wake-up.
type hub struct {
	client  redis.UniversalClient
	channel string
	log     *slog.Logger

	mu      sync.Mutex
	waiters map[string]map[*waiter]struct{}
	sub     *redis.PubSub
	closed  bool
	ended   chan struct{} // closed when the reader has returned; nil before it started
}

type waiter struct {
	wake      chan struct{} // holds one
	finalOnly bool
}

func newHub(client redis.UniversalClient, channel string, log *slog.Logger) *hub {
	return &hub{client: client, channel: channel, log: log, waiters: map[string]map[*waiter]struct{}{}}
}

// add registers a waiter before it reads, so that nothing falls between.
func (h *hub) add(id string, finalOnly bool) *waiter {
	w := &waiter{wake: make(chan struct{}, 1), finalOnly: finalOnly}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.waiters[id] == nil {
		h.waiters[id] = map[*waiter]struct{}{}
	}
	h.waiters[id][w] = struct{}{}
	if h.sub == nil && !h.closed {
		// It lives as long as the hub, not as the first caller, who does not wait for a
		// connection: the others would wait for h.mu.
		h.sub = h.client.Subscribe(context.Background())
		h.ended = make(chan struct{})
		go h.read(h.sub)
	}
	return w
}

func (h *hub) remove(id string, w *waiter) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.waiters[id], w)
	if len(h.waiters[id]) == 0 {
		delete(h.waiters, id)
	}
}

// read wakes whom a message concerns, and everybody when the subscription was made
// or made again: what happened in between was not told.
func (h *hub) read(sub *redis.PubSub) {
	defer close(h.ended)
	if err := sub.Subscribe(context.Background(), h.channel); err != nil {
		h.log.Debug("subscribe to results", "error", err) // the channel below tries on
	}
	for m := range sub.ChannelWithSubscriptions(redis.WithChannelSize(1024)) {
		switch m := m.(type) {
		case *redis.Subscription:
			h.log.Debug("subscribed to results", "channel", m.Channel)
			h.wakeAll()
		case *redis.Message:
			if len(m.Payload) > 1 {
				h.wake(m.Payload[1:], m.Payload[0] == kindFinal)
			}
		}
	}
}

func (h *hub) wake(id string, final bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for w := range h.waiters[id] {
		if final || !w.finalOnly {
			w.signal()
		}
	}
}

func (h *hub) wakeAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, ws := range h.waiters {
		for w := range ws {
			w.signal()
		}
	}
}

func (w *waiter) signal() {
	select {
	case w.wake <- struct{}{}:
	default: // it will read everything new when it takes the one that is there
	}
}

func (h *hub) close() error {
	h.mu.Lock()
	sub := h.sub
	h.closed = true
	h.mu.Unlock()
	if sub == nil {
		return nil
	}
	err := sub.Close()
	<-h.ended
	return err
}
