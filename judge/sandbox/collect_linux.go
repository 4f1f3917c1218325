package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"sort"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// collectFiles takes files out of the work directory of a dead box. The error is that
// the host lacked something.
func collectFiles(dir int, wanted []Collect) ([]Collected, error) {
	var out []Collected
	for _, w := range wanted {
		left := int64(w.Max)
		names := []string{w.Name}
		if w.Dir {
			found, err := listFiles(dir, w.Name)
			if hostsOwn(err) {
				return nil, fmt.Errorf("collect %s: %w", w.Name, err)
			}
			if err != nil {
				out = append(out, Collected{Name: w.Name, Err: err})
				continue
			}
			names = found
		}
		for _, name := range names {
			got := collectFile(dir, name, &left)
			if hostsOwn(got.Err) {
				return nil, fmt.Errorf("collect %s: %w", name, got.Err)
			}
			out = append(out, got)
			if errors.Is(got.Err, ErrTooLarge) {
				break // what follows would depend on the order of names
			}
		}
	}
	return out, nil
}

func collectFile(dir int, name string, left *int64) Collected {
	got := Collected{Name: name}
	// Not blocking, for a fifo; what is no regular file is refused after opening.
	fd, err := beneath(dir, name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if errors.Is(err, unix.EACCES) {
		fd, err = openShut(dir, name)
	}
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

// openShut opens a regular file whose owner may not read it: an ordinary user is the
// owner, and opens it for the moment. Root reads such files by a capability and is
// never here with one of its own. A file of several names stays shut: a box of level
// ptrace shares its file system with the host, and another name could be the host's.
func openShut(dir int, name string) (int, error) {
	at, err := beneath(dir, name, unix.O_PATH, 0)
	if err != nil {
		return -1, err
	}
	defer unix.Close(at)
	var st unix.Stat_t
	if err := unix.Fstat(at, &st); err != nil {
		return -1, err
	}
	switch {
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return -1, unix.ENODEV // a device, whose file system allows none
	case st.Nlink != 1:
		return -1, unix.EACCES
	}
	file := "/proc/self/fd/" + strconv.Itoa(at) // of this very file, whatever its name is now
	if err := unix.Chmod(file, 0o400); err != nil {
		return -1, err
	}
	fd, err := unix.Open(file, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err := errors.Join(err, unix.Chmod(file, st.Mode&0o7777)); err != nil {
		if fd >= 0 {
			unix.Close(fd)
		}
		return -1, err
	}
	return fd, nil
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

// listFiles names everything below a directory that is not a directory, sorted. It
// holds one descriptor at a time. The box's inode limit bounds how many there can be.
func listFiles(dir int, name string) ([]string, error) {
	type found struct {
		name  string
		depth int
	}
	var names []string
	left := []found{{strings.TrimPrefix(name, "./"), 0}}
	for len(left) > 0 {
		at := left[len(left)-1]
		left = left[:len(left)-1]
		fd, err := beneath(dir, at.name, unix.O_RDONLY|unix.O_DIRECTORY, 0)
		switch {
		case hostsOwn(err):
			return nil, err
		case err != nil && at.depth == 0:
			return nil, collectError(err)
		case err != nil: // not a directory: collecting it will say what it is
			names = append(names, at.name)
			continue
		}
		f := os.NewFile(uintptr(fd), at.name)
		entries, err := f.Readdirnames(-1)
		f.Close()
		if err != nil {
			return nil, err
		}
		if at.depth > maxDepth {
			return nil, fmt.Errorf("directories nested deeper than %d", maxDepth)
		}
		for _, e := range entries {
			left = append(left, found{path.Join(at.name, e), at.depth + 1})
		}
	}
	sort.Strings(names)
	return names, nil
}
