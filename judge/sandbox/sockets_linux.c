/* Sockets on demand. A network namespace costs more than all else of a box
   together, and hardly any program opens a socket that needs one. So the boxes of
   a nursery share an empty one, in which no program ever has a socket but of the
   unix family: the filter reports the others to PID 1, which makes them in a new
   network namespace of the box alone and puts them into the program. See
   docs/decisions/0005-kept-namespaces-and-templates.md for what could pass otherwise. */
#define _GNU_SOURCE
#include "nursery.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

int nursery_sockstat = -1;

static int own_network; /* this box has a network namespace of its own */
static int charged;     /* PID 1 is in the box's cgroup, without capabilities */

int network_keep(void) {
  if (unshare(CLONE_NEWNET) < 0) {
    return -1; /* an ordinary user: each box has one of its own from the start */
  }
  nursery_sockstat = open("/proc/self/net/sockstat", O_RDONLY | O_CLOEXEC);
  return nursery_sockstat < 0 ? -1 : 0;
}

/* network_check runs before the program starts, when the box before is dead. The
   kernel frees unix sockets that were sent to each other only some time after
   their last process, so it is asked whether there is any socket left. */
int network_check(void) {
  static const char unused[] = "sockets: used 0\n";
  char text[sizeof unused - 1];
  if (nursery_sockstat >= 0 && pread(nursery_sockstat, text, sizeof text, 0) == (ssize_t)sizeof text &&
      memcmp(text, unused, sizeof text) == 0) {
    return 0;
  }
  own_network = 1;
  return nursery_sockstat < 0 ? 0 : unshare(CLONE_NEWNET);
}

/* join_group makes PID 1 a member of the box's cgroup. It is none of the program's tasks, so
   there may be one more from then on, and not before: else the program could be quicker. */
static int join_group(const struct start *start, const int *files) {
  char text[16];
  for (uint32_t i = 0; i < start->njoin; i++) {
    if (write(files[i], "0", 1) < 0) {
      return -1;
    }
  }
  int n = snprintf(text, sizeof text, "%u", start->tasks + 1);
  return start->njoin > 0 && write(files[start->njoin + 1], text, (size_t)n) < 0 ? -1 : 0;
}

/* make_socket does as socket(2) in the box's own network namespace. What it costs
   is charged to the box: the program decides how often this happens. */
static int make_socket(const struct seccomp_data *call, const struct start *start, const int *files) {
  if (!charged && join_group(start, files) < 0) {
    return -1;
  }
  if (!own_network && unshare(CLONE_NEWNET) < 0) {
    return -1;
  }
  own_network = 1;
  if (!charged && drop_capabilities() < 0) { /* the socket must not have them either */
    return -1;
  }
  charged = 1;
  return socket((int)call->args[0], (int)call->args[1] | SOCK_CLOEXEC, (int)call->args[2]);
}

static void serve_socket(int listener, const struct start *start, const int *files) {
  struct seccomp_notif n = {0};
  if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &n) < 0) {
    return; /* the caller died meanwhile */
  }
  struct seccomp_notif_resp r = {.id = n.id};
  int fd = make_socket(&n.data, start, files);
  if (fd < 0) {
    r.error = -errno;
  } else {
    struct seccomp_notif_addfd add = {
        .id = n.id, .srcfd = (uint32_t)fd, .newfd_flags = n.data.args[1] & SOCK_CLOEXEC ? O_CLOEXEC : 0};
    int got = ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &add);
    if (got < 0) {
      r.error = -errno; /* the program has as many files open as it may */
    } else {
      r.val = got;
    }
    close(fd);
  }
  ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &r);
}

static void wake(int sig) { (void)sig; }

void program_signals(void) {
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  sigprocmask(SIG_BLOCK, &child, NULL);
  struct sigaction act = {.sa_handler = wake};
  sigaction(SIGCHLD, &act, NULL);
}

/* serve_worker answers a message and reports whether the box shall end. */
static int serve_worker(int control) {
  struct look look = {0};
  size_t length = 0;
  int fds[FDS_MAX], nfds = 0;
  if (message_receive(control, &look, sizeof look, &length, fds, &nfds) < 0 || length != sizeof look) {
    return 1; /* the worker is gone, and with it who would judge this */
  }
  if (look.type != MSG_LOOK) {
    return 1;
  }
  struct reply r = {.type = MSG_USAGE};
  usage_add(&r.usage, look.limit);
  message_send(control, &r, sizeof r, -1);
  return r.usage.anon + r.usage.shared > look.limit; /* the worker may be slow to say so */
}

/* end_all kills whatever there is but this process and waits until it is gone: the
   kernel adds up for us only what we waited for. */
static void end_all(void) {
  kill(-1, SIGKILL);
  while (wait4(-1, NULL, __WALL, NULL) > 0 || errno == EINTR) {
  }
}

int program_wait(pid_t pid, int *status, int listener, const struct start *start, const int *files, int control) {
  struct pollfd p[2] = {{.fd = listener, .events = POLLIN}, {.fd = control, .events = POLLIN}};
  sigset_t none;
  sigemptyset(&none);
  for (;;) {
    siginfo_t dead = {0};
    if (waitid(P_ALL, 0, &dead, WEXITED | WNOHANG | WNOWAIT | __WALL) < 0 && errno != EINTR) {
      return -1;
    }
    if (dead.si_pid == pid) {
      noise_before(pid);
    }
    if (dead.si_pid > 0) {
      if (wait4(dead.si_pid, status, __WALL, NULL) == pid) {
        if (control >= 0) {
          end_all();
        }
        return 0;
      }
      continue;
    }
    if (ppoll(p, control < 0 ? 1 : 2, NULL, &none) > 0) {
      if (p[0].revents & POLLIN) {
        serve_socket(listener, start, files);
      } else if (p[0].revents != 0) {
        p[0].fd = -1; /* nobody is left under the filter */
      }
      if (p[1].revents != 0 && serve_worker(control)) {
        p[1].fd = -1;
        kill(-1, SIGKILL); /* the program, too: its end is told as ever */
      }
    }
  }
}
