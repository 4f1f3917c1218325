package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"judgefarm/judge"
)

// beneath opens a name below dir without ever leaving it: no "..", no links, no
// other file system; openat2(2).
func beneath(dir int, name string, flags uint64, mode uint32) (int, error) {
	for {
		fd, err := unix.Openat2(dir, name, &unix.OpenHow{
			Flags: flags | unix.O_CLOEXEC | unix.O_NOFOLLOW, Mode: uint64(mode),
			Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_XDEV,
		})
		if !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.EAGAIN) {
			return fd, err
		}
	}
}

// putFiles writes files into an open work directory as the box's user. As root we
// take that user's file system identity for the time, on this thread alone: the
// files then belong to it, and a path that leads astray finds no root to obey it.
func putFiles(dir int, files []File, uid int, privileged bool) (err error) {
	if len(files) == 0 {
		return nil
	}
	if privileged {
		runtime.LockOSThread()
		// A thread whose identity cannot be restored must not run anything else:
		// it stays locked and ends with its goroutine.
		defer func() {
			if setFSID(0) {
				runtime.UnlockOSThread()
			} else {
				err = errors.Join(err, errors.New("restore identity of thread"))
			}
		}()
		if !setFSID(uid) {
			return errors.New("take identity of the box's user")
		}
	}
	// A child that another goroutine forks would inherit the open file until its
	// exec, and the box's exec of that file would give ETXTBSY (golang/go#22315).
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	made := map[string]bool{".": true}
	for _, f := range files {
		if err := putFile(dir, f, made); err != nil {
			return fmt.Errorf("write file %q into box: %w", f.Name, err)
		}
	}
	return nil
}

// setFSID sets this thread's file system uid and gid and reports whether it took.
// The calls return the old value and no error; setfsuid(2).
func setFSID(id int) bool {
	set := func(nr uintptr) bool {
		unix.RawSyscall(nr, uintptr(id), 0, 0)
		got, _, _ := unix.RawSyscall(nr, ^uintptr(0), 0, 0)
		return int(got) == id
	}
	// The group first: changing the user drops the right to change the group.
	if id == 0 {
		return set(unix.SYS_SETFSUID) && set(unix.SYS_SETFSGID)
	}
	return set(unix.SYS_SETFSGID) && set(unix.SYS_SETFSUID)
}

func putFile(dir int, f File, made map[string]bool) error {
	if err := makeDirs(dir, path.Dir(f.Name), made); err != nil {
		return err
	}
	mode := uint32(f.Mode.Perm())
	if mode == 0 {
		mode = 0o644
	}
	fd, err := beneath(dir, f.Name, unix.O_WRONLY|unix.O_CREAT|unix.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	for b := f.Data; len(b) > 0; {
		n, err := unix.Write(fd, b)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
		b = b[max(n, 0):]
	}
	return unix.Fchmod(fd, mode) // the umask is not asked
}

func makeDirs(dir int, name string, made map[string]bool) error {
	if made[name] {
		return nil
	}
	if err := makeDirs(dir, path.Dir(name), made); err != nil {
		return err
	}
	parent, err := beneath(dir, path.Dir(name), unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer unix.Close(parent)
	if err := unix.Mkdirat(parent, path.Base(name), 0o755); err != nil && !errors.Is(err, unix.EEXIST) {
		return err
	}
	made[name] = true
	return nil
}

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

// nameless opens a regular file anew, for reading, so that the program cannot read
// its path on the host from /proc/self/fd: through a mount of the file alone, its
// path is "/". ok is false for what is no regular file, which has no such path.
func nameless(fd int) (got int, ok bool) {
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || st.Nlink == 0 {
		return -1, false
	}
	offset, err := unix.Seek(fd, 0, unix.SEEK_CUR)
	if err != nil {
		return -1, false
	}
	tree, err := unix.OpenTree(fd, "", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_EMPTY_PATH)
	if err != nil {
		return -1, false
	}
	defer unix.Close(tree)
	got, err = unix.Open("/proc/self/fd/"+strconv.Itoa(tree), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, false
	}
	if _, err := unix.Seek(got, offset, unix.SEEK_SET); err != nil {
		unix.Close(got)
		return -1, false
	}
	return got, true
}

// refusal is a file that does not fit: the caller's fault, not the host's.
func refusal(err error, box BoxLimits) error {
	if errors.Is(err, unix.ENOSPC) {
		return judge.Refuse(&judge.FieldError{
			Field: "files", Reason: fmt.Sprintf("do not fit into the box: %d bytes and %d files at most", box.Disk, box.Inodes),
		})
	}
	return err
}
