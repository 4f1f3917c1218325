package results

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/redis/go-redis/v9"
)

// LogRedis has the Redis library, which would write lines of its own to standard
// error, tell log instead: connections that failed and are tried again, at debug,
// since whoever asked is told too. The library has one logger for the whole process,
// so this is for main programs, once and before any connection.
func LogRedis(log *slog.Logger) { redis.SetLogger(redisLog{log}) }

type redisLog struct{ log *slog.Logger }

// Printf implements the library's interface.
func (l redisLog) Printf(ctx context.Context, format string, args ...any) {
	if l.log.Enabled(ctx, slog.LevelDebug) {
		l.log.DebugContext(ctx, "redis library", "says", fmt.Sprintf(format, args...))
	}
}
