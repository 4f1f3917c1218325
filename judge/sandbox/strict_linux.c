/* The box's half of strict mode: the program's process hands itself to the worker's
   tracer before it joins the cgroup, so none of this is charged to the box. */
#define _GNU_SOURCE
#include "nursery.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int be_traced(int control) {
  uint32_t type = 0;
  struct {
    uint32_t type, more[15];
  } msg = {0};
  size_t length = 0;
  int fds[FDS_MAX], nfds = 0;
  struct reply r = {.type = MSG_TRACE, .status = (uint32_t)getpid()};
  /* An ordinary user may trace only what is dumpable; ptrace(2). This memory is a
     copy of PID 1's, which stays as it is. */
  if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0) {
    return -1;
  }
  int pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);
  if (pidfd < 0 || message_send(control, &r, sizeof r, pidfd) < 0) {
    return -1;
  }
  close(pidfd);
  if (message_receive(control, &msg, sizeof msg, &length, fds, &nfds) < 0) {
    return -1;
  }
  memcpy(&type, &msg, sizeof type);
  if (length != sizeof type || type != MSG_TRACED) {
    errno = ECANCELED; /* the worker has no use for us */
    return -1;
  }
  return 0;
}

int strict_wait(pid_t pid, int *status, int64_t *involuntary) {
  siginfo_t info;
  struct rusage used; /* which the kernel's waitid gives, and the library's does not */
  long r;
  do {
    r = syscall(SYS_waitid, P_PID, pid, &info, WEXITED | WNOWAIT | __WALL, &used);
  } while (r < 0 && errno == EINTR);
  if (r < 0) {
    return -1;
  }
  noise_before(pid);
  *involuntary = used.ru_nivcsw;
  /* As wait(2) puts it. */
  *status = info.si_code == CLD_EXITED ? (info.si_status & 0xff) << 8 : info.si_status;
  if (info.si_code == CLD_DUMPED) {
    *status |= 0x80;
  }
  return 0;
}

void strict_release(int control) {
  char byte;
  int fds[FDS_MAX], nfds = 0;
  size_t length = 0;
  message_receive(control, &byte, sizeof byte, &length, fds, &nfds); /* ends with the worker's end */
  _exit(0);
}
