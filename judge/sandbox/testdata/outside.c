/* Part of deeds.c: reaching for what is not the program's, where no namespace hides it. */

static void told(const char *what, long r) {
  if (r >= 0) {
    printf("%s\n", what);
  }
}

/* outside PID FILE SOCKET: prints what worked on another process, on a file of the same
   user and on a socket. */
static int outside(int c, char **v) {
  long pid = arg(c, v, 2, 1);
  const char *file = v[3], *path = v[4];
  char name[64];
  struct timespec times[2] = {{0, 0}, {0, 0}};
  struct rlimit limit = {1 << 30, 1 << 30};
  told("kill", kill((pid_t)pid, 0));
  told("kill group", kill((pid_t)-pid, 0));
  told("kill all", kill(-1, 0));
  told("tgkill", syscall(SYS_tgkill, pid, pid, 0));
  told("tkill", syscall(SYS_tkill, pid, 0));
  told("pidfd", syscall(SYS_pidfd_open, pid, 0));
  told("prlimit", syscall(SYS_prlimit64, pid, RLIMIT_FSIZE, &limit, NULL));
  told("affinity", syscall(SYS_sched_setaffinity, pid, 8, "\1\0\0\0\0\0\0\0"));
  told("priority", setpriority(PRIO_PROCESS, (id_t)pid, 5));
  told("priority of user", setpriority(PRIO_USER, 0, 5));
  told("ptrace", syscall(SYS_ptrace, 16, pid, 0, 0));
  const char *const parts[] = {"environ", "mem", "maps", "fd/0", "cwd/.", "root/etc"};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    snprintf(name, sizeof name, "/proc/%ld/%s", pid, parts[i]);
    told(parts[i], open(name, O_RDONLY));
  }
  told("read", open(file, O_RDONLY));
  told("write", open(file, O_WRONLY));
  told("truncate", truncate(file, 0));
  told("chmod", chmod(file, 0777));
  told("fchmodat", fchmodat(AT_FDCWD, file, 0777, 0));
  told("times", utimensat(AT_FDCWD, file, times, 0));
  told("link", link(file, "linked"));
  told("rename", rename(file, "renamed"));
  told("unlink", unlink(file));
  told("chmod beside", chmod("../work/../../lock", 0777));
  told("chmod of ours", fchmod(open("/exe/..", O_PATH), 0777));
  if (symlink(file, "to") == 0) {
    told("chmod by a link", chmod("to", 0777));
    told("read by a link", open("to", O_RDONLY));
  }
  told("passwd", open("/etc/passwd", O_RDONLY));
  told("temporary", open("/tmp/judgefarm-outside", O_CREAT | O_WRONLY, 0600));
  told("shm", open("/dev/shm/judgefarm-outside", O_CREAT | O_WRONLY, 0600));
  told("inet", socket(AF_INET, SOCK_STREAM, 0));
  told("unix", socket(AF_UNIX, SOCK_STREAM, 0));
  struct sockaddr_un to = {.sun_family = AF_UNIX};
  snprintf(to.sun_path, sizeof to.sun_path, "%s", path);
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0) {
    printf("no pair\n");
  }
  told("connect", connect(pair[0], (struct sockaddr *)&to, sizeof to));
  told("datagrams", socketpair(AF_UNIX, SOCK_DGRAM, 0, pair));
  told("shmget", syscall(SYS_shmget, IPC_PRIVATE, 4096, IPC_CREAT | 0600));
  told("untraced", syscall(SYS_clone, CLONE_UNTRACED | SIGCHLD, 0, 0, 0, 0));
  return 0;
}

/* answers DIR NAME: what the kernel says of a name in a directory, one errno a call. */
static int answers(int c, char **v) {
  char path[4096];
  struct stat st;
  (void)c;
  snprintf(path, sizeof path, "%s/%s", v[2], v[3]);
  long r[] = {
      chmod(path, 0600) < 0 ? errno : 0, fchmodat(AT_FDCWD, path, 0600, 0) < 0 ? errno : 0,
      utimensat(AT_FDCWD, path, NULL, 0) < 0 ? errno : 0, access(path, F_OK) < 0 ? errno : 0,
      stat(path, &st) < 0 ? errno : 0, open(path, O_RDONLY) < 0 ? errno : 0,
      fchmodat(open(v[2], O_PATH), v[3], 0600, 0) < 0 ? errno : 0,
  };
  for (size_t i = 0; i < sizeof r / sizeof *r; i++) {
    printf("%ld ", r[i]);
  }
  return 0;
}

/* links: changes what it names through its own descriptors and directory and through links,
   and links themselves; prints what failed. */
