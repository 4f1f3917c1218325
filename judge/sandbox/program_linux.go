package sandbox

import (
	"fmt"
	"path"
	"strings"
	"syscall"
	"time"

	"github.com/criyle/go-sandbox/pkg/rlimit"
	"golang.org/x/sys/unix"

	"judgefarm/judge"
)

// defaultPath is searched when the environment has no PATH.
const defaultPath = "/usr/local/bin:/usr/bin:/bin"

// candidates are the paths that the program may have in the box.
func candidates(name string, env []string) []string {
	if strings.Contains(name, "/") {
		return []string{name}
	}
	search := defaultPath
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, "PATH="); ok {
			search = v
		}
	}
	var paths []string
	for dir := range strings.SplitSeq(search, ":") {
		if path.IsAbs(dir) && len(paths) < 64 {
			paths = append(paths, path.Join(dir, name))
		}
	}
	return paths
}

// fits refuses a program whose message is too long: within what Spec allows, for a long
// name that is sought in many directories, or for long names of mounts.
func fits(msg []byte) error {
	if len(msg) <= messageMax {
		return nil
	}
	return judge.Refuse(&judge.FieldError{Field: "args", Reason: fmt.Sprintf(
		"must, with env, the names of mounts, and the program's name in each directory of PATH, be at most %d bytes, are %d", messageMax, len(msg))})
}

// resourceLimits are the second line behind the cgroup, and what no cgroup knows.
func resourceLimits(spec Spec, box BoxLimits, hard map[int]uint64) []rlimit.RLimit {
	seconds := uint64((spec.Limits.CPU + time.Second - 1) / time.Second)
	r := rlimit.RLimits{
		CPU: seconds + 2, CPUHard: seconds + 3, // of one process; our timer is long before it
		FileSize: uint64(box.FileSize), Stack: uint64(box.Stack), OpenFile: uint64(box.OpenFiles),
	}
	limits := r.PrepareRLimit()
	// A core limit of 1 writes no core and, unlike 0, starts no pipe handler
	// either (fs/coredump.c); the filter keeps the program from changing it.
	limits = append(limits,
		rlimit.RLimit{Res: unix.RLIMIT_CORE, Rlim: syscall.Rlimit{Cur: 1, Max: 1}},
		rlimit.RLimit{Res: unix.RLIMIT_RTPRIO},
		rlimit.RLimit{Res: unix.RLIMIT_NICE},
	)
	for i := range limits {
		if h, ok := hard[limits[i].Res]; ok {
			limits[i].Rlim.Cur = min(limits[i].Rlim.Cur, h)
			limits[i].Rlim.Max = min(limits[i].Rlim.Max, h)
		}
	}
	return limits
}

func programOf(spec Spec, box BoxLimits, hard map[int]uint64, joins int) program {
	dir := spec.Dir
	if dir == "" {
		dir = WorkDir
	}
	return program{
		dir: dir, paths: candidates(spec.Args[0], spec.Env), args: spec.Args, env: spec.Env,
		limits: resourceLimits(spec, box, hard), cpus: box.CPUs, joins: joins, tasks: spec.Limits.Tasks, strict: spec.Limits.Ptrace,
		sealed: spec.Sealed, open: spec.open(WorkDir),
	}
}
