package sandbox

import (
	"slices"
	"strings"
)

// The system calls of isolation level ptrace: as in a full box, but for what there a
// namespace or the cgroup holds and here nothing would.

// tracedRules are the full box's with tracedCalls and tracedArgs in place of what those
// name.
func tracedRules() ruleset {
	named := map[string]bool{}
	for _, r := range tracedCalls {
		for name := range strings.FieldsSeq(r.calls) {
			named[name] = true
		}
	}
	rules := ruleset{calls: slices.Clone(tracedCalls), args: slices.Clone(tracedArgs), rest: fullRules.rest}
	for _, r := range fullRules.calls {
		var left []string
		for name := range strings.FieldsSeq(r.calls) {
			if !named[name] {
				left = append(left, name)
			}
		}
		r.calls = strings.Join(left, " ")
		rules.calls = append(rules.calls, r)
	}
	for _, r := range fullRules.args {
		if !named[r.call] {
			rules.args = append(rules.args, r)
		}
	}
	return rules
}

var tracedCalls = []callRule{
	{trace, "clone fork vfork", "tasks are counted where they are made"},
	{trace, "kill tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_open", "the worker and others have the same user: only the program's own processes may be meant"},
	{trace, "chmod fchmod fchmodat fchmodat2 utimensat", "Landlock does not hold attributes: the tracer changes them, in the run's own directory only"},
	{allow, "prlimit64 sched_setaffinity sched_setscheduler sched_setparam sched_setattr setpriority ioprio_set", "of itself; see the rules of arguments"},
	{refuse, "chown fchown lchown fchownat utime utimes futimesat", "as chmod, and no program that is judged needs them"},
	{lacking, "setxattr lsetxattr fsetxattr removexattr lremovexattr fremovexattr", "as chmod; cp -p and install set modes without them, where a file system has none"},
	{refuse, "connect bind listen accept accept4", "there is no namespace between the program and the host's sockets"},
	{family, "socket", "as connect; pairs of sockets are allowed"},
	{allow, "socketpair", "see the rules of arguments"},
	{absent, "shmget shmat shmdt shmctl semget semop semtimedop semctl msgget msgsnd msgrcv msgctl mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr", "they would be the host's, and outlive the run"},
	{refuse, "sendmsg sendmmsg", "descriptors that wait in a socket are in nobody's table, and their files would not be counted"},
	{lacking, "fallocate", "a disk is full sooner than anybody can count; libcs write zeros instead"},
	{absent, "memfd_create", "its pages belong to no process, so nobody would count them"},
	{absent, "vmsplice", "as memfd_create: its pages are in a pipe"},
	{absent, "pidfd_send_signal", "a directory of /proc is a pidfd too, of any process of the user"},
}

// Commands that say who is signalled when a descriptor is ready; fcntl(2), F_SETOWN.
const (
	fSetOwn   = 8
	fSetSig   = 10
	fSetOwnEx = 15
	fioSetOwn = 0x8901
	siocsPgrp = 0x8902
)

const sockDgram = 2 // and SOCK_RAW has the bit too; SOCK_STREAM and SOCK_SEQPACKET have not

var tracedArgs = []argRule{
	{"clone", 0, anyBit, []uint32{cloneNamespaces | cloneUntraced}, refuse, "namespaces, and hiding from the tracer", 0},
	{"prctl", 0, oneOf, []uint32{prSetDumpable}, refuse, "the files of a process that is not dumpable cannot be counted", 0},
	{"setsockopt", 2, oneOf, []uint32{soSndbuf}, refuse, "what lies in sockets is in no sum: no more of it than by default", 0},
	{"socketpair", 0, noneOf, []uint32{afUnix}, family, "as socket", 0},
	{"socketpair", 1, anyBit, []uint32{sockDgram}, family, "datagrams may be sent to any address", 0},
	{"fcntl", 1, oneOf, []uint32{fSetOwn, fSetSig, fSetOwnEx}, refuse, "signals to other processes of the user", 0},
	{"ioctl", 1, oneOf, []uint32{fioSetOwn, siocsPgrp}, refuse, "as fcntl", 0},
	{"prlimit64", 1, oneOf, []uint32{rlimitCore}, refuse, "as setrlimit in a full box, where a new limit is given", 2},
	{"prlimit64", 0, noneOf, []uint32{0}, trace, "another process", 0},
	{"sched_setaffinity", 0, noneOf, []uint32{0}, trace, "another process", 0},
	{"sched_setscheduler", 0, noneOf, []uint32{0}, trace, "another process", 0},
	{"sched_setparam", 0, noneOf, []uint32{0}, trace, "another process", 0},
	{"sched_setattr", 0, noneOf, []uint32{0}, trace, "another process", 0},
	{"setpriority", 0, noneOf, []uint32{0}, refuse, "a group's or a user's processes", 0},
	{"setpriority", 1, noneOf, []uint32{0}, trace, "another process", 0},
	{"ioprio_set", 0, noneOf, []uint32{1}, refuse, "a group's or a user's processes", 0},
	{"ioprio_set", 1, noneOf, []uint32{0}, trace, "another process", 0},
}
