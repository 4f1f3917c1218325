/* Landlock on top, where the kernel has it: should a mount or a namespace of the box
   not hold, its program still can change nothing but what is the box's own. See
   landlock(7). The rules are made by PID 1, before the program's time begins. */
#define _GNU_SOURCE
#include "nursery.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif

/* As linux/landlock.h, which is older than the kernel on many hosts. */
struct ruleset_attr {
  uint64_t handled_access_fs, handled_access_net, scoped;
};
struct path_beneath_attr {
  uint64_t allowed_access;
  int32_t parent_fd;
} __attribute__((packed));

enum {
  EXECUTE = 1 << 0,
  WRITE_FILE = 1 << 1,
  READ_FILE = 1 << 2,
  READ_DIR = 1 << 3,
  MAKE_CHAR = 1 << 6,
  MAKE_BLOCK = 1 << 11,
  REFER = 1 << 13,    /* since ABI 2: without it no rename between directories is allowed */
  TRUNCATE = 1 << 14, /* ABI 3 */
  TCP = 3,            /* bind and connect; ABI 4 */
  SCOPES = 3,         /* abstract sockets and signals; ABI 6 */
};

static int ruleset = -1;
static uint64_t handled;

static int add_rule(int fd, uint64_t allowed) {
  struct path_beneath_attr rule = {.allowed_access = allowed & handled, .parent_fd = fd};
  return (int)syscall(SYS_landlock_add_rule, ruleset, 1 /* LANDLOCK_RULE_PATH_BENEATH */, &rule, 0);
}

static void allow(const char *path, uint64_t allowed) {
  int fd = open(path, O_PATH | O_CLOEXEC);
  if (fd < 0 || add_rule(fd, allowed) < 0) {
    die("landlock", path);
  }
  close(fd);
}

void landlock_make(void) {
  long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, 1 /* LANDLOCK_CREATE_RULESET_VERSION */);
  if (abi < 2) {
    return; /* none, off, or one that would break renames */
  }
  handled = (REFER << 1) - 1;
  if (abi >= 3) {
    handled |= TRUNCATE;
  }
  /* Use of devices by ioctl (ABI 5) is left alone: there are five harmless ones, and
     libraries ask them whether they are terminals. */
  struct ruleset_attr attr = {.handled_access_fs = handled, .handled_access_net = TCP, .scoped = SCOPES};
  size_t size = abi >= 6 ? sizeof attr : abi >= 4 ? 16 : 8;
  ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, size, 0);
  if (ruleset < 0) {
    die("landlock", NULL);
  }
  allow("/", EXECUTE | READ_FILE | READ_DIR);
  allow("/dev", WRITE_FILE);
  uint64_t own = handled & ~(uint64_t)(MAKE_CHAR | MAKE_BLOCK);
  allow("/work", own);
  allow("/tmp", own);
  allow("/dev/shm", own);
}

int landlock_enter(void) {
  if (ruleset < 0) {
    return 0;
  }
  /* A program opens its own standard streams by name, as /dev/stdin, and a file that
     was handed in lies beneath none of the directories. */
  for (int fd = 0; fd < 3; fd++) {
    int mode = fcntl(fd, F_GETFL) & O_ACCMODE;
    uint64_t allowed = (mode == O_WRONLY ? 0 : READ_FILE) | (mode == O_RDONLY ? 0 : WRITE_FILE | TRUNCATE);
    if (add_rule(fd, allowed) < 0 && errno != EBADFD) { /* a pipe, a socket, a memfd: free as they are */
      return -1;
    }
  }
  /* Named pipes that a mount brings are written to; nothing else there can be. */
  int pipes = open("/pipes", O_PATH | O_CLOEXEC);
  if (pipes >= 0 && add_rule(pipes, WRITE_FILE) < 0) {
    return -1;
  }
  return (int)syscall(SYS_landlock_restrict_self, ruleset, 0);
}
