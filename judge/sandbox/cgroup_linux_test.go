package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"judgefarm/judge"
)

func TestParseCgroupMounts(t *testing.T) {
	t.Parallel()
	const v1 = `33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory
40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
22 27 0:21 / /proc rw,relatime - proc proc rw
`
	const self = "4:memory:/a/b\n2:cpu,cpuacct:/\n0::/a\n"
	mounts := parseCgroupMounts(v1, self)
	if len(mounts) != 3 {
		t.Fatalf("%d mounts: %+v", len(mounts), mounts)
	}
	cpu, memory, unified := mounts[0], mounts[1], mounts[2]
	if !cpu.has("cpuacct") || cpu.has("memory") || cpu.own != "/sys/fs/cgroup/cpu,cpuacct" || cpu.v2 {
		t.Errorf("cpu: %+v", cpu)
	}
	if !memory.has("memory") || memory.own != "/sys/fs/cgroup/memory/a/b" {
		t.Errorf("memory: %+v", memory)
	}
	if !unified.v2 || unified.own != "/sys/fs/cgroup/unified/a" {
		t.Errorf("unified: %+v", unified)
	}
}

func TestOwnGroup(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ dir, root, path, want string }{
		{"/c", "/", "/", "/c"},
		{"/c", "/", "/x/y", "/c/x/y"},
		{"/c", "/docker/1", "/docker/1/sub", "/c/sub"}, // a container that sees the host's paths
		{"/c", "/docker/1", "/", "/c"},
		{"/c", "/", "/../../other", "/c"}, // outside of our cgroup namespace
	} {
		if got := ownGroup(c.dir, c.root, c.path); got != c.want {
			t.Errorf("ownGroup(%q, %q, %q) = %q, want %q", c.dir, c.root, c.path, got, c.want)
		}
	}
}

func TestGroupNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"judgefarm-12-0123456789ab": true, "judgefarm-main": false, "judgefarm-12": false,
		"judgefarm-12-0123456789ab-x": false, "other-12-0123456789ab": false,
	} {
		if got := isGroupName(name); got != want {
			t.Errorf("isGroupName(%q) = %v", name, got)
		}
	}
}

// A group that is left over under a box's name must not be taken over.
func TestLeftOverGroupIsAnError(t *testing.T) {
	t.Parallel()
	s, err := New(Config{Slots: 1, UIDBase: 1 << 19})
	if err != nil {
		t.Skipf("missing: %v", err)
	}
	defer s.Close()
	h := s.cgroups.pids
	if err := unix.Mkdirat(h.fd, "left", 0o755); err != nil {
		t.Fatal(err)
	}
	if g, err := s.cgroups.newGroup("left", 1<<20, 4); err == nil {
		g.remove()
		t.Error("a group of the same name was used")
	}
	for _, other := range s.cgroups.all {
		if _, err := os.Stat(filepath.Join(other.dir, "left")); other != h && err == nil {
			t.Errorf("%s: what was made before the error is left", other.dir)
		}
	}
	if err := removeGroup(h.fd, "left"); err != nil {
		t.Error(err)
	}
}

// A box that gets no cgroup is dead when its run is over, as any other.
func TestBoxWithoutGroupIsDead(t *testing.T) {
	t.Parallel()
	s, err := New(Config{Slots: 1, UIDBase: 1<<19 + 64})
	if err != nil {
		t.Skipf("missing: %v", err)
	}
	defer s.Close()
	h := s.cgroups.pids
	spec := Spec{Args: []string{"true"}, Limits: judge.Limits{}.Complete(), Box: BoxLimits{Inodes: 100}} // none is prepared for it
	for range 5 {
		name := strconv.FormatInt(s.seq.Load()+1, 10)
		if err := unix.Mkdirat(h.fd, name, 0o755); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Run(t.Context(), spec); !errors.Is(err, unix.EEXIST) {
			t.Errorf("run: %v, want that the cgroup exists", err)
		}
		left, err := childrenOf(s.slots[0].nursery.proc.Pid)
		if err != nil || len(left) > 0 {
			t.Errorf("the nursery has %q, %v", left, err)
		}
		if err := removeGroup(h.fd, name); err != nil {
			t.Error(err)
		}
	}
}

// childrenOf names the children of a process that live; proc(5), children.
func childrenOf(pid int) (living []string, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return nil, err
	}
	for _, child := range strings.Fields(string(text)) {
		status, err := os.ReadFile("/proc/" + child + "/status")
		if err == nil && !strings.Contains(string(status), "\nState:\tZ") {
			living = append(living, child)
		}
	}
	return living, nil
}

func TestOthersIn(t *testing.T) {
	t.Parallel()
	for procs, want := range map[string]int{"": 0, "7\n": 0, "7\n8\n77\n": 2, "8\n": 1} {
		if got := othersIn(procs, "7"); got != want {
			t.Errorf("othersIn(%q) = %d, want %d", procs, got, want)
		}
	}
}

func TestField(t *testing.T) {
	t.Parallel()
	const text = "low 0\nmax 12\noom_kill 3\noom_group_kill 1"
	for name, want := range map[string]int64{"max": 12, "oom_kill": 3, "oom_group_kill": 1, "oom": -1} {
		if got := field(text, name); got != want {
			t.Errorf("field %q = %d, want %d", name, got, want)
		}
	}
	// Linux 6.12 on x86 has a line more behind what was the last one.
	const status = "NSpid:\t812\t2\nvoluntary_ctxt_switches:\t7\nnonvoluntary_ctxt_switches:\t31\nx86_Thread_features:\t\n"
	for name, want := range map[string]int64{"nonvoluntary_ctxt_switches": 31, "voluntary_ctxt_switches": 7, "ctxt_switches": -1, "NSpid": -1} {
		if got := field(status, name); got != want {
			t.Errorf("field %q of a status = %d, want %d", name, got, want)
		}
	}
}
