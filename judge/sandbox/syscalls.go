package sandbox

// What the box does with each system call. A call that stands nowhere gets ENOSYS,
// as on an older kernel, so that a newer libc falls back to what it knows; one
// that is dangerous gets EPERM, which says that it is meant; what no program does
// innocently ends the box's program with SIGSYS.

type action int

const (
	allow   action = iota
	refuse         // EPERM
	absent         // ENOSYS
	family         // EAFNOSUPPORT
	scarce         // ENOMEM
	lacking        // EOPNOTSUPP, as of a file system that cannot do it
	report         // PID 1 does it for the program: sockets_linux.c
	kill           // SIGSYS, the whole process
	trace          // the tracer decides; without one, ENOSYS
)

// ruleset is what a filter is made of. rest is what becomes of every other call.
type ruleset struct {
	calls []callRule
	args  []argRule
	rest  action
}

// fullRules are those of every box but strict ones.
var fullRules = ruleset{callRules, argRules, absent}

// callRule treats the named calls alike. Names that an architecture does not have
// are skipped.
type callRule struct {
	action action
	calls  string
	why    string
}

// argRule looks at the low 32 bits of one argument of an allowed call; every call
// named here has its number decided in callRules as allow.
type argRule struct {
	call   string
	arg    int
	test   argTest
	values []uint32
	action action // when the test holds
	why    string
	given  int // not 0: the test holds only if this argument, a pointer, is not null
}

type argTest int

const (
	anyBit      argTest = iota // one bit of values[0] is set
	oneOf                      // equal to one of values
	noneOf                     // equal to none of values
	noBit                      // no bit of values[0] is set
	makesUnread                // a bit of values[0], which make a file, is set, and the owner's right to read is not in the next argument
)

// Values that rules test for.
const (
	cloneNamespaces = 0x7e020080 // CLONE_NEW{TIME,NS,CGROUP,UTS,IPC,USER,PID,NET}
	afUnix          = 1
	afInet          = 2
	afInet6         = 10
	afNetlink       = 16
	rlimitCore      = 4
	prioUser        = 2
	fSetLease       = 1024
	fNotify         = 1026
	tiocsti         = 0x5412
	tioclinux       = 0x541c
	mapHugetlb      = 0x40000
	shmHugetlb      = 0o4000
	mfdHugetlb      = 4
)

var callRules = []callRule{
	{allow, "read write pread64 pwrite64 readv writev preadv pwritev preadv2 pwritev2 lseek _llseek close close_range", "file input and output"},
	{allow, "open openat openat2 creat access faccessat faccessat2 readlink readlinkat stat fstat lstat newfstatat fstatat statx statfs fstatfs fstatat64", "opening and looking at files"},
	{allow, "mkdir mkdirat mknod mknodat rmdir unlink unlinkat rename renameat renameat2 link linkat symlink symlinkat truncate ftruncate fallocate", "changing the box's own files; device nodes need a capability that nobody in a box has"},
	{allow, "chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat umask utime utimes utimensat futimesat", "attributes of the box's own files"},
	{allow, "getdents getdents64 getcwd chdir fchdir fsync fdatasync syncfs sync_file_range fadvise64 readahead flock cachestat", "directories and flushing"},
	{allow, "getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr setxattr lsetxattr fsetxattr removexattr lremovexattr fremovexattr", "extended attributes"},
	{allow, "dup dup2 dup3 fcntl ioctl pipe pipe2 splice tee vmsplice sendfile copy_file_range", "descriptors and pipes"},
	{allow, "poll ppoll select pselect6 epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2 eventfd eventfd2 signalfd signalfd4", "waiting for events"},
	{allow, "timerfd_create timerfd_settime timerfd_gettime timer_create timer_settime timer_gettime timer_getoverrun timer_delete getitimer setitimer alarm", "timers"},
	{allow, "mmap munmap mremap mprotect pkey_mprotect pkey_alloc pkey_free madvise brk msync mincore mlock mlock2 munlock mlockall munlockall membarrier mseal map_shadow_stack memfd_create remap_file_pages", "memory; what is touched counts as the box's"},
	{allow, "mbind get_mempolicy set_mempolicy set_mempolicy_home_node", "placing memory; some runtimes ask for it"},
	{allow, "clone fork vfork execve execveat exit exit_group wait4 waitid set_tid_address set_robust_list get_robust_list rseq futex futex_waitv futex_wake futex_wait futex_requeue", "processes and threads, counted by the pids controller"},
	{allow, "kill tkill tgkill rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigsuspend rt_sigtimedwait rt_sigqueueinfo rt_tgsigqueueinfo sigaltstack pause restart_syscall pidfd_open pidfd_send_signal", "signals, inside the box's pid namespace"},
	{allow, "getpid getppid gettid getpgid setpgid getpgrp getsid setsid getuid geteuid getgid getegid getgroups getresuid getresgid setuid setgid setreuid setregid setresuid setresgid setfsuid setfsgid setgroups capget capset prctl arch_prctl personality", "identity; without capabilities and with one uid nothing can be gained"},
	{allow, "getrlimit setrlimit prlimit64 getrusage times sysinfo uname getcpu sched_yield sched_getaffinity sched_setaffinity sched_getparam sched_setparam sched_getscheduler sched_setscheduler sched_getattr sched_setattr sched_get_priority_max sched_get_priority_min sched_rr_get_interval getpriority setpriority ioprio_get ioprio_set", "limits and scheduling of itself"},
	{allow, "time gettimeofday clock_gettime clock_getres clock_nanosleep nanosleep getrandom", "clocks and random numbers"},
	{allow, "socket socketpair bind connect listen accept accept4 getsockname getpeername sendto recvfrom sendmsg recvmsg sendmmsg recvmmsg shutdown setsockopt getsockopt", "sockets; the network namespace is empty and the families are limited"},
	{allow, "shmget shmat shmdt shmctl semget semop semtimedop semctl msgget msgsnd msgrcv msgctl mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr", "inter-process communication, in the box's ipc namespace and memory"},
	{allow, "landlock_create_ruleset landlock_add_rule landlock_restrict_self", "a program may lock itself in further"},

	{absent, "clone3", "its flags lie in memory where a filter cannot look; libcs fall back to clone"},
	{absent, "sync", "it writes out all disks of the host"},
	{absent, "inotify_init inotify_init1 inotify_add_watch inotify_rm_watch", "they tell what other boxes and the host open of the files that all see"},
	{absent, "io_setup io_destroy io_submit io_cancel io_getevents io_pgetevents", "the old asynchronous input and output draws on a bound of the whole host"},
	{absent, "seccomp memfd_secret", "not needed, and their notifications and hidden pages are not wanted"},

	{refuse, "unshare setns", "new namespaces open much of the kernel to an ordinary user"},
	{refuse, "mount umount2 pivot_root chroot fsopen fsconfig fsmount fspick open_tree open_tree_attr move_mount mount_setattr statmount listmount quotactl quotactl_fd", "the mount family"},
	{refuse, "io_uring_setup io_uring_enter io_uring_register", "a second system call table that a filter does not see"},
	{refuse, "keyctl add_key request_key", "keyrings are kept by uid, not by namespace"},
	{refuse, "bpf perf_event_open userfaultfd", "large attack surface for nothing that a judged program needs"},
	{refuse, "ptrace process_vm_readv process_vm_writev process_madvise process_mrelease kcmp pidfd_getfd", "reaching into other processes"},
	{refuse, "name_to_handle_at open_by_handle_at fanotify_init fanotify_mark", "reaching files past the box's root"},
	{refuse, "migrate_pages move_pages", "placing the pages of other processes"},
	{refuse, "syslog sethostname setdomainname vhangup acct iopl ioperm modify_ldt lookup_dcookie", "administration of the host"},
	{refuse, "adjtimex clock_adjtime clock_settime settimeofday", "setting clocks"},

	{kill, "init_module finit_module delete_module kexec_load kexec_file_load reboot swapon swapoff", "taking over the host; never innocent"},
}

