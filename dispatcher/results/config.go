package results

import (
	"log/slog"
	"time"

	"github.com/redis/go-redis/v9"
)

// The defaults of Config.
const (
	DefaultPrefix      = "jf"
	DefaultMaxAttempts = 3
	DefaultRetention   = 24 * time.Hour
	DefaultKeep        = 200_000
	DefaultMaxEvents   = 10_000
	DefaultMaxProblems = 100_000
	DefaultMaxVersions = 100
)

// Config tells NewMemory and NewRedis what to keep and for how long. The zero
// value is good for NewMemory; NewRedis needs Client or URL.
type Config struct {
	// Client is the connection of a Redis store; the caller closes it. Without it
	// NewRedis opens URL (redis://, rediss:// or unix://) and Close closes that.
	Client redis.UniversalClient
	URL    string
	// Prefix is the hash tag of every key, so that all of them share one cluster
	// slot and one script may touch several.
	Prefix string

	MaxAttempts int           // attempts charged before a submission becomes failed
	Retention   time.Duration // how long a final record can be read
	Keep        int           // how many final records are kept; the oldest go first
	MaxEvents   int           // case events kept of one attempt; later ones show in the final judgement only

	MaxProblems int // names of problems; one more is refused
	MaxVersions int // kept of one problem; the oldest go first

	Now    func() time.Time // the caller's clock; time.Now when nil
	Logger *slog.Logger     // slog.Default when nil
}

func (c Config) withDefaults() Config {
	if c.Prefix == "" {
		c.Prefix = DefaultPrefix
	}
	if c.MaxAttempts <= 0 {
		c.MaxAttempts = DefaultMaxAttempts
	}
	if c.Retention <= 0 {
		c.Retention = DefaultRetention
	}
	if c.Keep <= 0 {
		c.Keep = DefaultKeep
	}
	if c.MaxEvents <= 0 {
		c.MaxEvents = DefaultMaxEvents
	}
	if c.MaxProblems <= 0 {
		c.MaxProblems = DefaultMaxProblems
	}
	if c.MaxVersions <= 0 {
		c.MaxVersions = DefaultMaxVersions
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return c
}
