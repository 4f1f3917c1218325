package sandbox_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"judgefarm/judge"
	"judgefarm/judge/sandbox"
)

// levelExceptions are the tests of level full that say something else of a lower
// one, each with the reason.
var levelExceptions = map[sandbox.Isolation]map[string]string{
	sandbox.Userns: {
		"TestExecUnderTinyMemory":             "memory is sampled, and a program that ends within a millisecond is not seen at all",
		"TestPageCacheIsNotTheProgramsMemory": "page cache is in no sum, and the test tells by the cgroup whether its file was cold",
	},
}

// exempt ends a test that the level of this run is excepted from.
func exempt(t testing.TB) {
	t.Helper()
	if reason, ok := levelExceptions[level][t.Name()]; ok {
		t.Skipf("isolation %s: %s", level, reason)
	}
}

// ofFull are tests of what only full has, of another level, and tests that start this binary anew.
const ofFull = "TestLevel|TestUserns|TestTraced|TestHybrid|TestOrdinary|TestStrict|TestJanitor|TestProbe|TestCgroup|TestGroup|TestParse|TestDelegate"

// All that holds at level full holds at level userns, but for the exceptions.
func TestLevelUserns(t *testing.T) {
	t.Parallel()
	out, err := atLevel(t, sandbox.Userns, exec.Command("/proc/self/exe", levelArgs()...))
	checkLevel(t, sandbox.Userns, out, err)
}

// An ordinary user with user namespaces and nothing delegated, as in a step of a batch
// system, has level userns, and is told what full lacks.
func TestUsernsOrdinaryUser(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("missing: root, to become another user")
	}
	uid := freeUser(t)
	home := t.TempDir()
	if err := errors.Join(os.Chmod(filepath.Dir(home), 0o755), os.Chown(home, uid, uid), os.Mkdir(filepath.Join(home, "testdata"), 0o755)); err != nil {
		t.Fatal(err)
	}
	as := func(args ...string) *exec.Cmd {
		cmd := exec.Command("/proc/self/exe", args...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
		cmd.Dir = home
		cmd.Env = append(os.Environ(), "HOME="+home, "TMPDIR="+home)
		return cmd
	}
	out, err := atLevel(t, sandbox.Full, as("-test.v", "-test.run", "^TestRunner$"))
	if !strings.Contains(out, "cgroup below ours") || !strings.Contains(out, "Delegate=yes") || !strings.Contains(out, "--- SKIP: TestRunner") {
		t.Errorf("full, as a user without a cgroup: %v\n%s", err, out)
	}
	args := levelArgs()
	args[2], args[4] = "^(TestRunner|TestEnds|TestAttacks|TestNoNetwork|TestNothing.*|TestHidden.*|TestMerge|TestOutputLimits)$", ofFull+"|"+skipsOfOrdinary()
	if slow > 1 {
		args[2] = "^(TestRunner|TestAttacks)$"
	}
	out, err = atLevel(t, sandbox.Userns, as(args...))
	checkLevel(t, sandbox.Userns, out, err)
	for _, p := range processesOf(t, uid) {
		t.Errorf("process of the user is left: %s", p)
	}
}

// levelArgs run all that there is, on an emulated machine a part.
func levelArgs() []string {
	args := []string{"-test.v", "-test.run", "^Test", "-test.skip", ofFull, "-test.timeout", "15m"}
	if slow > 1 {
		args[2] = "^(TestRunner|TestEnds|TestUnwaitedChildren)$"
	}
	return args
}

// atLevel runs this test binary, started by cmd, at a level.
func atLevel(t *testing.T, l sandbox.Isolation, cmd *exec.Cmd) (string, error) {
	t.Helper()
	if noDeeds != "" {
		t.Skip(noDeeds)
	}
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	cmd.Env = append(cmd.Env, "JUDGEFARM_TEST_ISOLATION="+string(l), "JUDGEFARM_TEST_DEEDS="+deedsDir)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

var skippedTest = regexp.MustCompile(`(?m)^\s*--- SKIP: (\S+)`)

// checkLevel wants every test passed and none skipped but the exceptions.
func checkLevel(t *testing.T, l sandbox.Isolation, out string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("at level %s: %v\n%s", l, err, failures(out))
	}
	if !strings.Contains(out, "--- PASS: TestRunner/") {
		t.Errorf("at level %s nothing ran:\n%s", l, out)
	}
	for _, m := range skippedTest.FindAllStringSubmatch(out, -1) {
		if _, ok := levelExceptions[l][m[1]]; !ok {
			t.Errorf("at level %s %s was skipped and is no exception", l, m[1])
		}
	}
}

// failures is what a run of tests says about those that failed.
func failures(out string) string {
	var kept []string
	for line := range strings.Lines(out) {
		if !slices.ContainsFunc([]string{"=== ", "--- PASS", "PASS"}, func(s string) bool { return strings.HasPrefix(strings.TrimSpace(line), s) }) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

// sampledOver is how far memory may be over its limit before that is seen, where it
// is sampled: a loaded machine may be some 30 ms late, in which 2 GiB/s are 64 MiB.
func sampledOver() judge.Bytes {
	if level.Enforced().Memory == judge.Sampled {
		return 64 * judge.MiB
	}
	return 0
}

// D06: children that nobody waits for are in no sum of the kernel's, and a perf event
// loses those that execute what they may not read. Where a level says that it counts
// CPU time exactly, all of it counts.
func TestUnwaitedChildren(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, sandbox.Config{Slots: 1})
	most := 1200 // ms until a second is counted
	if s.Enforced().CPU == judge.Sampled {
		most = 2000 // what a child uses after the last look at it is lost: more, the busier the host
	}
	for name, args := range map[string][]string{"unwaited": {"20"}, "unwaited, unreadable": {"20", "unread"}, "long": {"200"}} {
		t.Run(name, func(t *testing.T) {
			spec := deed(t, append([]string{"unwaited"}, args...)...)
			spec.Limits.CPU = time.Second
			rep := run(t, s, spec)
			if s.Enforced().CPU == judge.Sampled && args[0] == "20" {
				// Shorter than the time between two looks, but perhaps not on an emulated machine.
				if slow == 1 || rep.Cause != sandbox.CauseCPU {
					want(t, rep, sandbox.CauseExit)
				}
				return
			}
			want(t, rep, sandbox.CauseCPU)
			over(t, rep)
			stolen := int(max(rep.Noise.Steal, 0).Milliseconds()) // of all cores; it is taken off what the event says
			if each, err := strconv.Atoi(args[0]); err != nil || len(rep.Stdout.Data)*each > most+stolen {
				t.Errorf("%d children used %s ms each, of which %v were counted; %v", len(rep.Stdout.Data), args[0], rep.CPU, err)
			}
		})
	}
}
