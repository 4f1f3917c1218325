package sandbox_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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

// All that holds at level full holds at level userns, but for the exceptions. It is
// not parallel: among those are the tests that measure.
func TestLevelUserns(t *testing.T) {
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

var (
	testLine   = regexp.MustCompile(`^=== \S+ +(\S+)`)
	resultLine = regexp.MustCompile(`^\s*--- (PASS|SKIP|FAIL): (\S+)`)
)

// failures is what a run of tests says about those that failed, and all that is no
// test's if that is not how it ended.
func failures(out string) string {
	said, name, failed := map[string]string{}, "", []string{}
	for line := range strings.Lines(out) {
		if m := testLine.FindStringSubmatch(line); m != nil {
			name = m[1]
		} else if m := resultLine.FindStringSubmatch(line); m == nil {
			said[name] += line
		} else if name = m[2]; m[1] == "FAIL" {
			failed = append(failed, name)
		}
	}
	if len(failed) == 0 {
		return out
	}
	var b strings.Builder
	for _, name := range failed {
		fmt.Fprintf(&b, "%s failed:\n%s", name, said[name])
	}
	return b.String()
}

func TestFailures(t *testing.T) {
	t.Parallel()
	const out = `=== RUN   TestA
=== PAUSE TestA
=== RUN   TestB
=== RUN   TestB/one
    b_test.go:1: early
=== CONT  TestA
    a_test.go:7: fine
=== NAME  TestB/one
    b_test.go:2: bad
--- PASS: TestA (0.01s)
--- FAIL: TestB (0.00s)
    --- FAIL: TestB/one (0.00s)
FAIL
`
	want := "TestB failed:\nTestB/one failed:\n    b_test.go:1: early\n    b_test.go:2: bad\nFAIL\n"
	if got := failures(out); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := failures("panic: late\n"); got != "panic: late\n" {
		t.Errorf("of a run that did not end: %q", got)
	}
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

// Children that somebody waits for count once, however often they are looked at.
func TestWaitedChildrenCountOnce(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, sandbox.Config{Slots: 1})
	more := func(file string) time.Duration { // than the program says, which is its start and its children's
		spec := exact(t, "series", fmt.Sprint(fewer(100)), "8", "0", file)
		spec.Limits.Memory, spec.Box.Disk, spec.Box.FileSize = 128*judge.MiB, judge.GiB, judge.GiB
		rep := run(t, s, spec)
		want(t, rep, sandbox.CauseExit)
		return rep.CPU - told(t, rep.Stdout.Data)
	}
	if seldom, often := more("0"), more("124"); often > seldom+60*slow*time.Millisecond {
		t.Errorf("%v more than used when looked at seldom, %v when often", seldom, often)
	}
}
