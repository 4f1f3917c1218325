/* PID 1 of a box: makes the box and waits for the program to start.
   It is never the program itself, which would ignore signals without a handler
   (pid_namespaces(7)) and so could not even abort. */
#define _GNU_SOURCE
#include "nursery.h"

#include <errno.h>
#include <grp.h>
#include <linux/keyctl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

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

void box_main(int control, int synced, size_t length, const int *trees) {
  failure_socket = control;
  signal(SIGCHLD, SIG_DFL);
  umask(0);

  const struct prepare *p = (const struct prepare *)nursery_message;
  unsigned char *ops = nursery_message + sizeof *p, *run = ops + p->root_length, *end = nursery_message + length;
  int root[TREES_MAX];
  const char *failed = NULL;
  static int opened[TREES_MAX];
  if (trees == NULL) {
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) {
      die("make mounts private", NULL);
    }
    /* While this process still is the host's user, who may pass directories that
       the box's user may not. */
    if (open_sources(ops, run, root, &failed) < 0 || open_sources(run, end, opened, &failed) < 0) {
      die("open", failed);
    }
  }
  int proc = fresh_proc();
  char byte;
  if (read(synced, &byte, 1) != 1) { /* only now is there a user to become */
    _exit(1);
  }
  close(synced);
  become_user();
  tie_to_nursery();
  syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL); /* else the worker's is shared; absent in some kernels */
  if (sethostname("box", 3) < 0) {
    die("set host name", NULL);
  }
  if (trees == NULL) {
    build_root(ops, run, root);
    trees = opened;
  }
  int work = writable_parts(p);
  build(run, end, trees, proc);
  landlock_make();

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
