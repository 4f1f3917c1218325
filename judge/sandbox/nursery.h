/* The nursery: a small single-threaded process that makes boxes. See
   docs/decisions/0001-nursery.md. Go's half of the protocol is protocol_linux.go;
   both must agree on every structure here. Integers are in the host's order. */
#ifndef JUDGEFARM_NURSERY_H
#define JUDGEFARM_NURSERY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define NURSERY_NAME "judgefarm-nursery"
#define NURSERY_SOCKET 3       /* inherited SOCK_SEQPACKET socket to the worker */
#define MESSAGE_MAX (160 << 10) /* longest message, in bytes */
#define INSIDE_ID 1000         /* uid and gid of the box's user, inside */
#define FDS_MAX 16             /* most descriptors in one message */
#define OPEN_MAX 16            /* most files of a sealed work directory that are writable */

enum { /* message types */
  MSG_CONFIG = 1,  /* worker -> nursery: struct config, then the seccomp filter */
  MSG_PREPARE,     /* worker -> nursery: struct prepare, then operations; the box's control socket */
  MSG_OK,          /* nursery -> worker: done; after MSG_PREPARE with the box's pidfd, after MSG_CONFIG
                      status tells whether it has templates */
  MSG_FAIL,        /* anyone -> worker: err and what */
  MSG_READY,       /* box -> worker: the box stands; a descriptor of its work directory */
  MSG_START,       /* worker -> box: struct start, then strings; stdin, stdout, stderr, njoin files that join a
                      cgroup and then, if there are any, the one that tells its CPU time and the one that
                      bounds its tasks; nmounts mounts */
  MSG_STARTED,     /* box -> worker: exec succeeded at start_ns */
  MSG_EXEC_FAILED, /* box -> worker: exec failed with err */
  MSG_EXITED,      /* box -> worker: the main program ended with status at end_ns */
  MSG_TRACE,       /* program -> worker, strict: waits to be traced; its pidfd */
  MSG_TRACED,      /* worker -> program, strict: it is; no more than the type */
  MSG_BURY,        /* worker -> nursery: close what comes with it: the mount namespace of a dead box */
  MSG_LOOK,        /* worker -> box: struct look; a box that measures answers with MSG_USAGE, and ends when it uses more */
  MSG_END,         /* worker -> box: struct look; a box that measures ends, with MSG_EXITED */
  MSG_USAGE,       /* box -> worker: usage */
};

struct config {
  uint32_t type, filter_len; /* instructions that follow */
  uint32_t privileged;       /* the worker is root of its user namespace */
  uint32_t strict_len;       /* instructions of the strict filter, which follow those */
  uint32_t first, pad;         /* no cgroup: out of memory, the host takes boxes first */
};

/* Operations build the box's root. Each is a byte of kind, an 8-byte number and
   two strings. */
enum {
  OP_DIR = 'd',  /* mkdir a, mode num */
  OP_LINK = 'l', /* symlink a -> b */
  OP_FILE = 'f', /* file a with content b, mode num */
  OP_BIND = 'b', /* host's b, recursively, on a, with mount attributes num */
  OP_PROC = 'p', /* a fresh proc on a */
  OP_MASK = 'm', /* the box's /dev/null on a */
};

#define TREES_MAX 96 /* most binds of a root */

struct prepare {
  uint32_t type, root_length; /* bytes of the operations that build the root; the rest is for this box */
  uint64_t disk, inodes;      /* of the writable file system */
  uint32_t uid, gid;          /* outside, of the box's user */
};

struct limit {
  uint32_t resource, pad;
  uint64_t cur, max;
};

/* measure: there is no cgroup. Count CPU time by a perf event, if there may be one,
   answer MSG_LOOK, and add up at the end. */
struct start {
  uint32_t type, njoin, nlimits, npaths, argc, envc, pin, strict, nmounts, measure, sealed, nopen;
  uint32_t tasks, pad; /* the limit, which PID 1 adds itself to when it joins */
  uint64_t cpus[16];
  struct limit limits[16];
  /* strings: directory, npaths programs to try in order, argc arguments, envc
     environment entries, nmounts paths to mount on, nopen files that sealing leaves
     writable */
};

/* What all processes of a box use together; bytes and ns. */
struct usage {
  uint64_t cpu_ns, user_ns, system_ns; /* the latter two of those that were waited for */
  uint64_t anon, shared, tasks;
  uint64_t largest; /* high-water mark of one process that was waited for */
  uint64_t took_ns; /* by adding this up */
  uint64_t hidden_ns; /* so much of cpu_ns may be missing: the kernel tells waited children in ticks */
};

struct reply {
  uint32_t type;
  int32_t err; /* errno */
  uint32_t status, pad;
  uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC */
  uint64_t setup_ns;         /* CPU time of ours that the box was charged with */
  int64_t run_delay_ns, involuntary; /* of MSG_EXITED: what disturbed the program; -1 is unknown */
  uint64_t sources;          /* of a box's MSG_OK: which files its operations name; see sources_of */
  union {
    char what[64];      /* of a failure: the step */
    struct usage usage; /* of MSG_USAGE, and of MSG_EXITED of a box that measures */
  };
};

struct look {
  uint32_t type, pad;
  uint64_t limit; /* of memory, in bytes: above it the sum is made exactly */
};

/* What a box is made from: the nursery's memory, inherited by the box. */
extern struct config nursery_config;
extern unsigned char nursery_filter[], nursery_strict[];
extern unsigned char nursery_message[];
extern int nursery_pidfd;

