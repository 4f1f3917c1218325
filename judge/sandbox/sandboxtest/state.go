package sandboxtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Left names what users have left on this host outside of any box: processes
// (stopped ones and zombies too, but see Adopted), System V objects, and files in the places that
// everybody may write to, core files of the current directory among them. Tests ask
// it after a run, with the users of their boxes, which nobody else has.
func Left(uids map[int]bool) ([]string, error) {
	left, err := leftProcesses(uids)
	if err != nil {
		return nil, err
	}
	for _, kind := range []string{"shm", "sem", "msg"} {
		left = append(left, leftObjects(kind, uids)...)
	}
	for _, dir := range []string{"/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run", "/run/lock", "."} {
		left = append(left, leftFiles(dir, uids)...)
	}
	return left, nil
}

func leftProcesses(uids map[int]bool) ([]string, error) {
	procs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, err
	}
	var left []string
	for _, p := range procs {
		status, err := os.ReadFile(p + "/status")
		if err != nil {
			continue // it ended meanwhile
		}
		_, rest, _ := strings.Cut(string(status), "\nUid:\t")
		uid, err := strconv.Atoi(rest[:max(strings.IndexByte(rest, '\t'), 0)])
		if err == nil && uids[uid] && !Adopted(string(status)) {
			name, _, _ := strings.Cut(string(status), "\n")
			left = append(left, fmt.Sprintf("process %s %s, state%s, parent%s", p, name, line(string(status), "State"), line(string(status), "PPid")))
		}
	}
	return left, nil
}

// line is the value of a line of /proc/PID/status, with the tab before it.
func line(status, key string) string {
	_, rest, _ := strings.Cut(status, "\n"+key+":")
	value, _, _ := strings.Cut(rest, "\n")
	return value
}

// Adopted reports whether the status in /proc is that of a dead process whose worker
// and nursery are dead too, so that it only waits for whoever adopted it to take notice:
// the machine's init, or a test that judges by tracing alone and so adopts orphans.
// While its nursery lives a dead box is the nursery's to reap.
func Adopted(status string) bool {
	if !strings.Contains(status, "\nState:\tZ") {
		return false
	}
	parent, err := os.ReadFile("/proc/" + strings.TrimSpace(line(status, "PPid")) + "/comm")
	return err == nil && strings.TrimSpace(string(parent)) != "box-nursery"
}

// leftObjects reads /proc/sysvipc/KIND, whose columns are named in its first line.
func leftObjects(kind string, uids map[int]bool) []string {
	text, err := os.ReadFile("/proc/sysvipc/" + kind)
	if err != nil {
		return nil // a kernel without them
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	heads := strings.Fields(lines[0])
	var left []string
	for _, line := range lines[1:] {
		for i, v := range strings.Fields(line) {
			if uid, err := strconv.Atoi(v); err == nil && i < len(heads) && (heads[i] == "uid" || heads[i] == "cuid") && uids[uid] {
				left = append(left, "System V object "+kind+": "+line)
				break
			}
		}
	}
	return left
}

func leftFiles(dir string, uids map[int]bool) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // the host has none, or shows it to nobody
	}
	var left []string
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			continue
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		if core := dir == "." && strings.HasPrefix(e.Name(), "core"); core && info.Mode().IsRegular() && filepath.Ext(e.Name()) != ".go" ||
			ok && uids[int(st.Uid)] {
			left = append(left, fmt.Sprintf("file %s of user %d", filepath.Join(dir, e.Name()), st.Uid))
		}
	}
	return left
}
