/* Deeds that take memory, where the limit sees it and where it may not. Part of deeds.c. */

static int hog(int c, char **v) {
  touch_memory(arg(c, v, 2, 4096), MAP_PRIVATE);
  return 0;
}

static int shared_hog(int c, char **v) {
  touch_memory(arg(c, v, 2, 1024), MAP_SHARED);
  return 0;
}

/* reserve takes address space and touches none of it. */
static int reserve(int c, char **v) {
  (void)c, (void)v;
  return mmap(NULL, 8L << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) == MAP_FAILED;
}

/* touch_slowly takes 400 MiB in about half a second and ends the process well. */
static void *touch_slowly(void *unused) {
  (void)unused;
  for (int i = 0; i < 400; i++) {
    memset(malloc(1 << 20), 1, 1 << 20);
    if (i % 20 == 0) {
      usleep(20000);
    }
  }
  puts("touched");
  exit(0);
}

/* headless takes memory when its first thread has ended. */
static int headless(int c, char **v) {
  (void)c, (void)v;
  pthread_t t;
  pthread_create(&t, NULL, touch_slowly, NULL);
  syscall(SYS_exit, 0);
  return 1;
}

/* undumpable takes memory when its files in /proc are another user's, beside a child. */
static int undumpable(int c, char **v) {
  (void)c, (void)v;
  prctl(PR_SET_DUMPABLE, 0);
  socket(AF_INET, SOCK_DGRAM, 0); /* PID 1 gives up its capabilities to make it */
  if (fork() == 0) {
    prctl(PR_SET_DUMPABLE, 0);
    pause();
  }
  touch_slowly(NULL);
  return 1;
}

/* spliced prints what a call says that puts pages into a pipe. */
static int spliced(int c, char **v) {
  (void)c, (void)v;
  int p[2];
  static char page[4096];
  struct iovec one = {page, sizeof page};
  if (pipe(p) < 0) {
    return 1;
  }
  printf("%d", vmsplice(p[1], &one, 1, 0) < 0 ? errno : 0);
  return 0;
}

/* together lives in its parent's memory for a while, as a child of vfork does. */
static int together(int c, char **v) {
  size_t size = (size_t)arg(c, v, 2, 160) << 20;
  memset(malloc(size), 1, size);
  if (vfork() == 0) {
    usleep(400000);
    _exit(0);
  }
  return 0;
}

/* child_hog loses a child to the memory limit and ends well. */
static int child_hog(int c, char **v) {
  if (fork() == 0) {
    return hog(c, v);
  }
  wait(NULL);
  sleep((unsigned)arg(c, v, 3, 0));
  puts("fine");
  return 0;
}

/* kept has memory in System V objects that no process maps: in segments that nobody has
   attached, behind many small ones; in semaphores; in messages. */
static int kept(int c, char **v) {
  static struct {
    long type;
    char text[8192];
  } message = {.type = 1};
  long mib = arg(c, v, 3, 0);
  for (int i = 0; i < 200 && v[2][0] == 's'; i++) {
    char *p = shmat(shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600), NULL, 0);
    if (p == (char *)-1 || shmdt(p) < 0) {
      return 4;
    }
  }
  for (long got = 0; got < mib;) {
    char *p;
    int id;
    switch (v[2][0]) {
    case 's':
      p = shmat(shmget(IPC_PRIVATE, 4 << 20, IPC_CREAT | 0600), NULL, 0);
      if (p == (char *)-1) {
        return 4;
      }
      memset(p, 1, 4 << 20);
      shmdt(p);
      got += 4;
      break;
    case 'a': /* an array: 64 bytes each */
      if (semget(IPC_PRIVATE, 32000, IPC_CREAT | 0600) < 0) {
        return 4;
      }
      got += 2;
      break;
    default: /* two in a queue */
      for (int q = 0; q < 64; q++) {
        id = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
        if (id < 0 || msgsnd(id, &message, sizeof message.text, 0) < 0 || msgsnd(id, &message, sizeof message.text, 0) < 0) {
          return 4;
        }
      }
      got++;
    }
    usleep(1000);
  }
  puts("kept");
  return 0;
}
