package format

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"syscall"

	"judgefarm/judge"
	"judgefarm/testcases"
	"judgefarm/testcases/format/plain"
)

// bounds is what an archive may unpack to. Beyond small bytes the data may be at
// most ratio times the archive: a bomb is stopped long before total. There may be as
// many folders as files: a folder takes a block of the disk too.
type bounds struct {
	total, small, ratio int64
	files               int
}

// perEntry is what a tar has of a file beside its data: headers and padding.
const perEntry = 4 << 10

// standard holds packages as they are (gigabytes of tests, texts that compress a
// hundredfold) and little more.
var standard = bounds{total: 4 << 30, small: 64 << 20, ratio: 300, files: 50_000}

// data is how many bytes an archive of the size may unpack to.
func (b bounds) data(size int64) int64 {
	if size > b.total/b.ratio {
		return b.total
	}
	return max(b.small, size*b.ratio)
}

// OpenArchive unpacks an archive (zip, tar or tar.gz, told by its content) into
// dir and opens the package there; its data stays in dir. dir is made when it is
// missing and must be empty; after an error the caller removes it. The archive is
// taken as hostile: names that lead out, links, devices, names that occur twice
// and more data than the bounds allow are refused with a *judge.BadRequest whose
// fields are the archive's names. The problem has no ID.
func OpenArchive(r io.ReaderAt, size int64, dir string) (*testcases.Problem, error) {
	return Options{}.OpenArchive(r, size, dir)
}

// OpenArchive is the function OpenArchive with options.
func (o Options) OpenArchive(r io.ReaderAt, size int64, dir string) (*testcases.Problem, error) {
	return o.openArchive(r, size, dir, standard)
}

func (o Options) openArchive(r io.ReaderAt, size int64, dir string, b bounds) (*testcases.Problem, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("unpack problem: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("unpack problem: %w", err)
	}
	defer root.Close()
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		return nil, fmt.Errorf("unpack problem: %s is not an empty folder: %w", dir, errors.Join(err, os.ErrExist))
	}
	u := &unpacker{root: root, bounds: b, left: b.data(size), names: map[string]bool{}, folders: map[string]bool{}}
	if err := u.unpack(r, size); err != nil {
		return nil, err
	}
	return o.openFolder(dir, false)
}

// unpacker writes below root only: os.Root follows nothing out of it, whatever
// a name says.
type unpacker struct {
	root    *os.Root
	bounds  bounds
	left    int64 // bytes that may still be written
	names   map[string]bool
	folders map[string]bool // that are made for files
}

func (u *unpacker) unpack(r io.ReaderAt, size int64) error {
	head := make([]byte, 262)
	n, err := r.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("unpack problem: %w", err)
	}
	head = head[:n]
	whole := io.NewSectionReader(r, 0, size)
	switch {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")) || bytes.HasPrefix(head, []byte("PK\x05\x06")):
		return u.zip(r, size)
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		z, err := gzip.NewReader(whole)
		if err != nil {
			return broken(err)
		}
		// What is left out is read too, headers without end among it.
		return u.tar(&bounded{r: z, left: u.left + int64(u.bounds.files)*perEntry})
	case bytes.HasSuffix(head, []byte("ustar")):
		return u.tar(whole)
	}
	return refuse("package", "must be a folder, zip, tar or tar.gz")
}

func (u *unpacker) zip(r io.ReaderAt, size int64) error {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return broken(err)
	}
	for _, f := range z.File {
		name, skip, err := u.admit(f.Name, f.Mode(), int64(f.UncompressedSize64))
		if err != nil {
			return err
		}
		if skip {
			continue
		}
		content, err := f.Open()
		if err != nil {
			return broken(err)
		}
		err = u.write(name, content)
		content.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

func (u *unpacker) tar(r io.Reader) error {
	t := tar.NewReader(r)
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if errors.Is(err, errTooMuch) {
			return u.tooLarge("package")
		}
		if err != nil {
			return broken(err)
		}
		mode := h.FileInfo().Mode()
		switch h.Typeflag {
		case tar.TypeXGlobalHeader: // git archive writes one: no file
			continue
		case tar.TypeReg, tar.TypeDir:
		default: // hard links, sparse files and the rest look like regular files to FileInfo
			mode |= os.ModeIrregular
		}
		name, skip, err := u.admit(h.Name, mode, h.Size)
		if err != nil {
			return err
		}
		if skip {
			continue
		}
		if err := u.write(name, t); err != nil {
			return err
		}
	}
}

