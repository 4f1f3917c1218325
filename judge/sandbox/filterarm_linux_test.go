package sandbox

import (
	"syscall"
	"testing"

	"github.com/elastic/go-seccomp-bpf/arch"
)

// The table of names calls some calls otherwise on arm64: what a dynamically linked
// program needs to start there is told by numbers; include/uapi/asm-generic/unistd.h.
func TestFilterStartsProgramsOnArm64(t *testing.T) {
	t.Parallel()
	start := map[string]uint32{
		"faccessat": 48, "openat": 56, "close": 57, "read": 63, "pread64": 67, "write": 64, "newfstatat": 79, "fstat": 80, "exit_group": 94,
		"set_tid_address": 96, "futex": 98, "set_robust_list": 99, "clock_gettime": 113, "rt_sigaction": 134, "rt_sigprocmask": 135, "uname": 160,
		"getpid": 172, "gettid": 178, "brk": 214, "munmap": 215, "clone": 220, "execve": 221, "mmap": 222, "mprotect": 226, "wait4": 260,
		"prlimit64": 261, "getrandom": 278, "statx": 291, "rseq": 293,
	}
	for _, rules := range []ruleset{fullRules, usernsRules, strictRules} {
		leaves, err := filterLeaves(arch.AARCH64, rules)
		if err != nil {
			t.Fatal(err)
		}
		filter := append([]syscall.SockFilter{load(offNumber)}, tree(leaves)...)
		for name, nr := range start {
			got := eval(t, filter, 0, nr, [6]uint64{})
			if got == absent.ret() || got == refuse.ret() || got == kill.ret() {
				t.Errorf("%s (%d) is not allowed: %#x", name, nr, got)
			}
		}
	}
}
