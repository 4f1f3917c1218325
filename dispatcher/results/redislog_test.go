package results

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

// What the library says is one line of ours, at debug alone.
func TestRedisLog(t *testing.T) {
	t.Parallel()
	for level, want := range map[slog.Level]string{
		slog.LevelInfo:  "",
		slog.LevelDebug: `level=DEBUG msg="redis library" says="pool: dial 127.0.0.1:1: refused"`,
	} {
		var out bytes.Buffer
		l := redisLog{slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: level}))}
		l.Printf(t.Context(), "pool: dial %s: %s", "127.0.0.1:1", "refused")
		if got := out.String(); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("at %v: %q", level, got)
		}
	}
}
