/* What the processes of a box use together, for boxes without a cgroup. PID 1 adds it
   up: of the living by their clocks and their files in /proc, of the dead by what
   the kernel kept of children that were waited for; proc(5), getrusage(2). */
#define _GNU_SOURCE
#include "nursery.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SPACES_MAX 64 /* address spaces that are told apart; further ones count each */

int usage_counter(void) {
  struct perf_event_attr attr = {
      .size = sizeof attr,
      .type = PERF_TYPE_SOFTWARE,
      .config = PERF_COUNT_SW_TASK_CLOCK,
      .disabled = 1,
      .inherit = 1,
      .enable_on_exec = 1, /* of each that inherits it: this process never does */
      .exclude_kernel = 1, /* asks for no privilege; the clock runs in the kernel as well */
      .exclude_hv = 1,
  };
  return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static ssize_t read_text(const char *path, char *text, size_t size) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return -1;
  }
  ssize_t n = read(fd, text, size - 1);
  close(fd);
  text[n > 0 ? n : 0] = 0;
  return n;
}

/* number finds "name: value" and returns the value. */
static uint64_t number(const char *text, const char *name) {
  const char *at = strstr(text, name);
  return at == NULL ? 0 : strtoull(at + strlen(name), NULL, 10);
}

static uint64_t clock_of(clockid_t id) {
  struct timespec t;
  if (clock_gettime(id, &t) < 0) {
    return 0;
  }
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* waited_for is what children used that a living process waited for, which the
   kernel tells in ticks, less what is no whole one: fields 16 and 17 of its stat. */
static uint64_t tick_ns(void) { return 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK); }

static uint64_t waited_for(pid_t pid) {
  char path[48], text[1024];
  snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
  char *at = read_text(path, text, sizeof text) > 0 ? strrchr(text, ')') : NULL;
  for (int field = 2; at != NULL && field < 16; field++) {
    at = strchr(at + 1, ' ');
  }
  if (at == NULL) {
    return 0;
  }
  uint64_t user = strtoull(at, &at, 10), system = strtoull(at, NULL, 10);
  return (user + system) * tick_ns();
}

/* The address spaces that there are: a process and a thread of each, and what its
   status says. */
static struct {
  pid_t pid, tid;
  uint64_t anon, shmem;
} spaces[SPACES_MAX];
static int nspaces;

/* seen_before reports whether another process has the same memory, as a child of
   vfork has until its exec. */
static int seen_before(pid_t pid, pid_t tid, uint64_t anon, uint64_t shmem) {
  for (int i = 0; i < nspaces; i++) {
    if (syscall(SYS_kcmp, spaces[i].tid, tid, KCMP_VM, 0, 0) == 0) {
      return 1;
    }
  }
  if (nspaces < SPACES_MAX) {
    spaces[nspaces].pid = pid, spaces[nspaces].tid = tid;
    spaces[nspaces].anon = anon, spaces[nspaces++].shmem = shmem;
  }
  return 0;
}

static int has_memory(const char *text) { return strstr(text, "\nRssAnon:") != NULL; }

/* living reads the status of a thread of a process that has its memory still: the first
   one may have ended before the others. It returns the thread, or 0. */
static pid_t living(pid_t pid, char *text, size_t size) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
  if (read_text(path, text, size) > 0 && has_memory(text)) {
    return pid;
  }
  pid_t found = 0;
  snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
  DIR *dir = opendir(path);
  for (struct dirent *e; found == 0 && dir != NULL && (e = readdir(dir)) != NULL;) {
    pid_t tid = atoi(e->d_name);
    snprintf(path, sizeof path, "/proc/%d/status", (int)tid);
    if (tid > 0 && tid != pid && read_text(path, text, size) > 0 && has_memory(text)) {
      found = tid;
    }
  }
  if (dir != NULL) {
    closedir(dir);
  }
  return found;
}

