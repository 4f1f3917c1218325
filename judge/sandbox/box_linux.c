/* PID 1 of a box: builds the box's file system and waits for the program to start.
   It is never the program itself, which would ignore signals without a handler
   (pid_namespaces(7)) and so could not even abort. */
#define _GNU_SOURCE
#include "nursery.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/keyctl.h>
#include <linux/mount.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* sys/mount.h and linux/mount.h cannot both be included with older libcs. */
int mount(const char *source, const char *target, const char *type, unsigned long flags, const void *data);
int umount2(const char *target, int flags);
#ifndef MNT_DETACH
#define MNT_DETACH 2
#endif
#ifndef MS_REC
#define MS_REC 16384
#define MS_PRIVATE (1 << 18)
#define MS_NOSUID 2
#define MS_NODEV 4
#define MS_NOEXEC 8
#endif

#define TREES_MAX 96
#define STAGING "/proc" /* any directory that every host has; covered only in the box */

static int control_socket;

static void die(const char *what, const char *detail) __attribute__((noreturn));
static void die(const char *what, const char *detail) {
  reply_fail(control_socket, what, detail, errno);
  _exit(1);
}

struct operation {
  unsigned char kind;
  uint64_t num;
  const char *a, *b;
};

static int next_operation(unsigned char **at, unsigned char *end, struct operation *op) {
  if (end - *at < 9) {
    return -1;
  }
  op->kind = **at;
  memcpy(&op->num, *at + 1, 8);
  *at += 9;
  op->a = next_string(at, end);
  op->b = next_string(at, end);
  return op->a && op->b ? 0 : -1;
}

