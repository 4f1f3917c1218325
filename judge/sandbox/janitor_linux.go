package sandbox

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// sweep removes the groups of workers that died without Close. A living worker
// holds a lock on its group, which the kernel drops whichever way it dies; that
// holds across pid namespaces, where pids tell nothing. The dead one may have been
// in another group than we are, so every group above ours is looked through.
func sweep(log *slog.Logger, h *hierarchy) {
	for dir := h.mount.own; strings.HasPrefix(dir, h.mount.dir); dir = filepath.Dir(dir) {
		sweepBelow(log, h, dir)
	}
}

func sweepBelow(log *slog.Logger, h *hierarchy, parent string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, e := range entries {
		dir := filepath.Join(parent, e.Name())
		if !e.IsDir() || dir == h.dir || !isGroupName(e.Name()) {
			continue
		}
		removed, err := removeDead(dir)
		if err != nil {
			log.Warn("cgroup of a dead worker stays", "cgroup", dir, "error", err)
		} else if removed {
			log.Info("removed cgroup of a dead worker", "cgroup", dir)
		}
	}
}

// isGroupName reports whether lockedGroup makes names like this one.
func isGroupName(name string) bool {
	ok, err := regexp.MatchString(`^`+groupPrefix+`[0-9]+-[0-9a-f]{12}$`, name)
	return ok && err == nil
}

func removeDead(dir string) (removed bool, err error) {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return false, nil // its owner was quicker
	}
	defer unix.Close(fd)
	if unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) != nil {
		return false, nil
	}
	boxes, err := os.ReadDir(dir)
	if err != nil {
		return false, nil
	}
	for _, b := range boxes {
		if b.IsDir() {
			killAll(filepath.Join(dir, b.Name()))
			err = errors.Join(err, removeGroup(unix.AT_FDCWD, filepath.Join(dir, b.Name())))
		}
	}
	return err == nil, errors.Join(err, removeGroup(unix.AT_FDCWD, dir))
}

// killAll ends what is left in a dead worker's box. Its PID 1 dies with the
// nursery, so this is for the moment between the two deaths.
func killAll(dir string) {
	procs, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
	if err != nil {
		return
	}
	for _, s := range strings.Fields(string(procs)) {
		if pid, err := strconv.Atoi(s); err == nil && pid > 1 {
			unix.Kill(pid, unix.SIGKILL)
		}
	}
}

// removeGroup removes one group. The kernel answers EBUSY for some milliseconds
// after the last process died.
func removeGroup(at int, name string) error {
	deadline := time.Now().Add(5 * time.Second)
	for wait := 50 * time.Microsecond; ; wait = min(2*wait, 10*time.Millisecond) {
		_, err := rawPath(unix.SYS_UNLINKAT, at, name, unix.AT_REMOVEDIR, 0)
		switch {
		case err == nil || errors.Is(err, unix.ENOENT):
			return nil
		case errors.Is(err, unix.EINTR):
		case !errors.Is(err, unix.EBUSY) || time.Now().After(deadline):
			return fmt.Errorf("remove cgroup %s: %w", filepath.Base(name), err)
		}
		time.Sleep(wait)
	}
}
