package sandbox_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"judgefarm/judge/sandbox"
)

// layoutArg makes this test binary a worker on a host whose cgroups are laid out in
// another way: os.Args[2] names the hierarchies that there are, the rest are flags of
// the tests to run, or none to try New alone.
const layoutArg = "judgefarm-test-layout"

// layout runs in a mount namespace of its own and never returns.
func layout(run func() int) {
	if err := showHierarchies(strings.Fields(os.Args[2])); err != nil {
		fmt.Println("lay out:", err)
		os.Exit(2)
	}
	if len(os.Args) > 3 {
		os.Args = append(os.Args[:1], os.Args[3:]...)
		os.Exit(withDeeds(run))
	}
	s, err := sandbox.New(sandbox.Config{Slots: 1, UIDBase: 1<<20 + 5000})
	if err != nil {
		fmt.Println("refused:", err)
		os.Exit(0)
	}
	_, groups := s.Traces()
	fmt.Println("groups:", strings.Join(groups, " "))
	if err := s.Close(); err != nil {
		fmt.Println("close:", err)
		os.Exit(2)
	}
	os.Exit(0)
}

// showHierarchies covers /sys/fs/cgroup with a file system that has the named
// hierarchies of cgroup v1 and, for "unified", that of v2. The host's own mounts are
// left as they are.
func showHierarchies(names []string) error {
	const top = "/sys/fs/cgroup"
	side, err := os.MkdirTemp("", "judgefarm-layout")
	if err != nil {
		return err
	}
	defer os.RemoveAll(side)
	if err := unix.Mount("layout", side, "tmpfs", 0, ""); err != nil {
		return err
	}
	for _, name := range names {
		dir := filepath.Join(side, name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
		if name == "unified" {
			err = unix.Mount("none", dir, "cgroup2", 0, "")
		} else {
			err = unix.Mount("none", dir, "cgroup", 0, name)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return unix.Mount(side, top, "", unix.MS_MOVE, "")
}

// onLayout starts this test binary on a host with the named hierarchies alone.
func onLayout(t *testing.T, hierarchies string, flags ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", append([]string{layoutArg, hierarchies}, flags...)...)
	cmd.Env = append(os.Environ(), "JUDGEFARM_TEST_DEEDS="+deedsDir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWNS} // os/exec makes its mounts private
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("with %q: %v\n%s", hierarchies, err, out)
	}
	return string(out)
}

// hasV1 reports whether this host has the controllers of cgroup v1.
func hasV1(t *testing.T) bool {
	t.Helper()
	self, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(self), ":memory:") && strings.Contains(string(self), ":pids:")
}

// Where something that limits need is not there, New refuses, says what, and how to
// mend it.
func TestLayoutsThatCannotHoldLimits(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("missing: root, to hide hierarchies")
	}
	layouts := map[string][]string{"": {"memory", "pids"}}
	if hasV1(t) {
		layouts = map[string][]string{
			"":                       {"memory", "pids"}, // no cgroups at all
			"memory cpuacct":         {"pids"},
			"pids cpuacct":           {"memory"},
			"cpuacct cpu freezer":    {"memory", "pids"},
			"unified":                {"memory", "pids"}, // v2 without controllers: v1 has them
			"unified memory cpuacct": {"pids"},
		}
	}
	for hierarchies, missing := range layouts {
		t.Run("with "+hierarchies, func(t *testing.T) {
			out := onLayout(t, hierarchies)
			for _, part := range append(missing, "refused: host cannot enforce", "missing: ", "mount the cgroup file system writable") {
				if !strings.Contains(out, part) {
					t.Errorf("%q does not say %q", out, part)
				}
			}
		})
	}
}

// v1 without cpuacct, hybrid: CPU time comes from the empty v2 tree, and all holds
// that holds elsewhere.
func TestHybridCgroups(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("missing: root, to hide hierarchies")
	}
	if !hasV1(t) {
		t.Skip("missing: controllers of cgroup v1")
	}
	deed(t) // or it is missing
	const hybrid = "memory pids unified"
	if out := onLayout(t, hybrid); !strings.Contains(out, "/sys/fs/cgroup/unified/judgefarm-") || strings.Contains(out, "cpuacct") {
		t.Fatalf("the groups are %q", out)
	}
	core := "^(TestRunner|TestEnds|TestKilledWorker|TestJanitorSparesTheLiving|TestAttacks)$/^(D0[1-9].*|[^D].*|)$"
	out := onLayout(t, hybrid, "-test.v", "-test.run", core)
	for _, name := range []string{"TestRunner", "TestEnds", "TestKilledWorker", "TestJanitorSparesTheLiving", "TestAttacks"} {
		if !strings.Contains(out, "--- PASS: "+name+" ") {
			t.Errorf("%s did not run:\n%s", name, out)
		}
	}
	for id := 1; id <= 9; id++ {
		if row := fmt.Sprintf("--- PASS: TestAttacks/D%02d", id); !strings.Contains(out, row) {
			t.Errorf("no %q in\n%s", row, out)
		}
	}
}
