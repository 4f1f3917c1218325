package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"sort"
	"strings"

	"golang.org/x/sys/unix"
)

// collectFiles takes files out of the work directory of a dead box.
func collectFiles(dir int, wanted []Collect) []Collected {
	var out []Collected
	for _, w := range wanted {
		left := int64(w.Max)
		names := []string{w.Name}
		if w.Dir {
			found, err := listFiles(dir, w.Name)
			if err != nil {
				out = append(out, Collected{Name: w.Name, Err: err})
				continue
			}
			names = found
		}
		for _, name := range names {
			got := collectFile(dir, name, &left)
			out = append(out, got)
			if errors.Is(got.Err, ErrTooLarge) {
				break // what follows would depend on the order of names
			}
		}
	}
	return out
}

func collectFile(dir int, name string, left *int64) Collected {
	got := Collected{Name: name}
	// Not blocking, for a fifo; what is no regular file is refused after opening.
	fd, err := beneath(dir, name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		got.Err = collectError(err)
		return got
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		got.Err = collectError(err)
		return got
	}
	switch {
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		got.Err = ErrNotRegular
		return got
	case st.Size > *left:
		got.Err = ErrTooLarge
		return got
	}
	*left -= st.Size
	got.Mode = os.FileMode(st.Mode & 0o777)
	got.Data = make([]byte, st.Size)
	for at := 0; at < len(got.Data); {
		n, err := unix.Read(fd, got.Data[at:])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n == 0 {
			got.Data, got.Err = nil, fmt.Errorf("read: %w", errors.Join(err, fs.ErrInvalid))
			return got
		}
		at += n
	}
	return got
}

func collectError(err error) error {
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR):
		return fs.ErrNotExist
	case errors.Is(err, unix.ELOOP), errors.Is(err, unix.EXDEV), errors.Is(err, unix.ENXIO), errors.Is(err, unix.ENODEV):
		return ErrNotRegular
	}
	return err
}

// maxDepth bounds how deep a collected directory may be nested.
const maxDepth = 64

// listFiles names everything below a directory that is not a directory, sorted.
// The box's inode limit bounds how many there can be.
func listFiles(dir int, name string) ([]string, error) {
	var names []string
	var walk func(fd int, prefix string, depth int) error
	walk = func(fd int, prefix string, depth int) error {
		f := os.NewFile(uintptr(fd), prefix)
		defer f.Close()
		entries, err := f.Readdirnames(-1)
		if err != nil {
			return err
		}
		for _, e := range entries {
			full := path.Join(prefix, e)
			sub, err := beneath(fd, e, unix.O_RDONLY|unix.O_DIRECTORY, 0)
			if err != nil { // not a directory: collecting it will say what it is
				names = append(names, full)
				continue
			}
			if depth == maxDepth {
				unix.Close(sub)
				return fmt.Errorf("directories nested deeper than %d", maxDepth)
			}
			if err := walk(sub, full, depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	fd, err := beneath(dir, name, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, collectError(err)
	}
	if err := walk(fd, strings.TrimPrefix(name, "./"), 0); err != nil {
		return nil, err
	}
	sort.Strings(names)
	return names, nil
}
