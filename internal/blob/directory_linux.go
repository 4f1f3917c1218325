package blob

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// tmpDir holds objects that are being written; no key can lead there.
const (
	tmpDir    = ".tmp"
	tmpMaxAge = 24 * time.Hour // older ones are what a crash left behind
)

// Directory is a Store in a local directory: the key is the path. It never follows
// a symbolic link below the directory, see openat2(2). Several processes may use
// one directory at the same time.
type Directory struct {
	path string
	root *os.File
	tmp  *os.File
}

// NewDirectory opens the store, making the directory where it is missing.
func NewDirectory(dir string) (*Directory, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open blob directory: %w", err)
	}
	if err := os.MkdirAll(filepath.Join(dir, tmpDir), 0o750); err != nil {
		return nil, fmt.Errorf("open blob directory: %w", err)
	}
	root, err := os.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("open blob directory: %w", err)
	}
	d := &Directory{path: dir, root: root}
	if d.tmp, err = d.openDir(tmpDir); err != nil {
		_ = root.Close()
		return nil, fmt.Errorf("open blob directory: %w", err)
	}
	if err := d.sweep(time.Now().Add(-tmpMaxAge)); err != nil {
		return nil, errors.Join(fmt.Errorf("clean blob directory: %w", err), d.Close())
	}
	return d, nil
}

// Close gives the directory's descriptors back. No method may be called after it.
func (d *Directory) Close() error { return errors.Join(d.root.Close(), d.tmp.Close()) }

// sweep removes unfinished objects that were last written before the time.
func (d *Directory) sweep(before time.Time) error {
	entries, err := os.ReadDir(filepath.Join(d.path, tmpDir))
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || !info.ModTime().Before(before) {
			continue // gone, or not ours
		}
		if err := unix.Unlinkat(int(d.tmp.Fd()), e.Name(), 0); err != nil && !errors.Is(err, unix.ENOENT) {
			return err
		}
	}
	return nil
}

// Put implements Store: written beside, synced, renamed, and then every folder on the
// way synced. The folders come last: a journal that has the object by then has new
// ones too, so that two commits do where one for each folder did. And all of them,
// since a folder that is there may have been made by a Put that has not come so far.
func (d *Directory) Put(ctx context.Context, key string, r io.Reader, size int64, _ string) error {
	if err := CheckKey(key); err != nil {
		return err
	}
	if err := d.put(ctx, key, r, size); err != nil {
		return fmt.Errorf("put %s: %w", key, err)
	}
	return nil
}

func (d *Directory) put(ctx context.Context, key string, r io.Reader, size int64) (err error) {
	name := rand.Text()
	fd, err := unix.Openat(int(d.tmp.Fd()), name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0o640)
	if err != nil {
		return fmt.Errorf("create: %w", err)
	}
	f := os.NewFile(uintptr(fd), name)
	defer func() {
		if err != nil {
			err = errors.Join(err, ignore(unix.Unlinkat(int(d.tmp.Fd()), name, 0), unix.ENOENT))
		}
	}()
	_, err = io.Copy(f, newExact(ctx, r, size))
	var dir *os.File
	if err == nil {
		dir, err = d.makeDir(path.Dir(key))
	}
	if err == nil {
		defer dir.Close()
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := unix.Renameat(int(d.tmp.Fd()), name, int(dir.Fd()), path.Base(key)); err != nil {
		return fmt.Errorf("rename: %w", err)
	}
	return d.syncDirs(path.Dir(key))
}

// syncDirs makes a folder and all above it durable, which costs nothing for those
// that have not changed.
func (d *Directory) syncDirs(rel string) error {
	for ; ; rel = path.Dir(rel) {
		dir, err := d.openDir(rel)
		if err == nil {
			err = errors.Join(dir.Sync(), dir.Close())
		}
		if err != nil {
			return fmt.Errorf("sync folder: %w", err)
		}
		if rel == "." {
			return nil
		}
	}
}

// openDir opens a folder below the root.
func (d *Directory) openDir(rel string) (*os.File, error) {
	fd, err := d.openBeneath(rel, unix.O_RDONLY|unix.O_DIRECTORY)
	return newFile(fd, rel), wrapPath("open", rel, err)
}

// makeDir opens a folder below the root and makes what is missing of the way there.
func (d *Directory) makeDir(rel string) (*os.File, error) {
	dir, err := d.openDir(rel)
	if !errors.Is(err, unix.ENOENT) {
		return dir, err
	}
	parent, err := d.makeDir(path.Dir(rel))
	if err != nil {
		return nil, err
	}
	defer parent.Close()
	if err := unix.Mkdirat(int(parent.Fd()), path.Base(rel), 0o750); err != nil && !errors.Is(err, unix.EEXIST) {
		return nil, wrapPath("mkdir", rel, err)
	}
	return d.openDir(rel)
}

func (d *Directory) openBeneath(rel string, flags uint64) (int, error) {
	for {
		fd, err := unix.Openat2(int(d.root.Fd()), rel, &unix.OpenHow{
			Flags:   flags | unix.O_CLOEXEC | unix.O_NOFOLLOW | unix.O_NONBLOCK,
			Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
		})
		// EAGAIN: a rename elsewhere raced with the walk; the manual says to try again.
		if !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.EAGAIN) {
			return fd, err
		}
	}
}