/* box_main runs as PID 1 of a new box and never returns. synced becomes readable
   when the uid map is written, and closed when the nursery gave up. trees are the
   opened sources of the box's own operations if its root is a copy of a template;
   else NULL. */
void box_main(int control, int synced, size_t length, const int *trees) __attribute__((noreturn));

/* program_run starts the program that the message asks for and waits for its end.
   It never returns. */
void program_run(int control, unsigned char *msg, size_t length, int *fds, int nfds)
    __attribute__((noreturn));

/* root_linux.c. die tells failure_socket and ends the process. */
extern int failure_socket;
void die(const char *what, const char *detail) __attribute__((noreturn));

/* open_sources opens what operations bind and returns how many there are; -1 with
   errno and what failed. Recursive, because in a new user namespace a mount cannot
   be had without what is mounted below it. */
int open_sources(unsigned char *at, unsigned char *end, int *trees, const char **failed);
void close_trees(const int *trees, int n);

struct operation {
  unsigned char kind;
  uint64_t num;
  const char *a, *b;
};

/* next_operation reads the operation at *at and moves past it; -1 at the end. */
int next_operation(unsigned char **at, unsigned char *end, struct operation *op);

/* template_linux.c, for a nursery whose templates_usable told 1 at its start.
   template_of returns a mount namespace in which the operations have built a root,
   -1 on failure, of which NURSERY_SOCKET may have been told. A box is cloned between
   template_enter and template_leave; the host is not to be seen there. */
int templates_usable(void);
int template_of(unsigned char *ops, size_t length, uint64_t sources);
int template_enter(int ns);
void template_leave(void);
void templates_close(void); /* in a box, which has no business with them */

/* sources_of tells files apart that were at the same paths at different times: a
   bind goes on showing what was there when it was made. sum is that of operations
   before these, or SOURCES_NONE. Go's half is plan.sources in ahead_linux.go. */
#define SOURCES_NONE 0xcbf29ce484222325
uint64_t sources_of(unsigned char *at, unsigned char *end, uint64_t sum);

/* fresh_proc makes a proc of this pid namespace. The kernel allows that only while a
   complete proc of some pid namespace is visible, so before the root changes. */
int fresh_proc(void);

/* build_root makes an empty root and builds in it; build alone works in the root
   that there is. */
void build_root(unsigned char *at, unsigned char *end, const int *trees);
void build(unsigned char *at, unsigned char *end, const int *trees, int proc);
void attach(int tree, const char *target); /* and closes it */

/* writable_parts mounts one bounded file system, of which /work, /tmp and /dev/shm
   show parts, and returns /work opened. */
int writable_parts(const struct prepare *p);

/* seal_work makes /work read-only but for the content of files in it. */
void seal_work(const char *const *files, uint32_t n);

/* network_keep gives the nursery the empty network namespace that its boxes share. */
int network_keep(void);

/* network_check gives this box a network namespace of its own if there is a socket
   in the shared one. It returns -1 with errno. */
int network_check(void);
extern int nursery_sockstat; /* of the shared network namespace, or -1 */

/* landlock_linux.c. landlock_make makes the rules of a finished box, landlock_enter
   puts the calling process under them, with the standard streams that it has; -1
   with errno. Both do nothing where the kernel has no Landlock. */
void landlock_make(void);
int landlock_enter(void);

/* program_signals is called before the program is forked, program_wait after: it
   waits for the program's end, reaps whoever dies and serves the filter's listener. */
void program_signals(void);
/* files are the cgroup's, see MSG_START. control is the worker's socket in a box that
   measures, else -1: then the program's end is all that is waited for, and the kernel ends
   the rest. */
int program_wait(pid_t pid, int *status, int listener, const struct start *start, const int *files, int control);

/* usage_linux.c. usage_counter opens a perf event that counts the CPU time of all
   that this process forks, from their exec on; -1 where there may be none.
   usage_add adds up what the processes use; above limit bytes of memory exactly. */
int usage_counter(void);
void usage_add(struct usage *u, uint64_t limit);

/* noise_linux.c. noise_before is called with the program dead and not yet reaped,
   noise_after when it is reaped; both fill in their parts of MSG_EXITED. */
void noise_before(pid_t pid);
void noise_after(struct reply *r);

/* drop_capabilities takes them from this process and from its bounding set, which needs
   CAP_SETPCAP. clear_capabilities needs nothing and leaves the bounding set, from which
   nothing is gained after no_new_privs. Both return -1 with errno. */
int drop_capabilities(void);
int clear_capabilities(void);

/* strict_linux.c. be_traced is called in the program's process and returns when the
   worker traces it, -1 with errno if it does not. strict_wait waits for the program's
   end, and tells how often it was switched from, without reaping it, so that its number is nobody else's while the worker still
   signals it; strict_release ends the box when the worker does not any more. */
int be_traced(int control);
int strict_wait(pid_t pid, int *status, int64_t *involuntary);
void strict_release(int control) __attribute__((noreturn));

/* confine_linux.c. confine takes from this process, for ever, every file but those of
   the rules, and more where Landlock can; it returns what failed, with errno. */
const char *confine(const char **rules, uint32_t n);

int message_receive(int socket, void *buf, size_t size, size_t *length, int *fds, int *nfds);
int message_send(int socket, const void *buf, size_t length, int fd);
void reply_fail(int socket, const char *what, const char *detail, int err);
const char *next_string(unsigned char **at, unsigned char *end);

#endif
