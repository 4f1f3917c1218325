/* The nursery's own process: takes over from an ELF constructor, before the Go
   runtime starts, when the binary was executed under the nursery's name. A box
   init that is a Go binary costs 2.5 ms to start, and a plain fork of a worker
   50 us per MiB of its memory; a fork of this process costs 0.1 ms. */
#define _GNU_SOURCE
#include "nursery.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FILTER_BYTES (4096 * sizeof(struct sock_filter)) /* the most that the kernel takes */

struct config nursery_config;
unsigned char nursery_filter[FILTER_BYTES] __attribute__((aligned(8)));
unsigned char nursery_strict[FILTER_BYTES] __attribute__((aligned(8)));
unsigned char nursery_message[MESSAGE_MAX] __attribute__((aligned(8)));
int nursery_pidfd;

/* Those of each box; the network's where none could be kept. */
static int new_namespaces = CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS;

/* message_receive reads one message with its descriptors, all close-on-exec.
   It returns 0, or -1 with errno; at the end of the stream *length is 0. */
int message_receive(int socket, void *buf, size_t size, size_t *length, int *fds, int *nfds) {
  union {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(sizeof(int) * FDS_MAX)];
  } control;
  struct iovec iov = {.iov_base = buf, .iov_len = size};
  struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
  ssize_t n;
  do {
    n = recvmsg(socket, &msg, MSG_CMSG_CLOEXEC);
  } while (n < 0 && errno == EINTR);
  if (n < 0) {
    return -1;
  }
  *length = (size_t)n;
  *nfds = 0;
  if (msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) {
    errno = EMSGSIZE;
    return -1;
  }
  for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c != NULL; c = CMSG_NXTHDR(&msg, c)) {
    if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
      *nfds = (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
      memcpy(fds, CMSG_DATA(c), sizeof(int) * (size_t)*nfds);
    }
  }
  return 0;
}

/* message_send writes one message, with a descriptor unless fd is negative. */
int message_send(int socket, const void *buf, size_t length, int fd) {
  union {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(sizeof(int))];
  } control = {0};
  struct iovec iov = {.iov_base = (void *)buf, .iov_len = length};
  struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
  if (fd >= 0) {
    msg.msg_control = control.bytes;
    msg.msg_controllen = sizeof control.bytes;
    struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(c), &fd, sizeof fd);
  }
  ssize_t n;
  do {
    n = sendmsg(socket, &msg, MSG_NOSIGNAL);
  } while (n < 0 && errno == EINTR);
  return n < 0 ? -1 : 0;
}

/* reply_fail tells the worker which step failed and why. */
void reply_fail(int socket, const char *what, const char *detail, int err) {
  struct reply r = {.type = MSG_FAIL, .err = err};
  snprintf(r.what, sizeof r.what, "%s%s%s", what, detail ? " " : "", detail ? detail : "");
  message_send(socket, &r, sizeof r, -1);
}

/* next_string returns the string at *at and moves past it; NULL when the message
   ends first. */
const char *next_string(unsigned char **at, unsigned char *end) {
  unsigned char *nul = memchr(*at, 0, (size_t)(end - *at));
  if (nul == NULL) {
    return NULL;
  }
  const char *s = (const char *)*at;
  *at = nul + 1;
  return s;
}

static int write_proc(int pid, const char *name, const char *text) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) {
    return -1;
  }
  ssize_t n = write(fd, text, strlen(text));
  int err = errno;
  close(fd);
  errno = err;
  return n < 0 ? -1 : 0;
}

/* map_ids gives the child its one user and one group. An unprivileged process may
   map only itself and must forbid setgroups first; user_namespaces(7). */
static const char *map_ids(int pid, const struct prepare *p) {
  char text[64];
  if (!nursery_config.privileged && write_proc(pid, "setgroups", "deny") < 0) {
    return "deny setgroups";
  }
  snprintf(text, sizeof text, "%d %u 1", INSIDE_ID, p->uid);
  if (write_proc(pid, "uid_map", text) < 0) {
    return "write uid map";
  }
  snprintf(text, sizeof text, "%d %u 1", INSIDE_ID, p->gid);
  if (write_proc(pid, "gid_map", text) < 0) {
    return "write gid map";
  }
  return NULL;
}

static int templates; /* usable: else each box builds its root */

/* clone_box starts PID 1 in new namespaces. With a template its mount namespace is a
   copy of that; what is bound into this box alone is opened before, where the host
   is still to be seen. */
static long clone_box(int control, size_t length, uint64_t sources, const int *sync, int *pidfd, const char **failed) {
  const struct prepare *p = (const struct prepare *)nursery_message;
  unsigned char *ops = nursery_message + sizeof *p, *end = nursery_message + length;
  int trees[TREES_MAX], n = 0;
  if (templates) {
    int ns = template_of(ops, p->root_length, sources);
    if (ns < 0) {
      *failed = NULL;
      return -1;
    }
    n = open_sources(ops + p->root_length, end, trees, failed);
    if (n < 0) {
      return -1;
    }
    *failed = "enter template";
    if (template_enter(ns) < 0) {
      close_trees(trees, n);
      return -1;
    }
  }
  *failed = "clone with new namespaces";
  long pid = syscall(SYS_clone, new_namespaces | CLONE_PIDFD | SIGCHLD, 0, pidfd, 0, 0);
  if (pid == 0) {
    close(sync[1]);
    close(NURSERY_SOCKET);
    templates_close();
    box_main(control, sync[0], length, templates ? trees : NULL);
  }
  int err = errno;
  if (templates) {
    template_leave();
    close_trees(trees, n);
  }
  errno = err;
  return pid;
}

