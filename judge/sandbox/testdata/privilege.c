/* Deeds that reach for more than a box gives: D32 and D34 to D38 of docs/attacks.md.
   Each prints only what was not refused. Part of deeds.c. */
#include <dirent.h>
#include <linux/capability.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <grp.h>

/* gained tells a call that should have failed. */
static void gained(const char *what, long r) {
  if (r >= 0) {
    printf("%s: %ld\n", what, r);
  }
}

/* whoami prints the ids, capabilities and privileges of this process. */
static int whoami(int c, char **v) {
  (void)c, (void)v;
  char line[256];
  FILE *f = fopen("/proc/self/status", "r");
  while (f != NULL && fgets(line, sizeof line, f) != NULL) {
    if (strncmp(line, "Uid:", 4) == 0 || strncmp(line, "Gid:", 4) == 0 || strncmp(line, "Cap", 3) == 0 ||
        strncmp(line, "NoNewPrivs:", 11) == 0) {
      fputs(line, stdout);
    }
  }
  fflush(stdout);
  return 0;
}

/* gain asks for other ids and capabilities, then runs each argument as whoami. */
static int gain(int c, char **v) {
  gained("setuid", setuid(0));
  gained("seteuid", seteuid(0));
  gained("setreuid", setreuid(0, 0));
  gained("setresuid", setresuid(-1, 0, 0));
  gained("setgid", setgid(0));
  gained("setresgid", setresgid(0, 0, 0));
  gained("setgroups", setgroups(1, (gid_t[]){0}));
  gained("another user", setresuid(1001, 1001, 1001));
  setfsuid(0);
  gained("setfsuid", setfsuid(-1) == 0 ? 0 : -1);
  struct __user_cap_header_struct h = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct all[2] = {{~0u, ~0u, ~0u}, {~0u, ~0u, ~0u}};
  gained("capset", syscall(SYS_capset, &h, all));
  gained("ambient", prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, 21, 0, 0));
  gained("securebits", prctl(PR_SET_SECUREBITS, 1, 0, 0, 0));
  gained("new privileges", prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0));
  gained("chown", chown(".", 0, 0));
  for (int i = 2; i < c; i++) {
    fflush(stdout);
    if (fork() == 0) {
      execl(v[i], v[i], "whoami", NULL);
      perror(v[i]);
      _exit(1);
    }
    wait(NULL);
  }
  return whoami(c, v);
}

/* shut tells a file of which something could be read, or to which. */
static void shut(const char *path, int flags) {
  char byte = '1';
  int fd = open(path, flags | O_NONBLOCK | O_NOCTTY);
  if (fd >= 0 && (flags == O_RDONLY ? read(fd, &byte, 1) : write(fd, &byte, 1)) > 0) {
    printf("%s %s\n", path, flags == O_RDONLY ? "could be read" : "could be written");
  }
  close(fd);
}

static void sibling_of_ours(void) { /* a child of PID 1, which must not take its end for ours */
  if (syscall(SYS_clone, 0x8000 /* CLONE_PARENT */ | SIGCHLD, 0, 0, 0, 0) == 0) {
    _exit(3);
  }
}

/* signals_to sends every signal in every way to PID 1, which must not be disturbed. */
static void signals_to_first(void) {
  int pidfd = (int)syscall(SYS_pidfd_open, 1, 0);
  gained("take a descriptor", syscall(SYS_pidfd_getfd, pidfd, 0, 0));
  for (int s = 1; s <= 64; s++) {
    kill(1, s), syscall(SYS_tkill, 1, s), syscall(SYS_tgkill, 1, 1, s);
    siginfo_t info = {.si_signo = s, .si_code = SI_QUEUE};
    syscall(SYS_rt_sigqueueinfo, 1, s, &info), syscall(SYS_pidfd_send_signal, pidfd, s, NULL, 0);
  }
  for (int i = 0; i < 2000; i++) {
    kill(1, SIGCHLD);
  }
  int p[2]; /* a signal by the kernel's hand */
  if (pipe(p) == 0) {
    fcntl(p[0], F_SETOWN, 1), fcntl(p[0], F_SETSIG, SIGKILL), fcntl(p[0], F_SETFL, O_ASYNC);
    write(p[1], "x", 1);
  }
}

/* strangers counts the processes that are seen besides this one and PID 1. */
static void strangers(void) {
  DIR *d = opendir("/proc");
  for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
    int pid = atoi(e->d_name);
    if (pid > 1 && pid != getpid()) {
      printf("process %d is seen\n", pid);
    }
  }
  for (int pid = 2; pid < 70000; pid++) {
    if (pid != getpid() && kill(pid, 0) == 0) {
      printf("process %d can be signalled\n", pid);
    }
  }
  gained("signal the parent's group", kill(-getppid(), 0));
}

