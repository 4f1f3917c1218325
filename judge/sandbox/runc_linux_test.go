package sandbox_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"judgefarm/judge/sandbox"
)

// pod is a container as a runtime makes it: what runc's config.json says.
type pod struct {
	uid      int
	caps     []string
	seccomp  bool   // Docker's and containerd's default profile
	allow    string // calls that it allows all the same
	masked   bool   // the parts of /proc that runtimes mask and make read-only
	cgroup   bool   // writable
	newPrivs bool   // no_new_privs is off
}

// defaultCaps are what Docker and Kubernetes give a container that asks for nothing.
var defaultCaps = []string{
	"CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FSETID", "CAP_FOWNER", "CAP_MKNOD", "CAP_NET_RAW", "CAP_SETGID", "CAP_SETUID",
	"CAP_SETFCAP", "CAP_SETPCAP", "CAP_NET_BIND_SERVICE", "CAP_SYS_CHROOT", "CAP_KILL", "CAP_AUDIT_WRITE",
}

var (
	defaultPod    = pod{caps: defaultCaps, seccomp: true, masked: true, newPrivs: true}
	restrictedPod = pod{uid: 1234, seccomp: true, masked: true}
)

// refusedCalls are those that Docker documents its default profile to refuse to a
// container without the capability for them; docs.docker.com/engine/security/seccomp.
const refusedCalls = "acct add_key bpf clock_adjtime clock_settime create_module delete_module finit_module fsconfig fsmount fsopen fspick " +
	"get_kernel_syms get_mempolicy init_module io_uring_setup io_uring_enter io_uring_register ioperm iopl kcmp kexec_file_load kexec_load " +
	"keyctl lookup_dcookie mbind mount mount_setattr move_mount move_pages name_to_handle_at nfsservctl open_by_handle_at open_tree " +
	"perf_event_open pivot_root query_module quotactl reboot request_key set_mempolicy setns settimeofday " +
	"swapoff swapon sysfs _sysctl umount umount2 unshare uselib userfaultfd ustat vhangup"

type object = map[string]any

// profile refuses those calls, and clone with any new namespace; clone3 fails as if
// there were none, since its flags cannot be looked at.
func (p pod) profile() object {
	names := []string{}
	for name := range strings.FieldsSeq(refusedCalls) {
		if !strings.Contains(" "+p.allow+" ", " "+name+" ") {
			names = append(names, name)
		}
	}
	rules := []object{
		{"names": names, "action": "SCMP_ACT_ERRNO", "errnoRet": 1},
		{"names": []string{"clone3"}, "action": "SCMP_ACT_ERRNO", "errnoRet": 38},
	}
	for _, flag := range []uint64{0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000} {
		if !strings.Contains(" "+p.allow+" ", " clone ") {
			rules = append(rules, object{"names": []string{"clone"}, "action": "SCMP_ACT_ERRNO", "errnoRet": 1,
				"args": []object{{"index": 0, "value": flag, "valueTwo": flag, "op": "SCMP_CMP_MASKED_EQ"}}})
		}
	}
	return object{"defaultAction": "SCMP_ACT_ALLOW", "architectures": []string{"SCMP_ARCH_X86_64", "SCMP_ARCH_X86", "SCMP_ARCH_AARCH64"}, "syscalls": rules}
}

