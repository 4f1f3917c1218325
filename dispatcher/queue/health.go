package queue

import (
	"context"
	"fmt"
	"log/slog"
)

// health logs when something that is done over and over begins to fail and when it
// works again, not each time. It belongs to one goroutine.
type health struct {
	log  *slog.Logger
	what string
	down bool
}

func (h *health) report(ctx context.Context, err error) {
	switch {
	case ctx.Err() != nil: // stopping, no news
	case err != nil && !h.down:
		h.down = true
		h.log.Warn("redis fails, trying on", "doing", h.what, "error", err)
	case err == nil && h.down:
		h.down = false
		h.log.Info("redis works again", "doing", h.what)
	}
}

// asynqLog sends what asynq says to slog at debug: it warns of every outage in
// every part of it, and what matters of that is said by health.
type asynqLog struct{ log *slog.Logger }

func (l asynqLog) Debug(args ...any) { l.say("debug", args) }
func (l asynqLog) Info(args ...any)  { l.say("info", args) }
func (l asynqLog) Warn(args ...any)  { l.say("warn", args) }
func (l asynqLog) Error(args ...any) { l.say("error", args) }
func (l asynqLog) Fatal(args ...any) { l.say("fatal", args) }

func (l asynqLog) say(level string, args []any) {
	l.log.Debug("asynq", "level", level, "text", fmt.Sprint(args...))
}
