/* The launcher of isolation level ptrace: this binary, executed under another name,
   becomes the program. It takes over from an ELF constructor, as the nursery does,
   lets the worker seize it, lays down everything that a program cannot take off again,
   and executes it. Go's half is traced_launch_linux.go. */
#define _GNU_SOURCE
#include "nursery.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LAUNCH_NAME "judgefarm-launch"
#define LAUNCH_MESSAGE 3 /* a file with struct launch and what follows */
#define LAUNCH_SOCKET 4  /* to the worker: a byte each way, then a struct failure if it fails */

#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1U << 2)
#endif

struct launch {
  uint32_t filter_len, nlimits, nrules, npaths, argc, envc, pin, switch_user, uid, gid;
  uint64_t cpus[16];
  struct limit limits[16];
  /* the filter; then strings: directory, nrules rules of Landlock, npaths programs to
     try in order, argc arguments, envc environment entries */
};

struct failure {
  int32_t err, step; /* step 0: the exec itself */
  char what[56];
};

static void fail(const char *what, int step) {
  struct failure f = {.err = errno, .step = step};
  snprintf(f.what, sizeof f.what, "%s", what);
  if (write(LAUNCH_SOCKET, &f, sizeof f) < 0) {
    _exit(125);
  }
  _exit(126);
}

#define MUST(what, call)  \
  do {                    \
    if ((call) < 0) {     \
      fail(what, 1);      \
    }                     \
  } while (0)

static void switch_user(const struct launch *l) {
  MUST("drop groups", setgroups(0, NULL));
  MUST("change group", setresgid(l->gid, l->gid, l->gid));
  MUST("change user", setresuid(l->uid, l->uid, l->uid));
}

static void execute(const struct launch *l, const char **paths, char **argv, char **env) {
  int err = ENOENT;
  for (uint32_t i = 0; i < l->npaths; i++) {
    execve(paths[i], argv, env);
    /* As execvp(3): go on looking, but remember what was there and not executable. */
    if (errno == ENOENT || errno == ENOTDIR) {
      continue;
    }
    err = errno;
    if (errno != EACCES) {
      break;
    }
  }
  errno = err;
  fail("execute", 0);
}

static void launch(unsigned char *msg, size_t length) {
  const struct launch *l = (const struct launch *)msg;
  static const char *strings[16384];
  size_t filter = (size_t)l->filter_len * sizeof(struct sock_filter);
  uint64_t total = (uint64_t)l->nrules + l->npaths + l->argc + l->envc + 5;
  errno = EPROTO;
  if (length < sizeof *l || filter > length - sizeof *l || l->nlimits > 16 || total > sizeof strings / sizeof *strings) {
    fail("read message", 1);
  }
  unsigned char *at = msg + sizeof *l + filter, *end = msg + length;
  const char *dir = next_string(&at, end), **next = strings;
  const char **rules = next, **paths, **argv, **env;
  uint32_t counts[4] = {l->nrules, l->npaths, l->argc, l->envc};
  const char ***lists[4] = {&rules, &paths, &argv, &env};
  for (int k = 0; k < 4; k++) {
    *lists[k] = next;
    for (uint32_t i = 0; i < counts[k]; i++) {
      if ((*next++ = next_string(&at, end)) == NULL) {
        fail("read message", 1);
      }
    }
    *next++ = NULL;
  }
  setsid();
  umask(022);
  for (uint32_t i = 0; i < l->nlimits; i++) {
    struct rlimit r = {.rlim_cur = l->limits[i].cur, .rlim_max = l->limits[i].max};
    MUST("set resource limits", setrlimit((int)l->limits[i].resource, &r));
  }
  if (l->pin) {
    MUST("pin to cores", syscall(SYS_sched_setaffinity, 0, sizeof l->cpus, l->cpus));
  }
  /* Where the host runs out of memory, this goes first. */
  int oom = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (oom >= 0) {
    (void)!write(oom, "1000", 4);
    close(oom);
  }
  if (l->switch_user) {
    switch_user(l);
  }
  MUST("enter directory", chdir(dir));
  MUST("close descriptors", syscall(SYS_close_range, 3, ~0u, CLOSE_RANGE_CLOEXEC));
  drop_capabilities(); /* it fails where the worker may not change its bounding set */
  MUST("drop capabilities", clear_capabilities());
  MUST("set no_new_privs", prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
  const char *failed = confine(rules, l->nrules);
  if (failed != NULL) {
    fail(failed, 1);
  }
  struct sock_fprog f = {.len = (unsigned short)l->filter_len, .filter = (struct sock_filter *)(msg + sizeof *l)};
  MUST("load seccomp filter", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &f));
  execute(l, paths, (char **)argv, (char **)env);
}

static int is_launcher(void) {
  char name[sizeof LAUNCH_NAME] = {0};
  int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return 0;
  }
  ssize_t n = read(fd, name, sizeof name);
  close(fd);
  return n == (ssize_t)sizeof name && memcmp(name, LAUNCH_NAME, sizeof name) == 0;
}

__attribute__((constructor)) static void launch_enter(void) {
  if (!is_launcher()) {
    return;
  }
  char byte = 0;
  /* Everything from here on is traced; the end of the socket is a worker that has no
     use for us. */
  if (write(LAUNCH_SOCKET, &byte, 1) != 1 || read(LAUNCH_SOCKET, &byte, 1) != 1) {
    _exit(1);
  }
  size_t length = 0;
  for (ssize_t n = 1; n > 0 && length < MESSAGE_MAX; length += (size_t)n) {
    n = read(LAUNCH_MESSAGE, nursery_message + length, MESSAGE_MAX - length);
    MUST("read message", n);
  }
  launch(nursery_message, length);
}