// Get implements Store.
func (d *Directory) Get(ctx context.Context, key string) (io.ReadCloser, int64, error) {
	f, size, err := d.open(ctx, key)
	if err != nil {
		return nil, 0, fmt.Errorf("get %s: %w", key, err)
	}
	return f, size, nil
}

// Stat implements Store.
func (d *Directory) Stat(ctx context.Context, key string) (int64, error) {
	f, size, err := d.open(ctx, key)
	if err != nil {
		return 0, fmt.Errorf("stat %s: %w", key, err)
	}
	return size, f.Close()
}

// open opens a regular file; O_NONBLOCK above keeps a planted fifo from hanging us.
func (d *Directory) open(ctx context.Context, key string) (*os.File, int64, error) {
	if err := CheckKey(key); err != nil {
		return nil, 0, err
	}
	if ctx.Err() != nil {
		return nil, 0, context.Cause(ctx)
	}
	fd, err := d.openBeneath(key, unix.O_RDONLY)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) {
		return nil, 0, ErrNotFound
	}
	if err != nil {
		return nil, 0, wrapPath("open", key, err)
	}
	f := newFile(fd, key)
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, 0, errors.Join(err, f.Close())
	case info.IsDir():
		return nil, 0, errors.Join(ErrNotFound, f.Close())
	case !info.Mode().IsRegular():
		return nil, 0, errors.Join(fmt.Errorf("is no regular file but %v", info.Mode()), f.Close())
	}
	return f, info.Size(), nil
}

// Delete implements Store. Folders stay: removing them would race with Put.
func (d *Directory) Delete(ctx context.Context, key string) error {
	if err := CheckKey(key); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	dir, err := d.openDir(path.Dir(key))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("delete %s: %w", key, err)
	}
	defer dir.Close()
	switch err := unix.Unlinkat(int(dir.Fd()), path.Base(key), 0); {
	case err == nil:
		return dir.Sync()
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.EISDIR):
		return nil
	default:
		return fmt.Errorf("delete %s: %w", key, err)
	}
}

// Ready implements Store: it writes and removes a small file.
func (d *Directory) Ready(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	const fix = "make it writable for this user and free some space, or choose another directory"
	name := filepath.Join(d.path, tmpDir, "ready-"+rand.Text())
	if err := os.WriteFile(name, []byte("ready\n"), 0o600); err != nil {
		return fmt.Errorf("write to blob directory %s: %w; %s", d.path, err, fix)
	}
	return os.Remove(name)
}

func newFile(fd int, name string) *os.File {
	if fd < 0 {
		return nil
	}
	return os.NewFile(uintptr(fd), name)
}

func wrapPath(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

func ignore(err, harmless error) error {
	if errors.Is(err, harmless) {
		return nil
	}
	return err
}
