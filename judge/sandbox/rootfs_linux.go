package sandbox

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"judgefarm/judge"
)

// Kinds of operations; nursery.h says what each does.
const (
	opDir  = 'd'
	opLink = 'l'
	opFile = 'f'
	opBind = 'b'
	opProc = 'p'
	opMask = 'm'
)

const (
	attrTools  = unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV
	attrDevice = unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NOEXEC
)

// DefaultSystem lists what boxes see of the host when Spec.Root is "": system
// directories with the toolchains in them, and of /etc only what those need.
// Target is always Source; a symlink is copied as a link.
func DefaultSystem() []Mount {
	patterns := []string{
		"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32",
		"/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime",
		"/etc/java-*", "/etc/python3*", "/etc/perl", "/etc/php", "/etc/R", "/etc/mono", "/etc/ghc", "/etc/erlang",
		"/etc/fpc*.cfg", "/etc/ldc2.conf", "/etc/gnucobol", "/etc/nim", "/etc/racket",
	}
	var mounts []Mount
	for _, p := range patterns {
		found, _ := filepath.Glob(p) // the patterns are well formed
		for _, f := range found {
			mounts = append(mounts, Mount{Source: f, Target: f})
		}
	}
	return mounts
}

// The parts of /etc that are made for the box, so that nothing of the host's users
// and names is seen.
var madeFiles = []struct{ name, text string }{
	{"/etc/passwd", "root:x:0:0:root:/:/usr/sbin/nologin\nbox:x:1000:1000:box:/work:/bin/sh\nnobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n"},
	{"/etc/group", "root:x:0:\nbox:x:1000:\nnogroup:x:65534:\n"},
	{"/etc/hosts", "127.0.0.1 localhost box\n::1 localhost box\n"},
	{"/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\n"},
}

// maskedFiles of /proc show the host rather than the box: its memory and keys, how it
// was booted, what its devices, its disks and other boxes do. Each costs 3 us a box.
var maskedFiles = []string{
	"/proc/kcore", "/proc/keys", "/proc/sysrq-trigger", "/proc/timer_list",
	"/proc/cmdline", "/proc/interrupts", "/proc/softirqs", "/proc/diskstats", "/proc/vmstat", "/proc/zoneinfo", "/proc/locks",
}

var deviceFiles = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}

// rootPlan collects the operations that build a box's root.
type rootPlan struct {
	ops   []operation     // for the root, which boxes with the same ones share as a template
	own   []operation     // for each box
	full  bool            // the root is complete: further binds are the box's own
	made  map[string]bool // directories and files there are, so that none is made twice
	binds []Mount         // what covers a part of the tree, in order
	carry bool            // further binds are carried
	// carried is opened by us and mounted when the program starts, so that boxes
	// that differ in it alone are the same until then.
	carried []Mount
}

func newRootPlan() *rootPlan { return &rootPlan{made: map[string]bool{"/": true}} }

// fork returns a plan that can grow without changing p.
func (p *rootPlan) fork() *rootPlan {
	n := newRootPlan()
	n.ops = append(n.ops, p.ops...)
	n.own = append(n.own, p.own...)
	n.full = p.full
	n.binds = append(n.binds, p.binds...)
	for k := range p.made {
		n.made[k] = true
	}
	return n
}

func (p *rootPlan) dir(name string) {
	if p.made[name] {
		return
	}
	p.dir(path.Dir(name))
	p.made[name] = true
	p.ops = append(p.ops, operation{opDir, 0o755, name, ""})
}

func (p *rootPlan) file(name, text string) {
	if p.made[name] {
		return
	}
	p.dir(path.Dir(name))
	p.made[name] = true
	p.ops = append(p.ops, operation{opFile, 0o644, name, text})
}

func (p *rootPlan) link(name, to string) {
	p.dir(path.Dir(name))
	p.made[name] = true
	p.ops = append(p.ops, operation{opLink, 0, name, to})
}

