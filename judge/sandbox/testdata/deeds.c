/* deeds DEED [ARGS]: what judged programs do, good and bad, one deed a function.
   Every deed is bounded, so that a box that does not hold cannot hurt the host for
   long; run it in boxes only. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long arg(int c, char **v, int i, long otherwise) { return i < c ? atol(v[i]) : otherwise; }

/* burn uses CPU time, at most 20 s and at least ms. */
static void burn(long ms) {
  struct timespec t;
  do {
    for (volatile int i = 0; i < 20000; i++) {
    }
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  } while (t.tv_sec * 1000 + t.tv_nsec / 1000000 < ms);
}

static void touch_memory(long mib, int flags) {
  for (long i = 0; i < mib; i++) {
    char *p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
      perror("mmap");
      exit(3);
    }
    memset(p, 1, 1 << 20);
  }
}

static void *burn_thread(void *ms) {
  burn((long)ms);
  return NULL;
}

static int spin(int c, char **v) {
  burn(arg(c, v, 2, 20000));
  return 0;
}

static int idle(int c, char **v) {
  sleep((unsigned)arg(c, v, 2, 60));
  return 0;
}

static int threads(int c, char **v) {
  pthread_t t[4];
  for (int i = 0; i < 4; i++) {
    pthread_create(&t[i], NULL, burn_thread, (void *)arg(c, v, 2, 20000));
  }
  for (int i = 0; i < 4; i++) {
    pthread_join(t[i], NULL);
  }
  return 0;
}

static void ignore(int sig) { (void)sig; }

static int stubborn(int c, char **v) {
  for (int s = 1; s < NSIG; s++) {
    signal(s, ignore);
  }
  return spin(c, v);
}

static int children(int c, char **v) {
  for (int i = 0; i < 4; i++) {
    if (fork() == 0) {
      burn(arg(c, v, 2, 20000));
      _exit(0);
    }
  }
  while (wait(NULL) > 0) {
  }
  return 0;
}

/* unwaited has one child after the other use CPU time, which is added to nobody's: the
   parent does not want to know. It prints a dot for each. With a third argument they execute a file that cannot be
   read, if one can be made. */
static int unwaited(int c, char **v) {
  char x[] = "/work/x";
  signal(SIGCHLD, SIG_IGN);
  if (c > 3) {
    static char block[1 << 16];
    umask(0400);
    int from = open("/proc/self/exe", O_RDONLY), to = open(x, O_WRONLY | O_CREAT, 0111);
    if (to < 0) {
      to = open(x, O_WRONLY | O_CREAT, 0755);
    }
    for (ssize_t n; (n = read(from, block, sizeof block)) > 0;) {
      if (write(to, block, (size_t)n) != n) {
        return 1;
      }
    }
    fchmod(to, 0111);
    close(to);
    chmod(x, 0111);
  }
  for (long i = 0, ms = arg(c, v, 2, 20); i < 4000 / ms; i++) {
    if (fork() == 0) {
      if (c > 3) {
        execl(x, x, "spin", v[2], NULL);
        _exit(1);
      }
      burn(ms);
      _exit(0);
    }
    while (wait(NULL) > 0 || errno == EINTR) {
    }
    if (write(1, ".", 1) != 1) {
      return 1;
    }
  }
  return 0;
}

