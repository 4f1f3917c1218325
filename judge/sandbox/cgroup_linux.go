package sandbox

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Cgroups bound and measure boxes. A host has one of three layouts, and each of
// the three things we need may come from either version:
//
//	v1      memory, pids and cpuacct each in a hierarchy of its own
//	v2      one hierarchy with memory and pids; cpu.stat is always there
//	hybrid  v1 for limits, an empty v2 tree beside it
//
// The worker owns one group in each hierarchy, below its own group where that is
// writable, and each box one group in that.

// hierarchy is one tree and the worker's group in it.
type hierarchy struct {
	v2    bool
	mount mountPoint
	dir   string // the worker's group
	fd    int    // dir opened; it holds the lock that tells others that we live
}

// cgroups are the hierarchies by what they are used for; the same one may serve
// several times.
type cgroups struct {
	memory, pids, cpu *hierarchy
	all               []*hierarchy // each once
	leaf              *v2Leaf      // where the worker itself had to move, or nil
	noSwapFile        bool         // v1 without memory.memsw: Probe made sure that there is no swap
	again             *time.Timer  // of the second sweep
	swept             chan struct{}
}

// sweepAgain is when the groups of dead workers are looked for once more: one that was
// killed just before we began may still be dying, and holds its lock until then.
const sweepAgain = 2 * time.Second

// newCgroups makes the worker's groups and removes those of dead workers.
func newCgroups(log *slog.Logger) (*cgroups, error) {
	mounts, err := cgroupMounts()
	if err != nil {
		return nil, err
	}
	c := &cgroups{}
	if err := c.choose(mounts); err != nil {
		return nil, errors.Join(err, c.close())
	}
	if !c.memory.v2 {
		_, err := os.Stat(filepath.Join(c.memory.dir, "memory.memsw.limit_in_bytes"))
		c.noSwapFile = err != nil
	}
	c.sweep(log)
	c.swept = make(chan struct{})
	c.again = time.AfterFunc(sweepAgain, func() {
		defer close(c.swept)
		c.sweep(log)
	})
	return c, nil
}

// choose prefers v2 where it has the controllers; a v2 tree beside v1 is used for
// CPU time alone where cpuacct is missing.
func (c *cgroups) choose(mounts []mountPoint) error {
	var err error
	for _, m := range mounts {
		if m.v2 && m.has("memory", "pids") {
			if c.memory, err = c.claim(m); err != nil {
				return err
			}
			c.pids, c.cpu = c.memory, c.memory
			return nil
		}
	}
	for _, use := range []struct {
		controller string
		to         **hierarchy
	}{{"memory", &c.memory}, {"pids", &c.pids}, {"cpuacct", &c.cpu}} {
		for _, m := range mounts {
			if *use.to == nil && !m.v2 && m.has(use.controller) {
				if *use.to, err = c.claim(m); err != nil {
					return err
				}
			}
		}
		for _, m := range mounts {
			if *use.to == nil && m.v2 && use.controller == "cpuacct" {
				if *use.to, err = c.claim(m); err != nil {
					return err
				}
			}
		}
		if *use.to == nil {
			return fmt.Errorf("%w: no cgroup controller %q; boot with it enabled or mount its hierarchy", ErrHost, use.controller)
		}
	}
	return nil
}

// claim makes and locks the worker's group in a hierarchy, once.
func (c *cgroups) claim(m mountPoint) (*hierarchy, error) {
	for _, h := range c.all {
		if strings.HasPrefix(h.dir, m.dir+"/") && h.v2 == m.v2 {
			return h, nil
		}
	}
	var reasons []error
	for dir := m.own; strings.HasPrefix(dir, m.dir); dir = filepath.Dir(dir) {
		h, err := c.claimBelow(m, dir)
		if err == nil {
			c.all = append(c.all, h)
			return h, nil
		}
		reasons = append(reasons, err)
	}
	return nil, fmt.Errorf("%w: no writable cgroup below %s; run as root or delegate one (systemd: Delegate=yes): %w",
		ErrHost, m.dir, errors.Join(reasons...))
}

func (c *cgroups) claimBelow(m mountPoint, parent string) (*hierarchy, error) {
	limits := m.v2 && m.has("memory", "pids")
	if limits {
		leaf, err := delegate(parent, parent == m.own)
		if err != nil {
			return nil, err
		}
		if leaf != nil {
			c.leaf = leaf
		}
	}
	h, err := lockedGroup(parent)
	if err != nil {
		return nil, err
	}
	h.v2, h.mount = m.v2, m
	if limits {
		if err := writeAt(h.fd, "cgroup.subtree_control", "+memory +pids"); err != nil {
			return nil, errors.Join(err, h.remove())
		}
	}
	return h, nil
}

// groupPrefix begins the names of all our groups; groupName in janitor_linux.go
// is the whole form.
const groupPrefix = "judgefarm-"

// lockedGroup makes a group of a fresh name and locks it. A janitor may see it
// before the lock and take it for a dead worker's, so what was locked is looked
// at again.
func lockedGroup(parent string) (*hierarchy, error) {
	for {
		var random [6]byte
		rand.Read(random[:])
		name := groupPrefix + strconv.Itoa(os.Getpid()) + "-" + hex.EncodeToString(random[:])
		dir := filepath.Join(parent, name)
		if err := unix.Mkdir(dir, 0o755); err != nil {
			return nil, fmt.Errorf("make cgroup in %s: %w", parent, err)
		}
		fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if errors.Is(err, unix.ENOENT) {
			continue
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("open cgroup: %w", err), unix.Rmdir(dir))
		}
		if err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB); err != nil {
			unix.Close(fd)
			continue
		}
		var st unix.Stat_t
		if err := unix.Stat(dir, &st); err != nil {
			unix.Close(fd)
			continue
		}
		return &hierarchy{dir: dir, fd: fd}, nil
	}
}

// remove deletes the worker's group; its boxes' groups are gone by then.
func (h *hierarchy) remove() error {
	err := removeGroup(unix.AT_FDCWD, h.dir)
	return errors.Join(err, unix.Close(h.fd))
}

func (c *cgroups) sweep(log *slog.Logger) {
	for _, h := range c.all {
		sweep(log, h)
	}
}

func (c *cgroups) close() error {
	var errs []error
	if c.again != nil && !c.again.Stop() {
		<-c.swept
	}
	for _, h := range c.all {
		errs = append(errs, h.remove())
	}
	if c.leaf != nil {
		errs = append(errs, c.leaf.undo())
	}
	return errors.Join(errs...)
}
