package sandbox

import (
	"strings"
	"syscall"
	"testing"

	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/sys/unix"
)

// eval runs a filter as the kernel would, for the few instructions that we emit.
func eval(t *testing.T, filter []syscall.SockFilter, archID, nr uint32, args [6]uint64) uint32 {
	t.Helper()
	data := map[uint32]uint32{offNumber: nr, offArch: archID}
	for i, a := range args {
		data[uint32(offArgs+8*i)], data[uint32(offArgs+8*i+4)] = uint32(a), uint32(a>>32)
	}
	var acc uint32
	for pc := 0; pc < len(filter); pc++ {
		ins := filter[pc]
		yes := false
		switch ins.Code {
		case unix.BPF_LD | unix.BPF_W | unix.BPF_ABS:
			acc = data[ins.K]
			continue
		case unix.BPF_RET | unix.BPF_K:
			return ins.K
		case unix.BPF_JMP | unix.BPF_JA:
			pc += int(ins.K)
			continue
		case unix.BPF_JMP | unix.BPF_K | unix.BPF_JEQ:
			yes = acc == ins.K
		case unix.BPF_JMP | unix.BPF_K | unix.BPF_JGE:
			yes = acc >= ins.K
		case unix.BPF_JMP | unix.BPF_K | unix.BPF_JSET:
			yes = acc&ins.K != 0
		default:
			t.Fatalf("instruction %d: unknown code %#x", pc, ins.Code)
		}
		if yes {
			pc += int(ins.Jt)
		} else {
			pc += int(ins.Jf)
		}
	}
	t.Fatal("the filter ran off its end")
	return 0
}

func TestFilterFollowsTheTable(t *testing.T) {
	t.Parallel()
	for _, info := range []*arch.Info{arch.X86_64, arch.AARCH64} {
		for _, rules := range []ruleset{fullRules, usernsRules, strictRules} {
			leaves, err := filterLeaves(info, rules)
			if err != nil {
				t.Fatal(err)
			}
			filter := append([]syscall.SockFilter{load(offNumber)}, tree(leaves)...)
			decided := map[string]action{}
			for _, r := range rules.calls {
				for name := range strings.FieldsSeq(r.calls) {
					decided[name] = r.action
				}
			}
			special := map[string]bool{}
			for _, r := range rules.args {
				special[r.call] = true
			}
			for nr := range 700 {
				name := info.SyscallNumbers[nr]
				want, known := decided[name]
				if !known {
					want = rules.rest
				}
				if special[name] {
					continue
				}
				if got := eval(t, filter, 0, uint32(nr), [6]uint64{}); got != want.ret() {
					t.Errorf("%s %s (%d): %#x, want %#x", info.Name, name, nr, got, want.ret())
				}
			}
		}
	}
}

// A call with a rule of paths is one that the tracer gets to see.
func TestStrictPathsAreTraced(t *testing.T) {
	t.Parallel()
	for _, r := range strictRules.calls {
		for name := range strings.FieldsSeq(r.calls) {
			if strictPaths[name] != nil {
				t.Errorf("%s has a rule of paths and is %v in the filter", name, r.action)
			}
		}
	}
}

