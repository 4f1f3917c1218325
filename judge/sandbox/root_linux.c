/* The file system of a box: the operations that build its root, for a template
   (template_linux.c) or in the box itself, and the parts that are always its own. */
#define _GNU_SOURCE
#include "nursery.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <stdio.h>
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

#define STAGING "/proc" /* any directory that every host has; covered only in the box */

int failure_socket;

void die(const char *what, const char *detail) {
  reply_fail(failure_socket, what, detail, errno);
  _exit(1);
}

int next_operation(unsigned char **at, unsigned char *end, struct operation *op) {
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

void attach(int tree, const char *target) {
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

/* fresh_proc is read-only: what a process may change there is above all how much it is
   spared or looked at by the host; proc_pid_oom_score_adj(5). */
int fresh_proc(void) {
  int fs = (int)syscall(SYS_fsopen, "proc", FSOPEN_CLOEXEC);
  if (fs < 0 || syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0) {
    die("make proc", NULL);
  }
  int fd = (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
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

/* The read-only mount covers the other: who has that one open, as the worker has, goes
   on beneath, where no other mount is in the way. A file that is a mount cannot be
   removed or replaced either. */
void seal_work(const char *const *files, uint32_t n) {
  int kept[OPEN_MAX], sealed = open_tree("/work");
  struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY};
  if (sealed < 0 || set_attributes(sealed, "", AT_EMPTY_PATH, attr) < 0) {
    die("seal", "/work");
  }
  for (uint32_t i = 0; i < n; i++) {
    if ((kept[i] = open_tree(files[i])) < 0) {
      die("open", files[i]);
    }
  }
  attach(sealed, "/work");
  for (uint32_t i = 0; i < n; i++) {
    attach(kept[i], files[i]);
  }
}