static int reach(int c, char **v) {
  (void)c, (void)v;
  static const char *const secrets[] = {"mem", "environ", "maps", "smaps", "auxv", "io", "stack", "syscall", "personality",
                                        "pagemap", "exe", "root/etc/passwd", "cwd/etc/passwd", "fd/0", "map_files", "task/1/mem"};
  static const char *const knobs[] = {"mem", "comm", "oom_score_adj", "oom_adj", "clear_refs", "coredump_filter", "attr/current",
                                      "uid_map", "gid_map", "setgroups", "timens_offsets", "sched", "autogroup", "loginuid",
                                      "timerslack_ns", "task/1/comm", "projid_map"};
  char path[64], buf[16] = "";
  strangers();
  for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++) {
    snprintf(path, sizeof path, "/proc/1/%s", secrets[i]);
    shut(path, O_RDONLY);
  }
  for (size_t i = 0; i < sizeof knobs / sizeof *knobs; i++) {
    snprintf(path, sizeof path, "/proc/1/%s", knobs[i]);
    shut(path, O_WRONLY);
  }
  struct iovec mine = {buf, sizeof buf}, theirs = {(void *)main, sizeof buf};
  gained("process_vm_readv", process_vm_readv(1, &mine, 1, &theirs, 1, 0));
  gained("process_vm_writev", process_vm_writev(1, &mine, 1, &theirs, 1, 0));
  gained("attach", syscall(SYS_ptrace, 16, 1, 0, 0));
  gained("seize", syscall(SYS_ptrace, 0x4206, 1, 0, 0));
  gained("be traced", syscall(SYS_ptrace, 0, 0, 0, 0));
  gained("kcmp", syscall(SYS_kcmp, 1, getpid(), 0, 0, 0));
  gained("move_pages", syscall(SYS_move_pages, 1, 0, NULL, NULL, NULL, 0));
  gained("perf", syscall(SYS_perf_event_open, buf, 1, -1, -1, 0));
  gained("limits", syscall(SYS_prlimit64, 1, RLIMIT_NOFILE, NULL, buf));
  gained("priority", setpriority(PRIO_PROCESS, 1, 19));
  void *robust;
  size_t length;
  gained("robust list", syscall(SYS_get_robust_list, 1, &robust, &length));
  sibling_of_ours();
  signals_to_first();
  kill(-1, SIGKILL); /* everybody but ourselves and PID 1 */
  usleep(20000);
  return 0;
}

static int devices(int c, char **v) {
  (void)c, (void)v;
  static const char *const places[] = {"/work/d", "/tmp/d", "/dev/shm/d"};
  const dev_t nodes[] = {makedev(1, 1), makedev(1, 2), makedev(1, 11), makedev(8, 0), makedev(254, 0), makedev(1, 5),
                                makedev(5, 0), makedev(10, 229), makedev(4, 0), makedev(10, 232)};
  for (size_t p = 0; p < 3; p++) {
    for (size_t n = 0; n < sizeof nodes / sizeof *nodes; n++) {
      gained("block device", mknod(places[p], S_IFBLK | 0666, nodes[n]));
      gained("character device", mknod(places[p], S_IFCHR | 0666, nodes[n]));
    }
  }
  if (mknod("/work/w", S_IFCHR | 0666, 0) == 0) { /* a whiteout, which anybody may make and nobody open */
    gained("open whiteout", open("/work/w", O_RDWR));
  }
  static const char *const there[] = {"/dev/mem", "/dev/kmem", "/dev/port", "/dev/kmsg", "/dev/sda", "/dev/vda", "/dev/nvme0n1", "/dev/loop0",
                                      "/dev/loop-control", "/dev/fuse", "/dev/kvm", "/dev/tty", "/dev/tty0", "/dev/console", "/dev/ptmx",
                                      "/dev/pts/ptmx", "/dev/net/tun", "/dev/uinput", "/dev/rtc", "/dev/hpet", "/dev/cpu/0/msr", "/dev/snapshot",
                                      "/dev/userfaultfd", "/dev/vsock", "/dev/vhost-net", "/dev/mapper/control", "/dev/mqueue", "/dev/hugepages"};
  for (size_t i = 0; i < sizeof there / sizeof *there; i++) {
    gained(there[i], access(there[i], F_OK));
    gained(there[i], open(there[i], O_RDONLY | O_NOCTTY));
  }
  static const char *const kernel[] = {"/proc/sysrq-trigger", "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname",
                                       "/proc/sys/vm/overcommit_memory", "/proc/sys/vm/drop_caches", "/proc/sys/kernel/modprobe",
                                       "/proc/sys/fs/file-max", "/proc/sys/kernel/sysrq", "/proc/irq/0/smp_affinity", "/proc/mtrr"};
  for (size_t i = 0; i < sizeof kernel / sizeof *kernel; i++) {
    int fd = open(kernel[i], O_WRONLY);
    gained(kernel[i], fd < 0 ? -1 : write(fd, "1", 0) < 0 || strstr(kernel[i], "sysrq-trigger") ? -1 : fd);
  }
  shut("/proc/kcore", O_RDONLY), shut("/proc/kmsg", O_RDONLY), shut("/proc/keys", O_RDONLY), shut("/proc/timer_list", O_RDONLY);
  gained("oom protection", ({ int fd = open("/proc/self/oom_score_adj", O_WRONLY); write(fd, "-500", 4) > 0 ? 0 : -1; }));
#ifdef __x86_64__
  gained("iopl", syscall(SYS_iopl, 3));
  gained("ioperm", syscall(SYS_ioperm, 0x70, 2, 1));
#endif
  gained("syslog", syscall(SYS_syslog, 3, NULL, 0));
  gained("swapoff by another name", syscall(SYS_acct, "/tmp/x"));
  gained("clock", syscall(SYS_clock_settime, 0, (long[]){0, 0}));
  gained("host name", sethostname("x", 1));
  gained("quota", syscall(SYS_quotactl, 0x800007, "/dev/sda", 0, NULL));
  gained("dirty handle", syscall(SYS_open_by_handle_at, AT_FDCWD, "\0", O_RDONLY));
  return 0;
}