// No file is made that its owner may execute and not read.
func TestUsernsFilterArguments(t *testing.T) {
	t.Parallel()
	filter, err := boxFilter(Userns)
	if err != nil {
		t.Skipf("missing: %v", err)
	}
	info, err := arch.GetInfo("")
	if err != nil {
		t.Fatal(err)
	}
	const create, excl, write = unix.O_CREAT, unix.O_EXCL, unix.O_WRONLY
	for _, c := range []struct {
		call string
		args [6]uint64
		want action
	}{
		{"openat", [6]uint64{0, 0, write | create, 0o644}, allow},
		{"openat", [6]uint64{0, 0, write | create | excl, 0o400}, allow},
		{"openat", [6]uint64{0, 0, write | create, 0o111}, refuse},
		{"openat", [6]uint64{0, 0, write | unix.O_TMPFILE, 0o711}, allow},
		{"openat", [6]uint64{0, 0, write | unix.O_TMPFILE, 0o311}, refuse},
		{"openat", [6]uint64{0, 0, unix.O_RDONLY | unix.O_DIRECTORY, 0}, allow},
		{"openat2", [6]uint64{}, absent},
		{"fchmod", [6]uint64{0, 0o755}, allow},
		{"fchmod", [6]uint64{0, 0o355}, refuse},
		{"fchmodat", [6]uint64{0, 0, 0o111}, refuse},
		{"fchmodat2", [6]uint64{0, 0, 0o111}, refuse},
		{"mknodat", [6]uint64{0, 0, unix.S_IFREG | 0o111}, refuse},
		{"umask", [6]uint64{0o077}, allow},
		{"umask", [6]uint64{0o477}, refuse},
		{"fsetxattr", [6]uint64{}, absent},
		{"memfd_create", [6]uint64{}, absent},
		{"mmap", [6]uint64{0, 4096, 3, unix.MAP_HUGETLB}, scarce},
		{"setsockopt", [6]uint64{0, unix.SOL_SOCKET, unix.SO_SNDBUF}, refuse},
		{"setsockopt", [6]uint64{0, unix.SOL_SOCKET, unix.SO_RCVTIMEO}, allow},
		{"socket", [6]uint64{unix.AF_INET}, report},
	} {
		nr := uint32(info.SyscallNames[c.call])
		if got := eval(t, filter, uint32(info.ID), nr, c.args); got != c.want.ret() {
			t.Errorf("%s%o: %#x, want %#x", c.call, c.args, got, c.want.ret())
		}
	}
}

func TestStrictFilterArguments(t *testing.T) {
	t.Parallel()
	filter, err := strictFilter()
	if err != nil {
		t.Skipf("missing: %v", err)
	}
	info, err := arch.GetInfo("")
	if err != nil {
		t.Fatal(err)
	}
	const thread = unix.CLONE_VM | unix.CLONE_THREAD | unix.CLONE_SIGHAND
	for _, c := range []struct {
		call string
		args [6]uint64
		want action
	}{
		{"clone", [6]uint64{thread}, allow},
		{"clone", [6]uint64{uint64(unix.SIGCHLD)}, trace},
		{"clone", [6]uint64{thread | unix.CLONE_UNTRACED}, trace},
		{"clone", [6]uint64{thread | unix.CLONE_NEWNET}, trace},
		{"kill", [6]uint64{2, 9}, allow},
		{"kill", [6]uint64{1, 9}, trace},
		{"kill", [6]uint64{0, 9}, trace},
		{"kill", [6]uint64{1<<64 - 1, 9}, trace},
		{"tgkill", [6]uint64{2, 7, 9}, allow},
		{"tgkill", [6]uint64{1, 1, 9}, trace},
		{"tkill", [6]uint64{7, 9}, allow},
		{"tkill", [6]uint64{1, 9}, trace},
		{"socketpair", [6]uint64{unix.AF_UNIX}, allow},
		{"socketpair", [6]uint64{unix.AF_INET}, trace},
		{"socket", [6]uint64{unix.AF_UNIX}, trace},
		{"prlimit64", [6]uint64{0, unix.RLIMIT_CORE, 0x1000}, refuse},
		{"prlimit64", [6]uint64{1, unix.RLIMIT_CPU, 0x1000}, trace},
		{"mmap", [6]uint64{0, 4096, 3, unix.MAP_HUGETLB}, scarce},
		{"prctl", [6]uint64{unix.PR_SET_DUMPABLE}, refuse},
		{"prctl", [6]uint64{unix.PR_SET_NAME}, allow},
		{"execve", [6]uint64{}, trace},
		{"openat", [6]uint64{}, trace},
		{"clone3", [6]uint64{}, absent},
	} {
		nr := uint32(info.SyscallNames[c.call])
		if got := eval(t, filter, uint32(info.ID), nr, c.args); got != c.want.ret() {
			t.Errorf("%s%v: %#x, want %#x", c.call, c.args, got, c.want.ret())
		}
		if got := eval(t, filter, uint32(arch.I386.ID), nr, c.args); got != kill.ret() {
			t.Errorf("%s of i386: %#x, want kill", c.call, got)
		}
	}
}

