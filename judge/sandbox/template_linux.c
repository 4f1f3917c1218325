/* Templates: a root is built once, as a mount namespace that holds nothing else, and
   each box gets a copy of it with its clone. What is in it is read-only, and its
   mounts are locked in the copy, whose user namespace is another. */
#define _GNU_SOURCE
#include "nursery.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TEMPLATES 8 /* most of one nursery */

static int host_mounts = -1; /* the nursery's own mount namespace */

static struct template {
  int ns;
  size_t length; /* of the operations that it was built by */
  unsigned char *ops;
  uint64_t sources; /* which files those named then */
} templates[TEMPLATES];
static unsigned templates_made;

/* make_template runs in a process of its own, which is PID 1 of a namespace that is
   dead by the time the template is used: a box may have a proc only where it sees
   one already, and that one shows nobody. */
static void make_template(unsigned char *ops, size_t length, int done, int end) {
  int trees[TREES_MAX];
  char byte;
  const char *failed = NULL;
  failure_socket = NURSERY_SOCKET;
  umask(0);
  if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) {
    die("make mounts private", NULL);
  }
  if (open_sources(ops, ops + length, trees, &failed) < 0) {
    die("open", failed);
  }
  int proc = fresh_proc();
  build_root(ops, ops + length, trees);
  attach(proc, "/proc");
  /* Else the nursery could open its namespace with CAP_SYS_PTRACE only; proc(5). It has
     the nursery's user and nothing that others must not see. */
  prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
  if (write(done, "x", 1) == 1 && read(end, &byte, 1) == 0) {
    _exit(0);
  }
  _exit(1);
}

static int template_namespace(unsigned char *ops, size_t length) {
  int done[2], end[2], ns = -1;
  char path[64], byte;
  if (pipe2(done, O_CLOEXEC) < 0) {
    return -1;
  }
  if (pipe2(end, O_CLOEXEC) < 0) {
    close(done[0]), close(done[1]);
    return -1;
  }
  long pid = syscall(SYS_clone, CLONE_NEWNS | CLONE_NEWPID | SIGCHLD, 0, 0, 0, 0);
  if (pid == 0) {
    close(done[0]), close(end[1]);
    make_template(ops, length, done[1], end[0]);
  }
  close(done[1]), close(end[0]);
  if (pid > 0 && read(done[0], &byte, 1) == 1) {
    snprintf(path, sizeof path, "/proc/%ld/ns/mnt", pid);
    ns = open(path, O_RDONLY | O_CLOEXEC);
  }
  close(done[0]), close(end[1]);
  return ns;
}

uint64_t sources_of(unsigned char *at, unsigned char *end, uint64_t sum) {
  struct operation op;
  struct stat st;
  while (at < end && next_operation(&at, end, &op) == 0) {
    if (op.kind == OP_BIND && stat(op.b, &st) == 0) {
      sum = (sum ^ st.st_dev) * 0x100000001b3;
      sum = (sum ^ st.st_ino) * 0x100000001b3;
    }
  }
  return sum;
}

static void template_drop(struct template *t) {
  if (t->ops != NULL) {
    free(t->ops);
    close(t->ns);
    t->ops = NULL;
  }
}

int templates_usable(void) {
  struct stat before, after;
  int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  host_mounts = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
  if (host_mounts < 0 || root < 0 || fstat(root, &before) < 0 || setns(host_mounts, CLONE_NEWNS) < 0) {
    close(root);
    return 0; /* we may not */
  }
  int same = stat("/", &after) == 0 && before.st_dev == after.st_dev && before.st_ino == after.st_ino;
  if (!same && (fchdir(root) < 0 || chroot(".") < 0)) {
    _exit(1);
  }
  close(root);
  return same; /* coming back would lead out of the root that we were given */
}

int template_enter(int ns) { return setns(ns, CLONE_NEWNS); }

void template_leave(void) {
  if (setns(host_mounts, CLONE_NEWNS) < 0) {
    _exit(1); /* of no more use; the worker starts another */
  }
}

void templates_close(void) {
  close(host_mounts);
  for (unsigned i = 0; i < TEMPLATES; i++) {
    template_drop(&templates[i]);
  }
}

int template_of(unsigned char *ops, size_t length, uint64_t sources) {
  struct template *t = NULL;
  for (unsigned i = 0; i < TEMPLATES && t == NULL; i++) {
    if (templates[i].ops != NULL && templates[i].length == length && memcmp(templates[i].ops, ops, length) == 0) {
      t = &templates[i];
    }
  }
  if (t != NULL && t->sources == sources) {
    return t->ns;
  }
  if (t == NULL) {
    t = &templates[templates_made++ % TEMPLATES]; /* the oldest makes room */
  }
  template_drop(t);
  unsigned char *copy = malloc(length);
  int ns = copy == NULL ? -1 : template_namespace(ops, length);
  if (ns < 0) {
    free(copy);
    return -1;
  }
  memcpy(copy, ops, length);
  *t = (struct template){.ns = ns, .length = length, .ops = copy, .sources = sources};
  return ns;
}
