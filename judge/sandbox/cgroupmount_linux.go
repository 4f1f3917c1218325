package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// mountPoint is a mounted cgroup tree and our own group in it.
type mountPoint struct {
	v2          bool
	controllers []string
	dir         string // where it is mounted
	own         string // our own group's directory
}

func (m mountPoint) has(names ...string) bool {
	for _, name := range names {
		if !slices.Contains(m.controllers, name) {
			return false
		}
	}
	return true
}

// cgroupMounts reads what is mounted where; cgroups(7), proc_pid_mountinfo(5).
func cgroupMounts() ([]mountPoint, error) {
	info, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("read mounts: %w", err)
	}
	self, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, fmt.Errorf("read own cgroup: %w", err)
	}
	return parseCgroupMounts(seenMounts(string(info)), string(self)), nil
}

// seenMounts drops the mounts that another one covers: in a container, or where
// somebody mounted over /sys/fs/cgroup, the list still has them.
func seenMounts(info string) string {
	var seen strings.Builder
	for line := range strings.Lines(info) {
		f := strings.Fields(line)
		if len(f) < 5 || !strings.Contains(line, " - cgroup") {
			continue
		}
		var st unix.Stat_t
		if unix.Stat(f[4], &st) == nil && f[2] == fmt.Sprintf("%d:%d", unix.Major(st.Dev), unix.Minor(st.Dev)) {
			seen.WriteString(line)
		}
	}
	return seen.String()
}

func parseCgroupMounts(info, self string) []mountPoint {
	own := map[string]string{} // controller, "" for v2 -> path
	for line := range strings.Lines(self) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		for c := range strings.SplitSeq(parts[1], ",") {
			own[c] = parts[2]
		}
	}
	var mounts []mountPoint
	for line := range strings.Lines(info) {
		before, after, ok := strings.Cut(strings.TrimSpace(line), " - ")
		left, right := strings.Fields(before), strings.Fields(after)
		if !ok || len(left) < 5 || len(right) < 3 {
			continue
		}
		m := mountPoint{dir: filepath.Clean(left[4])}
		if len(m.dir) < 2 || m.dir[0] != '/' { // a tree at the very root is none that we could look through
			continue
		}
		switch right[0] {
		case "cgroup2":
			m.v2 = true
			m.own = ownGroup(m.dir, left[3], own[""])
			if m.own != m.dir && filepath.Base(m.own) == leafName { // we moved there before
				m.own = filepath.Dir(m.own)
			}
			if b, err := os.ReadFile(filepath.Join(m.own, "cgroup.controllers")); err == nil {
				m.controllers = strings.Fields(string(b))
			}
		case "cgroup":
			for opt := range strings.SplitSeq(right[2], ",") {
				if path, ok := own[opt]; ok {
					m.controllers = append(m.controllers, opt)
					m.own = ownGroup(m.dir, left[3], path)
				}
			}
			if m.controllers == nil {
				continue
			}
		default:
			continue
		}
		mounts = append(mounts, m)
	}
	return mounts
}

// ownGroup joins a mount of the subtree root with our path. In a container the
// path may lie outside of what is mounted; then the mount itself is our best.
func ownGroup(dir, root, path string) string {
	rel, ok := strings.CutPrefix(path, strings.TrimSuffix(root, "/"))
	if !ok || strings.Contains(rel, "..") {
		return dir
	}
	return filepath.Join(dir, rel)
}
