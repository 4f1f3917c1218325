package sandbox

import (
	"fmt"
	"syscall"

	"github.com/criyle/go-sandbox/ptracer"
	"golang.org/x/sys/unix"
)

// Handle implements ptracer.Handler: what the filter did not allow is a call on files,
// or forbidden.
func (t *tracer) Handle(c *ptracer.Context) ptracer.TraceAction {
	name, ok := t.calls[int(c.SyscallNo())]
	if !ok {
		name = fmt.Sprintf("syscall_%d", c.SyscallNo())
	}
	if paths := strictPaths[name]; paths != nil {
		allowed, errno := t.look(c, paths)
		switch {
		case errno != 0:
			c.SetReturnValue(-int(errno))
			return ptracer.TraceBan
		case allowed:
			return ptracer.TraceAllow
		case t.err != nil:
			return ptracer.TraceKill
		}
	}
	t.call = describe(c, name)
	return ptracer.TraceKill
}

// look tells whether a call on files is allowed. Where the kernel would find no path or
// no directory it fails at once with errno: what we cannot see must not come true between.
func (t *tracer) look(c *ptracer.Context, paths []pathArg) (allowed bool, errno syscall.Errno) {
	args := [6]uint{c.Arg0(), c.Arg1(), c.Arg2(), c.Arg3(), c.Arg4(), c.Arg5()}
	for _, p := range paths {
		if args[p.path] == 0 {
			continue // of what is open, or EFAULT
		}
		text, ok := readText(c.Pid, args[p.path], maxPath)
		switch {
		case !ok:
			return false, unix.EFAULT
		case len(text) == maxPath:
			return false, unix.ENAMETOOLONG
		case len(text) == 0:
			continue // of what is open, or ENOENT
		}
		follow, changed := p.done(args)
		to, err := t.paths.find(c.Pid, startOf(c.Pid, args, p.dir), string(text), follow)
		if errno, ok := err.(syscall.Errno); ok {
			return false, errno
		}
		switch {
		case err != nil:
			t.err = fmt.Errorf("trace program: %w", err)
			return false, 0
		case to.open || t.files.allows(to.name, changed):
		case to.lost != nil && !changed:
			// Toolchains have links to parts of the host that no box has; programs make none.
			return false, to.lost.(syscall.Errno)
		default:
			return false, 0
		}
	}
	return true, 0
}

// done says whether a link at the end of a path is followed, and whether something is changed.
func (p pathArg) done(args [6]uint) (follow, changed bool) {
	more := args[p.more]
	switch p.use {
	case useOpen:
		const alone = unix.O_CREAT | unix.O_EXCL
		return more&unix.O_NOFOLLOW == 0 && more&alone != alone, more&(unix.O_ACCMODE|unix.O_CREAT|unix.O_TRUNC) != 0
	case useChangeAt:
		return more&atNoFollow == 0, true
	case useName:
		return false, true
	}
	return true, p.use == useChange
}

// startOf is where a relative path starts. Each thread may have a working directory and
// descriptors of its own.
func startOf(tid int, args [6]uint, dir int) string {
	if dir < 0 || int32(args[dir]) == unix.AT_FDCWD {
		return fmt.Sprintf("/proc/%d/cwd", tid)
	}
	return fmt.Sprintf("/proc/%d/fd/%d", tid, int32(args[dir]))
}
