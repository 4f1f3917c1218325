/* Starting the program in a finished box, and waiting for its end. */
#define _GNU_SOURCE
#include "nursery.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STRINGS_MAX 16384
#define PAGE (64 << 10) /* no architecture of ours has larger ones */

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif
#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1U << 2)
#endif

/* The program's process shares this memory with PID 1 until its exec, so how far it
   came needs no pipe: all memory by vfork, and this page alone in strict mode, where it
   is dumpable and PID 1 must not be. It shares its descriptors too, so that the filter's
   listener needs no pipe either. */
static union {
  struct {
    const struct start *start;
    int *fds; /* see MSG_START */
    const char *dir, **paths, **argv, **env, **mounts, **open;
    uint64_t start_ns, setup_ns;
    const char *failed; /* the step of ours that failed */
    int exec_failed;
    int listener; /* of the filter */
    int err; /* of that step, or of the exec */
    int control;
  };
  unsigned char page[PAGE];
} run __attribute__((aligned(PAGE)));

static const char *strings[STRINGS_MAX];
static unsigned char stack[64 << 10] __attribute__((aligned(16)));

static uint64_t clock_ns(clockid_t id) {
  struct timespec t;
  clock_gettime(id, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#define CHECK(step, call)     \
  do {                        \
    if ((call) < 0) {         \
      run.failed = (step);    \
      run.err = errno;        \
      _exit(126);             \
    }                         \
  } while (0)

int drop_capabilities(void) {
  int cap = 0;
  while (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == 0) {
    cap++;
  }
  if (errno != EINVAL || cap < 38) { /* EINVAL is the end of those that there are */
    return -1;
  }
  return clear_capabilities();
}

int clear_capabilities(void) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct none[2] = {{0}};
  return (int)syscall(SYS_capset, &header, none);
}

/* load_strict loads the filter whose reports go to the tracer. */
static int load_strict(void) {
  struct sock_fprog filter = {
      .len = (unsigned short)nursery_config.strict_len,
      .filter = (struct sock_filter *)nursery_strict,
  };
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) < 0 ? -1 : 0;
}

/* load_filter returns the listener. */
static int load_filter(void) {
  struct sock_fprog filter = {
      .len = (unsigned short)nursery_config.filter_len,
      .filter = (struct sock_filter *)nursery_filter,
  };
  /* Since 5.19 a signal does not interrupt a call that PID 1 is at work on. */
  long fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                    SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, &filter);
  if (fd < 0 && errno == EINVAL) {
    fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &filter);
  }
  return (int)fd;
}

/* charged returns what the cgroup was charged with so far, which is our own set-up:
   what came before the group was joined may be in it, in part, since the kernel charges
   late, to the group of that moment. To read the thread's clock makes it charge what
   there is, while the process's, under a limit of CPU time, may be a tick behind;
   kernel/time/posix-cpu-timers.c. Without a cgroup it is the thread's own time. */
static int64_t charged(void) {
  uint64_t own = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  if (run.start->njoin == 0) {
    return (int64_t)own;
  }
  char text[256];
  ssize_t n = pread(run.fds[3 + run.start->njoin], text, sizeof text - 1, 0);
  if (n <= 0) {
    return -1;
  }
  text[n] = 0;
  static const char v2[] = "usage_usec ";
  if (strncmp(text, v2, sizeof v2 - 1) == 0) {
    return (int64_t)strtoull(text + sizeof v2 - 1, NULL, 10) * 1000;
  }
  return (int64_t)strtoull(text, NULL, 10);
}

