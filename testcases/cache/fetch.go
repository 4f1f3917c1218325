package cache

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"judgefarm/internal/blob"
	"judgefarm/judge"
	"judgefarm/testcases"
	"judgefarm/testcases/format"
)

// errDamaged: the store gave other bytes than the digest names.
var errDamaged = errors.New("does not match its digest")

// obtain fetches a package and unpacks it into a folder of its own, which is gone
// again after an error.
func (c *Cache) obtain(ctx context.Context, digest string) (e *entry, err error) {
	dir, err := os.MkdirTemp(c.cfg.Dir, digest+".")
	if err != nil {
		return nil, stored("make a folder for the problem: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	archive, size, err := c.download(ctx, digest, dir)
	if errors.Is(err, errDamaged) { // once more: it may have been damaged on the way
		archive, size, err = c.download(ctx, digest, dir)
	}
	if err != nil {
		return nil, sortOut(ctx, digest, err)
	}
	p, err := format.OpenArchive(archive, size, filepath.Join(dir, dataDir))
	err = errors.Join(err, archive.Close(), os.Remove(archive.Name()))
	switch {
	case judge.IsBadRequest(err):
		return nil, broken("package %s%s is no problem: %w", digestPrefix, digest, err)
	case err != nil:
		return nil, stored("unpack problem: %w", err)
	}
	if p, err = c.built(ctx, p, dir); err != nil {
		return nil, err
	}
	if err := writeNote(dir, p); err != nil {
		return nil, stored("unpack problem: %w", err)
	}
	if e, err = newEntry(digest, dir, p); err != nil {
		return nil, stored("unpack problem: %w", err)
	}
	return e, nil
}

// built is the problem with all of its data: what the package has programs for is
// made beside it, so that it stays as long.
func (c *Cache) built(ctx context.Context, p *testcases.Problem, dir string) (*testcases.Problem, error) {
	switch {
	case !p.Pending():
		return p, nil
	case c.cfg.Build == nil:
		return nil, broken("problem %s needs its generators or solutions run, and nothing here runs them", p.Digest)
	}
	return c.cfg.Build(ctx, p, filepath.Join(dir, madeDir))
}

// download spools the package into dir and checks its digest.
func (c *Cache) download(ctx context.Context, digest, dir string) (f *os.File, size int64, err error) {
	r, size, err := c.cfg.Store.Get(ctx, blob.ContentKey(digest))
	if err != nil {
		return nil, 0, err
	}
	defer r.Close()
	if size > int64(c.cfg.MaxBytes) {
		return nil, 0, fmt.Errorf("package has %d bytes, the cache may hold %d: raise its bound", size, c.cfg.MaxBytes)
	}
	f, err = os.OpenFile(filepath.Join(dir, "package"), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, 0, err
	}
	sum := sha256.New()
	// One byte more than stated is enough to know that something is wrong.
	n, err := io.Copy(io.MultiWriter(f, sum), io.LimitReader(r, size+1))
	if err == nil && (n != size || hex.EncodeToString(sum.Sum(nil)) != digest) {
		err = errDamaged
	}
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, size, nil
}

// sortOut tells faults of the problem from faults of the store.
func sortOut(ctx context.Context, digest string, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, blob.ErrNotFound):
		return broken("package %s%s is not in the blob store: %w", digestPrefix, digest, err)
	case errors.Is(err, errDamaged):
		return broken("package %s%s is damaged in the blob store: %w", digestPrefix, digest, err)
	}
	return stored("fetch package %s%s: %w", digestPrefix, digest, err)
}
