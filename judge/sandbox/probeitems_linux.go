package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// The parts of the probe that only read text: each takes what the kernel says and
// makes an item of it.

// settings reads a file below /proc/sys, without white space around it.
type settings func(name string) (string, error)

func hostSettings(name string) (string, error) {
	b, err := os.ReadFile("/proc/sys/" + name)
	return strings.TrimSpace(string(b)), err
}

// number is a setting's value; -1 where there is none.
func (s settings) number(name string) int {
	text, err := s(name)
	if err != nil {
		return -1
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return -1
	}
	return n
}

func userNamespaceItem(s settings, root bool) ProbeItem {
	p := ProbeItem{Name: "user namespaces", OK: true, Detail: "allowed", Needed: inNamespaces()}
	switch {
	case s.number("user/max_user_namespaces") == 0:
		p.OK, p.Detail, p.Fix = false, "user.max_user_namespaces is 0", "sysctl -w user.max_user_namespaces=15000"
	case !root && s.number("kernel/unprivileged_userns_clone") == 0:
		p.OK, p.Detail, p.Fix = false, "kernel.unprivileged_userns_clone is 0", "sysctl -w kernel.unprivileged_userns_clone=1, or run as root"
	}
	return p
}

// appArmorItem looks for Ubuntu's restriction, which lets a user namespace be made
// and then takes its capabilities away.
func appArmorItem(s settings, root bool) ProbeItem {
	p := ProbeItem{Name: "AppArmor", OK: true, Detail: "does not restrict user namespaces", Needed: inNamespaces()}
	if !root && s.number("kernel/apparmor_restrict_unprivileged_userns") == 1 {
		p.OK, p.Detail = false, "kernel.apparmor_restrict_unprivileged_userns is 1"
		p.Fix = "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, give the binary a profile with the userns rule, or run as root"
	}
	return p
}

// tracingItem concerns strict mode alone: proc_sys_kernel(5), yama/ptrace_scope. Up
// to 2 a worker may trace what it started itself.
func tracingItem(s settings) ProbeItem {
	p := ProbeItem{Name: "tracing", OK: true, Detail: "allowed, as strict mode needs it"}
	if s.number("kernel/yama/ptrace_scope") >= 3 {
		p.OK, p.Detail = false, "kernel.yama.ptrace_scope is 3: no strict mode"
		p.Fix = "set it to 2 or less in /etc/sysctl.d and boot again; it cannot be lowered before"
	}
	return p
}

// coreItem only informs: the box's core limit keeps a handler from being started.
func coreItem(s settings) ProbeItem {
	p := ProbeItem{Name: "core handler", OK: true, Detail: "cores of boxes are off"}
	pattern, err := s("kernel/core_pattern")
	if strings.HasPrefix(pattern, "|") {
		p.Detail = "the host pipes cores to a program; those of boxes are off"
	}
	if strings.HasPrefix(pattern, "@") { // Linux 6.16: it is connected to whatever the core limit says
		p.OK, p.Detail = false, "the host hands cores to a socket, those of boxes too"
		p.Fix = "sysctl -w kernel.core_pattern=core, or a pattern that begins with |"
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.Detail = err.Error()
	}
	return p
}

// procItem looks for mounts over /proc: with one, no new proc may be mounted in a
// user namespace.
func procItem(mountinfo string) ProbeItem {
	p := ProbeItem{Name: "/proc", OK: true, Detail: "nothing is mounted over it", Needed: inNamespaces()}
	for line := range strings.Lines(mountinfo) {
		f := strings.Fields(line)
		if len(f) > 4 && strings.HasPrefix(f[4], "/proc/") && !emptyMountPoints[f[4]] {
			p.OK, p.Detail = false, f[4]+" is mounted over"
			p.Fix = "in Docker --security-opt systempaths=unconfined, in Kubernetes procMount: Unmasked; elsewhere unmount it"
		}
	}
	return p
}

// hidingItem only informs: boxes have a proc of their own, and the worker reads of
// its own processes alone; proc(5), hidepid.
func hidingItem(mountinfo string) ProbeItem {
	p := ProbeItem{Name: "hidepid", OK: true, Detail: "off"}
	for line := range strings.Lines(mountinfo) {
		before, after, _ := strings.Cut(line, " - ")
		at, right := strings.Fields(before), strings.Fields(after)
		if len(at) < 5 || at[4] != "/proc" || len(right) < 3 || right[0] != "proc" {
			continue
		}
		for option := range strings.SplitSeq(right[2], ",") {
			if value, ok := strings.CutPrefix(option, "hidepid="); ok && value != "0" && value != "off" {
				p.Detail = value + ": processes of others are hidden from an ordinary worker, its own are not"
			}
		}
	}
	return p
}

// peakItem is about memory.peak of cgroup v2; v1 always has its own.
func peakItem(v2, there bool, release string) ProbeItem {
	p := ProbeItem{Name: "memory peak", OK: true, Detail: "reported by the kernel", Needed: inCgroup()}
	if v2 && !there && !kernelAtLeast(release, 5, 19) {
		p.OK, p.Detail, p.Fix = false, "the kernel has no memory.peak", "use Linux 5.19 or later"
	}
	return p
}

// swapItem takes /proc/swaps, whose first line is a heading, and whether a group's
// swap can be limited.
func swapItem(swaps string, limited bool) ProbeItem {
	p := ProbeItem{Name: "swap", OK: true, Detail: "denied to boxes, or off", Needed: inCgroup()}
	if strings.Count(swaps, "\n") >= 2 && !limited {
		p.OK, p.Detail = false, "is on and cannot be limited for a box"
		p.Fix = "swapoff -a, or boot with swapaccount=1"
	}
	return p
}
