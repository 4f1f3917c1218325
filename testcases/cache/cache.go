// Package cache keeps problems on a worker's disk, by the digest of their package.
// It fetches a package once, however many ask, checks it against its digest, unpacks
// it through testcases/format and gives out the problem until its user releases it.
// It does not know which version of a problem is current: the submission does.
//
//	Get --there and whole--------------------> pinned
//	    --there but damaged--> dropped --.
//	    --missing------------------------+--> fetch (one for all) --> room made --> pinned
//	    --of an earlier process--> compared with its digest --whole--^
package cache

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"judgefarm/internal/blob"
	"judgefarm/judge"
	"judgefarm/testcases"

	"golang.org/x/sys/unix"
)

// DefaultMaxBytes is Config.MaxBytes where it is not stated.
const DefaultMaxBytes = 8 * judge.GiB

// digestPrefix begins a package's name, as judge.Admitted.Package has it.
const digestPrefix = "sha256:"

// Config is what a cache needs.
type Config struct {
	Store blob.Store // has the packages under their blob.ContentKey
	// Dir is the cache's own directory, made when it is missing; one process uses it at a time.
	Dir string
	// MaxBytes bounds the unpacked problems; 0 means 8 GiB. Up to two packages that are
	// being fetched come on top. When problems in use take all of it, Get waits.
	MaxBytes judge.Bytes
	// Build makes, in dir, the data that a package holds programs for, and returns a
	// problem that is not pending; testcases/build has it. Its errors are handed on.
	// nil refuses such packages.
	Build   func(ctx context.Context, p *testcases.Problem, dir string) (*testcases.Problem, error)
	Metrics *Metrics     // nil measures nothing
	Log     *slog.Logger // nil means slog.Default()
}

// Cache is safe for concurrent use.
type Cache struct {
	cfg   Config
	lock  *os.File
	fetch chan struct{} // one slot for each package that may be fetched at one time

	stop    context.CancelCauseFunc
	ctx     context.Context // ends with Close; under it run the fetches
	running sync.WaitGroup

	mu      sync.Mutex
	entries map[string]*entry // by digest
	flights map[string]*flight
	clock   int64         // rises with each use
	used    int64         // bytes of all entries on disk, dropped ones in use included
	freed   chan struct{} // closed and replaced when a release may have made room
}

var errClosed = errors.New("problem cache is closed")

// New opens the cache and takes over what an earlier process left there. A problem
// of that process is first given out after its whole content was compared with what
// was unpacked then; what is damaged is fetched again.
func New(cfg Config) (*Cache, error) {
	if cfg.Store == nil || cfg.Dir == "" || cfg.MaxBytes < 0 {
		return nil, fmt.Errorf("open problem cache: needs a blob store, a directory and no negative bound")
	}
	if cfg.MaxBytes == 0 {
		cfg.MaxBytes = DefaultMaxBytes
	}
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	if cfg.Metrics == nil {
		cfg.Metrics = NewMetrics(nil)
	}
	// Answers lie in there: nobody else may read them.
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("open problem cache: %w", err)
	}
	lock, err := lockDir(cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("open problem cache %s: %w", cfg.Dir, err)
	}
	ctx, stop := context.WithCancelCause(context.Background())
	c := &Cache{
		cfg: cfg, lock: lock, fetch: make(chan struct{}, 2), ctx: ctx, stop: stop,
		entries: map[string]*entry{}, flights: map[string]*flight{}, freed: make(chan struct{}),
	}
	if err := c.recover(); err != nil {
		stop(errClosed)
		return nil, errors.Join(fmt.Errorf("open problem cache: %w", err), lock.Close())
	}
	return c, nil
}

// lockDir keeps two processes from evicting each other's problems; see flock(2).
func lockDir(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	switch {
	case errors.Is(err, unix.EWOULDBLOCK):
		return nil, errors.Join(errors.New("another process uses it; give this one a directory of its own"), f.Close())
	case err != nil:
		return nil, errors.Join(fmt.Errorf("lock: %w", err), f.Close())
	}
	return f, nil
}

// Close ends what is being fetched and gives the directory back. The problems stay
// for the next process. Call it when every problem is released.
func (c *Cache) Close() error {
	c.stop(errClosed)
	c.running.Wait()
	return c.lock.Close()
}

// Get returns the problem of a package ("sha256:" and 64 hex digits). It stays on
// disk until release, which may be called more than once. The problem is shared and
// has no ID. An error is a *judge.Failed or the cause of ctx's end: FailProblem, not
// retryable, when the package is missing, damaged in the store or no problem;
// FailStorage, retryable, when the store or this disk is at fault.
func (c *Cache) Get(ctx context.Context, pkg string) (p *testcases.Problem, release func(), err error) {
	digest, ok := strings.CutPrefix(pkg, digestPrefix)
	if !ok || blob.CheckDigest(digest) != nil {
		return nil, nil, broken("package %.80q is no sha256: digest", pkg)
	}
	e, result := c.take(digest), resultHit
	if e == nil {
		e, result, err = c.join(ctx, digest)
	}
	c.cfg.Metrics.asked(result)
	if err != nil {
		return nil, nil, err
	}
	return e.problem, c.releaser(e), nil
}

// take pins the entry of a digest, if there is one and its files are as they were.
func (c *Cache) take(digest string) *entry {
	c.mu.Lock()
	e := c.entries[digest]
	if e == nil || e.problem == nil {
		c.mu.Unlock()
		return nil
	}
	c.pinLocked(e, 1)
	c.mu.Unlock()
	err := e.whole()
	if err == nil {
		e.touch()
		return e
	}
	c.cfg.Log.Warn("cached problem is damaged", "package", digestPrefix+digest, "error", err)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dropLocked(e)
	c.unpinLocked(e)
	return nil
}

func (c *Cache) releaser(e *entry) func() {
	return sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.unpinLocked(e)
	})
}

func (c *Cache) pinLocked(e *entry, users int) {
	c.clock++
	e.users += users
	e.lastUse = c.clock
}

func (c *Cache) unpinLocked(e *entry) {
	e.users--
	if e.users == 0 && e.dropped {
		c.removeLocked(e)
	}
	close(c.freed)
	c.freed = make(chan struct{})
}

// dropLocked makes the entry unknown; its files go when nobody uses them.
func (c *Cache) dropLocked(e *entry) {
	if e.dropped {
		return
	}
	e.dropped = true
	if c.entries[e.digest] == e {
		delete(c.entries, e.digest)
	}
	if e.users == 0 {
		c.removeLocked(e)
	}
}

func (c *Cache) removeLocked(e *entry) {
	if err := os.RemoveAll(e.dir); err != nil {
		// It counts on, so that the bound holds; the next start tries again.
		c.cfg.Log.Error("remove cached problem", "directory", e.dir, "error", err)
		return
	}
	c.used -= e.size
	c.cfg.Metrics.size(c.used, len(c.entries))
}

// broken is a fault of the problem: no other worker fares better.
func broken(format string, args ...any) *judge.Failed {
	err := fmt.Errorf(format, args...)
	return &judge.Failed{Kind: judge.FailProblem, Reason: err.Error(), Err: err}
}

// stored is a fault of the store or of this disk.
func stored(format string, args ...any) *judge.Failed {
	err := fmt.Errorf(format, args...)
	return &judge.Failed{Kind: judge.FailStorage, Reason: err.Error(), Retryable: true, Err: err}
}
