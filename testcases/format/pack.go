package format

import (
	"archive/tar"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"judgefarm/testcases"
	"judgefarm/testcases/format/packed"
	"judgefarm/testcases/format/plain"
)

// PackProblem writes the problem in the one form that farms keep, whatever format it
// was read from: see packed.Write.
func PackProblem(p *testcases.Problem, w io.Writer) error { return packed.Write(w, p) }

// Pack writes the package in dir as a tar.gz that depends on the names and bytes
// of its files alone: names sorted, one mode, one owner, one date. So a package
// travels under the digest of its archive. Links and devices are refused; what
// systems and editors leave behind is left out. It does not validate: Open does.
func Pack(dir string, w io.Writer) error {
	names, err := packable(Options{}.locate(dir))
	if err != nil {
		return fmt.Errorf("pack problem: %w", err)
	}
	root, err := os.OpenRoot(Options{}.locate(dir))
	if err != nil {
		return fmt.Errorf("pack problem: %w", err)
	}
	defer root.Close()
	z := gzip.NewWriter(w)
	t := tar.NewWriter(z)
	for _, name := range names {
		if err := add(t, root, name); err != nil {
			return fmt.Errorf("pack problem: %w", err)
		}
	}
	if err := t.Close(); err != nil {
		return fmt.Errorf("pack problem: %w", err)
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("pack problem: %w", err)
	}
	return nil
}

// packable lists the files of a package in byte order of their names.
func packable(dir string) ([]string, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || path == dir:
			return err
		case plain.Noise(d.Name()):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			return nil
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		if !d.Type().IsRegular() {
			return refuse(name, "must be a regular file: links and devices are refused")
		}
		names = append(names, name)
		return nil
	})
	slices.Sort(names)
	return names, err
}

func add(t *tar.Writer, root *os.Root, name string) error {
	f, err := root.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: info.Size(), Mode: 0o644, ModTime: time.Unix(0, 0)}
	if err := t.WriteHeader(h); err != nil {
		return err
	}
	_, err = io.Copy(t, f)
	return err
}
