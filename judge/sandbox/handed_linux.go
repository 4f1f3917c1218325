package sandbox

import (
	"strconv"

	"golang.org/x/sys/unix"

	"judgefarm/judge"
)

// nameless opens a regular file anew, for reading, or a named pipe, as it was open, so
// that the program can neither read its path on the host from /proc/self/fd, nor change
// what belongs to the file: through a read-only mount of the file alone, its path is "/".
// ok is false for everything else, which has no such path, and where that is not possible.
func nameless(fd int) (got int, ok bool) {
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || st.Nlink == 0 {
		return -1, false
	}
	flags := unix.O_RDONLY
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
	case unix.S_IFIFO:
		mode, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
		if err != nil || !namedPipe(fd) {
			return -1, false
		}
		flags = mode&unix.O_ACCMODE | unix.O_NONBLOCK // not to wait for another end; fifo(7)
	default:
		return -1, false
	}
	if got, ok = reopen(fd, flags); !ok {
		return -1, false
	}
	var err error
	if flags&unix.O_NONBLOCK != 0 {
		_, err = unix.FcntlInt(uintptr(got), unix.F_SETFL, 0)
	} else {
		var offset int64
		if offset, err = unix.Seek(fd, 0, unix.SEEK_CUR); err == nil {
			_, err = unix.Seek(got, offset, unix.SEEK_SET)
		}
	}
	if err != nil {
		unix.Close(got)
		return -1, false
	}
	return got, true
}

func reopen(fd, flags int) (got int, ok bool) {
	tree, err := unix.OpenTree(fd, "", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_EMPTY_PATH)
	if err != nil {
		return -1, false
	}
	defer unix.Close(tree)
	if unix.MountSetattr(tree, "", unix.AT_EMPTY_PATH, &unix.MountAttr{Attr_set: attrTools}) != nil {
		return -1, false
	}
	got, err = unix.Open("/proc/self/fd/"+strconv.Itoa(tree), flags|unix.O_CLOEXEC, 0)
	return got, err == nil
}

// namedPipe tells one from a pipe without a name, which lies on a file system of its own.
func namedPipe(fd int) bool {
	var st unix.Stat_t
	var fs unix.Statfs_t
	return unix.Fstat(fd, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFIFO && unix.Fstatfs(fd, &fs) == nil && fs.Type != unix.PIPEFS_MAGIC
}

// noDirectory refuses one: by ".." it would lead out of the box.
func noDirectory(field string, fd int) error {
	var st unix.Stat_t
	if unix.Fstat(fd, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFDIR {
		return judge.Refuse(&judge.FieldError{Field: field, Reason: "must not be a directory"})
	}
	return nil
}