static int open_tree(const char *path) {
  return (int)syscall(SYS_open_tree, AT_FDCWD, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
}

static int set_attributes(int fd, const char *path, unsigned flags, uint64_t set) {
  struct mount_attr attr = {.attr_set = set};
  return (int)syscall(SYS_mount_setattr, fd, path, flags, &attr, sizeof attr);
}

static void attach(int tree, const char *target) {
  if (syscall(SYS_move_mount, tree, "", AT_FDCWD, target, MOVE_MOUNT_F_EMPTY_PATH) < 0) {
    die("mount on", target);
  }
  close(tree);
}

/* open_sources opens what is bound while this process still is the host's user,
   who may pass directories that the box's user may not. Recursive, because in a
   new user namespace a mount cannot be had without what is mounted below it. */
static int open_sources(unsigned char *at, unsigned char *end, uint32_t nops, int *trees) {
  int n = 0;
  struct operation op;
  for (uint32_t i = 0; i < nops; i++) {
    errno = EPROTO;
    if (next_operation(&at, end, &op) < 0 || (op.kind == OP_BIND && n == TREES_MAX)) {
      die("read operations", NULL);
    }
    if (op.kind != OP_BIND) {
      continue;
    }
    trees[n] = open_tree(op.b);
    if (trees[n] < 0) {
      die("open", op.b);
    }
    if (set_attributes(trees[n], "", AT_EMPTY_PATH | AT_RECURSIVE, op.num) < 0) {
      die("set mount attributes of", op.b);
    }
    n++;
  }
  return n;
}

/* fresh_proc makes the box's proc. The kernel allows that only while a complete
   proc of the outer namespace is visible, so before the root changes. */
static int fresh_proc(void) {
  int fs = (int)syscall(SYS_fsopen, "proc", FSOPEN_CLOEXEC);
  if (fs < 0 || syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0) {
    die("make proc", NULL);
  }
  int fd = (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
  if (fd < 0) {
    die("mount proc (is something mounted over the host's /proc?)", NULL);
  }
  close(fs);
  return fd;
}

static void write_file(const struct operation *op) {
  int fd = open(op->a, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, (mode_t)op->num);
  size_t n = strlen(op->b);
  if (fd < 0 || write(fd, op->b, n) != (ssize_t)n) {
    die("write", op->a);
  }
  close(fd);
}

static void build(unsigned char *at, unsigned char *end, uint32_t nops, const int *trees, int proc) {
  struct operation op;
  for (uint32_t i = 0; i < nops; i++) {
    next_operation(&at, end, &op); /* open_sources read them all before */
    switch (op.kind) {
    case OP_DIR:
      if (mkdir(op.a, (mode_t)op.num) < 0) {
        die("make directory", op.a);
      }
      break;
    case OP_LINK:
      if (symlink(op.b, op.a) < 0) {
        die("make link", op.a);
      }
      break;
    case OP_FILE:
      write_file(&op);
      break;
    case OP_BIND:
      attach(*trees++, op.a);
      break;
    case OP_PROC:
      attach(proc, op.a);
      break;
    default:
      errno = EPROTO;
      die("read operations", NULL);
    }
  }
}

/* writable_parts mounts one bounded file system and shows parts of it as /work,
   /tmp and /dev/shm; its root stays out of reach. It returns /work opened. */
static int writable_parts(const struct prepare *p) {
  static const char *const part[3][2] = {{"/work/w", "/work"}, {"/work/t", "/tmp"}, {"/work/s", "/dev/shm"}};
  char options[96];
  int tree[3];
  snprintf(options, sizeof options, "mode=755,size=%llu,nr_inodes=%llu", (unsigned long long)p->disk,
           (unsigned long long)p->inodes + 4);
  if (mount("work", "/work", "tmpfs", MS_NOSUID | MS_NODEV, options) < 0) {
    die("mount work directory", NULL);
  }
  for (int i = 0; i < 3; i++) {
    if (mkdir(part[i][0], i == 0 ? 0755 : 01777) < 0 || (tree[i] = open_tree(part[i][0])) < 0) {
      die("make", part[i][0]);
    }
  }
  if (umount2("/work", MNT_DETACH) < 0) {
    die("unmount", "/work");
  }
  for (int i = 0; i < 3; i++) {
    attach(tree[i], part[i][1]);
  }
  int work = open("/work", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (work < 0) {
    die("open", "/work");
  }
  return work;
}

/* become_user takes the box's identity. The namespace has no uid 0, so the
   capabilities in it stay until the program's exec. */
static void become_user(void) {
  if (nursery_config.privileged && setgroups(0, NULL) < 0) {
    die("drop groups", NULL);
  }
  if (syscall(SYS_setresgid, INSIDE_ID, INSIDE_ID, INSIDE_ID) < 0 ||
      syscall(SYS_setresuid, INSIDE_ID, INSIDE_ID, INSIDE_ID) < 0) {
    die("change user", NULL);
  }
}

/* tie_to_nursery makes the death of the nursery, and so of the worker, the death
   of the box. A change of user clears the wish, so it comes after that. */
static void tie_to_nursery(void) {
  struct pollfd dead = {.fd = nursery_pidfd, .events = POLLIN};
  if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0) {
    die("set parent death signal", NULL);
  }
  if (poll(&dead, 1, 0) != 0) {
    _exit(1); /* it died before */
  }
  close(nursery_pidfd);
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

void box_main(int control, int synced, size_t length) {
  char byte;
  if (read(synced, &byte, 1) != 1) {
    _exit(1);
  }
  close(synced);
  control_socket = control;
  signal(SIGCHLD, SIG_DFL);
  umask(0);
  setsid();

  const struct prepare *p = (const struct prepare *)nursery_message;
  unsigned char *ops = nursery_message + sizeof *p, *end = nursery_message + length;
  int trees[TREES_MAX];
  if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) {
    die("make mounts private", NULL);
  }
  open_sources(ops, end, p->nops, trees);
  int proc = fresh_proc();
  become_user();
  tie_to_nursery();
  syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL); /* else the worker's is shared; absent in some kernels */
  if (sethostname("box", 3) < 0) {
    die("set host name", NULL);
  }
  if (mount("root", STAGING, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=1m,nr_inodes=1k") < 0 ||
      chdir(STAGING) < 0) {
    die("mount root", NULL);
  }
  /* pivot_root(2) with "." twice stacks the old root on the new one. */
  if (syscall(SYS_pivot_root, ".", ".") < 0 || umount2(".", MNT_DETACH) < 0 || chdir("/") < 0) {
    die("change root", NULL);
  }
  build(ops, end, p->nops, trees, proc);
  int work = writable_parts(p);
  if (set_attributes(AT_FDCWD, "/", 0, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV) < 0) {
    die("make root read-only", NULL);
  }

  struct reply ready = {.type = MSG_READY};
  if (message_send(control, &ready, sizeof ready, work) < 0) {
    _exit(1);
  }
  close(work);
  size_t n = 0;
  int fds[FDS_MAX], nfds = 0;
  if (message_receive(control, nursery_message, MESSAGE_MAX, &n, fds, &nfds) < 0 || n == 0) {
    _exit(0); /* the worker has no use for this box */
  }
  program_run(control, nursery_message, n, fds, nfds);
}