// config is the pod's config.json; binds are shown read-only at the same path.
func (p pod) config(group string, env, args, binds []string) object {
	mount := func(kind, target string, options ...string) object {
		return object{"destination": target, "type": kind, "source": kind, "options": options}
	}
	access := "ro"
	if p.cgroup {
		access = "rw"
	}
	mounts := []object{
		mount("proc", "/proc"),
		mount("tmpfs", "/dev", "nosuid", "strictatime", "mode=755", "size=65536k"),
		mount("devpts", "/dev/pts", "nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620", "gid=5"),
		mount("tmpfs", "/dev/shm", "nosuid", "noexec", "nodev", "mode=1777", "size=65536k"),
		mount("mqueue", "/dev/mqueue", "nosuid", "noexec", "nodev"),
		mount("sysfs", "/sys", "nosuid", "noexec", "nodev", "ro"),
		mount("cgroup", "/sys/fs/cgroup", "nosuid", "noexec", "nodev", "relatime", access),
		mount("tmpfs", "/tmp", "nosuid", "nodev", "mode=1777", "size=65536k"),
	}
	for _, b := range binds {
		mounts = append(mounts, object{"destination": b, "type": "bind", "source": b, "options": []string{"rbind", "ro", "nosuid", "nodev"}})
	}
	linux := object{
		"cgroupsPath": group,
		"namespaces":  []object{{"type": "pid"}, {"type": "network"}, {"type": "ipc"}, {"type": "uts"}, {"type": "mount"}, {"type": "cgroup"}},
	}
	if p.masked {
		linux["maskedPaths"] = []string{"/proc/asound", "/proc/acpi", "/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/timer_list",
			"/proc/timer_stats", "/proc/sched_debug", "/proc/scsi", "/sys/firmware"}
		linux["readonlyPaths"] = []string{"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"}
	}
	if p.seccomp {
		linux["seccomp"] = p.profile()
	}
	caps := object{}
	for _, set := range []string{"bounding", "effective", "permitted"} {
		caps[set] = append([]string{}, p.caps...)
	}
	return object{
		"ociVersion": "1.0.2",
		"root":       object{"path": "rootfs", "readonly": true},
		"hostname":   "pod",
		"process": object{
			"user": object{"uid": p.uid, "gid": p.uid}, "args": args, "env": env, "cwd": "/tmp",
			"capabilities": caps, "noNewPrivileges": !p.newPrivs,
		},
		"mounts": mounts,
		"linux":  linux,
	}
}

// run runs this test binary in the pod, its tests at a level. The root is the host's system
// directories, read-only.
func (p pod) run(t *testing.T, l sandbox.Isolation, flags ...string) (string, error) {
	t.Helper()
	deed(t) // or it is missing
	if os.Geteuid() != 0 {
		t.Skip("missing: root, to start containers")
	}
	if _, err := exec.LookPath("runc"); err != nil {
		t.Skip("missing: runc: apt-get install runc")
	}
	bundle, id := t.TempDir(), fmt.Sprintf("judgefarm-test-runc-%d-%d", os.Getpid(), bases.Add(1))
	self, err := os.Readlink("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	inside := filepath.Join(bundle, "bin")
	root := filepath.Join(bundle, "rootfs")
	binds := []string{deedsDir, inside}
	for _, m := range sandbox.DefaultSystem() {
		if st, err := os.Lstat(m.Source); err != nil || st.Mode()&os.ModeSymlink != 0 {
			err = errors.Join(err, os.MkdirAll(filepath.Dir(filepath.Join(root, m.Source)), 0o755), exec.Command("cp", "-P", m.Source, filepath.Join(root, m.Source)).Run())
			if err != nil {
				t.Fatal(err)
			}
			continue
		}
		binds = append(binds, m.Source)
	}
	cfg := p.config("/"+id, []string{"PATH=/usr/bin:/bin", "HOME=/tmp", "JUDGEFARM_TEST_ISOLATION=" + string(l), "JUDGEFARM_TEST_DEEDS=" + deedsDir},
		append([]string{inside + "/sandbox.test"}, flags...), binds)
	text, err := json.Marshal(cfg)
	err = errors.Join(err, os.MkdirAll(root, 0o755), os.Mkdir(inside, 0o755), os.WriteFile(filepath.Join(bundle, "config.json"), text, 0o644),
		exec.Command("cp", self, inside+"/sandbox.test").Run())
	for dir := bundle; dir != "/" && dir != os.TempDir(); dir = filepath.Dir(dir) {
		err = errors.Join(err, os.Chmod(dir, 0o755))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		exec.Command("runc", "--root", filepath.Join(bundle, "state"), "delete", "--force", id).Run()
		left, err := filepath.Glob("/sys/fs/cgroup/*/" + id)
		if len(left) > 0 || err != nil {
			t.Errorf("left of the container: %v, %v", left, err)
		}
	})
	out, err := exec.Command("runc", "--root", filepath.Join(bundle, "state"), "run", "--bundle", bundle, id).CombinedOutput()
	return string(out), err
}

