package queue

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/redis/go-redis/v9"
)

// The defaults of Config.
const (
	DefaultPrefix = "jf"
	DefaultBound  = 100_000
	DefaultPoll   = 10 * time.Millisecond
)

// opTimeout bounds one operation when Redis does not answer.
const opTimeout = 3 * time.Second

// Config tells New and NewSource where the line is. Client or URL is needed, the
// rest has defaults. All processes of a farm use the same Prefix.
type Config struct {
	// Client is the connection to Redis; the caller closes it. Without it URL
	// (redis://, rediss:// or unix://) is opened, and Close closes that.
	Client redis.UniversalClient
	URL    string
	// Prefix names asynq's queue and is the hash tag of every key.
	Prefix string

	// Bound is the most jobs that wait, those handed to asynq included (New only).
	Bound int
	// Shallow is the most jobs in asynq that no worker has taken; they are past all
	// priority. 0 means as many as live workers announce slots, at least 2, and what
	// the farm takes in 50 ms (New only).
	Shallow int
	// Poll is how often an idle worker looks for work: 10 ms cost about 4 % of a
	// core and give 15 ms at worst (NewSource only).
	Poll time.Duration

	Logger *slog.Logger // slog.Default when nil
}

// conn is what Queue and Taker share: the connection, the keys and the scripts.
type conn struct {
	cfg    Config
	client redis.UniversalClient
	owned  bool
	keys   []string
	run    scripts
	hand   time.Duration // handTime; shorter in tests
	look   time.Duration // feedPoll; longer in tests
}

func connect(cfg Config) (conn, error) {
	if cfg.Prefix == "" {
		cfg.Prefix = DefaultPrefix
	}
	if cfg.Bound <= 0 {
		cfg.Bound = DefaultBound
	}
	if cfg.Poll <= 0 {
		cfg.Poll = DefaultPoll
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	c := conn{cfg: cfg, client: cfg.Client, keys: keysOf(cfg.Prefix), run: newScripts(), hand: handTime, look: feedPoll}
	if c.client != nil {
		return c, nil
	}
	if cfg.URL == "" {
		return conn{}, errors.New("connect queue: neither a client nor a redis URL is given")
	}
	opt, err := redis.ParseURL(cfg.URL)
	if err != nil {
		return conn{}, fmt.Errorf("parse redis URL: %w", err)
	}
	opt.DialTimeout, opt.ReadTimeout, opt.WriteTimeout = time.Second, 2*time.Second, 2*time.Second
	// Everything here may be done twice. The pause before a retry also keeps asynq,
	// which has none, from spinning while Redis loads its data.
	opt.MaxRetries, opt.MinRetryBackoff, opt.ContextTimeoutEnabled = 1, 100*time.Millisecond, true
	c.client, c.owned = redis.NewClient(opt), true
	return c, nil
}

// Close closes the connection when it was opened by New or NewSource, which must
// be idle: Feed and Take have returned.
func (c *conn) Close() error {
	if !c.owned {
		return nil
	}
	return c.client.Close()
}
