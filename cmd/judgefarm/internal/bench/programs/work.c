/* work burn MS | children MS N | spin | sleep: known work. burn and children print the
   CPU time in nanoseconds that they and their children took by their own clocks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The thread's clock is read first: the process's lags by up to a tick under a limit of
   CPU time. */
static long long used(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static long long burn(long long ms) {
  volatile unsigned sum = 0;
  while (used() < ms * 1000000) {
    for (int i = 0; i < 1000; i++) {
      sum += (unsigned)i;
    }
  }
  return used();
}

static long long children(int ms, int n) {
  int fds[2];
  long long total = 0, one;
  if (pipe(fds) < 0) {
    exit(1);
  }
  for (int i = 0; i < n; i++) {
    if (fork() == 0) {
      one = burn(ms);
      _exit(write(fds[1], &one, sizeof one) != sizeof one);
    }
  }
  for (int i = 0; i < n; i++) {
    if (read(fds[0], &one, sizeof one) != sizeof one) {
      exit(1);
    }
    total += one;
  }
  while (wait(NULL) > 0) {
  }
  return total + used();
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  if (!strcmp(what, "burn") && argc == 3) {
    printf("%lld\n", burn(atoi(argv[2])));
  } else if (!strcmp(what, "children") && argc == 4) {
    printf("%lld\n", children(atoi(argv[2]), atoi(argv[3])));
  } else if (!strcmp(what, "spin")) {
    for (volatile unsigned i = 0;; i++) {
    }
  } else if (!strcmp(what, "sleep")) {
    pause();
  } else {
    return 2;
  }
  return 0;
}
