package sandbox

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"syscall"

	"github.com/criyle/go-sandbox/ptracer"
	"golang.org/x/sys/unix"
)

// How much of a forbidden call is told.
const (
	maxCallText = 512  // bytes of the whole
	maxArgText  = 256  // bytes of one text in it
	maxPath     = 4096 // PATH_MAX: no call takes a longer one
)

// callForms says what the arguments of a call are, a letter each:
//
//	s text      v texts, ended by a null pointer   a directory's descriptor, not told when it is the current one
//	d number    x hexadecimal                      o octal mode
//	O flags of open(2), which say whether a mode follows
//	S signal    C flags of clone(2)                F socket family   T socket type
//
// A call that stands nowhere is told with its six arguments in hexadecimal.
var callForms = map[string]string{
	"open": "sOo", "openat": "asOo", "creat": "so", "execve": "sv", "execveat": "asv",
	"socket": "FTd", "socketpair": "FTd", "connect": "dxd", "bind": "dxd", "listen": "dd", "accept": "dxx", "accept4": "dxxx",
	"fork": "", "vfork": "", "clone": "C", "kill": "dS", "tkill": "dS", "tgkill": "ddS", "rt_sigqueueinfo": "dS", "rt_tgsigqueueinfo": "ddS",
	"pidfd_open": "dx", "pidfd_send_signal": "dS", "ptrace": "ddxx", "process_vm_readv": "dxdxdx", "process_vm_writev": "dxdxdx",
	"setsid": "", "setpgid": "dd", "setuid": "d", "setgid": "d", "setreuid": "dd", "setregid": "dd", "setresuid": "ddd", "setresgid": "ddd",
	"mkdir": "so", "mkdirat": "aso", "rmdir": "s", "unlink": "s", "unlinkat": "asx", "rename": "ss", "renameat": "asas", "renameat2": "asasx",
	"link": "ss", "linkat": "asasx", "symlink": "ss", "symlinkat": "sas", "mknod": "sox", "mknodat": "asox",
	"chmod": "so", "fchmodat": "aso", "fchmodat2": "asox", "chown": "sdd", "lchown": "sdd", "fchownat": "asddx",
	"utime": "sx", "utimes": "sx", "utimensat": "asxx", "futimesat": "asx", "truncate": "sd", "chdir": "s", "chroot": "s",
	"mount": "sssx", "umount2": "sx", "pivot_root": "ss", "unshare": "C", "setns": "dx", "memfd_create": "sx",
	"sethostname": "sd", "inotify_init": "", "inotify_init1": "x", "inotify_add_watch": "dsx", "sync": "", "syslog": "dxd",
	"shmget": "xdx", "semget": "xdx", "msgget": "xx", "mq_open": "sOo", "mq_unlink": "s", "personality": "x",
	"setpriority": "ddd", "prlimit64": "ddxx", "ioctl": "dxx", "reboot": "xxx", "bpf": "dxd", "io_uring_enter": "dddx",
}

// describe tells a call as it would be written, bounded in length.
func describe(c *ptracer.Context, name string) string {
	form, ok := callForms[name]
	if !ok {
		form = "xxxxxx"
	}
	args := [6]uint{c.Arg0(), c.Arg1(), c.Arg2(), c.Arg3(), c.Arg4(), c.Arg5()}
	var texts []string
	for i, kind := range form {
		if kind == 'o' && i > 0 && form[i-1] == 'O' && args[i-1]&(unix.O_CREAT|unix.O_TMPFILE&^unix.O_DIRECTORY) == 0 {
			continue
		}
		if t := argText(c.Pid, kind, args[i]); t != "" {
			texts = append(texts, t)
		}
	}
	text := name + "(" + strings.Join(texts, ", ") + ")"
	if len(text) > maxCallText {
		text = text[:maxCallText-4] + "...)"
	}
	return text
}

func argText(pid int, kind rune, v uint) string {
	switch kind {
	case 's':
		return quoted(pid, v)
	case 'v':
		return vector(pid, v)
	case 'a':
		if int32(v) == unix.AT_FDCWD {
			return ""
		}
		return strconv.Itoa(int(int32(v)))
	case 'd':
		return strconv.Itoa(int(int32(v)))
	case 'o':
		return fmt.Sprintf("%#o", v&0o7777)
	case 'O':
		return openFlags(int(int32(v)))
	case 'S':
		if name := unix.SignalName(syscall.Signal(v)); name != "" {
			return name
		}
		return strconv.Itoa(int(int32(v)))
	case 'C':
		return bitNames(v, cloneFlags)
	case 'F':
		return valueName(v, socketFamilies)
	case 'T':
		return valueName(v&0xf, socketTypes)
	}
	return fmt.Sprintf("%#x", v)
}

type named struct {
	value uint
	name  string
}

