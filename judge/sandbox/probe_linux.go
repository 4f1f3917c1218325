package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Oldest kernel whose calls the box is made with: mount_setattr (5.12), and enough
// of what followed to be maintained.
const kernelMajor, kernelMinor = 5, 14

// ProbeHost tells what this host can enforce. It changes nothing; that everything
// works together is shown by New, which runs a trial box.
func ProbeHost() Probe { return probeHost() }

func probeHost() Probe {
	items := []ProbeItem{probeBuild(), probeKernel(), probeUserNamespaces(), probeAppArmor(), probeProc()}
	mounts, err := cgroupMounts()
	if err != nil {
		items = append(items, ProbeItem{Name: "cgroups", Detail: err.Error(), Fix: "mount /proc", Needed: true})
	} else {
		items = append(items, probeControllers(mounts), probeGroupWritable(mounts), probePeak(mounts), probeSwap(mounts))
	}
	return Probe{Items: append(items, probeCoreHandler())}
}

func probeBuild() ProbeItem {
	p := ProbeItem{Name: "nursery", OK: nurseryLinked, Detail: "linked into this binary", Needed: true}
	if !p.OK {
		p.Detail, p.Fix = "this binary was built with CGO_ENABLED=0", "build it with cgo and a C compiler"
	}
	return p
}

func probeKernel() ProbeItem {
	p := ProbeItem{Name: "kernel", Needed: true}
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		p.Detail = err.Error()
		return p
	}
	p.Detail = unix.ByteSliceToString(u.Release[:])
	p.OK = kernelAtLeast(p.Detail, kernelMajor, kernelMinor)
	p.Fix = fmt.Sprintf("Linux %d.%d or later is needed", kernelMajor, kernelMinor)
	return p
}

func kernelAtLeast(release string, major, minor int) bool {
	parts := strings.FieldsFunc(release, func(r rune) bool { return r < '0' || r > '9' })
	if len(parts) < 2 {
		return false
	}
	a, aerr := strconv.Atoi(parts[0])
	b, berr := strconv.Atoi(parts[1])
	return aerr == nil && berr == nil && (a > major || a == major && b >= minor)
}

// setting reads a number below /proc/sys; -1 where there is none.
func setting(name string) int {
	b, err := os.ReadFile("/proc/sys/" + name)
	if err != nil {
		return -1
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		return -1
	}
	return n
}

func probeUserNamespaces() ProbeItem {
	p := ProbeItem{Name: "user namespaces", OK: true, Detail: "allowed", Needed: true}
	switch {
	case setting("user/max_user_namespaces") == 0:
		p.OK, p.Detail, p.Fix = false, "user.max_user_namespaces is 0", "sysctl -w user.max_user_namespaces=15000"
	case os.Geteuid() != 0 && setting("kernel/unprivileged_userns_clone") == 0:
		p.OK, p.Detail, p.Fix = false, "kernel.unprivileged_userns_clone is 0", "sysctl -w kernel.unprivileged_userns_clone=1, or run as root"
	}
	if _, err := os.Stat("/proc/self/ns/user"); err != nil {
		p.OK, p.Detail, p.Fix = false, "the kernel has none", "use a kernel with CONFIG_USER_NS"
	}
	return p
}

// probeAppArmor looks for Ubuntu's restriction, which lets a user namespace be
// made and then takes its capabilities away.
func probeAppArmor() ProbeItem {
	p := ProbeItem{Name: "AppArmor", OK: true, Detail: "does not restrict user namespaces", Needed: true}
	if os.Geteuid() != 0 && setting("kernel/apparmor_restrict_unprivileged_userns") == 1 {
		p.OK, p.Detail = false, "kernel.apparmor_restrict_unprivileged_userns is 1"
		p.Fix = "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, give the binary a profile with the userns rule, or run as root"
	}
	return p
}

// emptyMountPoints of proc are there to be mounted on; the kernel does not mind.
var emptyMountPoints = map[string]bool{"/proc/sys/fs/binfmt_misc": true, "/proc/fs/nfsd": true}

// probeProc looks for mounts over /proc: with one, no new proc may be mounted in
// a user namespace.
func probeProc() ProbeItem {
	p := ProbeItem{Name: "/proc", OK: true, Detail: "nothing is mounted over it", Needed: true}
	info, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		p.OK, p.Detail, p.Fix = false, err.Error(), "mount /proc"
		return p
	}
	for line := range strings.Lines(string(info)) {
		f := strings.Fields(line)
		if len(f) > 4 && strings.HasPrefix(f[4], "/proc/") && !emptyMountPoints[f[4]] {
			p.OK, p.Detail = false, f[4]+" is mounted over"
			p.Fix = "in Docker --security-opt systempaths=unconfined, in Kubernetes procMount: Unmasked; elsewhere unmount it"
		}
	}
	return p
}

