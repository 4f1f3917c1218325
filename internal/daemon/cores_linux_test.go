package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCoresUnder(t *testing.T) {
	t.Parallel()
	const (
		v2Mount = "24 1 0:22 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
		v1Mount = "32 31 0:29 / /sys/fs/cgroup/cpu\\040x rw - cgroup cgroup rw,cpu,cpuacct\n" +
			"35 31 0:32 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
	)
	tests := []struct {
		name     string
		affinity int
		files    map[string]string
		want     int // 0: an error
	}{
		{"no cgroups", 8, map[string]string{"proc/self/mountinfo": ""}, 8},
		{"v2 without limit", 8, map[string]string{
			"proc/self/cgroup": "0::/a\n", "proc/self/mountinfo": v2Mount, "sys/fs/cgroup/a/cpu.max": "max 100000\n"}, 8},
		{"v2 own group", 8, map[string]string{
			"proc/self/cgroup": "0::/a/b\n", "proc/self/mountinfo": v2Mount, "sys/fs/cgroup/a/b/cpu.max": "300000 100000\n"}, 3},
		{"v2 group above is tighter", 8, map[string]string{
			"proc/self/cgroup": "0::/a/b\n", "proc/self/mountinfo": v2Mount,
			"sys/fs/cgroup/a/b/cpu.max": "300000 100000\n", "sys/fs/cgroup/a/cpu.max": "200000 100000\n"}, 2},
		{"v2 in a container: the mount's root is limited", 8, map[string]string{
			"proc/self/cgroup": "0::/\n", "proc/self/mountinfo": v2Mount, "sys/fs/cgroup/cpu.max": "400000 100000\n"}, 4},
		{"v2 group outside the mount", 8, map[string]string{
			"proc/self/cgroup": "0::/../other\n", "proc/self/mountinfo": v2Mount, "sys/fs/cgroup/cpu.max": "400000 100000\n"}, 4},
		{"affinity is tighter", 2, map[string]string{
			"proc/self/cgroup": "0::/\n", "proc/self/mountinfo": v2Mount, "sys/fs/cgroup/cpu.max": "400000 100000\n"}, 2},
		{"part of a core", 8, map[string]string{
			"proc/self/cgroup": "0::/\n", "proc/self/mountinfo": v2Mount, "sys/fs/cgroup/cpu.max": "50000 100000\n"}, 1},
		{"two and a half", 8, map[string]string{
			"proc/self/cgroup": "0::/\n", "proc/self/mountinfo": v2Mount, "sys/fs/cgroup/cpu.max": "250000 100000\n"}, 2},
		{"v1", 8, map[string]string{
			"proc/self/cgroup": "2:cpuset:/z\n1:cpu,cpuacct:/a\n", "proc/self/mountinfo": v1Mount,
			"sys/fs/cgroup/cpu x/a/cpu.cfs_quota_us": "600000\n", "sys/fs/cgroup/cpu x/a/cpu.cfs_period_us": "200000\n"}, 3},
		{"v1 without limit", 8, map[string]string{
			"proc/self/cgroup": "1:cpu,cpuacct:/a\n", "proc/self/mountinfo": v1Mount,
			"sys/fs/cgroup/cpu x/a/cpu.cfs_quota_us": "-1\n", "sys/fs/cgroup/cpu x/a/cpu.cfs_period_us": "100000\n"}, 8},
		{"v1 container sees part of the tree", 8, map[string]string{
			"proc/self/cgroup":                       "1:cpu:/docker/ab\n",
			"proc/self/mountinfo":                    "32 31 0:29 /docker/ab /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n",
			"sys/fs/cgroup/cpu/cpu.cfs_quota_us":     "200000\n",
			"sys/fs/cgroup/cpu/cpu.cfs_period_us":    "100000\n",
			"sys/fs/cgroup/cpu/docker/ab/unrelated":  "",
			"sys/fs/cgroup/cpuset/cpu.cfs_quota_us":  "1\n",
			"sys/fs/cgroup/cpuset/cpu.cfs_period_us": "100000\n"}, 2},
		{"hybrid: v1 limits", 8, map[string]string{
			"proc/self/cgroup": "1:cpu:/a\n0::/a\n", "proc/self/mountinfo": v1Mount + strings.ReplaceAll(v2Mount, "cgroup rw", "cgroup/unified rw"),
			"sys/fs/cgroup/cpu x/a/cpu.cfs_quota_us": "100000\n", "sys/fs/cgroup/cpu x/a/cpu.cfs_period_us": "50000\n"}, 2},
		{"nonsense quota", 8, map[string]string{
			"proc/self/cgroup": "0::/\n", "proc/self/mountinfo": v2Mount, "sys/fs/cgroup/cpu.max": "lots 100000\n"}, 0},
		{"nonsense period", 8, map[string]string{
			"proc/self/cgroup": "0::/\n", "proc/self/mountinfo": v2Mount, "sys/fs/cgroup/cpu.max": "100000 0\n"}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			for name, text := range tt.files {
				path := filepath.Join(root, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got, err := coresUnder(root, tt.affinity)
			if (err != nil) != (tt.want == 0) || got != tt.want {
				t.Errorf("coresUnder() = %d, %v, want %d", got, err, tt.want)
			}
		})
	}
}

func TestCoresHere(t *testing.T) {
	t.Parallel()
	if got, err := Cores(); err != nil || got < 1 {
		t.Errorf("Cores() = %d, %v", got, err)
	}
}