// bind shows source at target. A target within an earlier bind must be there
// already, since that is read-only.
func (p *rootPlan) bind(source, target string, attr uint64) error {
	st, err := os.Stat(source)
	if err != nil {
		return err
	}
	covered := false
	for _, b := range p.binds {
		if rest, ok := strings.CutPrefix(target, b.Target+"/"); ok {
			covered = true
			if _, err = os.Stat(filepath.Join(b.Source, rest)); err != nil {
				err = fmt.Errorf("target lies within %s, which does not have it", b.Target)
			} else {
				err = nil
			}
		}
	}
	switch {
	case err != nil:
		return err
	case covered:
	case st.IsDir():
		p.dir(target)
	default:
		p.file(target, "")
	}
	switch op := (operation{opBind, attr, target, source}); {
	case p.carry:
		p.carried = append(p.carried, Mount{source, target})
	case p.full:
		p.own = append(p.own, op)
	default:
		p.ops = append(p.ops, op)
	}
	p.binds = append(p.binds, Mount{source, target})
	return nil
}

// show binds a host path, or copies it where it is a link.
func (p *rootPlan) show(source, target string) error {
	if st, err := os.Lstat(source); err == nil && st.Mode()&os.ModeSymlink != 0 {
		to, err := os.Readlink(source)
		if err != nil {
			return err
		}
		p.link(target, to)
		return nil
	}
	return p.bind(source, target, attrTools)
}

// finish adds what every box has of its own.
func (p *rootPlan) finish() error {
	for _, d := range []string{WorkDir, "/tmp", "/proc", "/dev/shm", "/etc"} {
		p.dir(d)
	}
	etc := false // a root that brings its own /etc keeps it whole
	for _, b := range p.binds {
		etc = etc || b.Target == "/etc"
	}
	for _, f := range madeFiles {
		if !etc {
			p.file(f.name, f.text)
		}
	}
	for _, d := range deviceFiles {
		if err := p.bind(d, d, attrDevice); err != nil {
			return err
		}
	}
	for _, l := range [][2]string{{"fd", "fd"}, {"stdin", "fd/0"}, {"stdout", "fd/1"}, {"stderr", "fd/2"}} {
		p.link("/dev/"+l[0], "/proc/self/"+l[1])
	}
	p.full = true
	p.own = append(p.own, operation{opProc, 0, "/proc", ""})
	for _, m := range maskedFiles {
		if _, err := os.Stat(m); err == nil {
			p.own = append(p.own, operation{opMask, 0, m, ""})
		}
	}
	return nil
}

// systemPlan is the plan of boxes without a root of their own.
func systemPlan(system []Mount) (*rootPlan, error) {
	p := newRootPlan()
	for _, m := range system {
		if err := p.show(m.Source, m.Target); err != nil {
			return nil, fmt.Errorf("show %s in boxes: %w", m.Source, err)
		}
	}
	if err := p.finish(); err != nil {
		return nil, fmt.Errorf("show devices in boxes: %w", err)
	}
	return p, nil
}

// ownParts of a root are the box's own or say nothing about a toolchain.
var ownParts = map[string]bool{
	"dev": true, "proc": true, "sys": true, "tmp": true, "work": true, "run": true, "root": true, "home": true,
	"boot": true, "mnt": true, "media": true, "exe": true, "lost+found": true,
}

// rootPlanOf is the plan of boxes with a host directory as their root.
func rootPlanOf(root string) (*rootPlan, error) {
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, judge.Refuse(&judge.FieldError{Field: "root", Reason: err.Error()})
	}
	p := newRootPlan()
	for _, e := range entries {
		if ownParts[e.Name()] {
			continue
		}
		if err := p.show(filepath.Join(root, e.Name()), "/"+e.Name()); err != nil {
			return nil, judge.Refuse(&judge.FieldError{Field: "root", Reason: err.Error()})
		}
	}
	return p, p.finish()
}

// addMounts adds a spec's own binds. privileged says that the box's user is
// another than ours, so that it needs permissions of its own to read them.
func (p *rootPlan) addMounts(mounts []Mount, privileged bool) error {
	var faults []*judge.FieldError
	for i, m := range mounts {
		err := readable(m.Source, privileged)
		if err == nil {
			err = p.bind(m.Source, m.Target, attrTools)
		}
		if err != nil {
			faults = append(faults, &judge.FieldError{Field: fmt.Sprintf("mounts[%d]", i), Reason: err.Error()})
		}
	}
	return judge.Refuse(faults...)
}

func readable(source string, privileged bool) error {
	st, err := os.Stat(source)
	if err != nil {
		return err
	}
	need := os.FileMode(0o004)
	if st.IsDir() {
		need = 0o005
	}
	if privileged && st.Mode().Perm()&need != need {
		return fmt.Errorf("%s must be readable by the box's user: chmod o+rX it (its mode is %v)", source, st.Mode())
	}
	return nil
}