static int links(int c, char **v) {
  (void)c, (void)v;
  struct stat st;
  struct timespec times[2] = {{1000, 0}, {2000, 0}};
  char own[64], thread[64], nowhere[64];
  int fd = open("own", O_CREAT | O_RDWR, 0600);
  snprintf(own, sizeof own, "/proc/self/fd/%d", fd);
  snprintf(thread, sizeof thread, "/proc/thread-self/fd/%d", fd);
  snprintf(nowhere, sizeof nowhere, "/proc/self/fd/%d", fd + 1);
  if (mkdir("sub", 0700) < 0 || symlink("own", "link") < 0 || symlink("../link", "sub/up") < 0 || symlink("loop", "loop") < 0) perror("links");
  const char *names[] = {own, thread, "/proc/self/cwd/own", "/proc/self/cwd/sub//up", "link", "sub/up", "./sub/../link", "/proc/self/task/../cwd/link"};
  for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
    if (chmod(names[i], 0700 + i) < 0 || stat("own", &st) < 0 || (st.st_mode & 07777) != 0700 + i) perror(names[i]);
  }
  if (fchmodat(AT_FDCWD, "own", 0640, AT_SYMLINK_NOFOLLOW) < 0 || stat("own", &st) < 0 || (st.st_mode & 07777) != 0640) perror("fchmodat");
  if (utimensat(AT_FDCWD, "sub/up", times, AT_SYMLINK_NOFOLLOW) < 0 || lstat("sub/up", &st) < 0 || st.st_mtime != 2000) perror("times of a link");
  if (stat("own", &st) < 0 || st.st_mtime == 2000) fprintf(stderr, "times of what it leads to\n");
  if (utimensat(AT_FDCWD, "sub/up", times, 0) < 0 || stat("own", &st) < 0 || st.st_mtime != 2000) perror("times through a link");
  if (syscall(SYS_utimensat, fd, "", times, AT_EMPTY_PATH) < 0) perror("times of a descriptor");
  if (syscall(452, fd, "", 0604, AT_EMPTY_PATH) < 0 || stat("own", &st) < 0 || (st.st_mode & 07777) != 0604) perror("fchmodat2");
#define FAILS(call, error) if ((call) != -1 || errno != (error)) fprintf(stderr, "%s: %m\n", #call)
  FAILS(syscall(452, AT_FDCWD, "link", 0600, AT_SYMLINK_NOFOLLOW), EOPNOTSUPP);
  FAILS(syscall(452, AT_FDCWD, "own", 0600, 1), EINVAL);
  FAILS(chmod("", 0600), ENOENT);
  FAILS(chmod("loop", 0600), ELOOP);
  FAILS(chmod("link/", 0600), ENOTDIR);
  FAILS(chmod("own/x", 0600), ENOTDIR);
  FAILS(chmod(nowhere, 0600), ENOENT);
  FAILS(fchmodat(1000, "own", 0600, 0), EBADF);
  FAILS(fchmodat(fd, "own", 0600, 0), ENOTDIR);
  return 0;
}

/* inside: what a program does with its own files and processes; prints what failed. */
static int inside(int c, char **v) {
  (void)c, (void)v;
  struct stat st;
  struct timespec times[2] = {{1000, 1}, {2000, 2}};
  int fd = open("own", O_CREAT | O_RDWR, 0600);
  if (fd < 0 || chmod("own", 0751) < 0 || stat("own", &st) < 0 || (st.st_mode & 07777) != 0751) perror("chmod");
  if (fchmod(fd, 0640) < 0 || stat("own", &st) < 0 || (st.st_mode & 07777) != 0640) perror("fchmod");
  if (fchmodat(AT_FDCWD, "./own", 0604, 0) < 0 || stat("own", &st) < 0 || (st.st_mode & 07777) != 0604) perror("fchmodat");
  if (utimensat(AT_FDCWD, "own", times, 0) < 0 || stat("own", &st) < 0 || st.st_mtim.tv_sec != 2000 || st.st_mtim.tv_nsec != 2) perror("times");
  if (futimens(fd, NULL) < 0 || fstat(fd, &st) < 0 || st.st_mtim.tv_sec < 100000) perror("times of now");
  if (chmod("none", 0600) == 0 || errno != ENOENT) perror("chmod of nothing");
  if (mkdir("d", 0700) < 0 || rename("own", "d/own") < 0 || symlink("own", "d/link") < 0 || chmod("d/link", 0600) < 0) perror("directory");
  int p[2];
  pid_t child = pipe(p) < 0 ? -1 : fork();
  if (child == 0) {
    char byte;
    setsid();
    _exit(read(p[0], &byte, 1) == 1);
  }
  int status;
  if (kill(child, 0) < 0 || kill(child, SIGTERM) < 0 || waitpid(child, &status, 0) != child || !WIFSIGNALED(status)) perror("child");
  child = fork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", "exit 7", NULL);
    _exit(1);
  }
  if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 7) perror("exec");
  child = fork();
  if (child == 0) {
    raise(SIGSTOP);
    _exit(5);
  }
  if (waitpid(child, &status, WUNTRACED) != child || !WIFSTOPPED(status) || kill(child, SIGCONT) < 0 ||
      waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 5) perror("stop");
  return 0;
}

/* keyring NAME looks for a key in the session keyring that there is. */
static int keyring(int c, char **v) {
  /* KEYCTL_SEARCH, KEY_SPEC_SESSION_KEYRING; keyctl(2) */
  long r = syscall(SYS_keyctl, 10, -3, "user", c > 2 ? v[2] : "", 0);
  printf("session: %s\n", r < 0 ? strerror(errno) : "found");
  return 0;
}
