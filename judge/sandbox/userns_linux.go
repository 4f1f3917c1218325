package sandbox

import (
	"errors"
	"os"
	"strings"
	"syscall"
)

// tryUserNamespace makes one, as every box does, and tells what forbids it and the
// fix; "" when nothing does. The process in it is a nursery without a worker, which
// ends at once.
func tryUserNamespace() (detail, fix string) {
	if !nurseryLinked {
		return "", "" // another item says so
	}
	proc, err := os.StartProcess("/proc/self/exe", []string{nurseryName}, &os.ProcAttr{
		Dir: "/", Env: []string{}, Files: []*os.File{nil, nil, nil},
		Sys: &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER},
	})
	if err == nil {
		_, err = proc.Wait()
	}
	filtered := false
	if b, rerr := os.ReadFile("/proc/self/status"); rerr == nil {
		filtered = strings.Contains(string(b), "\nSeccomp:\t2")
	}
	return whyNoUserNamespace(err, filtered)
}

// whyNoUserNamespace explains the error of clone(CLONE_NEWUSER); user_namespaces(7).
func whyNoUserNamespace(err error, filtered bool) (detail, fix string) {
	switch {
	case err == nil:
		return "", ""
	case errors.Is(err, syscall.ENOSPC):
		return "no more of them may be made: " + err.Error(), "sysctl -w user.max_user_namespaces=15000"
	case errors.Is(err, syscall.EPERM) && filtered:
		return "a system call filter refuses clone(CLONE_NEWUSER), as the default profile of container runtimes does",
			"in Docker --security-opt seccomp=unconfined, in Kubernetes seccompProfile: type: Unconfined, or a profile of your own that allows clone, unshare, setns, the mount family and pivot_root"
	}
	return "none can be made: " + err.Error(), "see kernel.unprivileged_userns_clone and user.max_user_namespaces; in a chroot the kernel allows none"
}