// admit decides on an entry before anything of it is read. Folders are made with
// the files in them, so they are skipped, as is what systems leave behind.
func (u *unpacker) admit(name string, mode os.FileMode, size int64) (clean string, skip bool, err error) {
	clean = strings.TrimSuffix(name, "/")
	for strings.HasPrefix(clean, "./") {
		clean = clean[2:]
	}
	if clean == "." && mode.IsDir() {
		return "", true, nil
	}
	if err := judge.CheckFileName(clean); err != nil {
		return "", false, refuse(show(name), "bad name: %v", err)
	}
	if mode.IsDir() {
		return "", true, nil
	}
	if !mode.IsRegular() || strings.HasSuffix(name, "/") {
		return "", false, refuse(clean, "must be a regular file or a folder: links and devices are refused")
	}
	for part := range strings.SplitSeq(clean, "/") {
		if plain.Noise(part) {
			return "", true, nil
		}
	}
	if u.names[clean] {
		return "", false, refuse(clean, "is in the archive twice")
	}
	u.names[clean] = true
	if len(u.names) > u.bounds.files {
		return "", false, refuse("package", "must have at most %d files", u.bounds.files)
	}
	for at := path.Dir(clean); at != "." && !u.folders[at]; at = path.Dir(at) {
		u.folders[at] = true
	}
	if len(u.folders) > u.bounds.files {
		return "", false, refuse("package", "must have at most %d folders", u.bounds.files)
	}
	if size < 0 || size > u.left {
		return "", false, u.tooLarge(clean)
	}
	return clean, false, nil
}

// write unpacks one file. The size that its header states is not trusted.
func (u *unpacker) write(name string, content io.Reader) error {
	if err := u.root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return clash(name, err)
	}
	f, err := u.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return clash(name, err)
	}
	defer f.Close()
	in := &source{r: content}
	n, err := io.Copy(f, io.LimitReader(in, u.left+1))
	u.left -= n
	switch {
	case u.left < 0 || errors.Is(in.err, errTooMuch):
		return u.tooLarge(name)
	case in.err != nil:
		return broken(in.err)
	case err != nil:
		return fmt.Errorf("unpack problem: %w", err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("unpack problem: %w", err)
	}
	return nil
}

// source remembers that reading failed: then the archive is at fault, where
// writing is ours.
type source struct {
	r   io.Reader
	err error
}

func (s *source) Read(b []byte) (int, error) {
	n, err := s.r.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

var errTooMuch = errors.New("too much")

// bounded fails where more than so many bytes are read.
type bounded struct {
	r    io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooMuch
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

func (u *unpacker) tooLarge(name string) error {
	return refuse(name, "unpacks to too much: a package may hold %d MiB, and beyond %d MiB at most %d times its archive",
		u.bounds.total>>20, u.bounds.small>>20, u.bounds.ratio)
}

// clash tells a name that is both a file and a folder from a fault of ours.
func clash(name string, err error) error {
	if errors.Is(err, os.ErrExist) || errors.Is(err, syscall.ENOTDIR) {
		return refuse(name, "is both a file and a folder")
	}
	return fmt.Errorf("unpack problem: %w", err)
}

func broken(err error) error { return refuse("package", "the archive cannot be read: %v", err) }

func refuse(field, format string, args ...any) error {
	return judge.Refuse(&judge.FieldError{Field: field, Reason: fmt.Sprintf(format, args...)})
}

// show bounds and escapes a name that was found bad.
func show(name string) string { return fmt.Sprintf("%.100q", name) }
