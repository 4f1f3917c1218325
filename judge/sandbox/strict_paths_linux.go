package sandbox

import (
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// resolver finds out where the path of a strict program leads: the text alone does not
// tell, since behind a link ".." is the parent of what the link leads to. It asks the
// kernel, from the program's own directories and the box's root. Only /proc's own links
// are walked by hand: self is who asks, and through the links of open files and
// directories the kernel does not go beneath a root.
type resolver struct {
	root int // of the box, -1 before the first path
}

// place is where a path leads.
type place struct {
	name string // the box's name for it, without links; what is missing stands behind what is there
	open bool   // it is open already, and was named by its descriptor
	lost error  // a link led to where there is nothing in the box: what the kernel says to that
}

const (
	maxLinks  = 40 // in one path, as in the kernel; path_resolution(7)
	procMagic = unix.PROC_SUPER_MAGIC
)

// find follows a path of a thread, and its last link if follow says so. start is where a
// relative one begins: a link of the thread in our /proc. A bare syscall.Errno is what the
// call ends with, EBADF also for a thread that has died; other errors are ours.
func (r *resolver) find(tid int, start, text string, follow bool) (place, error) {
	last := uint64(unix.O_NOFOLLOW)
	if follow {
		last = 0
	}
	if err := r.open(tid); err != nil {
		return place{}, err
	}
	var fd, at int
	var err error
	if text[0] == '/' {
		at = r.root
		fd, err = lookup(at, text, last, unix.RESOLVE_IN_ROOT)
	} else {
		if at, err = unix.Open(start, unix.O_PATH|unix.O_CLOEXEC, 0); err != nil {
			return place{}, goneOr(err)
		}
		defer rawClose(at)
		fd, err = lookup(at, text, last, unix.RESOLVE_NO_SYMLINKS)
	}
	if err == nil {
		defer rawClose(fd)
		name, err := nameOf(fd)
		return place{name: name}, err
	}
	// Something is missing, or a link of /proc, or the kernel wants to be asked again.
	w := walk{root: r.root, tid: tid}
	switch w.at, err = lookup(at, ".", 0, 0); {
	case err != nil && hostsOwn(err):
		return place{}, fmt.Errorf("follow path: %w", err)
	case err != nil: // it starts at what is no directory, or cannot be entered
		return place{}, err
	}
	defer func() { rawClose(w.at) }()
	return w.to(text, follow)
}

func (r *resolver) open(tid int) error {
	if r.root >= 0 {
		return nil
	}
	fd, err := unix.Open("/proc/"+strconv.Itoa(tid)+"/root", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return goneOr(err)
	}
	r.root = fd
	return nil
}

func goneOr(err error) error {
	if hostsOwn(err) {
		return fmt.Errorf("follow path: %w", err)
	}
	return unix.EBADF
}

func (r *resolver) close() {
	if r.root >= 0 {
		rawClose(r.root)
	}
}

// lookup opens what a path leads to, without access to it: nothing waits, nothing happens.
func lookup(dir int, text string, flags, resolve uint64) (int, error) {
	return unix.Openat2(dir, text, &unix.OpenHow{Flags: flags | unix.O_PATH | unix.O_CLOEXEC, Resolve: resolve})
}

// nameOf is the box's name for what is open here, ENAMETOOLONG where it cannot be told.
// The box's mounts are none of ours, so the kernel names it from their own root; of
// /proc it is as the program itself would say.
func nameOf(fd int) (string, error) {
	var buf [maxPath]byte
	n, err := unix.Readlink("/proc/self/fd/"+strconv.Itoa(fd), buf[:])
	if err == unix.ENAMETOOLONG {
		return "", unix.ENAMETOOLONG
	}
	if err != nil {
		return "", fmt.Errorf("name file: %w", err)
	}
	name := string(buf[:n])
	if rest, ok := strings.CutPrefix(name, ownProc); ok && (rest == "" || rest[0] == '/') {
		name = "/proc/self" + rest
	}
	return name, nil
}

var ownProc = "/proc/" + strconv.Itoa(ownPID)

// walk goes along a path name by name.
type walk struct {
	root, tid int
	at        int // where it is; its own
	links     int // how many it went through
}

func (w *walk) to(text string, follow bool) (place, error) {
	if text[0] == '/' {
		if err := w.move(lookup(w.root, ".", 0, 0)); err != nil {
			return place{}, err
		}
	}
	for text != "" {
		name, rest, more := strings.Cut(strings.TrimLeft(text, "/"), "/")
		if name == "" {
			break
		}
		rest = strings.TrimLeft(rest, "/")
		fd, err := lookup(w.at, name, 0, unix.RESOLVE_NO_SYMLINKS)
		switch {
		case err == unix.ELOOP && rest == "" && !follow && !more: // the link itself
			return w.missing(name)
		case err == unix.ELOOP:
			return w.link(name, rest, follow || more && rest == "")
		case err != nil && hostsOwn(err):
			return place{}, fmt.Errorf("follow path: %w", err)
		case err != nil:
			to, nerr := w.missing(name + "/" + rest)
			if w.links > 0 {
				to.lost = err
			}
			return to, nerr
		}
		w.move(fd, nil)
		text = rest
	}
	name, err := nameOf(w.at)
	return place{name: name}, err
}

// missing is a place that is not there: the kernel will not get beyond its first name.
func (w *walk) missing(rest string) (place, error) {
	name, err := nameOf(w.at)
	return place{name: path.Join(name, rest)}, err
}

func (w *walk) move(fd int, err error) error {
	if err != nil {
		return fmt.Errorf("follow path: %w", err)
	}
	rawClose(w.at)
	w.at = fd
	return nil
}

// link goes through a link and on from there.
func (w *walk) link(name, rest string, follow bool) (place, error) {
	if w.links++; w.links > maxLinks {
		return place{}, unix.ELOOP
	}
	target, magic, err := w.read(name)
	if err != nil {
		return place{}, err
	}
	switch {
	case magic:
		where, err := nameOf(w.at)
		if err != nil {
			return place{}, err
		}
		fd, err := unix.Openat(w.at, name, unix.O_PATH|unix.O_CLOEXEC, 0)
		switch {
		case err == unix.EPERM: // as the program would get: CAP_CHECKPOINT_RESTORE, proc_pid_map_files(5)
			return place{}, err
		case err != nil && !hostsOwn(err):
			return w.missing(name)
		}
		if err := w.move(fd, err); err != nil {
			return place{}, err
		}
		if rest == "" {
			end, err := nameOf(w.at)
			return place{name: end, open: matches(openFiles, where)}, err
		}
		return w.to(rest, follow)
	case target == "":
		return w.missing(name)
	case rest != "":
		target += "/" + rest
	}
	return w.to(target, follow)
}

// read gives the text of a link; magic is one of /proc that has none, but leads straight
// to what is open. Who self is, proc(5) answers to who asks, so we say it.
func (w *walk) read(name string) (text string, magic bool, err error) {
	fd, err := lookup(w.at, name, unix.O_NOFOLLOW, 0)
	if err != nil {
		if hostsOwn(err) {
			return "", false, fmt.Errorf("read link: %w", err)
		}
		return "", false, nil
	}
	defer rawClose(fd)
	var fs unix.Statfs_t
	if err := unix.Fstatfs(fd, &fs); err != nil {
		return "", false, fmt.Errorf("read link: %w", err)
	}
	if fs.Type == procMagic {
		where, err := nameOf(w.at)
		switch {
		case err != nil:
			return "", false, err
		case where != "/proc":
			return "", true, nil
		case name == "self":
			return strconv.Itoa(ownPID), false, nil
		case name == "thread-self":
			tid, err := innerID(w.tid)
			return fmt.Sprintf("%d/task/%d", ownPID, tid), false, err
		}
	}
	var buf [maxPath]byte
	n, err := unix.Readlinkat(fd, "", buf[:])
	switch {
	case err != nil && hostsOwn(err):
		return "", false, fmt.Errorf("read link: %w", err)
	case err != nil: // it is no link any more
		return "", false, nil
	}
	return string(buf[:n]), false, nil
}

// innerID is the number that a thread has in its box; proc_pid_status(5), NSpid.
func innerID(tid int) (int, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(tid) + "/status")
	if err != nil {
		return 0, goneOr(err)
	}
	_, rest, _ := strings.Cut(string(text), "\nNSpid:")
	line, _, _ := strings.Cut(rest, "\n")
	ids := strings.Fields(line)
	if len(ids) == 0 { // a thread that has just died has none
		return 0, unix.EBADF
	}
	return strconv.Atoi(ids[len(ids)-1])
}
