package sandbox

// The system calls of strict mode. What is allowed runs at full speed, nobody looks;
// a call with a rule of paths (strict_files.go) goes to the tracer, which looks at the
// file; every other one goes there too and ends the run. So the list is what programs
// of one process need that compute, use threads and read and write their own files.

var strictRules = ruleset{strictCalls, strictArgs, trace}

var strictCalls = []callRule{
	{allow, "read write pread64 pwrite64 readv writev preadv pwritev preadv2 pwritev2 lseek _llseek close close_range", "file input and output"},
	{allow, "stat fstat lstat newfstatat fstatat fstatat64 statx statfs fstatfs access faccessat faccessat2 readlink readlinkat getdents getdents64 getcwd getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr", "looking at files without opening them"},
	{allow, "ftruncate fallocate fsync fdatasync sync_file_range fadvise64 readahead flock fchmod fchown fchdir umask copy_file_range", "on files that are open, and so were looked at"},
	{allow, "dup dup2 dup3 fcntl ioctl pipe pipe2 splice tee vmsplice sendfile", "descriptors and pipes"},
	{allow, "poll ppoll select pselect6 epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2 eventfd eventfd2 signalfd signalfd4", "waiting for events"},
	{allow, "timerfd_create timerfd_settime timerfd_gettime timer_create timer_settime timer_gettime timer_getoverrun timer_delete getitimer setitimer alarm", "timers"},
	{allow, "mmap munmap mremap mprotect pkey_mprotect pkey_alloc pkey_free madvise brk msync mincore mlock mlock2 munlock mlockall munlockall membarrier mseal map_shadow_stack", "memory"},
	{allow, "mbind get_mempolicy set_mempolicy set_mempolicy_home_node", "placing memory; some runtimes ask for it"},
	{allow, "clone exit exit_group set_tid_address set_robust_list get_robust_list rseq futex futex_waitv futex_wake futex_wait futex_requeue wait4 waitid", "threads; there are no children to wait for"},
	{allow, "kill tkill tgkill rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigsuspend rt_sigtimedwait rt_sigqueueinfo rt_tgsigqueueinfo sigaltstack pause restart_syscall", "signals to itself"},
	{allow, "getpid getppid gettid getpgid getpgrp getsid getuid geteuid getgid getegid getgroups getresuid getresgid capget prctl arch_prctl", "who it is"},
	{allow, "getrlimit setrlimit prlimit64 getrusage times sysinfo uname getcpu sched_yield sched_getaffinity sched_setaffinity sched_getparam sched_setparam sched_getscheduler sched_setscheduler sched_getattr sched_setattr sched_get_priority_max sched_get_priority_min sched_rr_get_interval getpriority ioprio_get", "limits and scheduling of itself"},
	{allow, "time gettimeofday clock_gettime clock_getres clock_nanosleep nanosleep getrandom", "clocks and random numbers"},
	{allow, "socketpair sendto recvfrom sendmsg recvmsg shutdown getsockopt setsockopt getsockname getpeername", "a pair of sockets, with which event loops wake themselves; there is no way to others"},

	{absent, "clone3 openat2", "their arguments lie in memory, where others may change them; libraries fall back to clone and openat"},
	{absent, "io_uring_setup", "runtimes try it and fall back"},
}

// ownPID is the program's number in its box: the first process after PID 1. It has no
// others, so this is all that it may send signals to.
const ownPID = 2

const (
	cloneThread   = 0x00010000
	cloneUntraced = 0x00800000
	prSetDumpable = 4
)

var strictArgs = []argRule{
	{"clone", 0, anyBit, []uint32{cloneNamespaces | cloneUntraced}, trace, "namespaces, and hiding from the tracer", 0},
	{"clone", 0, noBit, []uint32{cloneThread}, trace, "another process", 0},
	{"kill", 0, noneOf, []uint32{ownPID}, trace, "another process, or all of them", 0},
	{"tgkill", 0, noneOf, []uint32{ownPID}, trace, "another process", 0},
	{"tkill", 0, oneOf, []uint32{1}, trace, "PID 1 is ours; every other thread is the program's", 0},
	{"rt_sigqueueinfo", 0, noneOf, []uint32{ownPID}, trace, "as kill", 0},
	{"rt_tgsigqueueinfo", 0, noneOf, []uint32{ownPID}, trace, "as kill", 0},
	{"socketpair", 0, noneOf, []uint32{afUnix}, trace, "the only kind that has pairs for innocent use", 0},
	{"fcntl", 1, oneOf, []uint32{fSetLease, fNotify}, trace, "a lease has whoever opens the file wait; notices tell what others open", 0},
	{"ioctl", 1, oneOf, []uint32{tiocsti, tioclinux}, trace, "writing into a terminal's input", 0},
	{"mmap", 3, anyBit, []uint32{mapHugetlb}, scarce, "huge pages are the host's, and in no cgroup's memory", 0},
	{"prctl", 0, oneOf, []uint32{prSetDumpable}, refuse, "of a process that is not dumpable an ordinary user's tracer cannot look up files", 0},
	{"setrlimit", 0, oneOf, []uint32{rlimitCore}, refuse, "a core limit other than 1 would start the host's core handler", 0},
	{"prlimit64", 1, oneOf, []uint32{rlimitCore}, refuse, "as setrlimit, where a new limit is given", 2},
	{"prlimit64", 0, oneOf, []uint32{1}, trace, "the box's PID 1 has the same user", 0},
	{"sched_setaffinity", 0, oneOf, []uint32{1}, trace, "as prlimit64", 0},
	{"sched_setscheduler", 0, oneOf, []uint32{1}, trace, "as prlimit64", 0},
	{"sched_setparam", 0, oneOf, []uint32{1}, trace, "as prlimit64", 0},
	{"sched_setattr", 0, oneOf, []uint32{1}, trace, "as prlimit64", 0},
}