var argRules = []argRule{
	{"clone", 0, anyBit, []uint32{cloneNamespaces}, refuse, "as unshare", 0},
	{"socket", 0, oneOf, []uint32{afInet, afInet6, afNetlink}, report, "made in a network namespace of the box's own, which no box has before", 0},
	{"socket", 0, noneOf, []uint32{afUnix, afInet, afInet6, afNetlink}, family, "vsock, packet, alg and the rest are not held by the network namespace or not needed", 0},
	{"socketpair", 0, noneOf, []uint32{afUnix}, family, "as socket", 0},
	{"mmap", 3, anyBit, []uint32{mapHugetlb}, scarce, "huge pages are the host's, and in no cgroup's memory; this is the answer where there are none", 0},
	{"shmget", 2, anyBit, []uint32{shmHugetlb}, scarce, "as mmap", 0},
	{"memfd_create", 1, anyBit, []uint32{mfdHugetlb}, scarce, "as mmap", 0},
	{"ioctl", 1, oneOf, []uint32{tiocsti, tioclinux}, refuse, "writing into a terminal's input", 0},
	{"fcntl", 1, oneOf, []uint32{fSetLease, fNotify}, refuse, "a lease has whoever opens the file wait; notices tell what others open", 0},
	{"setrlimit", 0, oneOf, []uint32{rlimitCore}, refuse, "a core limit other than 1 would start the host's core handler", 0},
	{"prlimit64", 1, oneOf, []uint32{rlimitCore}, refuse, "as setrlimit, where a new limit is given", 2},
	{"prlimit64", 0, oneOf, []uint32{1}, refuse, "the box's PID 1 has the same user", 0},
	{"sched_setaffinity", 0, oneOf, []uint32{1}, refuse, "as prlimit64", 0},
	{"sched_setscheduler", 0, oneOf, []uint32{1}, refuse, "as prlimit64", 0},
	{"sched_setparam", 0, oneOf, []uint32{1}, refuse, "as prlimit64", 0},
	{"sched_setattr", 0, oneOf, []uint32{1}, refuse, "as prlimit64", 0},
	{"setpriority", 0, oneOf, []uint32{prioUser}, refuse, "PID 1 has the same user", 0},
	{"setpriority", 1, oneOf, []uint32{1}, refuse, "as prlimit64", 0},
	{"ioprio_set", 1, oneOf, []uint32{1}, refuse, "as prlimit64", 0},
}
