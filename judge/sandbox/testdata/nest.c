/* Part of deeds.c: directories that are hard to look into and to remove. */

/* nest DEPTH LENGTH MODE MIB [AFTER]: directories in one another, each with a name of
   LENGTH bytes and of a MODE in the end, and in the innermost a file of MIB. Then it
   waits for its end, or exits when AFTER is given. */
static int nest(int c, char **v) {
  long depth = arg(c, v, 2, 1), length = arg(c, v, 3, 1), mib = arg(c, v, 5, 0);
  mode_t mode = (mode_t)strtol(v[4], NULL, 8);
  char name[256] = {0};
  static char page[1 << 20];
  memset(name, 'n', (size_t)length);
  for (long i = 0; i < depth; i++) {
    if (mkdir(name, 0700) < 0 || chdir(name) < 0) {
      perror("nest");
      return 1;
    }
  }
  memset(page, 1, sizeof page);
  int fd = open("file", O_CREAT | O_WRONLY, 0600);
  for (long i = 0; i < mib; i++) {
    if (write(fd, page, sizeof page) != sizeof page) {
      perror("write");
      return 1;
    }
  }
  close(fd);
  if (mode != 0700) {
    for (long i = 0; i < depth; i++) {
      /* At the level ptrace nothing is changed below a path that is too long. */
      if (chdir("..") < 0 || (chmod(name, mode) < 0 && depth - i < 10)) {
        perror("chmod");
        return 1;
      }
    }
  }
  if (c > 6) {
    return 0;
  }
  sleep(30);
  printf("not ended\n");
  return 0;
}

static int filled(const char *name, long mib) {
  static char page[1 << 20];
  int fd = open(name, O_CREAT | O_RDWR, 0700);
  for (long i = 0; i < mib; i++) {
    if (write(fd, page, sizeof page) != sizeof page) {
      perror("write");
      exit(1);
    }
  }
  return fd;
}

static char hold_stack[1 << 16] __attribute__((aligned(16)));

static int hold_alone(void *name) {
  filled(name, 12);
  unlink(name);
  sleep(30);
  syscall(SYS_exit, 0);
  return 0;
}

/* hold HOW: 12 MiB in a file without a name, held in a way that is hard to see. */
static int hold(int c, char **v) {
  const char *how = c > 2 ? v[2] : "";
  int fd;
  if (strcmp(how, "thread") == 0) { /* with a table of descriptors of its own */
    if (clone(hold_alone, hold_stack + sizeof hold_stack, CLONE_VM | CLONE_SIGHAND | CLONE_THREAD, "f") < 0) {
      perror("clone");
      return 1;
    }
  } else if (strcmp(how, "mapped") == 0) {
    fd = filled("f", 12);
    mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0);
    unlink("f");
    close(fd);
  } else if (strcmp(how, "sent") == 0) { /* in a message that nobody receives */
    int pair[2];
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    fd = filled("f", 12);
    union {
      char buf[CMSG_SPACE(sizeof(int))];
      struct cmsghdr align;
    } u = {0};
    struct iovec one = {"x", 1};
    struct msghdr m = {.msg_iov = &one, .msg_iovlen = 1, .msg_control = u.buf, .msg_controllen = sizeof u.buf};
    struct cmsghdr *h = CMSG_FIRSTHDR(&m);
    h->cmsg_level = SOL_SOCKET, h->cmsg_type = SCM_RIGHTS, h->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(h), &fd, sizeof fd);
    if (sendmsg(pair[0], &m, 0) < 0) {
      printf("%d", errno);
      return 0;
    }
    unlink("f");
    close(fd);
  } else if (strcmp(how, "allocated") == 0) {
    fd = open("f", O_CREAT | O_RDWR, 0700);
    printf("%d", fallocate(fd, 0, 0, 12 << 20) < 0 ? errno : 0);
    return posix_fallocate(fd, 0, 1 << 20); /* which writes instead */
  } else if (strcmp(how, "buffers") == 0) { /* larger ones */
    int pair[2], most = 1 << 30;
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    printf("%d", setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &most, sizeof most) < 0 ? errno : 0);
    return 0;
  } else if (strcmp(how, "undumpable") == 0) {
    printf("%d", prctl(PR_SET_DUMPABLE, 0) < 0 ? errno : 0);
    return 0;
  }
  sleep(30);
  printf("not ended\n");
  return 0;
}
