package sandbox

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// probeLandlock informs where Landlock stands behind the other walls of a box; at the
// level ptrace it is the wall.
func probeLandlock() ProbeItem {
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	return landlockItem(int(abi), errno != 0)
}

// landlockItem says what boxes make of a version; landlock_linux.c does it.
func landlockItem(abi int, absent bool) ProbeItem {
	p := ProbeItem{Name: "Landlock", Detail: fmt.Sprintf("ABI %d", abi), Needed: []Isolation{Ptrace}}
	switch {
	case absent:
		p.Detail = "none: the levels full and userns do without this second wall"
		p.Fix = "boot with lsm=...,landlock on a kernel with CONFIG_SECURITY_LANDLOCK; in a container its seccomp profile must allow it"
	case abi < 2:
		p.Detail += ": not used, it would forbid renames between directories"
		p.Fix = "use Linux 5.19 or later"
	case abi < 4:
		p.OK, p.Detail = true, p.Detail+": files"
	case abi < 6:
		p.OK, p.Detail = true, p.Detail+": files and TCP"
	default:
		p.OK, p.Detail = true, p.Detail+": files, TCP, signals and abstract sockets"
	}
	return p
}
