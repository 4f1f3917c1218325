package languages

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
)

// Bounds of a root that comes as a tar.
const (
	maxRootBytes   = 32 << 30
	maxRootEntries = 2_000_000
)

// roots turns environment.root into a host directory.
type roots struct {
	cfg ProberConfig
	mu  sync.Mutex // one root is unpacked at a time
}

// dir returns the host directory of a root: "" for "", the directory itself, or
// the place where the tar of a digest is unpacked, unpacking it at first use.
// What is not there wraps fs.ErrNotExist.
func (r *roots) dir(ctx context.Context, root string) (string, error) {
	hexDigest, isTar := strings.CutPrefix(root, "sha256:")
	if root == "" {
		return "", nil
	}
	if !isTar {
		info, err := os.Stat(root)
		if err == nil && !info.IsDir() {
			err = fmt.Errorf("root %s: is no directory", root)
		}
		return root, err
	}
	if r.cfg.Roots == "" || r.cfg.Cache == "" {
		return "", fmt.Errorf("root %s: no directory of roots is configured: %w", root, fs.ErrNotExist)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	dir := filepath.Join(r.cfg.Cache, "roots", hexDigest)
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	for _, suffix := range []string{".tar", ".tar.gz"} {
		file := filepath.Join(r.cfg.Roots, hexDigest+suffix)
		if _, err := os.Stat(file); err == nil {
			return dir, unpackRoot(ctx, file, hexDigest, dir)
		}
	}
	return "", fmt.Errorf("root %s.tar in %s: %w", hexDigest, r.cfg.Roots, fs.ErrNotExist)
}

// unpackRoot unpacks beside dir and renames into place when all is there and the
// digest is right, so that a directory with the digest's name is always whole.
func unpackRoot(ctx context.Context, file, want, dir string) (err error) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return fmt.Errorf("unpack root: %w", err)
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), ".unpack-")
	if err != nil {
		return fmt.Errorf("unpack root: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	f, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("unpack root: %w", err)
	}
	defer f.Close()
	sum := sha256.New()
	src := bufio.NewReaderSize(io.TeeReader(&cancelable{ctx, f}, sum), 1<<20)
	var content io.Reader = src
	if magic, _ := src.Peek(2); string(magic) == "\x1f\x8b" {
		if content, err = gzip.NewReader(src); err != nil {
			return fmt.Errorf("unpack root %s: %w", file, err)
		}
	}
	if err := unpack(tar.NewReader(content), tmp); err != nil {
		return fmt.Errorf("unpack root %s: %w", file, err)
	}
	if _, err := io.Copy(io.Discard, src); err != nil {
		return fmt.Errorf("unpack root %s: %w", file, err)
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != want {
		return fmt.Errorf("unpack root %s: its digest is %s", file, got)
	}
	if err := os.Chmod(tmp, 0o755); err != nil {
		return fmt.Errorf("unpack root: %w", err)
	}
	if err := os.Rename(tmp, dir); err != nil {
		return fmt.Errorf("unpack root: %w", err)
	}
	return nil
}

// unpack writes a tar's entries below dir and nowhere else: os.Root refuses
// every path that leaves it, by ".." or through a link. Owners are not kept,
// everything is readable by all and nothing is set-user-id. Devices and pipes are
// refused, but for those below dev, which a box makes for itself.
func unpack(tr *tar.Reader, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	var total int64
	for n := 0; ; n++ {
		h, err := tr.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		total += h.Size
		if n > maxRootEntries || total > maxRootBytes {
			return fmt.Errorf("more than %d entries or %d bytes", maxRootEntries, int64(maxRootBytes))
		}
		if err := unpackEntry(root, h, tr); err != nil {
			return fmt.Errorf("entry %q: %w", h.Name, err)
		}
	}
}

func unpackEntry(root *os.Root, h *tar.Header, content io.Reader) error {
	name := strings.TrimPrefix(path.Clean("./"+h.Name), "/")
	if name == "." || name == "dev" || strings.HasPrefix(name, "dev/") {
		return nil
	}
	if h.Typeflag != tar.TypeDir {
		if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
			return err
		}
		if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	switch h.Typeflag {
	case tar.TypeDir:
		if err := root.MkdirAll(name, 0o755); err != nil {
			return err
		}
		return root.Chmod(name, 0o755) // whatever the umask is
	case tar.TypeSymlink:
		return root.Symlink(h.Linkname, name)
	case tar.TypeLink:
		return root.Link(strings.TrimPrefix(path.Clean("./"+h.Linkname), "/"), name)
	case tar.TypeReg:
		mode := fs.FileMode(0o644)
		if h.Mode&0o111 != 0 {
			mode = 0o755
		}
		f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if err != nil {
			return err
		}
		_, err = io.Copy(f, content)
		return errors.Join(err, f.Chmod(mode), f.Close())
	}
	return fmt.Errorf("type %q is refused", h.Typeflag)
}
