/* The file system of a box: what its root is built from, once for a template of
   the nursery, which each box copies with its mount namespace, or, for an ordinary
   user, in each box anew. */
#define _GNU_SOURCE
#include "nursery.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
#endif

#define TEMPLATES 8    /* most of one nursery */
#define STAGING "/proc" /* any directory that every host has; covered only in the box */

int failure_socket;

void die(const char *what, const char *detail) {
  reply_fail(failure_socket, what, detail, errno);
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

static int set_attributes(int fd, const char *path, unsigned flags, struct mount_attr attr) {
  return (int)syscall(SYS_mount_setattr, fd, path, flags, &attr, sizeof attr);
}

static void attach(int tree, const char *target) {
  if (syscall(SYS_move_mount, tree, "", AT_FDCWD, target, MOVE_MOUNT_F_EMPTY_PATH) < 0) {
    die("mount on", target);
  }
  close(tree);
}

/* open_source opens what one operation binds, with its attributes. */
static int open_source(const struct operation *op) {
  int tree = open_tree(op->b);
  /* Private, so that nothing that is mounted in the box reaches the host. */
  struct mount_attr attr = {.attr_set = op->num, .propagation = MS_PRIVATE};
  if (tree >= 0 && set_attributes(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, attr) < 0) {
    int err = errno;
    close(tree);
    errno = err;
    return -1;
  }
  return tree;
}

int open_sources(unsigned char *at, unsigned char *end, int *trees, const char **failed) {
  int n = 0;
  struct operation op;
  while (at < end) {
    errno = EPROTO;
    *failed = "operations";
    int bad = next_operation(&at, end, &op) < 0 || (op.kind == OP_BIND && n == TREES_MAX);
    if (!bad && op.kind == OP_BIND) {
      *failed = op.b;
      bad = (trees[n] = open_source(&op)) < 0;
      n += !bad;
    }
    if (bad) {
      int err = errno;
      close_trees(trees, n);
      errno = err;
      return -1;
    }
  }
  return n;
}

void close_trees(const int *trees, int n) {
  for (int i = 0; i < n; i++) {
    close(trees[i]);
  }
}

int fresh_proc(void) {
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

/* mask hides a file of /proc behind the box's /dev/null. */
static void mask(const char *path) {
  int tree = open_tree("/dev/null");
  if (tree < 0) {
    die("open", "/dev/null");
  }
  attach(tree, path);
}

void build(unsigned char *at, unsigned char *end, const int *trees, int proc) {
  struct operation op;
  while (at < end) {
    errno = EPROTO;
    if (next_operation(&at, end, &op) < 0) {
      die("read operations", NULL);
    }
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
    case OP_MASK:
      mask(op.a);
      break;
    default:
      die("read operations", NULL);
    }
  }
}

void build_root(unsigned char *at, unsigned char *end, const int *trees) {
  if (mount("root", STAGING, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=1m,nr_inodes=1k") < 0 ||
      chdir(STAGING) < 0) {
    die("mount root", NULL);
  }
  /* pivot_root(2) with "." twice stacks the old root on the new one. */
  if (syscall(SYS_pivot_root, ".", ".") < 0 || umount2(".", MNT_DETACH) < 0 || chdir("/") < 0) {
    die("change root", NULL);
  }
  build(at, end, trees, -1);
  struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV};
  if (set_attributes(AT_FDCWD, "/", 0, attr) < 0) {
    die("make root read-only", NULL);
  }
}

/* Its own root stays out of reach below the proc that is mounted on it later; to
   unmount it would cost a grace period of the kernel. */
int writable_parts(const struct prepare *p) {
  static const char *const part[3][2] = {{"/proc/w", "/work"}, {"/proc/t", "/tmp"}, {"/proc/s", "/dev/shm"}};
  char options[96];
  int tree[3];
  snprintf(options, sizeof options, "mode=755,size=%llu,nr_inodes=%llu", (unsigned long long)p->disk,
           (unsigned long long)p->inodes + 4);
  if (mount("work", "/proc", "tmpfs", MS_NOSUID | MS_NODEV, options) < 0) {
    die("mount work directory", NULL);
  }
  for (int i = 0; i < 3; i++) {
    if (mkdir(part[i][0], i == 0 ? 0755 : 01777) < 0 || (tree[i] = open_tree(part[i][0])) < 0) {
      die("make", part[i][0]);
    }
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

/* A template is a mount namespace that holds a finished root and nothing else. */
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

/* sources_of tells files apart that were at the same paths at different times: a
   bind goes on showing what was there when it was made. */
static uint64_t sources_of(unsigned char *at, unsigned char *end) {
  struct operation op;
  struct stat st;
  uint64_t sum = 0xcbf29ce484222325;
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

void templates_close(void) {
  for (unsigned i = 0; i < TEMPLATES; i++) {
    template_drop(&templates[i]);
  }
}

int template_of(unsigned char *ops, size_t length) {
  uint64_t sources = sources_of(ops, ops + length);
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