/* ending asks to take over the host; each must end it with SIGSYS. */
static int ending(int c, char **v) {
  switch (arg(c, v, 2, 0)) {
  case 0: return (int)syscall(SYS_reboot, 0xfee1dead, 672274793, 0x1234567, NULL);
  case 1: return (int)syscall(SYS_init_module, "", 0, "");
  case 2: return (int)syscall(SYS_finit_module, -1, "", 0);
  case 3: return (int)syscall(SYS_delete_module, "judgefarm-none", O_NONBLOCK);
  case 4: return (int)syscall(SYS_kexec_load, 0, 0, NULL, 0);
  case 5: return (int)syscall(SYS_swapon, "/nowhere", 0);
  case 6: return (int)syscall(SYS_swapoff, "/nowhere");
  }
  return 0;
}

/* locked prints what Landlock alone refuses and did not: in a box these have no
   effect. */
static int locked(int c, char **v) {
  (void)c, (void)v;
  struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(4000)};
  if (bind(socket(AF_INET, SOCK_STREAM, 0), (void *)&any, sizeof any) == 0) {
    puts("tcp");
  }
  if (kill(1, SIGUSR1) == 0) {
    puts("signal");
  }
  if (mknod("/work/node", S_IFCHR | 0666, 0x103) == 0 || errno == EPERM) { /* without a capability, but before that EACCES */
    puts("node");
  }
  return 0;
}

/* leave_at leaves at the path what a judge must not collect. */
static int leave_at(int c, char **v) {
  const char *kind = c > 2 ? v[2] : "", *path = c > 3 ? v[3] : "out";
  int r = -1;
  if (strcmp(kind, "link") == 0) {
    r = symlink(v[4], path);
  } else if (strcmp(kind, "hard") == 0) { /* refused, or a file that anybody may read */
    r = link(v[4], path) == 0 || errno == EXDEV || errno == EPERM || errno == EACCES || errno == EROFS ? 0 : -1;
  } else if (strcmp(kind, "parent") == 0) {
    r = symlink(v[4], "dir");
  } else if (strcmp(kind, "fifo") == 0) {
    r = mkfifo(path, 0666);
  } else if (strcmp(kind, "whiteout") == 0) {
    r = mknod(path, S_IFCHR | 0666, 0) == 0 || errno == EACCES ? 0 : -1; /* Landlock refuses even this one */
  } else if (strcmp(kind, "socket") == 0) {
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    strncpy(a.sun_path, path, sizeof a.sun_path - 1);
    int s = socket(AF_UNIX, SOCK_STREAM, 0);
    r = bind(s, (void *)&a, sizeof a) | listen(s, 1);
  } else if (strcmp(kind, "dir") == 0) {
    r = mkdir(path, 0777);
  } else if (strcmp(kind, "swap") == 0) { /* a file that turns into a link over and over, until the end */
    if (fork() == 0) {
      for (;;) {
        close(open("a", O_CREAT | O_WRONLY, 0644));
        rename("a", path);
        symlink("/etc/passwd", "b");
        rename("b", path);
      }
    }
    usleep(10000);
    r = 0;
  } else if (strcmp(kind, "sparse") == 0) {
    int fd = open(path, O_WRONLY | O_CREAT, 0644);
    r = ftruncate(fd, arg(c, v, 4, 64) << 30);
    if (r < 0 && errno == EFBIG) {
      puts("refused");
      return 0;
    }
  } else if (strcmp(kind, "allocate") == 0) {
    int fd = open(path, O_WRONLY | O_CREAT, 0644);
    if (fallocate(fd, 0, 0, arg(c, v, 4, 64) << 30) < 0) {
      puts("refused");
      return 0;
    }
    r = 0;
  }
  if (r < 0) {
    perror(kind);
    return 1;
  }
  return 0;
}

/* work does a fixed amount of work in registers: its CPU time is the same whatever
   else the machine does. */
static int work(int c, char **v) {
  unsigned long x = 88172645463325252UL;
  for (long i = arg(c, v, 2, 10000000); i > 0; i--) {
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
  }
  return x == 0;
}