func TestFilterArguments(t *testing.T) {
	t.Parallel()
	filter, err := boxFilter(Full)
	if err != nil {
		t.Skipf("missing: %v", err)
	}
	info, err := arch.GetInfo("")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		call string
		args [6]uint64
		want action
	}{
		{"clone", [6]uint64{uint64(unix.SIGCHLD)}, allow},
		{"clone", [6]uint64{unix.CLONE_VM | unix.CLONE_THREAD}, allow},
		{"clone", [6]uint64{unix.CLONE_NEWUSER}, refuse},
		{"clone", [6]uint64{unix.CLONE_NEWNET | 17}, refuse},
		{"socket", [6]uint64{unix.AF_UNIX}, allow},
		{"socket", [6]uint64{unix.AF_INET6}, report},
		{"socket", [6]uint64{unix.AF_NETLINK}, report},
		{"socket", [6]uint64{unix.AF_VSOCK}, family},
		{"socket", [6]uint64{unix.AF_ALG}, family},
		{"socket", [6]uint64{1<<32 | unix.AF_INET}, report}, // the kernel looks at an int too
		{"socketpair", [6]uint64{unix.AF_UNIX}, allow},
		{"socketpair", [6]uint64{unix.AF_INET}, family},
		{"ioctl", [6]uint64{0, unix.TCGETS}, allow},
		{"ioctl", [6]uint64{0, tiocsti}, refuse},
		{"ioctl", [6]uint64{0, tioclinux}, refuse},
		{"prlimit64", [6]uint64{0, unix.RLIMIT_STACK, 0x1000}, allow},
		{"prlimit64", [6]uint64{0, unix.RLIMIT_CORE, 0, 0x1000}, allow},
		{"prlimit64", [6]uint64{0, unix.RLIMIT_CORE, 0x1000}, refuse},
		{"prlimit64", [6]uint64{0, unix.RLIMIT_CORE, 1 << 32}, refuse},
		{"prlimit64", [6]uint64{1, unix.RLIMIT_CPU, 0x1000}, refuse},
		{"setpriority", [6]uint64{unix.PRIO_PROCESS, 0, 10}, allow},
		{"setpriority", [6]uint64{unix.PRIO_USER, 0, 10}, refuse},
		{"setpriority", [6]uint64{unix.PRIO_PROCESS, 1, 10}, refuse},
		{"sched_setaffinity", [6]uint64{0}, allow},
		{"sched_setaffinity", [6]uint64{1}, refuse},
		{"mmap", [6]uint64{0, 4096, 3, unix.MAP_PRIVATE | unix.MAP_ANONYMOUS}, allow},
		{"mmap", [6]uint64{0, 4096, 3, unix.MAP_PRIVATE | unix.MAP_ANONYMOUS | unix.MAP_HUGETLB | unix.MAP_HUGE_2MB}, scarce},
		{"shmget", [6]uint64{0, 4096, unix.IPC_CREAT | 0o600}, allow},
		{"shmget", [6]uint64{0, 4096, unix.IPC_CREAT | 0o600 | shmHugetlb}, scarce},
		{"memfd_create", [6]uint64{0, unix.MFD_CLOEXEC}, allow},
		{"memfd_create", [6]uint64{0, unix.MFD_CLOEXEC | unix.MFD_HUGETLB}, scarce},
		{"reboot", [6]uint64{}, kill},
		{"clone3", [6]uint64{}, absent},
	} {
		nr := uint32(info.SyscallNames[c.call])
		if got := eval(t, filter, uint32(info.ID), nr, c.args); got != c.want.ret() {
			t.Errorf("%s%v: %#x, want %#x", c.call, c.args, got, c.want.ret())
		}
		if got := eval(t, filter, uint32(arch.I386.ID), nr, c.args); got != kill.ret() {
			t.Errorf("%s of i386: %#x, want kill", c.call, got)
		}
		if got := eval(t, filter, uint32(info.ID), nr|x32Bit, c.args); got != absent.ret() {
			t.Errorf("%s of x32: %#x, want absent", c.call, got)
		}
	}
}
