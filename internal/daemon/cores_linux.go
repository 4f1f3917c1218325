package daemon

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Cores tells how many cores this process may keep busy: its affinity, cut by the
// CPU quota of its cgroup and of every group above that it can see (cpu.max in
// cgroup v2, cpu.cfs_quota_us in v1). A part of a core is not counted, but the
// answer is at least 1. It never asks how many cores the machine has.
func Cores() (int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(os.Getpid(), &set); err != nil {
		return 0, fmt.Errorf("read cpu affinity: %w", err)
	}
	return coresUnder("/", set.Count())
}

// coresUnder is Cores for a file tree at root and an affinity.
func coresUnder(root string, affinity int) (int, error) {
	groups, err := cpuGroups(root)
	if err != nil {
		return 0, fmt.Errorf("read cpu quota: %w", err)
	}
	cores := float64(affinity)
	for _, g := range groups {
		quota, limited, err := g.quota()
		if err != nil {
			return 0, fmt.Errorf("read cpu quota: %w", err)
		}
		if limited {
			cores = min(cores, quota)
		}
	}
	return max(1, int(cores)), nil
}

// cpuGroup is a directory that may hold a CPU quota.
type cpuGroup struct {
	dir string
	v2  bool
}

// cpuGroups lists the process's group and those above it in every mounted
// hierarchy that can limit CPU. See cgroups(7) for the two files read.
func cpuGroups(root string) ([]cpuGroup, error) {
	v1, v2, err := ownGroups(filepath.Join(root, "proc/self/cgroup"))
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(filepath.Join(root, "proc/self/mountinfo"))
	if err != nil {
		return nil, err
	}
	var groups []cpuGroup
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		m, ok := parseMount(lines.Text())
		if !ok || m.kind == "cgroup" && !m.hasCPU {
			continue
		}
		own := v2
		if m.kind == "cgroup" {
			own = v1
		}
		if own == "" {
			continue
		}
		for dir := m.within(own); ; dir = filepath.Dir(dir) {
			groups = append(groups, cpuGroup{dir: filepath.Join(root, m.point, dir), v2: m.kind == "cgroup2"})
			if dir == "/" {
				break
			}
		}
	}
	return groups, nil
}

// ownGroups reads the process's group in the v1 hierarchy of cpu and in v2.
func ownGroups(file string) (v1, v2 string, err error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", "", nil // a kernel without cgroups has no quota
	}
	for line := range strings.Lines(string(data)) {
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(parts) != 3 {
			continue
		}
		if parts[0] == "0" && parts[1] == "" {
			v2 = parts[2]
		}
		if hasWord(parts[1], "cpu") {
			v1 = parts[2]
		}
	}
	return v1, v2, err
}

// mount is a line of /proc/self/mountinfo, see proc_pid_mountinfo(5).
type mount struct {
	root, point, kind string
	hasCPU            bool // v1: the hierarchy has the cpu controller
}

func parseMount(line string) (mount, bool) {
	before, after, ok := strings.Cut(line, " - ")
	fields, tail := strings.Fields(before), strings.Fields(after)
	if !ok || len(fields) < 5 || len(tail) < 3 || tail[0] != "cgroup" && tail[0] != "cgroup2" {
		return mount{}, false
	}
	unescape := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	return mount{
		root: unescape.Replace(fields[3]), point: unescape.Replace(fields[4]),
		kind: tail[0], hasCPU: hasWord(tail[2], "cpu"),
	}, true
}

// within is the group's path below the mount point. A container's mount shows a
// part of the tree; a group outside that part is the mount's own root to us.
func (m mount) within(group string) string {
	rel, err := filepath.Rel(m.root, group)
	if err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
		return "/"
	}
	return filepath.Join("/", rel)
}

// quota is in cores. Absent files mean no limit: the root group has none, and a
// group without the controller has none either.
func (g cpuGroup) quota() (cores float64, limited bool, err error) {
	var quota, period string
	if g.v2 {
		text, err := readLine(filepath.Join(g.dir, "cpu.max"))
		if err != nil || text == "" {
			return 0, false, err
		}
		quota, period, _ = strings.Cut(text, " ")
	} else {
		if quota, err = readLine(filepath.Join(g.dir, "cpu.cfs_quota_us")); err != nil || quota == "" {
			return 0, false, err
		}
		if period, err = readLine(filepath.Join(g.dir, "cpu.cfs_period_us")); err != nil {
			return 0, false, err
		}
	}
	if quota == "max" || quota == "-1" {
		return 0, false, nil
	}
	q, err := strconv.ParseFloat(quota, 64)
	if err != nil {
		return 0, false, fmt.Errorf("%s: quota %q is no number", g.dir, quota)
	}
	p, err := strconv.ParseFloat(period, 64)
	if err != nil || p <= 0 {
		return 0, false, fmt.Errorf("%s: period %q is no positive number", g.dir, period)
	}
	return q / p, true, nil
}

func readLine(file string) (string, error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return strings.TrimSpace(string(data)), err
}

func hasWord(list, word string) bool {
	for w := range strings.SplitSeq(list, ",") {
		if w == word {
			return true
		}
	}
	return false
}
