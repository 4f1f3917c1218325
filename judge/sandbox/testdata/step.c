/* Part of deeds.c: what strict mode looks at. */

static void *open_thread(void *path) {
  open(path, O_RDONLY);
  return NULL;
}

static void *open_always(void *path) {
  for (;;) {
    close(open(path, O_RDONLY));
  }
  return NULL;
}

/* step WHAT [PATH] does one thing that strict mode looks at; prints errno. */
static int step(int c, char **v) {
  const char *path = c > 3 ? v[3] : "x";
  const char *what = c > 2 ? v[2] : "";
  long r = 0;
  pthread_t t;
  if (strcmp(what, "open") == 0) {
    r = open(path, O_RDONLY);
  } else if (strcmp(what, "create") == 0) {
    r = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0640);
  } else if (strcmp(what, "relative") == 0) {
    r = chdir("/usr") | open(path, O_RDONLY);
  } else if (strcmp(what, "beneath") == 0) {
    r = openat(open("/usr", O_RDONLY | O_DIRECTORY), path, O_RDONLY);
  } else if (strcmp(what, "thread") == 0) {
    r = pthread_create(&t, NULL, open_thread, (void *)path) | pthread_join(t, NULL);
  } else if (strcmp(what, "endless") == 0) { /* a path without an end */
    char *p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(p, '/', 1 << 20);
    r = open(p, O_RDONLY);
  } else if (strcmp(what, "nowhere") == 0) {
    r = syscall(SYS_openat, AT_FDCWD, 8, O_RDONLY);
  } else if (strcmp(what, "writeonly") == 0) { /* memory that cannot be read, but by the kernel */
    char *p = mmap(NULL, 4096, PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    strcpy(p, path);
    r = open(p, O_RDONLY);
  } else if (strcmp(what, "undumpable") == 0) {
    prctl(PR_SET_DUMPABLE, 0);
    r = open(path, O_RDONLY);
  } else if (strcmp(what, "gone") == 0) { /* from a directory that is not there any more */
    r = mkdir("d", 0755) | chdir("d") | rmdir("/work/d") | open(path, O_RDONLY);
  } else if (strcmp(what, "tasks") == 0) {
    r = openat(open("/proc/self/task", O_RDONLY | O_DIRECTORY), path, O_RDONLY);
  } else if (strcmp(what, "nofollow") == 0) {
    r = open(path, O_PATH | O_NOFOLLOW);
  } else if (strcmp(what, "closed") == 0) {
    r = openat(99, path, O_RDONLY);
  } else if (strcmp(what, "stream") == 0) { /* from what is no directory */
    r = openat(1, path, O_RDONLY);
  } else if (strcmp(what, "mapped") == 0) { /* a link that needs CAP_CHECKPOINT_RESTORE */
    unsigned long from, to;
    char link[80];
    FILE *f = fopen("/proc/self/maps", "r");
    if (f && fscanf(f, "%lx-%lx", &from, &to) == 2) {
      snprintf(link, sizeof link, "/proc/self/map_files/%lx-%lx", from, to);
      r = open(link, O_RDONLY);
    }
  } else if (strcmp(what, "deep") == 0) { /* beyond what a path can name */
    char name[201];
    memset(name, 'd', 200);
    name[200] = 0;
    for (int i = 0; r == 0 && i < 30; i++) {
      r = mkdir(name, 0755) || chdir(name) ? -1 : 0;
    }
  } else if (strcmp(what, "opens") == 0) {
    for (int i = 0; i < 1000; i++) {
      r |= close(open(path, O_RDONLY));
    }
  } else if (strcmp(what, "dying") == 0) { /* at any moment of what its threads do */
    for (int i = 0; i < 4; i++) {
      pthread_create(&t, NULL, open_always, (void *)path);
    }
    usleep((useconds_t)getpid() % 3 + (useconds_t)time(NULL) % 7);
    kill(getpid(), SIGKILL);
  } else if (strcmp(what, "socket") == 0) {
    r = socket(AF_INET, SOCK_STREAM, 0);
  } else if (strcmp(what, "fork") == 0) {
    r = fork();
  } else if (strcmp(what, "untraced") == 0) {
    r = syscall(SYS_clone, CLONE_VM | CLONE_SIGHAND | CLONE_THREAD | CLONE_UNTRACED, 0, 0, 0, 0);
  } else if (strcmp(what, "exec") == 0) {
    r = execl("/bin/sh", "sh", "-c", "id \"$0\"", NULL);
  } else if (strcmp(what, "ptrace") == 0) {
    r = syscall(SYS_ptrace, 16, 1, 0, 0);
  } else if (strcmp(what, "killall") == 0) {
    r = kill(-1, SIGKILL);
  } else if (strcmp(what, "setsid") == 0) {
    r = setsid();
  } else if (strcmp(what, "unknown") == 0) {
    r = syscall(1999, 1, 2, 3, 4, 5, 6);
  } else if (strcmp(what, "symlink") == 0) {
    r = symlink("/etc/passwd", path);
  }
  printf("%d", r < 0 ? errno : 0);
  return 0;
}
