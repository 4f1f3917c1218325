package sandbox

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// replyBytes is a reply as nursery.h has it.
func replyBytes(kind, errno, status uint32, times [3]uint64, delay, involuntary int64, what string) []byte {
	var m message
	m.u32(kind, errno, status, 0)
	m.u64(times[0], times[1], times[2], uint64(delay), uint64(involuntary))
	return append(m.buf, append([]byte(what), make([]byte, 64-len(what))...)...)
}

// FuzzReply: whatever comes, a reply is an error or one that the protocol has, with
// times that are none before the machine's start.
func FuzzReply(f *testing.F) {
	f.Add(replyBytes(msgOK, 0, 0, [3]uint64{}, 0, 0, ""))
	f.Add(replyBytes(msgFail, uint32(unix.ENOENT), 0, [3]uint64{}, 0, 0, "open /usr"))
	f.Add(replyBytes(msgStarted, 0, 0, [3]uint64{1 << 40, 0, 50000}, 0, 0, ""))
	f.Add(replyBytes(msgExited, 0, 0x100, [3]uint64{0, 1 << 41, 0}, -1, 7, ""))
	f.Add(replyBytes(msgExited, 0, 9, [3]uint64{0, 1 << 63, 0}, 0, 0, strings.Repeat("x", 64)))
	f.Add(replyBytes(99, 1<<31, 0xffff, [3]uint64{}, 0, 0, "\xff\xfe"))
	f.Add([]byte{})
	f.Add(make([]byte, replySize-1))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := parseReply(b)
		if err != nil {
			if r != (reply{}) {
				t.Errorf("an error and %+v", r)
			}
			return
		}
		if len(b) != replySize || r.kind < msgOK || r.kind > msgTrace || r.startNS < 0 || r.endNS < 0 || r.setupNS < 0 {
			t.Errorf("took %x for %+v", b, r)
		}
		if ferr := r.failure(); ferr == nil || strings.ContainsRune(ferr.Error(), 0) {
			t.Errorf("failure %q", ferr)
		}
	})
}

// FuzzReceive: a message with any bytes and any number of descriptors is taken or
// refused, and no descriptor leaks.
func FuzzReceive(f *testing.F) {
	good := replyBytes(msgReady, 0, 0, [3]uint64{}, 0, 0, "")
	for n := range 8 {
		f.Add(good, uint8(n))
	}
	f.Add([]byte{1}, uint8(1))
	f.Add(bytes.Repeat([]byte{4}, 300), uint8(2))
	f.Fuzz(func(t *testing.T, b []byte, n uint8) {
		if len(b) == 0 {
			return // it would be the end of the stream
		}
		s, other, err := socketPair()
		if err != nil {
			t.Fatal(err)
		}
		defer s.close()
		defer unix.Close(other)
		before := lowestFree(t)
		var oob []byte
		if n %= 32; n > 0 {
			oob = unix.UnixRights(repeated(n, other)...)
		}
		if err := unix.Sendmsg(other, b, oob, nil, 0); err != nil {
			t.Skip(err) // larger than a socket takes
		}
		r, fd, err := s.take()
		if (err == nil) != (len(b) == replySize && r.kind != 0) || err != nil && fd >= 0 {
			t.Errorf("%d bytes, %d descriptors: %+v, %d, %v", len(b), n, r, fd, err)
		}
		if fd >= 0 {
			rawClose(fd)
		}
		if after := lowestFree(t); after != before {
			t.Errorf("%d bytes, %d descriptors: descriptor %d leaked", len(b), n, before)
		}
	})
}

func repeated(n uint8, fd int) []int {
	fds := make([]int, n)
	for i := range fds {
		fds[i] = fd
	}
	return fds
}

// lowestFree is the descriptor that the next open gets: the kernel takes the lowest.
func lowestFree(t *testing.T) int {
	t.Helper()
	fd, err := unix.Dup(0)
	if err != nil {
		t.Fatal(err)
	}
	unix.Close(fd)
	return fd
}

// FuzzCgroupMounts: any text of mountinfo and cgroup gives groups that lie where
// the tree is mounted.
func FuzzCgroupMounts(f *testing.F) {
	f.Add("35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory\n", "4:memory:/a/b\n")
	f.Add("41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n", "0::/a\n")
	f.Add("41 31 0:38 /docker/1 /c rw - cgroup2 c rw\n", "0::/docker/1/../../x\n")
	f.Add("1 2 3:4 / /c rw - cgroup c rw,name=systemd,cpu\n", "1:name=systemd:/\n2:cpu,cpuacct:/x\n")
	f.Add("1 2 3:4 /../x /c rw - cgroup2 c\n", "0::/../../../../etc\n")
	f.Add("- - -\n - \n", "::\n:\n")
	f.Fuzz(func(t *testing.T, info, self string) {
		for _, m := range parseCgroupMounts(info, self) {
			if m.own != m.dir && !strings.HasPrefix(m.own, m.dir+"/") {
				t.Errorf("own group %q of a tree at %q", m.own, m.dir)
			}
			if !m.v2 && len(m.controllers) == 0 {
				t.Errorf("a tree of nothing: %+v", m)
			}
		}
	})
}

// FuzzStartMessage: what Go writes is as long as it says, whatever the strings.
func FuzzStartMessage(f *testing.F) {
	f.Add("/work", "true", "a\nb", "A=1", uint8(2))
	f.Add("", "", "", "", uint8(0))
	f.Fuzz(func(t *testing.T, dir, path, arg, env string, joins uint8) {
		if strings.ContainsRune(dir+path+arg+env, 0) {
			return // Validate refuses it
		}
		msg := startMessage(program{dir: dir, paths: []string{path}, args: []string{path, arg}, env: []string{env}, joins: int(joins), mounts: []string{dir}})
		fixed := 14*4 + cpuWords*8 + maxLimits*24
		if len(msg) != fixed+2*len(dir)+2*len(path)+len(arg)+len(env)+6 || binary.NativeEndian.Uint32(msg) != msgStart {
			t.Errorf("message of %d bytes", len(msg))
		}
		if n := bytes.Count(msg[fixed:], []byte{0}); n != 6 {
			t.Errorf("%d strings", n)
		}
	})
}
