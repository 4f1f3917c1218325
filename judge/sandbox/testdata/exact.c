/* exact DEED [ARGS]: programs that know what they used. All but endless ones print
   the CPU time of all their processes and threads in ns, as the kernel's clocks told
   it, from the begin of main to just before the end; clock_gettime(2). What a process
   used before its exec is still on its clock. Every deed is bounded. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long arg(int c, char **v, int i, long otherwise) { return i < c ? atol(v[i]) : otherwise; }

static long long clock_of(clockid_t id) {
  struct timespec t;
  clock_gettime(id, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* used reads the thread's clock too, which brings the process's up to date: that one
   may be a tick behind under a limit of CPU time. */
static long long used(void) {
  clock_of(CLOCK_THREAD_CPUTIME_ID);
  return clock_of(CLOCK_PROCESS_CPUTIME_ID);
}

/* burn uses that much. */
static void burn(long ms) {
  long long end = clock_of(CLOCK_THREAD_CPUTIME_ID) + ms * 1000000LL;
  while (clock_of(CLOCK_THREAD_CPUTIME_ID) < end) {
    for (volatile int i = 0; i < 1000; i++) {
    }
  }
}

static int pipes[2]; /* through which children tell what they used */

static void tell(void) {
  long long ns = used();
  if (write(pipes[1], &ns, sizeof ns) != sizeof ns) {
    _exit(1);
  }
  _exit(0);
}

/* total adds what all the children told, who are over or about to be. */
static long long total(void) {
  long long ns, sum = 0;
  close(pipes[1]);
  while (read(pipes[0], &ns, sizeof ns) == sizeof ns) {
    sum += ns;
  }
  while (wait(NULL) > 0) {
  }
  return sum;
}

static long long children(int c, char **v) {
  for (long i = 0; i < arg(c, v, 2, 4); i++) {
    if (fork() == 0) {
      burn(arg(c, v, 3, 200));
      tell();
    }
  }
  return total();
}

static void *thread(void *ms) {
  burn((long)ms);
  return NULL;
}

static long long threads(int c, char **v) {
  pthread_t t[64];
  long n = arg(c, v, 2, 4);
  for (long i = 0; i < n && i < 64; i++) {
    pthread_create(&t[i], NULL, thread, (void *)arg(c, v, 3, 100));
  }
  for (long i = 0; i < n && i < 64; i++) {
    pthread_join(t[i], NULL);
  }
  return 0;
}

/* orphan works in a process whose parent ends before it does. */
static long long orphan(int c, char **v) {
  if (fork() == 0) {
    setsid();
    if (fork() == 0) {
      burn(arg(c, v, 2, 200));
    }
    tell();
  }
  return total();
}

static long long self(int c, char **v) {
  burn(arg(c, v, 2, 0));
  return 0;
}

/* series works in one short child after the other, which it waits for, beside memory that
   it shares with them, and a file, which bring it near its limit: it is looked at often. */
static long long series(int c, char **v) {
  size_t mine = (size_t)arg(c, v, 4, 0) << 20;
  long long sum = 0;
  memset(malloc(mine + 1), 1, mine + 1);
  static char block[1 << 20];
  int fd = open("/tmp/series", O_WRONLY | O_CREAT, 0600);
  for (long i = arg(c, v, 5, 0); i > 0; i--) {
    if (write(fd, block, sizeof block) != sizeof block) {
      exit(1);
    }
  }
  for (long i = 0; i < arg(c, v, 2, 100); i++) {
    long long ns;
    if (fork() == 0) {
      burn(arg(c, v, 3, 3));
      tell();
    }
    if (wait(NULL) < 0 || read(pipes[0], &ns, sizeof ns) != sizeof ns) {
      exit(1);
    }
    sum += ns;
  }
  return sum;
}

/* calls uses its time in the kernel. */
static long long calls(int c, char **v) {
  static char buf[1 << 16];
  int fd = open("/dev/zero", O_RDONLY);
  long long end = used() + arg(c, v, 2, 200) * 1000000LL;
  while (used() < end) {
    for (int i = 0; i < 20; i++) {
      if (read(fd, buf, sizeof buf) < 0) {
        return 0;
      }
    }
  }
  return 0;
}

/* rivals are two processes that need a core each. */
static long long rivals(int c, char **v) {
  if (fork() == 0) {
    burn(arg(c, v, 2, 200));
    tell();
  }
  burn(arg(c, v, 2, 200));
  return total();
}

/* crowd never ends, but after 20 s of CPU each: one process that after ms of CPU
   has become n. */
static long long crowd(int c, char **v) {
  burn(arg(c, v, 3, 0));
  for (long i = 1; i < arg(c, v, 2, 1); i++) {
    if (fork() == 0) {
      break;
    }
  }
  burn(20000);
  return 0;
}

static long long rest(int c, char **v) {
  sleep((unsigned)arg(c, v, 2, 20));
  return 0;
}

/* cold reads a file in steps of a page, through a mapping, after it took and touched
   some memory, which it holds for a while and gives back first, when asked to. */
static long long cold(int c, char **v) {
  size_t mine = (size_t)arg(c, v, 3, 0) << 20;
  long held = arg(c, v, 4, -1); /* ms; -1 for ever */
  char *p = mmap(NULL, mine + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(p, 1, mine);
  if (held >= 0) {
    struct timespec t = {held / 1000, held % 1000 * 1000000};
    nanosleep(&t, NULL);
    munmap(p, mine + 1);
  }
  int fd = open(v[2], O_RDONLY);
  off_t size = lseek(fd, 0, SEEK_END);
  volatile char *q = mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, fd, 0);
  if (fd < 0 || q == MAP_FAILED) {
    perror(v[2]);
    exit(1);
  }
  for (off_t i = 0; i < size; i += 4096) {
    (void)q[i];
  }
  return 0;
}

static const struct {
  const char *name;
  long long (*run)(int, char **); /* returns what its children used */
} deeds[] = {
    {"self", self}, {"children", children}, {"threads", threads}, {"orphan", orphan}, {"calls", calls},
    {"rivals", rivals}, {"series", series}, {"crowd", crowd}, {"rest", rest}, {"cold", cold},
};

int main(int c, char **v) {
  long long began = used();
  if (pipe(pipes) < 0) {
    return 1;
  }
  for (size_t i = 0; c > 1 && i < sizeof deeds / sizeof *deeds; i++) {
    if (strcmp(deeds[i].name, v[1]) == 0) {
      long long others = deeds[i].run(c, v);
      char text[32];
      /* The clock is read as late as can be. */
      int n = snprintf(text, sizeof text, "%lld\n", others + used() - began);
      if (write(1, text, (size_t)n) != n) {
        return 1;
      }
      _exit(0);
    }
  }
  return 99;
}