/* syscalls burns system time. */
static int syscalls(int c, char **v) {
  struct timespec t;
  long ms = arg(c, v, 2, 20000);
  int fd = open("/dev/zero", O_RDONLY);
  static char buf[1 << 16];
  do {
    for (int i = 0; i < 100; i++) {
      if (read(fd, buf, sizeof buf) < 0) {
        return 1;
      }
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  } while (t.tv_sec * 1000 + t.tv_nsec / 1000000 < ms);
  return 0;
}

static int leave_daemon(int c, char **v) {
  (void)c, (void)v;
  puts("right answer");
  fflush(stdout);
  if (fork() == 0) {
    setsid();
    if (fork() == 0) {
      for (int i = 0; i < 64; i++) {
        close(i);
      }
      sleep(60);
    }
    _exit(0);
  }
  wait(NULL);
  return 0;
}

static int fork_bomb(int c, char **v) {
  long ms = arg(c, v, 2, 20000);
  struct timespec t, t0;
  clock_gettime(CLOCK_MONOTONIC, &t0);
  do {
    if (fork() == 0) {
      signal(SIGTERM, SIG_IGN);
    }
    clock_gettime(CLOCK_MONOTONIC, &t);
  } while ((t.tv_sec - t0.tv_sec) * 1000 < ms);
  return 0;
}

static int crowd(int c, char **v) {
  for (long i = 0; i < arg(c, v, 2, 40); i++) {
    if (fork() == 0) {
      touch_memory(arg(c, v, 3, 16), MAP_PRIVATE);
      sleep(5);
      _exit(0);
    }
  }
  while (wait(NULL) > 0) {
  }
  return 0;
}

static int fill(const char *path, long mib) {
  static char block[1 << 20];
  memset(block, 1, sizeof block);
  int fd = open(path, O_WRONLY | O_CREAT, 0644);
  for (long i = 0; i < mib; i++) {
    if (write(fd, block, sizeof block) != sizeof block) {
      perror(path);
      return 5;
    }
  }
  return 0;
}

static int fill_disk(int c, char **v) { return fill(v[2], arg(c, v, 3, 1024)); }

static int shm_segments(int c, char **v) {
  for (long i = 0; i < arg(c, v, 2, 64); i++) {
    int id = shmget(IPC_PRIVATE, 16 << 20, IPC_CREAT | 0600);
    char *p = id < 0 ? (char *)-1 : shmat(id, NULL, 0);
    if (p == (char *)-1) {
      perror("shm");
      return 4;
    }
    memset(p, 1, 16 << 20);
  }
  return 0;
}

static int recurse(volatile char *above) {
  volatile char frame[4096];
  frame[0] = above[0];
  frame[4095] = 1;
  return recurse(frame) + frame[4095];
}

static int deep(int c, char **v) {
  (void)c, (void)v;
  return recurse((volatile char[]){1});
}

static int print(int c, char **v) {
  static char block[1 << 16];
  memset(block, 'x', sizeof block);
  int fd = (int)arg(c, v, 3, 1);
  for (long left = arg(c, v, 2, 1L << 40); left > 0;) {
    ssize_t n = write(fd, block, left < (long)sizeof block ? (size_t)left : sizeof block);
    if (n < 0) {
      return 1;
    }
    left -= n;
  }
  return 0;
}

/* turns writes out, err, out, err. */
static int turns(int c, char **v) {
  (void)c, (void)v;
  for (int i = 0; i < 4; i++) {
    dprintf(1 + i % 2, "%d", i);
  }
  return 0;
}

static int many_files(int c, char **v) {
  char name[64];
  for (long i = 0; i < arg(c, v, 2, 300000); i++) {
    snprintf(name, sizeof name, "f%ld", i);
    int fd = open(name, O_WRONLY | O_CREAT, 0644);
    if (fd < 0) {
      printf("%ld %s\n", i, strerror(errno));
      return 0;
    }
    close(fd);
  }
  return 0;
}

static int core(int c, char **v) {
  (void)c, (void)v;
  struct rlimit r = {RLIM_INFINITY, RLIM_INFINITY};
  setrlimit(RLIMIT_CORE, &r);
  r.rlim_cur = r.rlim_max = 0;
  setrlimit(RLIMIT_CORE, &r);
  getrlimit(RLIMIT_CORE, &r);
  printf("%ld\n", (long)r.rlim_cur);
  fflush(stdout);
  abort();
}

/* calls tries system calls that must be refused and prints those that were not. */
static int calls(int c, char **v) {
  (void)c, (void)v;
  static const struct {
    const char *name;
    long nr, a, b, c;
    int want;
    long d;
  } t[] = {
      {"unshare user", SYS_unshare, 0x10000000, 0, 0, EPERM},
      {"clone user", SYS_clone, 0x10000000 | SIGCHLD, 0, 0, EPERM},
      {"clone3", SYS_clone3, 0, 0, 0, ENOSYS},
      {"io_uring", 425, 1, 0, 0, EPERM},
      {"keyctl", SYS_keyctl, 0, 0, 0, EPERM},
      {"userfaultfd", SYS_userfaultfd, 0, 0, 0, EPERM},
      {"perf", SYS_perf_event_open, 0, 0, 0, EPERM},
      {"bpf", SYS_bpf, 0, 0, 0, EPERM},
      {"ptrace", SYS_ptrace, 16, 1, 0, EPERM},
      {"mount", SYS_mount, 0, 0, 0, EPERM},
      {"chroot", SYS_chroot, (long)"/tmp", 0, 0, EPERM},
      {"vsock", SYS_socket, 40, SOCK_STREAM, 0, EAFNOSUPPORT},
      {"packet", SYS_socket, 17, SOCK_RAW, 0, EAFNOSUPPORT},
      {"socketpair inet", SYS_socketpair, 2, SOCK_STREAM, 0, EAFNOSUPPORT},
      {"prlimit of 1", SYS_prlimit64, 1, 0, 0, EPERM},
      {"unknown", 1999, 0, 0, 0, ENOSYS},
      {"setuid 0", SYS_setuid, 0, 0, 0, EINVAL},
      {"device node", SYS_mknodat, AT_FDCWD, (long)"/tmp/d", S_IFBLK | 0600, EPERM},
      {"inotify", SYS_inotify_init1, 0, 0, 0, ENOSYS},
      {"aio", SYS_io_setup, 0, 0, 0, ENOSYS},
      {"sync", SYS_sync, 0, 0, 0, ENOSYS},
      {"lease", SYS_fcntl, 0, 1024, 0, EPERM},
      {"notice", SYS_fcntl, 0, 1026, 1, EPERM},
      {"process_vm_readv", SYS_process_vm_readv, 1, 0, 0, EPERM},
      /* Where nothing is reserved, a mapping is made even if there are no huge pages. */
      {"huge mapping", SYS_mmap, 0, 2 << 20, PROT_READ | PROT_WRITE, ENOMEM, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | 0x40000},
      {"huge segment", SYS_shmget, 0, 2 << 20, IPC_CREAT | 0600 | 04000, ENOMEM, 0},
      {"huge memfd", SYS_memfd_create, (long)"huge", 4, 0, ENOMEM, 0},
  };
  for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
    errno = 0;
    long r = syscall(t[i].nr, t[i].a, t[i].b, t[i].c, t[i].d, -1, 0);
    int locked = errno == EACCES && t[i].nr == SYS_mknodat; /* where Landlock is asked first */
    int none = errno == ENOSYS && t[i].want == ENOMEM;      /* where a level has no such call */
    if (r != -1 || (errno != t[i].want && !locked && !none)) {
      printf("%s: %ld %s\n", t[i].name, r, strerror(errno));
    }
  }
  struct rlimit old;
  if (getrlimit(RLIMIT_CORE, &old) < 0) {
    printf("getrlimit core: %s\n", strerror(errno));
  }
  return 0;
}

