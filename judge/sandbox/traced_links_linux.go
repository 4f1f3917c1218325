package sandbox

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// openAs opens what a call names, as its task would find it, without access to it: as
// root we would find more, and the answer tell of it.
func (t *lineage) openAs(pid int, call string, args [6]uint) (int, error) {
	base, path, flags := uint(0xffffff9c), uint(0), uint(0) // AT_FDCWD
	switch call {
	case "fchmod":
		return openOwn(pid, args[0], 0)
	case "chmod":
		path = args[0]
	case "fchmodat":
		base, path = args[0], args[1]
	default:
		base, path, flags = args[0], args[1], args[3]
	}
	switch {
	case flags&^(unix.AT_SYMLINK_NOFOLLOW|unix.AT_EMPTY_PATH) != 0:
		return -1, unix.EINVAL
	case call == "utimensat" && path == 0 && int32(base) != unix.AT_FDCWD: // futimens
		return openOwn(pid, base, 0)
	}
	text, ok := readText(pid, path, maxPath)
	switch {
	case !ok:
		return -1, unix.EFAULT
	case len(text) == maxPath:
		return -1, unix.ENAMETOOLONG
	case len(text) == 0 && flags&unix.AT_EMPTY_PATH != 0:
		return openOwn(pid, base, 0)
	case len(text) == 0:
		return -1, unix.ENOENT
	}
	start, err := unix.Open("/", unix.O_PATH|unix.O_CLOEXEC, 0)
	if text[0] != '/' {
		rawClose(start)
		start, err = openOwn(pid, base, unix.O_DIRECTORY)
	}
	if err != nil {
		return errnoOf(-1, err)
	}
	w := ownWalk{lineage: t, tid: pid, at: start}
	defer func() { rawClose(w.at) }()
	if t.own.other {
		defer t.become(0, t.own.groups)
		if !t.become(t.own.uid, nil) {
			return -1, unix.EPERM
		}
	}
	return errnoOf(w.to(string(text), flags&unix.AT_SYMLINK_NOFOLLOW == 0))
}

// openOwn opens what a descriptor of the task is of, or its working directory.
func openOwn(pid int, fd uint, flags int) (int, error) {
	name := "/cwd"
	if int32(fd) != unix.AT_FDCWD {
		name = "/fd/" + strconv.Itoa(int(int32(fd)))
	}
	n, err := unix.Open("/proc/"+strconv.Itoa(pid)+name, unix.O_PATH|unix.O_CLOEXEC|flags, 0)
	if err != nil && err != unix.ENOTDIR {
		err = unix.EBADF
	}
	return n, err
}

// errnoOf makes sure that an error is a number.
func errnoOf(fd int, err error) (int, error) {
	if err == nil {
		return fd, nil
	}
	if errno, ok := err.(syscall.Errno); ok {
		return -1, errno
	}
	return -1, unix.EINVAL
}

// ownWalk goes along a path for a task. The kernel goes where there are neither links nor
// other mounts, /proc among them. There we go by hand, since to it self is we, and so are
// we who asks: our own descriptors are not the task's, and it may not know of them. In
// /proc only what is of the run's own tasks leads anywhere.
type ownWalk struct {
	*lineage
	tid, at int
}

// to opens where a path leads from where the walk is.
func (w *ownWalk) to(text string, follow bool) (int, error) {
	last := uint64(unix.O_NOFOLLOW)
	if follow {
		last = 0
	}
	if _, _, err := w.proc(); err == errNotProc {
		fd, err := lookup(w.at, text, last, unix.RESOLVE_NO_SYMLINKS|unix.RESOLVE_NO_XDEV)
		if err != unix.ELOOP && err != unix.EXDEV {
			return fd, err
		}
	}
	for links := 0; ; {
		if text[0] == '/' {
			if err := w.move(unix.Open("/", unix.O_PATH|unix.O_CLOEXEC, 0)); err != nil {
				return -1, err
			}
		}
		dir, pid, err := w.proc()
		if err == nil && dir != "/proc" && w.process(pid) == 0 {
			return -1, unix.EACCES
		} else if err != nil && err != errNotProc {
			return -1, err
		}
		name, rest, more := strings.Cut(strings.TrimLeft(text, "/"), "/")
		if name == "" {
			return lookup(w.at, ".", 0, 0)
		}
		fd, err := lookup(w.at, name, 0, unix.RESOLVE_NO_SYMLINKS)
		switch {
		case err == unix.ELOOP && !more && !follow:
			return lookup(w.at, name, unix.O_NOFOLLOW, unix.RESOLVE_NO_SYMLINKS)
		case err == unix.ELOOP:
			if links++; links > maxLinks {
				return -1, unix.ELOOP
			}
			if fd, name, err = w.link(dir, name); err == nil && name != "" {
				if more {
					name += "/" + rest
				}
				text = name
				continue
			}
		}
		if err != nil || !more {
			return fd, err
		}
		w.move(fd, nil)
		// "name/" is what is in a directory; and rest may begin with slashes, not at the root.
		if text = strings.TrimLeft(rest, "/"); text == "" {
			text = "."
		}
	}
}

func (w *ownWalk) move(fd int, err error) error {
	if err == nil {
		rawClose(w.at)
		w.at = fd
	}
	return err
}

// errNotProc says that a walk is elsewhere than in /proc.
var errNotProc = errors.New("not in /proc")

// proc is where in /proc the walk is, and the number in that: 0 for what is no process's.
func (w *ownWalk) proc() (dir string, pid int, err error) {
	var fs unix.Statfs_t
	if err := unix.Fstatfs(w.at, &fs); err != nil {
		return "", 0, err
	}
	if fs.Type != procMagic {
		return "", 0, errNotProc
	}
	var buf [maxPath]byte
	n, err := unix.Readlink("/proc/self/fd/"+strconv.Itoa(w.at), buf[:])
	if err != nil {
		return "", 0, err
	}
	dir = string(buf[:n])
	number, _, _ := strings.Cut(strings.TrimPrefix(dir, "/proc/"), "/")
	pid, _ = strconv.Atoi(number)
	return dir, pid, nil
}

// link reads a link of a directory, or opens what one of a task in /proc leads to, whose
// text is no path.
func (w *ownWalk) link(proc, name string) (fd int, text string, err error) {
	switch {
	case proc == "/proc" && name == "self":
		return -1, strconv.Itoa(w.process(w.tid)), nil
	case proc == "/proc" && name == "thread-self":
		return -1, fmt.Sprintf("%d/task/%d", w.process(w.tid), w.tid), nil
	case proc != "" && proc != "/proc":
		fd, err = unix.Openat(w.at, name, unix.O_PATH|unix.O_CLOEXEC, 0)
		return fd, "", err
	}
	var buf [maxPath]byte
	n, err := unix.Readlinkat(w.at, name, buf[:])
	if err == nil && n == 0 {
		err = unix.ENOENT
	}
	return -1, string(buf[:n]), err
}

// process is that of a task of the run, 0 for every other.
func (t *lineage) process(tid int) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if k := t.tasks[tid]; k != nil {
		return k.process
	}
	return 0
}
