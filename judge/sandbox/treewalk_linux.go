package sandbox

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// walkTree shows visit everything below a directory, which may change meanwhile: what
// is moved in time to a place where we were is not seen, or twice. It ends with visit's
// error, or with one that says why not everything could be seen.
func walkTree(root int, visit func(*unix.Stat_t) error) error {
	c, err := newClimber(root)
	if err != nil {
		return err
	}
	defer c.close()
	dirs, err := c.look(nil, visit)
	for err == nil && len(dirs) > 0 {
		next := dirs[len(dirs)-1]
		dirs = dirs[:len(dirs)-1]
		switch err = c.enter(next); {
		case err == nil:
			dirs, err = c.look(dirs, visit)
		case gone(err):
			err = nil
		}
	}
	return err
}

// look visits what is in the directory that was entered and adds the directories to
// those that are to be entered.
func (c *climber) look(dirs []*spot, visit func(*unix.Stat_t) error) ([]*spot, error) {
	for {
		var names []string
		n, err := c.some(&names)
		if err != nil || n == 0 {
			if gone(err) {
				err = nil
			}
			return dirs, err
		}
		for _, name := range names {
			var st unix.Stat_t
			err := c.allowed(func() error { return unix.Fstatat(c.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) })
			if gone(err) {
				continue
			}
			if err == nil {
				err = visit(&st)
			}
			if err != nil {
				return dirs, err
			}
			if st.Mode&unix.S_IFMT == unix.S_IFDIR {
				dirs = append(dirs, c.below(name))
			}
		}
	}
}

// gone reports whether a directory is not there any more, or is something else.
func gone(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP)
}

// removeTree removes a directory with all that is in it. Nobody may be changing it any
// more. One that is not there is no error.
func removeTree(dir string) error {
	if err := removeBelow(filepath.Dir(dir), filepath.Base(dir)); err != nil {
		return &os.PathError{Op: "remove", Path: dir, Err: err}
	}
	return nil
}

func removeBelow(parent, name string) error {
	up, err := openat(unix.AT_FDCWD, parent, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC)
	if err != nil {
		if errors.Is(err, unix.ENOENT) {
			err = nil
		}
		return err
	}
	defer unix.Close(up)
	root, err := openDir(up, name)
	if err != nil {
		if errors.Is(err, unix.ENOENT) {
			err = nil
		}
		return err
	}
	defer unix.Close(root)
	if err := emptyTree(root); err != nil {
		return err
	}
	return unix.Unlinkat(up, name, unix.AT_REMOVEDIR)
}

// emptyTree removes everything below a directory.
func emptyTree(root int) error {
	c, err := newClimber(root)
	if err != nil {
		return err
	}
	defer c.close()
	if err := c.clear(); err != nil {
		return err
	}
	for {
		p := c.at
		if n := len(p.dirs); n > 0 {
			next := c.below(p.dirs[n-1])
			p.dirs = p.dirs[:n-1]
			if err := c.enter(next); err != nil {
				return err
			}
			if err := c.clear(); err != nil {
				return err
			}
			continue
		}
		if p.up == nil {
			return nil
		}
		if c.rise(); c.at == nil {
			return errRestless
		}
		if err := c.allowed(func() error { return unix.Unlinkat(c.fd, p.name, unix.AT_REMOVEDIR) }); err != nil {
			return err
		}
	}
}

// clear removes what is in the directory that was entered and notes the directories.
func (c *climber) clear() error {
	names, err := c.names()
	if err != nil {
		return err
	}
	for _, name := range names {
		err := c.allowed(func() error { return unix.Unlinkat(c.fd, name, 0) })
		switch {
		case errors.Is(err, unix.EISDIR):
			c.at.dirs = append(c.at.dirs, name)
		case err != nil && !errors.Is(err, unix.ENOENT):
			return err
		}
	}
	return nil
}
