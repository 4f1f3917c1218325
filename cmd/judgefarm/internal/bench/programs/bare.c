/* bare RUNS AT-ONCE PROGRAM [ARG...]: starts a program by vfork and exec and reaps it,
   RUNS times from each of AT-ONCE processes. Prints the nanoseconds of all of it, then
   those of each run, one a line. {w} in an argument is the number of the process.
   Exits 1 when a run does not exit with 0. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static long long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static char *numbered(const char *arg, int worker) {
  const char *at = strstr(arg, "{w}");
  char *text = malloc(strlen(arg) + 16);
  if (at == NULL) {
    return strcpy(text, arg);
  }
  sprintf(text, "%.*s%d%s", (int)(at - arg), arg, worker, at + 3);
  return text;
}

static void worker(int number, int runs, char **args, long long *took) {
  int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (char **a = args; *a != NULL; a++) {
    *a = numbered(*a, number);
  }
  for (int i = 0; i < runs; i++) {
    long long began = now();
    pid_t pid = vfork();
    if (pid == 0) {
      dup2(null, 0);
      dup2(null, 1);
      execve(args[0], args, environ);
      _exit(127);
    }
    int status = 0;
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0) {
      fprintf(stderr, "%s: wait status %#x\n", args[0], status);
      _exit(1);
    }
    took[i] = now() - began;
  }
  _exit(0);
}

int main(int argc, char **argv) {
  int runs = argc > 3 ? atoi(argv[1]) : 0, at_once = argc > 3 ? atoi(argv[2]) : 0, bad = 0, status;
  if (runs < 1 || at_once < 1) {
    return 2;
  }
  size_t n = (size_t)runs * (size_t)at_once;
  long long *took = mmap(NULL, n * sizeof *took, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (took == MAP_FAILED) {
    return 1;
  }
  long long began = now();
  for (int w = 0; w < at_once; w++) {
    pid_t pid = fork();
    if (pid == 0) {
      worker(w, runs, argv + 3, took + (size_t)w * (size_t)runs);
    }
    bad |= pid < 0;
  }
  while (wait(&status) > 0) {
    bad |= status;
  }
  if (bad) {
    return 1;
  }
  printf("%lld\n", now() - began);
  for (size_t i = 0; i < n; i++) {
    printf("%lld\n", took[i]);
  }
  return 0;
}
