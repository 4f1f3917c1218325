/* Landlock for isolation level ptrace, where no mount namespace hides the host's files;
   landlock(7). The rules are texts: a letter and a path. */
#define _GNU_SOURCE
#include "nursery.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of the kernel's header, whose older versions lack some. */
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif
#define FS_EXECUTE (1ull << 0)
#define FS_WRITE_FILE (1ull << 1)
#define FS_READ_FILE (1ull << 2)
#define FS_READ_DIR (1ull << 3)
#define FS_MAKE_CHAR (1ull << 6)
#define FS_MAKE_BLOCK (1ull << 11)
#define FS_REFER (1ull << 13)    /* since ABI 2 */
#define FS_TRUNCATE (1ull << 14) /* 3 */
#define FS_IOCTL_DEV (1ull << 15) /* 5 */
#define FS_FIRST ((1ull << 13) - 1)
#define FS_OF_FILES (FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEV)
#define NET_TCP 3ull /* bind and connect: ABI 4 */
#define SCOPES 3ull  /* abstract unix sockets and signals: ABI 6 */

struct ruleset {
  uint64_t fs, net, scoped;
};

struct beneath {
  uint64_t allowed;
  int32_t parent;
} __attribute__((packed));

static const char *allow_path(int ruleset, const char *rule, uint64_t handled) {
  uint64_t allowed = 0;
  switch (rule[0]) {
  case 'r': /* read and execute */
    allowed = FS_EXECUTE | FS_READ_FILE | FS_READ_DIR;
    break;
  case 'l': /* list */
    allowed = FS_READ_DIR;
    break;
  case 'w': /* everything but device nodes */
    allowed = ~(FS_MAKE_CHAR | FS_MAKE_BLOCK | FS_IOCTL_DEV);
    break;
  case 'd': /* read and write a device */
    allowed = FS_READ_FILE | FS_WRITE_FILE | FS_TRUNCATE;
    break;
  }
  struct stat st;
  struct beneath b = {.parent = open(rule + 1, O_PATH | O_CLOEXEC)};
  if (b.parent < 0 || fstat(b.parent, &st) < 0) {
    return "open a path of Landlock's rules";
  }
  b.allowed = allowed & handled;
  if (!S_ISDIR(st.st_mode)) {
    b.allowed &= FS_OF_FILES;
  }
  long r = syscall(SYS_landlock_add_rule, ruleset, 1 /* LANDLOCK_RULE_PATH_BENEATH */, &b, 0);
  close(b.parent);
  return r < 0 ? "add a rule of Landlock" : NULL;
}

const char *confine(const char **rules, uint32_t n) {
  long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, 1 /* LANDLOCK_CREATE_RULESET_VERSION */);
  if (abi < 1) {
    return "ask for Landlock";
  }
  struct ruleset set = {.fs = FS_FIRST};
  set.fs |= abi >= 2 ? FS_REFER : 0;
  set.fs |= abi >= 3 ? FS_TRUNCATE : 0;
  set.fs |= abi >= 5 ? FS_IOCTL_DEV : 0;
  set.net = abi >= 4 ? NET_TCP : 0;
  set.scoped = abi >= 6 ? SCOPES : 0;
  size_t size = abi >= 6 ? 24 : abi >= 4 ? 16 : 8;
  int ruleset = (int)syscall(SYS_landlock_create_ruleset, &set, size, 0);
  if (ruleset < 0) {
    return "make Landlock's rules";
  }
  for (uint32_t i = 0; i < n; i++) {
    const char *failed = allow_path(ruleset, rules[i], set.fs);
    if (failed != NULL) {
      return failed;
    }
  }
  if (syscall(SYS_landlock_restrict_self, ruleset, 0) < 0) {
    return "enter Landlock's rules";
  }
  close(ruleset);
  return NULL;
}