static int reboot_call(int c, char **v) {
  (void)c, (void)v;
  syscall(SYS_reboot, 0xfee1dead, 672274793, 0x1234567, NULL); /* asks to do something that no kernel knows */
  return 0;
}

static int give_up(int c, char **v) {
  (void)c, (void)v;
  abort();
}

static int self_kill(int c, char **v) {
  raise((int)arg(c, v, 2, SIGKILL));
  return 0;
}

static int leave(int c, char **v) { return (int)arg(c, v, 2, 0); }

/* litter leaves what must not be collected: a link, a fifo, a sparse giant. */
static int litter(int c, char **v) {
  (void)c, (void)v;
  int fd = open("sparse", O_WRONLY | O_CREAT, 0644);
  int r = symlink("/etc/passwd", "link") | symlink("..", "up") | mkfifo("fifo", 0644) | mkdir("dir", 0755) |
          symlink("/etc", "dir/etc") | ftruncate(fd, 60 << 20);
  if (chmod("sparse", 0) < 0 || r != 0) {
    perror("litter");
    return 1;
  }
  return 0;
}

// Leaves children that it does not wait for, each dead before the next, and tells how
// many it could make.
static int zombies(int c, char **v) {
  int made = 0;
  for (; made < 60; made++) {
    pid_t p = fork();
    if (p < 0) {
      break;
    }
    if (p == 0) {
      _exit(0);
    }
    siginfo_t info;
    waitid(P_PID, (id_t)p, &info, WEXITED | WNOWAIT);
  }
  printf("%d", made);
  return 0;
}

// Has children leave children of their own, which end by themselves: nobody of ours
// waits for those.
static int orphans(int c, char **v) {
  int made = 0;
  for (; made < 60; made++) {
    int p[2];
    if (pipe(p) != 0) {
      return 1;
    }
    pid_t child = fork();
    if (child == 0) {
      _exit(fork() < 0);
    }
    int status = 1;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
      break;
    }
    close(p[1]);
    char end;
    if (read(p[0], &end, 1) != 0) { // until the last one has ended
      return 1;
    }
    close(p[0]);
  }
  printf("%d", made);
  return 0;
}

int main(int, char **);
#include "memory.c"
#include "network.c"
#include "privilege.c"
#include "step.c"
#include "outside.c"
#include "nest.c"

static const struct {
  const char *name;
  int (*run)(int, char **);
} deeds[] = {
    {"spin", spin},         {"idle", idle},           {"threads", threads},       {"stubborn", stubborn},
    {"unwaited", unwaited},   {"zombies", zombies},     {"orphans", orphans},
    {"children", children}, {"syscalls", syscalls},   {"daemon", leave_daemon},   {"forkbomb", fork_bomb},
    {"crowd", crowd},       {"hog", hog},             {"sharedhog", shared_hog},  {"reserve", reserve},
    {"childhog", child_hog}, {"fill", fill_disk},     {"sysvshm", shm_segments},  {"deep", deep},
    {"print", print},       {"turns", turns},         {"manyfiles", many_files},  {"core", core},
    {"connect", connect_to}, {"calls", calls},        {"reboot", reboot_call},    {"abort", give_up},
    {"kill", self_kill},    {"exit", leave},          {"litter", litter},
    {"sockets", sockets},   {"socketsleft", sockets_left},
    {"whoami", whoami},     {"gain", gain},           {"reach", reach},           {"devices", devices},
    {"ending", ending},     {"leave", leave_at},      {"work", work},
    {"locked", locked},     {"headless", headless},   {"undumpable", undumpable}, {"spliced", spliced},
    {"together", together},   {"kept", kept},           {"crowded", crowded},
    {"step", step},         {"outside", outside},     {"inside", inside},
    {"nest", nest},           {"answers", answers},
    {"hold", hold},           {"keyring", keyring},   {"links", links},
};

int main(int c, char **v) {
  for (size_t i = 0; c > 1 && i < sizeof deeds / sizeof *deeds; i++) {
    if (strcmp(deeds[i].name, v[1]) == 0) {
      return deeds[i].run(c, v);
    }
  }
  fprintf(stderr, "no such deed\n");
  return 99;
}