static void prepare_box(int control, size_t length) {
  const struct prepare *p = (const struct prepare *)nursery_message;
  int sync[2], pidfd = -1;
  const char *failed = NULL;
  if (p->root_length > length - sizeof *p) {
    reply_fail(NURSERY_SOCKET, "read message", NULL, EPROTO);
    return;
  }
  if (pipe2(sync, O_CLOEXEC) < 0) {
    reply_fail(NURSERY_SOCKET, "make pipe", NULL, errno);
    return;
  }
  unsigned char *ops = nursery_message + sizeof *p, *own = ops + p->root_length;
  uint64_t sources = sources_of(ops, own, SOURCES_NONE);
  /* The files of a process that is not dumpable belong to root, so an ordinary
     user could not write its maps; the box turns it off again at once. */
  if (!nursery_config.privileged) {
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
  }
  long pid = clone_box(control, length, sources, sync, &pidfd, &failed);
  int err = errno;
  close(sync[0]);
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  if (pid < 0) {
    reply_fail(NURSERY_SOCKET, failed ? failed : "make template", NULL, err);
  } else {
    failed = map_ids((int)pid, p);
    err = errno;
    struct reply ok = {.type = MSG_OK, .sources = sources_of(own, nursery_message + length, sources)};
    if (failed != NULL) {
      reply_fail(NURSERY_SOCKET, failed, NULL, err); /* closing sync ends the child */
    } else if (write(sync[1], "x", 1) == 1) {
      message_send(NURSERY_SOCKET, &ok, sizeof ok, pidfd);
    } else {
      reply_fail(NURSERY_SOCKET, "start box", NULL, errno);
    }
    close(pidfd);
  }
  close(sync[1]);
}

/* first_to_go has a host that is out of memory end a box rather than the worker,
   where no limit of the kernel's own stands before that; proc_pid_oom_score_adj(5).
   Boxes inherit it. */
static void first_to_go(void) {
  prctl(PR_SET_DUMPABLE, 1, 0, 0, 0); /* else the file is root's */
  int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd >= 0) {
    if (write(fd, "1000", 4) < 0) {
      /* a host that forbids it still has its own order */
    }
    close(fd);
  }
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

static void take_config(size_t length) {
  struct reply r = {.type = MSG_OK, .status = (uint32_t)templates};
  struct config *c = (struct config *)nursery_message;
  size_t bytes = (size_t)c->filter_len * sizeof(struct sock_filter);
  size_t strict = (size_t)c->strict_len * sizeof(struct sock_filter);
  if (length < sizeof *c || bytes > FILTER_BYTES || strict > FILTER_BYTES || length != sizeof *c + bytes + strict) {
    reply_fail(NURSERY_SOCKET, "read configuration", NULL, EINVAL);
    return;
  }
  nursery_config = *c;
  if (c->first) {
    first_to_go();
  }
  memcpy(nursery_filter, c + 1, bytes);
  memcpy(nursery_strict, (unsigned char *)(c + 1) + bytes, strict);
  message_send(NURSERY_SOCKET, &r, sizeof r, -1);
}

static void nursery_loop(void) {
  for (;;) {
    size_t length = 0;
    int fds[FDS_MAX], nfds = 0;
    /* The end of the socket is the death of the worker, however it died. */
    if (message_receive(NURSERY_SOCKET, nursery_message, MESSAGE_MAX, &length, fds, &nfds) < 0 || length == 0) {
      _exit(0);
    }
    uint32_t type = 0;
    if (length >= sizeof type) {
      memcpy(&type, nursery_message, sizeof type);
    }
    if (type == MSG_CONFIG) {
      take_config(length);
    } else if (type == MSG_PREPARE && length >= sizeof(struct prepare) && nfds == 1) {
      prepare_box(fds[0], length);
    } else if (type != MSG_BURY) {
      reply_fail(NURSERY_SOCKET, "read message", NULL, EPROTO);
    }
    for (int i = 0; i < nfds; i++) {
      close(fds[i]);
    }
  }
}

static int is_nursery(void) {
  char name[sizeof NURSERY_NAME] = {0};
  int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return 0;
  }
  ssize_t n = read(fd, name, sizeof name);
  close(fd);
  return n == (ssize_t)sizeof name && memcmp(name, NURSERY_NAME, sizeof name) == 0;
}

__attribute__((constructor)) static void nursery_enter(void) {
  if (!is_nursery()) {
    return;
  }
  setsid(); /* a terminal's Ctrl-C is the worker's business */
  prctl(PR_SET_NAME, "box-nursery", 0, 0, 0);
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  for (int sig = 1; sig < NSIG; sig++) {
    signal(sig, SIG_DFL);
  }
  signal(SIGCHLD, SIG_IGN); /* the kernel reaps dead boxes */
  nursery_pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);
  if (nursery_pidfd < 0) {
    reply_fail(NURSERY_SOCKET, "open own pidfd", NULL, errno);
    _exit(1);
  }
  templates = templates_usable();
  if (network_keep() < 0) {
    new_namespaces |= CLONE_NEWNET;
  }
  nursery_loop();
}