// backing finds the hierarchy that a controller would come from, as choose does.
func backing(mounts []mountPoint, controller string) (mountPoint, bool) {
	for _, m := range mounts {
		if m.v2 && m.has("memory", "pids") {
			return m, true
		}
	}
	for _, m := range mounts {
		if !m.v2 && m.has(controller) {
			return m, true
		}
	}
	return mountPoint{}, false
}

func probeControllers(mounts []mountPoint) ProbeItem {
	p := ProbeItem{Name: "cgroup controllers", OK: true, Needed: true}
	var missing []string
	for _, c := range []string{"memory", "pids"} {
		m, ok := backing(mounts, c)
		switch {
		case !ok:
			missing = append(missing, c)
		case m.v2:
			p.Detail = "memory, pids and cpu.stat of cgroup v2"
		default:
			p.Detail = "memory, pids and cpuacct of cgroup v1"
		}
	}
	if missing != nil {
		p.OK, p.Detail = false, "missing: "+strings.Join(missing, ", ")
		p.Fix = "mount the cgroup file system writable (in a container: a private cgroup namespace with a writable tree) and enable the controllers (cgroup_enable=memory)"
	}
	return p
}

func probeGroupWritable(mounts []mountPoint) ProbeItem {
	p := ProbeItem{Name: "cgroup below ours", OK: true, Needed: true}
	m, ok := backing(mounts, "memory")
	if !ok {
		p.OK, p.Detail, p.Fix = false, "no memory controller", "see cgroup controllers"
		return p
	}
	for dir := m.own; strings.HasPrefix(dir, m.dir); dir = filepath.Dir(dir) {
		if unix.Access(dir, unix.W_OK) == nil {
			p.Detail = "can be made in " + dir
			return p
		}
	}
	p.OK, p.Detail = false, "cannot be made in "+m.own+" or above"
	p.Fix = "run as root, delegate a group (systemd: Delegate=yes), or mount the tree writable"
	return p
}

func probePeak(mounts []mountPoint) ProbeItem {
	p := ProbeItem{Name: "memory peak", OK: true, Detail: "reported by the kernel", Needed: true}
	m, ok := backing(mounts, "memory")
	if !ok || !m.v2 {
		return p
	}
	// The root group has no such file, so look at any other.
	found, err := filepath.Glob(filepath.Join(m.dir, "*", "memory.peak"))
	_, own := os.Stat(filepath.Join(m.own, "memory.peak"))
	if own != nil && (err != nil || len(found) == 0) && !kernelAtLeast(probeKernel().Detail, 5, 19) {
		p.OK, p.Detail, p.Fix = false, "the kernel has no memory.peak", "use Linux 5.19 or later"
	}
	return p
}

func probeSwap(mounts []mountPoint) ProbeItem {
	p := ProbeItem{Name: "swap", OK: true, Detail: "denied to boxes, or off", Needed: true}
	swaps, err := os.ReadFile("/proc/swaps")
	if err != nil || strings.Count(string(swaps), "\n") < 2 {
		return p
	}
	m, ok := backing(mounts, "memory")
	if !ok {
		return p
	}
	if m.v2 {
		_, err = os.Stat(filepath.Join(m.own, "memory.swap.max"))
		found, gerr := filepath.Glob(filepath.Join(m.dir, "*", "memory.swap.max"))
		if err == nil || gerr == nil && len(found) > 0 {
			return p
		}
	} else if _, err = os.Stat(filepath.Join(m.own, "memory.memsw.limit_in_bytes")); err == nil {
		return p
	}
	p.OK, p.Detail = false, "is on and cannot be limited for a box"
	p.Fix = "swapoff -a, or boot with swapaccount=1"
	return p
}

// probeCoreHandler only informs: the box's core limit keeps a handler from being
// started.
func probeCoreHandler() ProbeItem {
	p := ProbeItem{Name: "core handler", OK: true, Detail: "cores of boxes are off"}
	b, err := os.ReadFile("/proc/sys/kernel/core_pattern")
	if err == nil && strings.HasPrefix(string(b), "|") {
		p.Detail = "the host pipes cores to a program; those of boxes are off"
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		p.Detail = err.Error()
	}
	return p
}
