package sandbox

import (
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
	items := []ProbeItem{probeBuild(), probeKernel(), probeUserNamespaces(), appArmorItem(hostSettings, os.Geteuid() == 0)}
	items = append(items, probeProc()...)
	mounts, err := cgroupMounts()
	if err != nil {
		items = append(items, ProbeItem{Name: "cgroups", Detail: err.Error(), Fix: "mount /proc", Needed: inCgroup()})
	} else {
		items = append(items, probeControllers(mounts), probeGroupWritable(mounts), probePeak(mounts), probeSwap(mounts))
	}
	return Probe{Items: append(items, probeLandlock(), tracingItem(hostSettings), coreItem(hostSettings))}
}

// Which levels need an item: all that have namespaces, or the one with a cgroup.
func inNamespaces() []Isolation { return []Isolation{Full, Userns} }
func inCgroup() []Isolation     { return []Isolation{Full} }

func probeBuild() ProbeItem {
	p := ProbeItem{Name: "nursery", OK: nurseryLinked, Detail: "linked into this binary", Needed: inNamespaces()}
	if !p.OK {
		p.Detail, p.Fix = "this binary was built with CGO_ENABLED=0", "build it with cgo and a C compiler"
	}
	return p
}

func probeKernel() ProbeItem {
	p := ProbeItem{Name: "kernel", Needed: Levels()}
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

func probeUserNamespaces() ProbeItem {
	p := userNamespaceItem(hostSettings, os.Geteuid() == 0)
	if _, err := os.Stat("/proc/self/ns/user"); err != nil {
		p.OK, p.Detail, p.Fix = false, "the kernel has none", "use a kernel with CONFIG_USER_NS"
	}
	if p.OK {
		if detail, fix := tryUserNamespace(); detail != "" {
			p.OK, p.Detail, p.Fix = false, detail, fix
		}
	}
	return p
}

// emptyMountPoints of proc are there to be mounted on; the kernel does not mind.
var emptyMountPoints = map[string]bool{"/proc/sys/fs/binfmt_misc": true, "/proc/fs/nfsd": true}

// probeProc reads what is mounted; both items are of it.
func probeProc() []ProbeItem {
	info, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return []ProbeItem{{Name: "/proc", Detail: err.Error(), Fix: "mount /proc", Needed: inNamespaces()}}
	}
	return []ProbeItem{procItem(string(info)), hidingItem(string(info))}
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
	p := ProbeItem{Name: "cgroup controllers", OK: true, Needed: inCgroup()}
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
	p := ProbeItem{Name: "cgroup below ours", OK: true, Needed: inCgroup()}
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
	m, ok := backing(mounts, "memory")
	return peakItem(ok && m.v2, ok && groupHas(m, "memory.peak"), probeKernel().Detail)
}

// groupHas looks for a file of a group. The root group lacks most, so any other
// group than ours will do.
func groupHas(m mountPoint, file string) bool {
	if _, err := os.Stat(filepath.Join(m.own, file)); err == nil {
		return true
	}
	found, err := filepath.Glob(filepath.Join(m.dir, "*", file))
	return err == nil && len(found) > 0
}

func probeSwap(mounts []mountPoint) ProbeItem {
	swaps, err := os.ReadFile("/proc/swaps")
	m, ok := backing(mounts, "memory")
	if err != nil || !ok {
		return swapItem("", false) // a kernel without swap; without the controller its own item says so
	}
	file := "memory.memsw.limit_in_bytes"
	if m.v2 {
		file = "memory.swap.max"
	}
	return swapItem(string(swaps), groupHas(m, file))
}
