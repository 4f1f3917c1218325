package sandbox

import "testing"

func TestFileList(t *testing.T) {
	t.Parallel()
	l := fileListOf(&rootPlan{
		binds: []Mount{{Target: "/usr"}, {Target: "/etc/alternatives"}, {Target: "/exe"}, {Target: "/dev/null"}},
		ops: []operation{
			{kind: opLink, a: "/lib", b: "usr/lib"}, {kind: opLink, a: "/dev/fd", b: "/proc/self/fd"},
			{kind: opFile, a: "/etc/passwd"}, {kind: opDir, a: "/etc"},
		},
	})
	for _, c := range []struct {
		name         string
		read, change bool
	}{
		{"/usr", true, false}, {"/usr/lib/libc.so.6", true, false}, {"/lib/libc.so.6", true, false}, {"/usrlocal", false, false},
		{"/exe/prog", true, false}, {"/etc/alternatives/java", true, false},
		{"/etc/passwd", false, false}, {"/etc", false, false}, {"/", false, false}, {"/root/x", false, false},
		{"/work", true, true}, {"/work/a/b", true, true}, {"/tmp/x", true, true}, {"/dev/shm/x", true, true}, {"/workshop", false, false},
		{"", false, false}, {"pipe:[7]", false, false}, {"usr/x", false, false},
		{"/dev/null", true, true}, {"/dev/urandom", true, false}, {"/dev/tty", true, true}, {"/dev/tty1", false, false},
		{"/proc/self/fd/1", true, true}, {"/proc/self/fd/3/x", false, false}, {"/proc/self/fdinfo/1", false, false},
		{"/proc/self/maps", true, false}, {"/proc/self/mem", false, false}, {"/proc/self/environ", false, false},
		{"/proc/1/maps", false, false}, {"/proc/1/fd/0", false, false}, {"/proc/self/root/etc/passwd", false, false},
		{"/proc/self/fd", true, false}, {"/proc/self/task/7/comm", true, true}, {"/proc/self/task/7/mem", false, false},
		{"/proc/self/task/7/fd/1", true, true}, {"/proc/self/task/7/fd", false, false},
		{"/proc/cpuinfo", true, false}, {"/proc/kallsyms", false, false}, {"/sys/kernel/mm/x", true, false}, {"/system", false, false},
	} {
		if got := l.allows(c.name, false); got != c.read {
			t.Errorf("read %s: %v, want %v", c.name, got, c.read)
		}
		if got := l.allows(c.name, true); got != c.change {
			t.Errorf("change %s: %v, want %v", c.name, got, c.change)
		}
	}
}