// podArg makes this test binary tell what each level lacks where it runs.
const podArg = "judgefarm-test-pod"

func podReport() {
	probe := sandbox.ProbeHost()
	for _, l := range sandbox.Levels() {
		err := probe.Err(l)
		if err == nil {
			var boxes sandbox.Boxes
			if boxes, err = sandbox.Open(sandbox.Config{Isolation: l, Slots: 1}); err == nil {
				fmt.Printf("%s: works, CPU %s\n", l, boxes.Enforced().CPU)
				err = boxes.Close()
			}
		}
		if err != nil {
			fmt.Printf("%s: %v\n", l, err)
		}
	}
	os.Exit(0)
}

// What a level lacks in a pod, with the fix.
var (
	noCgroup = []string{"cgroup below ours: cannot be made in /sys/fs/cgroup/", "mount the tree writable"}
	noClone  = []string{"user namespaces: a system call filter refuses clone(CLONE_NEWUSER)", "seccompProfile"}
	noProc   = []string{"is mounted over", "procMount: Unmasked"}
	works    = []string{"works"}
)

// What each kind of container allows, and what it is told where it does not.
func TestPods(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		pod          pod
		full, userns []string
	}{
		{"default", defaultPod, slices.Concat(noCgroup, noClone, noProc), slices.Concat(noClone, noProc)},
		{"restricted", restrictedPod, slices.Concat(noCgroup, noClone, noProc), slices.Concat(noClone, noProc)},
		{"default profile only", pod{uid: 1234, seccomp: true}, slices.Concat(noCgroup, noClone), noClone},
		{"masked proc only", pod{caps: defaultCaps, masked: true}, slices.Concat(noCgroup, noProc), noProc},
		{"unconfined, ordinary user", pod{uid: 1234}, noCgroup, works},
		{"unconfined, root", pod{caps: defaultCaps}, noCgroup, works},
		{"own profile", ownProfile, noCgroup, []string{"works, CPU sampled"}},
		{"writable cgroup", writable, works, works},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			out, err := c.pod.run(t, "", podArg)
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			for level, want := range map[sandbox.Isolation][]string{sandbox.Full: c.full, sandbox.Userns: c.userns} {
				_, text, _ := strings.Cut("\n"+out, "\n"+string(level)+": ")
				text, _, _ = strings.Cut(text, "\n")
				for _, w := range want {
					if !strings.Contains(text, w) {
						t.Errorf("%s: %q, want %q in it", level, text, w)
					}
				}
				if reasons := strings.Count(text, "(") - strings.Count(text, "(CLONE") - strings.Count(text, "(systemd"); want[0] != "works" && reasons != len(want)/2 {
					t.Errorf("%s: %d reasons in %q, want %d", level, reasons, text, len(want)/2)
				}
			}
			if !strings.Contains(out, "\nptrace: works") && !strings.Contains(out, "ptrace is not in this build") {
				t.Errorf("ptrace, which needs nothing of a container: %s", out)
			}
		})
	}
}

// callsOfBoxes are what a profile has to allow besides for boxes to be made.
const callsOfBoxes = "clone unshare setns mount umount2 pivot_root fsopen fsconfig fsmount move_mount open_tree mount_setattr"

var (
	ownProfile = pod{uid: 1234, seccomp: true, allow: callsOfBoxes}
	writable   = pod{caps: defaultCaps, cgroup: true}
)

// Where a level is said to work in a container, all of it does: without a counter of
// CPU time, which that profile refuses; and with a cgroup of its own.
func TestPodsJudge(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pod   pod
		level sandbox.Isolation
	}{
		"own profile":     {ownProfile, sandbox.Userns},
		"writable cgroup": {writable, sandbox.Full},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := c.pod.run(t, c.level, "-test.v", "-test.run", "^(TestRunner|TestEnds|TestAttacks|TestNothing.*)$", "-test.skip", ofFull+"|TestAttacks/D07|"+ordinarySkips)
			checkLevel(t, c.level, out, err)
		})
	}
}
