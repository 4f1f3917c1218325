package sandbox

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// tracedDir holds the directories of a worker's runs. Its lock says that the worker
// lives.
type tracedDir struct {
	path string
	lock *os.File
}

const tracedPrefix = "judgefarm-traced-"

func newTracedDir(log *slog.Logger) (*tracedDir, error) {
	old, _ := filepath.Glob(filepath.Join(os.TempDir(), tracedPrefix+"*")) // the pattern is well formed
	for _, dir := range old {
		if err := removeAbandoned(dir); err == nil {
			log.Info("removed directory of a dead worker", "directory", dir)
		}
	}
	path, err := os.MkdirTemp("", tracedPrefix)
	if err != nil {
		return nil, fmt.Errorf("make directory for runs: %w", err)
	}
	// Landlock and the filter compare real paths.
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return nil, fmt.Errorf("make directory for runs: %w", err)
	}
	if err := passable(filepath.Dir(path)); err != nil {
		return nil, errors.Join(err, os.Remove(path))
	}
	d := &tracedDir{path: path}
	if err := os.Chmod(path, 0o711); err != nil {
		return nil, err
	}
	if d.lock, err = lockNew(filepath.Join(path, "lock")); err != nil {
		return nil, errors.Join(err, removeTree(path))
	}
	return d, nil
}

// lockNew makes a file that is locked from the moment it has its name: another worker
// takes one that is not for a dead worker's.
func lockNew(name string) (*os.File, error) {
	lock, err := os.OpenFile(name+".new", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err = unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err == nil {
		err = os.Rename(name+".new", name)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", name, err), lock.Close())
	}
	return lock, nil
}

// passable names the directory on the way to dir that the boxes' users, who are not the
// worker's when that is root, cannot pass through.
func passable(dir string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	for ; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil {
			return fmt.Errorf("make directory for runs: %w", err)
		}
		if info.Mode()&0o001 == 0 {
			return fmt.Errorf("%w: make directory for runs: other users cannot pass through %s: chmod o+x it, or name another directory by TMPDIR", ErrHost, dir)
		}
		if dir == "/" {
			return nil
		}
	}
}

var errAlive = errors.New("its worker lives, or it is not ours")

// removeAbandoned removes a directory whose worker is dead.
func removeAbandoned(dir string) error {
	var st unix.Stat_t
	if unix.Lstat(dir, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFDIR || int(st.Uid) != os.Geteuid() {
		return errAlive
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|unix.O_NOFOLLOW, 0)
	if err != nil {
		return errAlive // just being made, perhaps
	}
	defer lock.Close()
	if unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		return errAlive
	}
	return removeTree(dir)
}

func (d *tracedDir) close() error {
	return errors.Join(removeTree(d.path), d.lock.Close())
}