/* program_child runs in the program's process until it is the program. */
static int program_child(void *unused) {
  (void)unused;
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  setsid();
  umask(022);
  for (int i = 0; i < 3; i++) {
    CHECK("set standard streams", dup2(run.fds[i], i));
  }
  for (uint32_t i = 0; i < run.start->nlimits; i++) {
    const struct limit *l = &run.start->limits[i];
    struct rlimit r = {.rlim_cur = l->cur, .rlim_max = l->max};
    CHECK("set resource limits", setrlimit((int)l->resource, &r));
  }
  if (run.start->pin) {
    CHECK("pin to cores", syscall(SYS_sched_setaffinity, 0, sizeof run.start->cpus, run.start->cpus));
  }
  CHECK("enter directory", chdir(run.dir));
  if (run.start->strict) {
    CHECK("be traced", be_traced(run.control));
  }
  for (uint32_t i = 0; i < run.start->njoin; i++) {
    CHECK("join cgroup", write(run.fds[3 + i], "0", 1));
  }
  CHECK("unshare cgroup namespace", unshare(CLONE_NEWCGROUP));
  for (int i = 0; i < 3; i++) {
    close(run.fds[i]);
  }
  CHECK("close descriptors", syscall(SYS_close_range, 3, ~0u, CLOSE_RANGE_CLOEXEC));
  CHECK("drop capabilities", drop_capabilities());
  CHECK("set no_new_privs", prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
  CHECK("enter landlock", landlock_enter());
  if (run.start->strict) {
    CHECK("load strict filter", load_strict());
  } else {
    CHECK("load seccomp filter", run.listener = load_filter());
  }
  run.err = ENOENT;
  int64_t setup;
  CHECK("read the cgroup's CPU time", setup = charged());
  run.setup_ns = (uint64_t)setup;
  run.start_ns = clock_ns(CLOCK_MONOTONIC);
  for (uint32_t i = 0; i < run.start->npaths; i++) {
    execve(run.paths[i], (char *const *)run.argv, (char *const *)run.env);
    /* As execvp(3): go on looking, but remember what was there and not executable. */
    if (errno == ENOENT || errno == ENOTDIR) {
      continue;
    }
    run.err = errno;
    if (errno != EACCES) {
      break;
    }
  }
  run.exec_failed = 1;
  _exit(127);
}

static int read_strings(unsigned char *at, unsigned char *end) {
  const struct start *s = run.start;
  uint64_t total = (uint64_t)s->npaths + s->argc + s->envc + s->nmounts + s->nopen + 5;
  if (total > STRINGS_MAX) {
    return -1;
  }
  run.dir = next_string(&at, end);
  const char **next = strings, ***lists[] = {&run.paths, &run.argv, &run.env, &run.mounts, &run.open};
  uint32_t counts[] = {s->npaths, s->argc, s->envc, s->nmounts, s->nopen};
  for (int l = 0; l < 5; l++) {
    *lists[l] = next;
    for (uint32_t i = 0; i < counts[l]; i++) {
      if ((*next++ = next_string(&at, end)) == NULL) {
        return -1;
      }
    }
    *next++ = NULL;
  }
  return run.dir == NULL ? -1 : 0;
}

/* share_outcome makes run a page that a fork shares. */
static int share_outcome(void) {
  unsigned char copy[offsetof(__typeof__(run), control) + sizeof run.control];
  memcpy(copy, &run, sizeof copy);
  if (mmap(&run, sizeof run, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) {
    return -1;
  }
  memcpy(&run, copy, sizeof copy);
  return 0;
}

/* group_files is how many descriptors are of the cgroup: to join it, what it used, and how
   many tasks it may have. */
static uint32_t group_files(const struct start *s) { return s->njoin == 0 ? 0 : s->njoin + 2; }

void program_run(int control, unsigned char *msg, size_t length, int *fds, int nfds) {
  run.start = (const struct start *)msg;
  run.fds = fds;
  if (length < sizeof *run.start || run.start->type != MSG_START || run.start->nlimits > 16 ||
      run.start->njoin > FDS_MAX - 3 || run.start->nmounts > FDS_MAX - 3 || run.start->nopen > OPEN_MAX ||
      nfds != 3 + (int)(group_files(run.start) + run.start->nmounts) ||
      read_strings(msg + sizeof *run.start, msg + length) < 0) {
    reply_fail(control, "read start message", NULL, EPROTO);
    _exit(1);
  }
  for (uint32_t i = 0; i < run.start->nmounts; i++) { /* opened by the worker, who sees the host */
    attach(fds[3 + group_files(run.start) + i], run.mounts[i]);
  }
  if (run.start->sealed) {
    seal_work(run.open, run.start->nopen);
  }
  if (network_check() < 0) {
    reply_fail(control, "make network namespace", NULL, errno);
    _exit(1);
  }
  program_signals();
  int counter = run.start->measure ? usage_counter() : -1;
  run.control = control;
  int memory = CLONE_VM;
  if (run.start->strict) {
    memory = 0;
    if (share_outcome() < 0) {
      reply_fail(control, "share memory", NULL, errno);
      _exit(1);
    }
  }
  /* vfork semantics: no page tables are copied, and this returns when the exec is
     done or the process is dead. */
  pid_t pid = clone(program_child, stack + sizeof stack, memory | CLONE_FILES | CLONE_VFORK | SIGCHLD, NULL);
  if (pid < 0) {
    reply_fail(control, "fork program", NULL, errno);
    _exit(1);
  }
  for (int i = 0; i < 3; i++) {
    close(i); /* the program's, else no stream would ever end */
  }
  if (run.failed != NULL) {
    reply_fail(control, run.failed, NULL, run.err);
    _exit(1);
  }
  struct reply r = {.type = MSG_STARTED, .err = run.err, .start_ns = run.start_ns, .setup_ns = run.setup_ns};
  if (run.exec_failed) {
    r.type = MSG_EXEC_FAILED;
    if (run.start->measure) {
      waitpid(pid, NULL, 0);
      usage_add(&r.usage, 0);
    }
    message_send(control, &r, sizeof r, counter);
    _exit(0);
  }
  message_send(control, &r, sizeof r, counter);
  if (counter >= 0) {
    close(counter);
  }
  int status;
  int64_t involuntary = -1;
  if ((run.start->strict ? strict_wait(pid, &status, &involuntary)
                         : program_wait(pid, &status, run.listener, run.start, fds + 3, run.start->measure ? control : -1)) < 0) {
    reply_fail(control, "wait for program", NULL, errno);
    _exit(1);
  }
  noise_after(&r);
  if (run.start->measure) {
    usage_add(&r.usage, 0); /* of none but those that were reaped */
  }
  r.status = (uint32_t)status;
  r.type = MSG_EXITED;
  if (run.start->strict) {
    r.involuntary = involuntary; /* it is not reaped */
    message_send(control, &r, sizeof r, -1);
    strict_release(control);
  }
  message_send(control, &r, sizeof r, -1);
  _exit(0);
}