var cloneFlags = []named{
	{unix.CLONE_NEWUSER, "CLONE_NEWUSER"}, {unix.CLONE_NEWPID, "CLONE_NEWPID"}, {unix.CLONE_NEWNS, "CLONE_NEWNS"},
	{unix.CLONE_NEWNET, "CLONE_NEWNET"}, {unix.CLONE_NEWIPC, "CLONE_NEWIPC"}, {unix.CLONE_NEWUTS, "CLONE_NEWUTS"},
	{unix.CLONE_NEWCGROUP, "CLONE_NEWCGROUP"}, {unix.CLONE_VM, "CLONE_VM"}, {unix.CLONE_VFORK, "CLONE_VFORK"},
	{unix.CLONE_PARENT, "CLONE_PARENT"}, {unix.CLONE_UNTRACED, "CLONE_UNTRACED"},
	{unix.CLONE_CHILD_CLEARTID, "CLONE_CHILD_CLEARTID"}, {unix.CLONE_CHILD_SETTID, "CLONE_CHILD_SETTID"},
}

var socketFamilies = []named{
	{unix.AF_UNIX, "AF_UNIX"}, {unix.AF_INET, "AF_INET"}, {unix.AF_INET6, "AF_INET6"}, {unix.AF_NETLINK, "AF_NETLINK"},
	{unix.AF_PACKET, "AF_PACKET"}, {unix.AF_VSOCK, "AF_VSOCK"}, {unix.AF_ALG, "AF_ALG"},
}

var socketTypes = []named{{unix.SOCK_STREAM, "SOCK_STREAM"}, {unix.SOCK_DGRAM, "SOCK_DGRAM"}, {unix.SOCK_RAW, "SOCK_RAW"}, {unix.SOCK_SEQPACKET, "SOCK_SEQPACKET"}}

var openFlagNames = []named{
	{unix.O_CREAT, "O_CREAT"}, {unix.O_EXCL, "O_EXCL"}, {unix.O_TRUNC, "O_TRUNC"}, {unix.O_APPEND, "O_APPEND"},
	{unix.O_NONBLOCK, "O_NONBLOCK"}, {unix.O_DIRECTORY, "O_DIRECTORY"}, {unix.O_NOFOLLOW, "O_NOFOLLOW"},
	{unix.O_CLOEXEC, "O_CLOEXEC"}, {unix.O_PATH, "O_PATH"},
}

func openFlags(v int) string {
	access := [...]string{"O_RDONLY", "O_WRONLY", "O_RDWR", "O_ACCMODE"}[v&unix.O_ACCMODE]
	if rest := bitNames(uint(v)&^unix.O_ACCMODE, openFlagNames); rest != "0" {
		return access + "|" + rest
	}
	return access
}

// bitNames names the bits that are known and gives the rest as a number.
func bitNames(v uint, names []named) string {
	var set []string
	for _, n := range names {
		if v&n.value == n.value {
			set, v = append(set, n.name), v&^n.value
		}
	}
	switch {
	case v != 0:
		set = append(set, fmt.Sprintf("%#x", v))
	case len(set) == 0:
		return "0"
	}
	return strings.Join(set, "|")
}

func valueName(v uint, names []named) string {
	for _, n := range names {
		if n.value == v {
			return n.name
		}
	}
	return strconv.FormatUint(uint64(v), 10)
}

// quoted is a text of the program, or its address where there is none.
func quoted(pid int, addr uint) string {
	b, ok := readText(pid, addr, maxArgText+1)
	if !ok {
		return fmt.Sprintf("%#x", addr)
	}
	if len(b) > maxArgText {
		return strconv.QuoteToASCII(string(b[:maxArgText])) + "..."
	}
	return strconv.QuoteToASCII(string(b))
}

// vector is a list of texts, at most eight.
func vector(pid int, addr uint) string {
	var texts []string
	for i := range uint(9) {
		var word [8]byte
		if addr == 0 || !readMemory(pid, addr+8*i, word[:]) {
			break
		}
		p := uint(le64(word))
		if p == 0 {
			break
		}
		if i == 8 {
			texts = append(texts, "...")
			break
		}
		texts = append(texts, quoted(pid, p))
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

func le64(b [8]byte) (v uint64) {
	for i := range b {
		v |= uint64(b[i]) << (8 * i)
	}
	return v
}

// readText reads a text of the program up to its NUL or to size bytes; ok is false
// where its memory cannot be read. Context.GetString panics on a text of 4096 bytes
// without a NUL, which a program could have us read.
func readText(pid int, addr uint, size int) (text []byte, ok bool) {
	const page, piece = 4096, 256 // few texts are longer
	for len(text) < size {
		n := min(page-int((addr+uint(len(text)))%page), size-len(text), piece)
		buf := make([]byte, n)
		if !readMemory(pid, addr+uint(len(text)), buf) {
			return nil, false
		}
		if i := bytes.IndexByte(buf, 0); i >= 0 {
			return append(text, buf[:i]...), true
		}
		text = append(text, buf...)
	}
	return text, true
}

// readMemory fills buf, which must not cross a page. Where the quick way is barred the
// tracer's own is not: memory that may be written and not read, which the kernel reads
// all the same, and a process that is not dumpable; process_vm_readv(2), ptrace(2).
func readMemory(pid int, addr uint, buf []byte) bool {
	local := []unix.Iovec{{Base: &buf[0]}}
	local[0].SetLen(len(buf))
	n, err := unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: uintptr(addr), Len: len(buf)}}, 0)
	if err != nil {
		n, err = unix.PtracePeekData(pid, uintptr(addr), buf)
	}
	return err == nil && n == len(buf)
}