/* add_process returns -1 when the process is gone. */
static int add_process(struct usage *u, pid_t pid, uint64_t *mapped) {
  char text[2048] = "";
  struct timespec t;
  if (clock_gettime((clockid_t)(~(unsigned)pid << 3 | 2), &t) < 0) {
    return -1; /* who was waited for meanwhile may be in nobody's sum */
  }
  u->cpu_ns += (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec + waited_for(pid);
  u->hidden_ns += 2 * tick_ns();
  pid_t tid = living(pid, text, sizeof text);
  u->tasks += number(text, "\nThreads:");
  if (tid == 0) {
    return 0;
  }
  uint64_t anon = number(text, "\nRssAnon:") << 10, shmem = number(text, "\nRssShmem:") << 10;
  if (anon + shmem > 0 && !seen_before(pid, tid, anon, shmem)) {
    u->anon += anon;
    *mapped += shmem;
  }
  return 0;
}

/* add_exactly counts pages that several processes share once: each tells its part of
   them. That walks their page tables, some ms for a GiB. Of one that may not be looked
   at (PR_SET_DUMPABLE), or whose thread has ended meanwhile, all that its status says
   counts; one that has died has nothing, and of what it shared the others may have told
   their parts as if it lived. */
static void add_exactly(struct usage *u, uint64_t *mapped) {
  char path[48], text[2048];
  uint64_t anon = 0, shmem = 0;
  for (int i = 0; i < nspaces; i++) {
    snprintf(path, sizeof path, "/proc/%d/smaps_rollup", (int)spaces[i].tid);
    if (read_text(path, text, sizeof text) > 0) {
      anon += number(text, "\nPss_Anon:") << 10;
      shmem += number(text, "\nPss_Shmem:") << 10;
    } else if (living(spaces[i].pid, text, sizeof text) != 0) {
      anon += spaces[i].anon;
      shmem += spaces[i].shmem;
    }
  }
  u->anon = anon;
  *mapped = shmem;
}

/* idle_segments is what those System V segments hold that nobody has attached; the last
   but one column is the number of bytes in memory. The file is read line by line: one
   read gives no more than a page of it. */
static uint64_t idle_segments(void) {
  char line[512];
  uint64_t idle = 0;
  FILE *f = fopen("/proc/sysvipc/shm", "re");
  while (f != NULL && fgets(line, sizeof line, f) != NULL) {
    unsigned long long attached, rss;
    if (sscanf(line, "%*s %*s %*s %*s %*s %*s %llu %*s %*s %*s %*s %*s %*s %*s %llu", &attached, &rss) == 2) {
      idle += attached == 0 ? rss : 0;
    }
  }
  if (f != NULL) {
    fclose(f);
  }
  return idle;
}

/* queued is what System V semaphores and messages take, of which no process maps
   anything. A semaphore has a cache line, a message a head of 48 bytes. */
static uint64_t queued(void) {
  enum { EACH = 64 };
  struct seminfo s = {0};
  struct msginfo m = {0};
  semctl(0, 0, SEM_INFO, &s);                /* semaem: how many semaphores */
  msgctl(0, MSG_INFO, (struct msqid_ds *)&m); /* msgtql and msgmap: bytes and messages */
  return (uint64_t)(unsigned)s.semaem * EACH + (uint64_t)(unsigned)m.msgtql + (uint64_t)(unsigned)m.msgmap * EACH;
}

/* shared_memory is that of files and segments, and of mappings; what is mapped is most
   often a file or segment, so the greater of both is what there surely is. */
static uint64_t shared_memory(uint64_t mapped) {
  struct statfs work = {0};
  struct shm_info segments = {0};
  statfs("/work", &work);
  shmctl(0, SHM_INFO, (struct shmid_ds *)&segments);
  uint64_t files = (uint64_t)(work.f_blocks - work.f_bfree) * (uint64_t)work.f_bsize;
  uint64_t all = (uint64_t)segments.shm_rss * (uint64_t)sysconf(_SC_PAGESIZE);
  if (segments.used_ids > 0) {
    mapped += idle_segments();
  }
  return (files + all > mapped ? files + all : mapped) + queued();
}

/* add_all adds up all processes and returns -1 when one of them was gone before it was
   looked at: its parent, who has its time now, may have been looked at before. */
static int add_all(struct usage *u, uint64_t *mapped) {
  struct rusage r = {0};
  int gone = 0;
  getrusage(RUSAGE_CHILDREN, &r);
  *mapped = 0;
  memset(u, 0, sizeof *u);
  u->user_ns = (uint64_t)r.ru_utime.tv_sec * 1000000000u + (uint64_t)r.ru_utime.tv_usec * 1000u;
  u->system_ns = (uint64_t)r.ru_stime.tv_sec * 1000000000u + (uint64_t)r.ru_stime.tv_usec * 1000u;
  u->largest = (uint64_t)r.ru_maxrss << 10;
  u->cpu_ns = u->user_ns + u->system_ns;
  u->hidden_ns = 2000; /* of those two */
  nspaces = 0;
  DIR *dir = opendir("/proc");
  for (struct dirent *e; dir != NULL && (e = readdir(dir)) != NULL;) {
    int pid = atoi(e->d_name);
    if (pid > 1 && add_process(u, pid, mapped) < 0) {
      gone = -1;
    }
  }
  if (dir != NULL) {
    closedir(dir);
  }
  return gone;
}

void usage_add(struct usage *u, uint64_t limit) {
  uint64_t began = clock_of(CLOCK_MONOTONIC), mapped;
  for (int try = 0; add_all(u, &mapped) < 0 && try < 3; try++) {
  }
  /* One address space shares with nobody, and is not given the time to grow further. */
  if (limit > 0 && u->anon + mapped > limit && nspaces > 1 && nspaces < SPACES_MAX) {
    add_exactly(u, &mapped);
  }
  u->shared = shared_memory(mapped);
  u->took_ns = clock_of(CLOCK_MONOTONIC) - began;
}
