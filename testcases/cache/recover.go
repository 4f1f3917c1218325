package cache

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"judgefarm/internal/blob"
	"judgefarm/testcases/format"
)

// recover lists what an earlier process left, in the order of its last use. Nothing
// is read yet: comparing gigabytes with their digests would hold up the start.
func (c *Cache) recover() error {
	folders, err := os.ReadDir(c.cfg.Dir)
	if err != nil {
		return err
	}
	type leftover struct {
		*entry
		used time.Time
	}
	var found []leftover
	for _, folder := range folders {
		if !folder.IsDir() {
			continue
		}
		dir := filepath.Join(c.cfg.Dir, folder.Name())
		e, used, err := inspect(dir)
		if err == nil {
			found = append(found, leftover{e, used})
			continue
		}
		// Most often a fetch that a crash cut short.
		c.cfg.Log.Info("cached problem dropped", "directory", dir, "cause", err)
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	slices.SortFunc(found, func(a, b leftover) int { return a.used.Compare(b.used) })
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range found {
		c.used += l.size
		if twin := c.entries[l.digest]; twin != nil {
			c.dropLocked(twin)
		}
		c.entries[l.digest] = l.entry
		c.pinLocked(l.entry, 0)
	}
	for c.used > int64(c.cfg.MaxBytes) { // the bound may be lower than before
		oldest := c.oldestLocked()
		if oldest == nil {
			return fmt.Errorf("%s cannot be emptied: remove it by hand", c.cfg.Dir)
		}
		c.dropLocked(oldest)
	}
	c.cfg.Metrics.size(c.used, len(c.entries))
	return nil
}

// inspect looks at a folder from outside: what it is called, its note, its size.
func inspect(dir string) (*entry, time.Time, error) {
	digest, _, _ := strings.Cut(filepath.Base(dir), ".")
	if err := blob.CheckDigest(digest); err != nil {
		return nil, time.Time{}, err
	}
	info, err := os.Stat(filepath.Join(dir, noteFile))
	if err != nil {
		return nil, time.Time{}, err
	}
	e, err := newEntry(digest, dir, nil)
	return e, info.ModTime(), err
}

// inherit gives out what an earlier process left of the problem, if that is whole.
// The entry is counted out: makeRoom counts it in again.
func (c *Cache) inherit(ctx context.Context, digest string) *entry {
	c.mu.Lock()
	old := c.entries[digest]
	if old == nil || old.problem != nil {
		c.mu.Unlock()
		return nil
	}
	delete(c.entries, digest)
	c.used -= old.size
	c.mu.Unlock()
	e, err := c.reopen(ctx, digest, old.dir)
	if err == nil {
		e.touch()
		return e
	}
	c.cfg.Log.Warn("cached problem is damaged", "package", digestPrefix+digest, "error", err)
	if err := old.remove(); err != nil {
		c.cfg.Log.Error("remove cached problem", "directory", old.dir, "error", err)
	}
	return nil
}

// reopen reads a folder of an earlier process and compares its content with what
// was unpacked then: opening a problem hashes every byte that can change a verdict.
// What was made is found again, or made again when toolchains changed.
func (c *Cache) reopen(ctx context.Context, digest, dir string) (*entry, error) {
	doc, err := os.ReadFile(filepath.Join(dir, noteFile))
	if err != nil {
		return nil, err
	}
	var n note
	if err := json.Unmarshal(doc, &n); err != nil {
		return nil, err
	}
	p, err := format.Open(filepath.Join(dir, dataDir))
	if err != nil {
		return nil, err
	}
	if p, err = c.built(ctx, p, dir); err != nil {
		return nil, err
	}
	if p.Digest != n.Problem {
		return nil, errors.New("its content was changed")
	}
	p.ID = "" // format.Open names it for the folder
	return newEntry(digest, dir, p)
}
