package sandbox_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"judgefarm/judge/sandbox"
	"judgefarm/judge/sandbox/sandboxtest"
)

// ordinaryTests are what an ordinary user runs: the suite of a Runner, the attacks,
// ends and causes, what is hidden, what is left. The rest is no different for another
// user, or needs root. A guest, where each takes many seconds, runs the first half.
var ordinaryTests = []string{
	"TestRunner", "TestAttacks", "TestEnds", "TestNoNetwork", "TestHiddenPaths", "TestCollectRefuses", "TestJanitorSparesTheLiving", "TestProbeHost",
	"TestExecFailures", "TestNothingIsLeftForTheNext", "TestNothingPassesThroughTheNetwork", "TestMerge", "TestOutputLimits",
	"TestNurseryIsReplaced", "TestNothingGrows", "TestStrictPaths",
}

// ordinarySkips are attacks that take seconds and whose kind another one stands for:
// spinning, touching memory, calls that end the run. Root runs all.
const ordinarySkips = "TestAttacks/(D03|D04|D06|D08|D09_hog_of|D10|D12|D13|D35_.*(load|swap|reboot))"

// skipsOfOrdinary are ordinarySkips; in a guest also what is told apart by no privilege:
// waiting, full disks and files.
func skipsOfOrdinary() string {
	if slow > 1 {
		return ordinarySkips + "|TestAttacks/(D01_loop$|D02|D11|D15|D16|D17|D18)"
	}
	return ordinarySkips
}

// ordinaryArg makes this test binary, as root, a user's: it joins the groups that
// were delegated, gives up root for good and runs the tests.
const ordinaryArg = "judgefarm-test-ordinary"

// ordinary is called with the uid, the groups joined by commas, and flags of the tests.
func ordinary() {
	err := func() error {
		uid, err := strconv.Atoi(os.Args[2])
		if err != nil {
			return err
		}
		for dir := range strings.SplitSeq(os.Args[3], ",") {
			if err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte("0"), 0); err != nil {
				return err
			}
		}
		if err := errors.Join(syscall.Setgroups(nil), syscall.Setresgid(uid, uid, uid), syscall.Setresuid(uid, uid, uid)); err != nil {
			return err
		}
		if syscall.Setuid(0) == nil || os.Geteuid() != uid {
			return errors.New("still root")
		}
		fmt.Println("ordinary user", os.Geteuid())
		return syscall.Exec("/proc/self/exe", append([]string{"sandbox.test"}, os.Args[4:]...), os.Environ())
	}()
	fmt.Println("become an ordinary user:", err)
	os.Exit(2)
}

// An ordinary user with user namespaces and delegated cgroups, as a service manager
// delegates them, has all that root has.
func TestOrdinaryUser(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("missing: root, to become another user")
	}
	uid := freeUser(t)
	groups := delegated(t, uid)
	home := t.TempDir()
	deed(t) // or it is missing
	if err := errors.Join(os.Chmod(filepath.Dir(home), 0o755), os.Chown(home, uid, uid), os.Mkdir(filepath.Join(home, "testdata"), 0o755)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*slow*time.Minute)
	defer cancel()
	tests := ordinaryTests
	if slow > 1 {
		tests = tests[:len(tests)/2+1]
	}
	args := []string{ordinaryArg, strconv.Itoa(uid), strings.Join(groups, ","), "-test.v", "-test.timeout", (2 * slow * time.Minute).String(),
		"-test.run", "^(" + strings.Join(tests, "|") + ")$", "-test.skip", skipsOfOrdinary()}
	cmd := exec.CommandContext(ctx, "/proc/self/exe", args...)
	cmd.Dir = home
	cmd.Env = append(os.Environ(), "HOME="+home, "TMPDIR="+home, "JUDGEFARM_TEST_DEEDS="+deedsDir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("tests as user %d: %v\n%s", uid, err, out)
	}
	if !bytes.HasPrefix(out, []byte(fmt.Sprintf("ordinary user %d\n", uid))) {
		t.Errorf("not as user %d:\n%s", uid, out)
	}
	if skips := regexp.MustCompile(`(?m)^.*\n *--- SKIP.*$`).FindAllString(string(out), -1); skips != nil {
		t.Errorf("skipped as an ordinary user:\n%s", strings.Join(skips, "\n"))
	}
	for _, name := range tests {
		if !bytes.Contains(out, []byte("--- PASS: "+name+" ")) {
			t.Errorf("%s did not run as an ordinary user", name)
		}
	}
	for _, p := range processesOf(t, uid) {
		t.Errorf("process of the user is left: %s", p)
	}
	for _, g := range groups { // the boxes' own are gone; these are removed by Cleanup
		entries, err := os.ReadDir(g)
		if err != nil {
			t.Error(err)
		}
		for _, e := range entries {
			if e.IsDir() {
				t.Errorf("cgroup %s is left", filepath.Join(g, e.Name()))
			}
		}
	}
}

