/* Deeds that make sockets and try to reach somebody. Part of deeds.c. */

/* connect_to tells what comes of a connection to 127.0.0.1. */
static int connect_to(int c, char **v) {
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)arg(c, v, 2, 80)), .sin_addr = {htonl(INADDR_LOOPBACK)}};
  int tcp = socket(AF_INET, SOCK_STREAM, 0), udp = socket(AF_INET, SOCK_DGRAM, 0);
  printf("tcp %s\n", connect(tcp, (void *)&a, sizeof a) < 0 ? strerror(errno) : "connected");
  printf("udp %s\n", sendto(udp, "x", 1, 0, (void *)&a, sizeof a) < 0 ? strerror(errno) : "sent");
  struct sockaddr_un u = {.sun_family = AF_UNIX};
  strncpy(u.sun_path + (v[3][0] == '@'), v[3] + (v[3][0] == '@'), sizeof u.sun_path - 2);
  int un = socket(AF_UNIX, SOCK_STREAM, 0);
  printf("unix %s\n", connect(un, (void *)&u, (socklen_t)(sizeof u.sun_family + strlen(v[3]))) < 0 ? strerror(errno) : "connected");
  return 0;
}

/* sockets tells what is other than with a network namespace of one's own. */
static int sockets(int c, char **v) {
  (void)c, (void)v;
  int a = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), b = socket(AF_INET, SOCK_STREAM, 0);
  if (a < 0 || fcntl(a, F_GETFD) != FD_CLOEXEC || !(fcntl(a, F_GETFL) & O_NONBLOCK)) {
    printf("flags of socket %d\n", a);
  }
  if (b < 0 || fcntl(b, F_GETFD) != 0 || fcntl(b, F_GETFL) & O_NONBLOCK) {
    printf("no flags of socket %d\n", b);
  }
  if (socket(AF_INET, SOCK_RAW, 1) >= 0 || errno != EPERM) {
    perror("raw socket");
  }
  if (socket(AF_INET, SOCK_STREAM, 200) >= 0 || errno != EPROTONOSUPPORT) {
    perror("unknown protocol");
  }
  struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(4000)};
  if (bind(a, (void *)&any, sizeof any) < 0) {
    perror("bind");
  }
  if (fork() == 0) { /* every process of the box is in the same network */
    if (bind(socket(AF_INET, SOCK_DGRAM, 0), (void *)&any, sizeof any) == 0 || errno != EADDRINUSE) {
      perror("bind again");
    }
    exit(0);
  }
  wait(NULL);
  int netlink = socket(AF_NETLINK, SOCK_RAW, 0);
  struct {
    unsigned len;
    unsigned short type, flags;
    unsigned seq, pid;
    unsigned char family, rest[15]; /* struct ifinfomsg */
  } up = {sizeof up, 16, 5, 1, 0, 0, {0}};
  up.rest[3] = 1; /* the index: lo */
  up.rest[7] = up.rest[11] = 1; /* IFF_UP, flags and change */
  char answer[256] = {0};
  int err = 0;
  if (send(netlink, &up, sizeof up, 0) < 0 || recv(netlink, answer, sizeof answer, 0) < 20 ||
      (memcpy(&err, answer + 16, 4), err != -EPERM)) {
    printf("bring lo up: %d %s\n", err, strerror(errno));
  }
  struct rlimit r = {20, 20};
  setrlimit(RLIMIT_NOFILE, &r);
  int n = 0;
  while (n < 30 && socket(AF_INET, SOCK_DGRAM, 0) >= 0) {
    n++;
  }
  if (n == 0 || n >= 20 || errno != EMFILE) {
    printf("%d sockets with 20 files: %s\n", n, strerror(errno));
  }
  return 0;
}

/* sockets_left leaves names of sockets that only the kernel's collector of garbage
   removes, counters and flow labels. */
static int sockets_left(int c, char **v) {
  (void)c, (void)v;
  for (int i = 0; i < 50; i++) {
    int s[2];
    struct sockaddr_un u = {.sun_family = AF_UNIX};
    int n = 1 + sprintf(u.sun_path + 1, "left-%d", i);
    union {
      struct cmsghdr h;
      char b[CMSG_SPACE(sizeof s)];
    } m = {.h = {.cmsg_len = CMSG_LEN(sizeof s), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
    char byte = 0;
    struct iovec io = {&byte, 1};
    struct msghdr h = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = &m, .msg_controllen = sizeof m};
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, s) < 0 || bind(s[0], (void *)&u, (socklen_t)(sizeof u.sun_family + n)) < 0) {
      perror("named pair");
      return 1;
    }
    memcpy(CMSG_DATA(&m.h), s, sizeof s);
    if (sendmsg(s[0], &h, 0) < 0 || sendmsg(s[1], &h, 0) < 0) {
      perror("send itself");
      return 1;
    }
    close(s[0]), close(s[1]);
  }
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(80), .sin_addr = {htonl(0x08080808)}};
  int udp = socket(AF_INET, SOCK_DGRAM, 0);
  for (int i = 0; i < 1000; i++) {
    connect(udp, (void *)&a, sizeof a);
  }
  struct {
    struct in6_addr to;
    unsigned label;
    unsigned char action, share;
    unsigned short flags, expires, linger;
    unsigned pad;
  } flow = {.label = htonl(0x12345), .share = 255, .flags = 1, .linger = 6}; /* IPV6_FL_A_GET, F_CREATE */
  flow.to.s6_addr[0] = 0x20;
  int six = socket(AF_INET6, SOCK_DGRAM, 0);
  if (setsockopt(six, IPPROTO_IPV6, 32, &flow, sizeof flow) < 0) {
    perror("flow label");
  }
  return 0;
}

/* crowded tells how many tasks there may be, itself included, with a socket that PID 1
   made if it is asked to have one. */
static int crowded(int c, char **v) {
  if (arg(c, v, 2, 0) > 0 && socket(AF_INET, SOCK_DGRAM, 0) < 0) {
    return 1;
  }
  int n = 1;
  for (pid_t pid; n < 200 && (pid = fork()) >= 0; n++) {
    if (pid == 0) {
      pause();
    }
  }
  printf("%d", n);
  return 0;
}
