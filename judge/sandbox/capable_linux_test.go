package sandbox_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"judgefarm/judge/sandbox"
)

// Capabilities by name, as capabilities(7) numbers them.
var capabilityOf = map[string]uintptr{
	"chown": unix.CAP_CHOWN, "setgid": unix.CAP_SETGID, "setuid": unix.CAP_SETUID,
	"sys_admin": unix.CAP_SYS_ADMIN, "sys_chroot": unix.CAP_SYS_CHROOT,
	"dac_read_search": unix.CAP_DAC_READ_SEARCH,
}

// capableArg makes this test binary root with the named capabilities alone.
const capableArg = "judgefarm-test-capable"

// capable is called with the groups to join, the capabilities, and flags of the tests.
func capable() {
	runtime.LockOSThread() // a bounding set is a thread's; exec keeps the calling thread's
	err := func() error {
		for dir := range strings.FieldsFuncSeq(os.Args[2], func(r rune) bool { return r == ',' }) {
			if err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte("0"), 0); err != nil {
				return err
			}
		}
		keep := map[uintptr]bool{}
		for name := range strings.SplitSeq(os.Args[3], ",") {
			keep[capabilityOf[name]] = true
		}
		for c := uintptr(0); ; c++ {
			if keep[c] {
				continue
			}
			err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
			if errors.Is(err, unix.EINVAL) { // the end of those that there are
				break
			}
			if err != nil {
				return err
			}
		}
		return syscall.Exec("/proc/self/exe", append([]string{"sandbox.test"}, os.Args[4:]...), os.Environ())
	}()
	fmt.Println("give up capabilities:", err)
	os.Exit(2)
}

// A program has no capability at any level, whichever the worker has: at level ptrace
// it is root too where the worker is and cannot change users.
func TestTracedNoCapabilities(t *testing.T) {
	t.Parallel()
	s := newTraced(t, 1)
	spec := deed(t)
	spec.Args = []string{"grep", "-E", "^Cap(Inh|Prm|Eff|Amb)", "/proc/self/status"}
	rep := runTraced(t, s, spec)
	want(t, rep, sandbox.CauseExit)
	none := strings.Repeat("0", 16)
	if got := string(rep.Stdout.Data); got != "CapInh:\t"+none+"\nCapPrm:\t"+none+"\nCapEff:\t"+none+"\nCapAmb:\t"+none+"\n" {
		t.Errorf("a program has\n%s%s", got, rep.Stderr.Data)
	}
}

func TestTracedNoCapabilitiesOfRoot(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("missing: root, to give up capabilities")
	}
	newTraced(t, 1) // or skips
	deed(t)         // or skips
	for _, have := range []string{"chown,setgid,setuid,sys_admin,sys_chroot,dac_read_search", "dac_read_search"} {
		cmd := exec.CommandContext(t.Context(), "/proc/self/exe", capableArg, "", have, "-test.v", "-test.run", "^TestTracedNoCapabilities$")
		cmd.Env = append(os.Environ(), "JUDGEFARM_TEST_DEEDS="+deedsDir)
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") {
			t.Errorf("%s: %v\n%s", have, err, out)
		}
	}
}

// docs/security.md says which capabilities a worker that is root needs in a cgroup of
// its own: three to give each slot a user, two more to be fast, one to collect files
// that a program closed to itself, and no other.
func TestCapabilities(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("missing: root, to give up capabilities")
	}
	deed(t) // or it is missing
	for _, c := range []struct {
		have    string
		run     string
		refused string // "" when boxes work
	}{
		{"chown,setgid,setuid,sys_admin,sys_chroot,dac_read_search", "TestEnds|TestNoNetwork|TestCollectRefuses", ""},
		{"chown,setgid,setuid,sys_admin,sys_chroot", "TestEnds|TestNoNetwork", ""},
		{"chown,setgid,setuid", "TestEnds|TestNoNetwork", ""},
		{"setgid,setuid", "TestEnds", "operation not permitted"},
		{"chown,setuid", "TestEnds", "gid map"},
		{"chown,setgid", "TestEnds", "uid map"},
	} {
		t.Run(c.have, func(t *testing.T) {
			groups := delegated(t, 0)
			cmd := exec.CommandContext(t.Context(), "/proc/self/exe", capableArg, strings.Join(groups, ","), c.have,
				"-test.v", "-test.run", "^("+c.run+")$")
			cmd.Env = append(os.Environ(), "JUDGEFARM_TEST_DEEDS="+deedsDir)
			out, err := cmd.CombinedOutput()
			switch {
			case c.refused == "" && (err != nil || strings.Contains(string(out), "--- SKIP")):
				t.Errorf("%v\n%s", err, out)
			case c.refused != "" && (err == nil || !strings.Contains(string(out), "host cannot enforce") || !strings.Contains(string(out), c.refused)):
				t.Errorf("want a refusal for %q, got %v\n%s", c.refused, err, out)
			}
		})
	}
}
