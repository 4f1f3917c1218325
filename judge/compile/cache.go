package compile

import (
	"container/list"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"judgefarm/judge"
	"judgefarm/judge/sandbox"
)

// touchEvery is how often a use of an entry is written to disk: the order of use
// after a restart need not be finer.
const touchEvery = time.Minute

// cache keeps outcomes on disk, the least recently used go first. Below dir:
// entries/<key>/ are whole, tmp/ is what is being written or removed.
type cache struct {
	dir   string
	max   int64
	clock func() time.Time
	log   *slog.Logger
	lock  *os.File

	mu      sync.Mutex
	entries map[string]*entry
	order   *list.List // of *entry, the most recently used first
	size    int64
}

// entry is one outcome on disk.
type entry struct {
	dir  string
	meta meta

	verify sync.Once // entries of an earlier process are read once before use
	broken error

	// guarded by cache.mu
	pins    int
	at      *list.Element // nil once it is out of the cache
	touched time.Time
}

func (e *entry) exeDir() string { return filepath.Join(e.dir, exeName) }

// touch writes the time of the last use for a later process. The order of use is
// all that is lost when it fails.
func (e *entry) touch(dir string) {
	_ = os.Chtimes(filepath.Join(dir, metaName), e.touched, e.touched)
}

func openCache(dir string, max judge.Bytes, clock func() time.Time, log *slog.Logger) (*cache, error) {
	c := &cache{dir: dir, max: int64(max), clock: clock, log: log, entries: map[string]*entry{}, order: list.New()}
	for _, d := range []string{dir, c.path("entries"), c.path("tmp"), c.path("versions")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return nil, err
		}
		if err := os.Chmod(d, 0o755); err != nil {
			return nil, err
		}
	}
	if err := checkReachable(dir); err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(c.path("lock"), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("%s is in use by another process; give each its own directory: %w", dir, err), lock.Close())
	}
	c.lock = lock
	if err := c.load(); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return c, nil
}

// checkReachable names the directory that keeps the boxes' users out. They are
// other users only when this process is root.
func checkReachable(dir string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	for d := dir; ; d = filepath.Dir(d) {
		info, err := os.Stat(d)
		if err != nil {
			return err
		}
		if info.Mode()&0o001 == 0 {
			return fmt.Errorf("boxes cannot reach %s through %s: chmod o+x %s, or choose another directory", dir, d, d)
		}
		if d == "/" {
			return nil
		}
	}
}

func (c *cache) path(parts ...string) string {
	return filepath.Join(append([]string{c.dir}, parts...)...)
}

// load takes over what an earlier process left, and removes what is not whole.
func (c *cache) load() error {
	left, err := os.ReadDir(c.path("tmp"))
	if err != nil {
		return err
	}
	for _, d := range left {
		if err := os.RemoveAll(c.path("tmp", d.Name())); err != nil {
			return err
		}
	}
	dirs, err := os.ReadDir(c.path("entries"))
	if err != nil {
		return err
	}
	var found []*entry
	for _, d := range dirs {
		e := &entry{dir: c.path("entries", d.Name())}
		if e.meta, err = readMeta(e.dir, d.Name()); err == nil {
			var info os.FileInfo
			if info, err = os.Stat(filepath.Join(e.dir, metaName)); err == nil {
				e.touched = info.ModTime()
				found = append(found, e)
				continue
			}
		}
		if err := os.RemoveAll(e.dir); err != nil {
			return err
		}
	}
	slices.SortFunc(found, func(a, b *entry) int { return a.touched.Compare(b.touched) })
	for _, e := range found {
		c.addLocked(e)
	}
	c.remove(c.evictLocked())
	return nil
}

// pin returns the entry of a key, kept until unpin, or nil.
func (c *cache) pin(key string) *entry {
	c.mu.Lock()
	e := c.entries[key]
	if e == nil {
		c.mu.Unlock()
		return nil
	}
	e.pins++
	c.order.MoveToFront(e.at)
	touch := c.clock().Sub(e.touched) > touchEvery
	if touch {
		e.touched = c.clock()
	}
	c.mu.Unlock()

	e.verify.Do(func() { e.broken = e.meta.verify(e.exeDir()) })
	if e.broken != nil {
		c.drop(e)
		return nil
	}
	if touch {
		e.touch(e.dir)
	}
	return e
}

// repin adds a pin to an entry that is pinned.
func (c *cache) repin(e *entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e.pins++
}

// unpin takes a pin back. What does not fit any more is removed.
func (c *cache) unpin(e *entry) {
	c.mu.Lock()
	e.pins--
	dirs := c.evictLocked()
	c.mu.Unlock()
	c.remove(dirs)
}

// drop takes a broken entry out of the cache together with the caller's pin.
func (c *cache) drop(e *entry) {
	c.mu.Lock()
	e.pins--
	var dirs []string
	if e.at != nil {
		dirs = c.takeOutLocked(e)
	}
	c.mu.Unlock()
	c.remove(dirs)
}

// store writes an outcome under its key and returns it pinned. What is there already
// stays and is returned: a compile that everybody has left may store its outcome while
// the same is compiled again.
func (c *cache) store(key string, m meta, files []sandbox.Collected) (*entry, error) {
	m.Key = key
	tmp, err := os.MkdirTemp(c.path("tmp"), "new-")
	if err != nil {
		return nil, err
	}
	e := &entry{dir: c.path("entries", key), touched: c.clock()}
	if err := writeEntry(tmp, &m, files); err != nil {
		return nil, errors.Join(err, os.RemoveAll(tmp))
	}
	e.touch(tmp)
	e.verify.Do(func() {}) // written by us just now
	e.meta = m
	c.mu.Lock()
	if have := c.entries[key]; have != nil {
		have.pins++
		c.mu.Unlock()
		c.remove([]string{tmp})
		return have, nil
	}
	if err := os.Rename(tmp, e.dir); err != nil {
		c.mu.Unlock()
		return nil, errors.Join(err, os.RemoveAll(tmp))
	}
	e.pins = 1
	c.addLocked(e)
	dirs := c.evictLocked()
	c.mu.Unlock()
	c.remove(dirs)
	return e, nil
}

func (c *cache) addLocked(e *entry) {
	e.at = c.order.PushFront(e)
	c.entries[e.meta.Key] = e
	c.size += e.meta.bytes()
}

// evictLocked takes out what is beyond the bound and returns the directories to
// remove. What is pinned stays.
func (c *cache) evictLocked() []string {
	var dirs []string
	for at := c.order.Back(); at != nil && c.size > c.max; {
		e := at.Value.(*entry)
		at = at.Prev()
		if e.pins == 0 {
			dirs = append(dirs, c.takeOutLocked(e)...)
		}
	}
	return dirs
}

// takeOutLocked forgets an entry and moves its directory aside, so that its key
// is free at once.
func (c *cache) takeOutLocked(e *entry) []string {
	c.order.Remove(e.at)
	e.at = nil
	delete(c.entries, e.meta.Key)
	c.size -= e.meta.bytes()
	aside, err := os.MkdirTemp(c.path("tmp"), "old-")
	if err == nil {
		err = os.Rename(e.dir, filepath.Join(aside, "entry"))
	}
	if err != nil {
		return []string{e.dir}
	}
	return []string{aside}
}

// remove deletes directories that are out of the cache. The next load tries
// again, so a failure costs disk and no result.
func (c *cache) remove(dirs []string) {
	for _, d := range dirs {
		if err := os.RemoveAll(d); err != nil {
			c.log.Warn("cannot remove evicted executable", "error", err)
		}
	}
}

func (c *cache) close() error { return c.lock.Close() }
