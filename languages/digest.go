package languages

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

// identity tells whether a file is still the one that was hashed. The change
// time is in it because a program can set the modification time back.
type identity struct {
	dev, ino     uint64
	size         int64
	mtime, ctime syscall.Timespec
}

// hashed is the digest of one path.
type hashed struct {
	mu  sync.Mutex // held while hashing, so that nobody hashes the same file beside
	id  identity
	sum string
}

// hasher keeps the digests of files for the life of the process: a compiler of
// 35 MB is read once, then stat tells that it is the same.
type hasher struct {
	mu    sync.Mutex
	files map[string]*hashed // by host path; bounded by the files that definitions name
}

// file returns the sha256 of a regular file's content.
func (h *hasher) file(ctx context.Context, host string) (string, error) {
	h.mu.Lock()
	if h.files == nil {
		h.files = map[string]*hashed{}
	}
	e := h.files[host]
	if e == nil {
		e = &hashed{}
		h.files[host] = e
	}
	h.mu.Unlock()

	e.mu.Lock()
	defer e.mu.Unlock()
	var st syscall.Stat_t
	if err := syscall.Stat(host, &st); err != nil {
		return "", &fs.PathError{Op: "stat", Path: host, Err: err}
	}
	id := identity{uint64(st.Dev), st.Ino, st.Size, st.Mtim, st.Ctim}
	if e.sum != "" && e.id == id {
		return e.sum, nil
	}
	sum, err := hashFile(ctx, host)
	if err != nil {
		return "", err
	}
	e.id, e.sum = id, sum
	return sum, nil
}

func hashFile(ctx context.Context, host string) (string, error) {
	f, err := os.Open(host)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, &cancelable{ctx, f}); err != nil {
		return "", fmt.Errorf("hash %s: %w", host, err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// cancelable ends a long read with its context.
type cancelable struct {
	ctx context.Context // lives for one copy
	r   io.Reader
}

func (c *cancelable) Read(p []byte) (int, error) {
	if c.ctx.Err() != nil {
		return 0, context.Cause(c.ctx)
	}
	return c.r.Read(p)
}

// write adds a file, or everything below a directory, to w under its name in the
// box. Links below a directory count as what they say, not as what they lead to.
func (h *hasher) write(ctx context.Context, w io.Writer, name, host string) error {
	return filepath.WalkDir(host, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		label := name + p[len(host):]
		switch {
		case d.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(p)
			if err != nil {
				return err
			}
			fmt.Fprintf(w, "link %q %q\n", label, target)
		case d.Type().IsRegular():
			sum, err := h.file(ctx, p)
			if err != nil {
				return err
			}
			fmt.Fprintf(w, "file %q %s\n", label, sum)
		}
		return nil
	})
}
