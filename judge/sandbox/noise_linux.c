/* What disturbed the program, told by the kernel when it is over. */
#define _GNU_SOURCE
#include "nursery.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static struct {
  uint64_t end_ns;
  int64_t run_delay_ns;
} noise;

/* run_delay reads how long a task waited for a core while it could have run: the
   second number of its schedstat, in ns; Documentation/scheduler/sched-stats.rst.
   The third counts its turns: 0 is a kernel that does not count. */
static int64_t run_delay(pid_t pid) {
  char text[96];
  snprintf(text, sizeof text, "/proc/%d/schedstat", (int)pid);
  int fd = open(text, O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return -1;
  }
  ssize_t n = read(fd, text, sizeof text - 1);
  close(fd);
  if (n <= 0) {
    return -1;
  }
  text[n] = 0;
  unsigned long long ran, waited, turns;
  if (sscanf(text, "%llu %llu %llu", &ran, &waited, &turns) != 3 || turns == 0) {
    return -1;
  }
  return (int64_t)waited;
}

void noise_before(pid_t pid) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t); /* first: reading is no part of the run */
  noise.end_ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
  noise.run_delay_ns = run_delay(pid);
}

void noise_after(struct reply *r) {
  struct rusage u;
  r->end_ns = noise.end_ns;
  r->run_delay_ns = noise.run_delay_ns;
  r->involuntary = getrusage(RUSAGE_CHILDREN, &u) < 0 ? -1 : u.ru_nivcsw;
}
