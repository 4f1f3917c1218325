/* Loaded into user-mode Linux (LD_PRELOAD), whose ptrace(2) it stands before.

   Linux takes the extended registers of another process (NT_X86_XSTATE) only as a whole,
   as large as the processor has them. User-mode Linux 6.1 knows 2696 bytes, up to
   AVX-512 and PKRU; where the host's processor has more (AMX: 11008 bytes), it dies of
   EFAULT with its first process. What it leaves out is zero here, unused: a process has
   AMX only once it has asked for it (arch_prctl(2)), and nobody asks for the guest's. */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* The call as the kernel has it: unlike glibc's it puts what PEEK reads into *data. */
static long call(long request, pid_t pid, void *addr, void *data) { return syscall(SYS_ptrace, request, pid, addr, data); }

long ptrace(enum __ptrace_request request, ...) {
  va_list rest;
  va_start(rest, request);
  pid_t pid = va_arg(rest, pid_t);
  void *addr = va_arg(rest, void *), *data = va_arg(rest, void *);
  va_end(rest);
  if (request >= PTRACE_PEEKTEXT && request <= PTRACE_PEEKUSER) {
    long word;
    return call(request, pid, addr, &word) < 0 ? -1 : (errno = 0, word);
  }
  static char all[1 << 16]; /* what lies beyond the part stays zero */
  static size_t size;       /* of all; 0 while the part was not refused */
  struct iovec *part = data;
  int extended = request == PTRACE_SETREGSET && (long)addr == NT_X86_XSTATE;
  if (!extended || size == 0) {
    long done = call(request, pid, addr, data);
    if (done == 0 || !extended || errno != EFAULT) {
      return done;
    }
    static char now[sizeof all];
    struct iovec whole = {now, sizeof now};
    if (call(PTRACE_GETREGSET, pid, addr, &whole) < 0 || part->iov_len >= whole.iov_len) {
      errno = EFAULT;
      return -1;
    }
    size = whole.iov_len;
  }
  memcpy(all, part->iov_base, part->iov_len);
  return call(request, pid, addr, &(struct iovec){all, size});
}
