package blob

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// List implements Store. It reads only the folders that can hold a key of the page.
func (d *Directory) List(ctx context.Context, prefix, after string, max int) ([]string, error) {
	if err := checkPrefix(prefix); err != nil {
		return nil, err
	}
	page := &page{prefix: prefix, after: after, max: max}
	if err := d.list(ctx, "", page); err != nil {
		return nil, fmt.Errorf("list %s: %w", prefix, err)
	}
	return page.keys, nil
}

// page collects keys in byte order until it is full.
type page struct {
	prefix, after string
	max           int
	keys          []string
}

func (p *page) full() bool { return len(p.keys) >= p.max }

func (p *page) add(key string) {
	if strings.HasPrefix(key, p.prefix) && key > p.after {
		p.keys = append(p.keys, key)
	}
}

// mayHold tells whether a key under folder ("a/b/") can be wanted.
func (p *page) mayHold(folder string) bool {
	if !strings.HasPrefix(folder, p.prefix) && !strings.HasPrefix(p.prefix, folder) {
		return false
	}
	return folder > p.after || strings.HasPrefix(p.after, folder)
}

func (d *Directory) list(ctx context.Context, folder string, p *page) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	entries, err := os.ReadDir(filepath.Join(d.path, folder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// Keys below a folder go on with a slash, which sorts behind "-" and ".".
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		switch {
		case strings.HasPrefix(e.Name(), "."):
		case e.IsDir():
			names = append(names, e.Name()+"/")
		case e.Type().IsRegular():
			names = append(names, e.Name())
		}
	}
	sort.Strings(names)
	for _, name := range names {
		key := folder + name
		switch {
		case p.full():
			return nil
		case !strings.HasSuffix(name, "/"):
			p.add(key)
		case p.mayHold(key):
			if err := d.list(ctx, key, p); err != nil {
				return err
			}
		}
	}
	return nil
}
