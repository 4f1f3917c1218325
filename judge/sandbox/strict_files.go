package sandbox

import (
	"path"
	"strings"
)

// The files of strict mode. The box's mounts are what really holds: they show nothing
// of the host that matters, read-only. This list is a second line behind them, and says
// early and clearly that a program went where it has no business. It looks at where a
// path leads; a second thread may change the text of it after it was looked at.

// pathArg says which arguments of a call name a file, and what is done to it.
type pathArg struct {
	dir  int // argument with the directory's descriptor, -1: the current directory
	path int // argument with the path
	use  fileUse
	more int // argument that use looks at
}

// fileUse is what a call does with a path.
type fileUse int

const (
	useEnter    fileUse = iota // nothing is changed; a link at the end is followed
	useOpen                    // as more, open(2)'s flags, says
	useChange                  // the file is changed, at the end of a link
	useChangeAt                // as useChange, but for AT_SYMLINK_NOFOLLOW in more
	useName                    // the name itself is made, removed or changed, and no link followed
)

var strictPaths = map[string][]pathArg{
	"open": {{-1, 0, useOpen, 1}}, "openat": {{0, 1, useOpen, 2}}, "creat": {{-1, 0, useChange, 0}},
	"chdir": {{-1, 0, useEnter, 0}}, "truncate": {{-1, 0, useChange, 0}},
	"mkdir": {{-1, 0, useName, 0}}, "mkdirat": {{0, 1, useName, 0}}, "rmdir": {{-1, 0, useName, 0}},
	"unlink": {{-1, 0, useName, 0}}, "unlinkat": {{0, 1, useName, 0}},
	"rename": {{-1, 0, useName, 0}, {-1, 1, useName, 0}}, "renameat": {{0, 1, useName, 0}, {2, 3, useName, 0}},
	"renameat2": {{0, 1, useName, 0}, {2, 3, useName, 0}},
	"chmod":     {{-1, 0, useChange, 0}}, "fchmodat": {{0, 1, useChange, 0}}, "fchmodat2": {{0, 1, useChangeAt, 3}},
	"chown": {{-1, 0, useChange, 0}}, "lchown": {{-1, 0, useName, 0}}, "fchownat": {{0, 1, useChangeAt, 4}},
	"utime": {{-1, 0, useChange, 0}}, "utimes": {{-1, 0, useChange, 0}}, "utimensat": {{0, 1, useChangeAt, 3}},
	"futimesat": {{0, 1, useChange, 0}},
}

const atNoFollow = 0x100 // AT_SYMLINK_NOFOLLOW

// writableDirs are the box's own.
var writableDirs = []string{WorkDir, "/tmp", "/dev/shm"}

// nowhere is what runtimes look for at their start and no box has.
var nowhere = []string{"/sys", "/package.json", "/var/lib/gems"}

// strictReads may be read beside what the box shows of toolchains; patterns as in
// path.Match.
var strictReads = []struct{ patterns, why string }{
	{"/dev/null /dev/zero /dev/full /dev/random /dev/urandom", "the devices"},
	{"/proc/self/maps /proc/self/exe /proc/self/stat /proc/self/statm /proc/self/status /proc/self/limits /proc/self/cgroup /proc/self/cmdline /proc/self/comm /proc/self/loginuid /proc/self/auxv /proc/self/mountinfo /proc/self/fd /proc/self/task", "what a runtime asks about itself"},
	{"/proc/self/task/*/stat /proc/self/task/*/status /proc/self/task/*/comm", "and about its threads"},
	{"/proc/cpuinfo /proc/meminfo /proc/stat /proc/uptime /proc/loadavg /proc/version /proc/filesystems /proc/cgroups", "what it asks about the machine"},
	{"/proc/sys/vm/overcommit_memory /proc/sys/vm/max_map_count /proc/sys/kernel/osrelease /proc/sys/kernel/pid_max /proc/sys/kernel/threads-max /proc/sys/kernel/ngroups_max /proc/sys/kernel/cap_last_cap", "and about the kernel"},
	{"/etc/ssl/openssl.cnf", "OpenSSL looks for it in every program that has it; no box has one"},
	{"/etc/locale.alias", "libc looks for it, by a link in /usr/share/locale, in every program with a locale; no box has it"},
	{"/etc/timezone", "Free Pascal looks for it; no box has one"},
	{"/dev/tty", "shells and SBCL ask whether there is one; no box has"},
}

// strictWrites may be written beside what lies in writableDirs. /proc is read-only, so
// of its files the kernel says EROFS, which runtimes take for an answer.
var strictWrites = "/dev/tty /dev/null /dev/zero /dev/full /proc/self/comm /proc/self/task/*/comm /proc/self/coredump_filter"

// openFiles are the directories whose entries are what the program has open already;
// who opens such an entry opens that again.
var openFiles = "/proc/self/fd /proc/self/task/*/fd"

// fileList says which files a strict program may open.
type fileList struct{ read []string }

// fileListOf allows what the box shows of the host for reading, but not what is made
// for it, such as /etc/passwd.
func fileListOf(plan *rootPlan) fileList {
	l := fileList{read: append([]string{}, nowhere...)}
	for _, b := range plan.binds {
		if !strings.HasPrefix(b.Target, "/dev/") {
			l.read = append(l.read, b.Target)
		}
	}
	for _, op := range plan.ops {
		if op.kind == opLink && !strings.HasPrefix(op.a, "/dev/") {
			l.read = append(l.read, op.a)
		}
	}
	return l
}

// allows reports whether a file may be opened, and changed. name is the box's own name
// for it: absolute, without links and dots.
func (l fileList) allows(name string, change bool) bool {
	for _, dir := range writableDirs {
		if below(name, dir) {
			return true
		}
	}
	if matches(openFiles, path.Dir(name)) { // a link itself, or one that is not there
		return true
	}
	if change {
		return matches(strictWrites, name)
	}
	for _, dir := range l.read {
		if below(name, dir) {
			return true
		}
	}
	for _, r := range strictReads {
		if matches(r.patterns, name) {
			return true
		}
	}
	return false
}

func below(name, dir string) bool {
	rest, ok := strings.CutPrefix(name, dir)
	return ok && (rest == "" || rest[0] == '/' || dir == "/")
}

func matches(patterns, name string) bool {
	for p := range strings.FieldsSeq(patterns) {
		if ok, _ := path.Match(p, name); ok {
			return true
		}
	}
	return false
}
