package sandbox

import "strings"

// The system calls of level userns: those of full, but for what would hide from its
// sums. CPU time is counted by a perf event, which the kernel takes from a process
// that executes a file it may not read (fs/exec.c, begin_new_exec). A program has no
// such file unless it makes one, so here none is made.
var usernsRules = fullRules.but(usernsCalls, usernsArgs)

const ownerRead = 0o400

// Bits of open's flags; open(2). O_TMPFILE's own bit is not O_DIRECTORY.
const (
	openCreate  = 0o100
	openTmpfile = 0o20000000
)

const soSndbuf = 7 // of SOL_SOCKET; other levels have nothing there that a box needs

var usernsCalls = []callRule{
	{absent, "memfd_create", "memory that need not be mapped by any process is in no sum; libraries fall back to files"},
	{absent, "vmsplice", "pages that are in a pipe and in no process are in no sum either"},
	{absent, "openat2 setxattr lsetxattr fsetxattr", "their modes and access lists lie in memory; libraries fall back to openat"},
}

var usernsArgs = []argRule{
	{"chmod", 1, noBit, []uint32{ownerRead}, refuse, "the owner keeps the right to read", 0},
	{"fchmod", 1, noBit, []uint32{ownerRead}, refuse, "as chmod", 0},
	{"fchmodat", 2, noBit, []uint32{ownerRead}, refuse, "as chmod", 0},
	{"fchmodat2", 2, noBit, []uint32{ownerRead}, refuse, "as chmod", 0},
	{"creat", 1, noBit, []uint32{ownerRead}, refuse, "as chmod", 0},
	{"mknod", 1, noBit, []uint32{ownerRead}, refuse, "as chmod", 0},
	{"mknodat", 2, noBit, []uint32{ownerRead}, refuse, "as chmod", 0},
	{"open", 1, makesUnread, []uint32{openCreate | openTmpfile}, refuse, "as chmod", 0},
	{"openat", 2, makesUnread, []uint32{openCreate | openTmpfile}, refuse, "as chmod", 0},
	{"umask", 0, anyBit, []uint32{ownerRead}, refuse, "takes the right from files that are made", 0},
	{"setsockopt", 2, oneOf, []uint32{soSndbuf}, refuse, "what lies in sockets is in no sum: no more of it than by default", 0},
}

// but returns the rules with other ones for some calls.
func (r ruleset) but(calls []callRule, args []argRule) ruleset {
	other := map[string]bool{}
	for _, c := range calls {
		for name := range strings.FieldsSeq(c.calls) {
			other[name] = true
		}
	}
	changed := ruleset{rest: r.rest}
	for _, a := range r.args {
		if !other[a.call] {
			changed.args = append(changed.args, a)
		}
	}
	changed.args = append(changed.args, args...)
	for _, c := range r.calls {
		var names []string
		for name := range strings.FieldsSeq(c.calls) {
			if !other[name] {
				names = append(names, name)
			}
		}
		c.calls = strings.Join(names, " ")
		changed.calls = append(changed.calls, c)
	}
	changed.calls = append(changed.calls, calls...)
	return changed
}
