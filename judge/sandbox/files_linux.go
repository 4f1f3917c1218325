package sandbox

import (
	"errors"
	"fmt"
	"path"
	"runtime"
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
func putFiles(dir int, files []File, uid int, privileged bool) error {
	if len(files) == 0 {
		return nil
	}
	return asUser(uid, privileged, func() error { return putAll(dir, files) })
}

// asUser does something with the file system identity of a box's user, where that is
// not ours.
func asUser(uid int, privileged bool, do func() error) (err error) {
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
	return do()
}

func putAll(dir int, files []File) error {
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

// refusal is a file that does not fit: the caller's fault, not the host's.
func refusal(err error, box BoxLimits) error {
	if errors.Is(err, unix.ENOSPC) {
		return judge.Refuse(&judge.FieldError{
			Field: "files", Reason: fmt.Sprintf("do not fit into the box: %d bytes and %d files at most", box.Disk, box.Inodes),
		})
	}
	return err
}