// freeUser is a uid that nobody has: in no list of users, and of no process.
func freeUser(t *testing.T) int {
	t.Helper()
	for uid := 58000 + os.Getpid()%1000; uid < 60000; uid++ {
		_, uerr := user.LookupId(strconv.Itoa(uid))
		_, gerr := user.LookupGroupId(strconv.Itoa(uid))
		if uerr != nil && gerr != nil && len(processesOf(t, uid)) == 0 {
			return uid
		}
	}
	t.Fatal("no uid is free")
	return 0
}

func processesOf(t *testing.T, uid int) []string {
	t.Helper()
	procs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, p := range procs {
		if st, err := os.Stat(p); err == nil && int(st.Sys().(*syscall.Stat_t).Uid) == uid {
			if status, _ := os.ReadFile(p + "/status"); sandboxtest.Adopted(string(status)) {
				continue
			}
			name, _ := os.ReadFile(p + "/comm")
			found = append(found, p+" "+string(bytes.TrimSpace(name)))
		}
	}
	return found
}

// delegated makes a group in each hierarchy and gives it to the user as systemd does
// with Delegate=yes: the directory and the files that move processes and hand on
// controllers, not those with the limits.
func delegated(t *testing.T, uid int) []string {
	t.Helper()
	trees, err := sandbox.Trees()
	if err != nil {
		t.Fatal(err)
	}
	var groups []string
	for _, tree := range trees {
		var reasons []error
		made := ""
		for _, dir := range tree.Dirs {
			if made, err = delegateBelow(t, tree, dir, uid); err == nil {
				break
			}
			reasons = append(reasons, err)
		}
		if err != nil {
			t.Fatal(errors.Join(reasons...))
		}
		groups = append(groups, made)
	}
	return groups
}

var delegations atomic.Int64 // tells their groups apart

func delegateBelow(t *testing.T, tree sandbox.Tree, parent string, uid int) (string, error) {
	t.Helper()
	files := []string{"", "cgroup.procs", "tasks"}
	if tree.V2 {
		files = []string{"", "cgroup.procs", "cgroup.threads", "cgroup.subtree_control"}
		if err := os.WriteFile(filepath.Join(parent, "cgroup.subtree_control"), []byte("+memory +pids"), 0); err != nil {
			return "", err
		}
	}
	dir := filepath.Join(parent, fmt.Sprintf("judgefarm-test-%d-%d", os.Getpid(), delegations.Add(1)))
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", err
	}
	t.Cleanup(func() { removeDelegated(t, dir) })
	for _, file := range files {
		if err := os.Chown(filepath.Join(dir, file), uid, uid); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// removeDelegated removes a group whose last process may just have died: the kernel
// answers EBUSY for some milliseconds then.
func removeDelegated(t *testing.T, dir string) {
	t.Helper()
	tick, late := time.NewTicker(5*time.Millisecond), time.After(5*slow*time.Second)
	defer tick.Stop()
	for {
		err := os.Remove(dir)
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			return
		}
		select {
		case <-tick.C:
			if errors.Is(err, syscall.EBUSY) {
				continue
			}
		case <-late:
		}
		t.Errorf("remove delegated group: %v; left in it: %s", err, membersOf(dir))
		return
	}
}

// membersOf is what lives in a group and below it: groups and processes.
func membersOf(dir string) string {
	var all []string
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			procs, err := os.ReadFile(filepath.Join(path, "cgroup.procs"))
			all = append(all, fmt.Sprintf("%s: %q, %v", path, procs, err))
			for _, pid := range strings.Fields(string(procs)) {
				line, err := os.ReadFile("/proc/" + pid + "/status")
				all = append(all, fmt.Sprintf("%.200s, %v", line, err))
			}
		}
		return nil
	})
	return strings.Join(all, "\n")
}
