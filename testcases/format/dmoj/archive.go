package dmoj

import (
	"archive/zip"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"os"

	"judgefarm/testcases"
)

// Bounds of the archive with the package's data. Its files are looked at one by one,
// and only those that cases use.
const (
	maxEntries  = 200_000
	maxUnpacked = 4 << 30
	freeRatio   = 64 << 20 // so much is fine, whatever the archive's size
	maxRatio    = 300
)

// archive is the zip file that init.yml names.
type archive struct {
	name    string // of the package's file
	path    string
	size    int64
	entries map[string]*zip.File
	order   []string // of names, as the archive has them
	taken   int64    // bytes of the entries that are used
}

func (r *reader) readArchive() {
	n := r.top.get("archive")
	if n == nil {
		return
	}
	said := r.doc.Text(n, "archive")
	name := clean(said)
	if name == "" || !r.Has(name) {
		r.doc.Refuse(n, "archive %.100q is not in the package", said)
		return
	}
	r.used[name] = true
	a := &archive{name: name, path: r.Path(name), size: r.Size(name), entries: map[string]*zip.File{}}
	f, err := os.Open(a.path)
	if err != nil {
		r.Fail(err)
		return
	}
	r.closing = f
	z, err := zip.NewReader(f, a.size)
	switch {
	case err != nil && !errors.Is(err, zip.ErrInsecurePath):
		r.Refuse(name, "is no zip archive: %v", err)
		return
	case len(z.File) > maxEntries:
		r.Refuse(name, "must hold at most %d files, holds %d", maxEntries, len(z.File))
		return
	}
	for _, e := range z.File {
		if _, twice := a.entries[e.Name]; !twice {
			a.order = append(a.order, e.Name)
		}
		a.entries[e.Name] = e // the last one of a name counts, as it does for DMOJ
	}
	r.archive = a
}

// take is an entry of the archive as data.
func (r *reader) take(e *zip.File) (testcases.Data, error) {
	a := r.archive
	switch {
	case e.Method != zip.Store && e.Method != zip.Deflate:
		return nil, fmt.Errorf("is packed by method %d, which is not supported", e.Method)
	case e.Flags&1 != 0:
		return nil, errors.New("is encrypted, which is not supported")
	case e.UncompressedSize64 > maxUnpacked:
		return nil, fmt.Errorf("has %d bytes, more than %d", e.UncompressedSize64, int64(maxUnpacked))
	}
	a.taken += int64(e.UncompressedSize64)
	if a.taken > maxUnpacked || a.taken > freeRatio && a.taken > maxRatio*a.size {
		return nil, fmt.Errorf("would unpack to too much: the files of %s together may have 4 GiB, and beyond 64 MiB %d times its size", a.name, maxRatio)
	}
	offset, err := e.DataOffset()
	if err == nil {
		err = verify(e)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot be read: %w", err)
	}
	return entryData{a.path, offset, int64(e.CompressedSize64), int64(e.UncompressedSize64), e.Method == zip.Deflate}, nil
}

// entryData is an entry of a zip file, which is unpacked each time it is opened.
type entryData struct {
	path         string
	offset, used int64
	size         int64
	deflated     bool
}

func (d entryData) Size() int64 { return d.size }

func (d entryData) Open() (io.ReadCloser, error) {
	f, err := os.Open(d.path)
	if err != nil {
		return nil, fmt.Errorf("open test data: %w", err)
	}
	var r io.Reader = io.NewSectionReader(f, d.offset, d.used)
	if d.deflated {
		r = flate.NewReader(r)
	}
	return entryReader{io.LimitReader(r, d.size), f}, nil
}

type entryReader struct {
	io.Reader
	file *os.File
}

func (r entryReader) Close() error { return r.file.Close() }

// verify reports whether the archive's sum of an entry is that of its data.
func verify(e *zip.File) error {
	rc, err := e.Open()
	if err != nil {
		return err
	}
	defer rc.Close()
	n, err := io.Copy(io.Discard, io.LimitReader(rc, int64(e.UncompressedSize64)+1))
	if err == nil && uint64(n) != e.UncompressedSize64 {
		err = fmt.Errorf("has other than the %d bytes that the archive says", e.UncompressedSize64)
	}
	return err
}
