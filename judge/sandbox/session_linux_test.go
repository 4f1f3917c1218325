package sandbox_test

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"judgefarm/judge/sandbox"
)

// keyName is of a key that lies in the worker's session keyring.
const keyName = "judgefarm-test-key"

// A box has a session keyring of its own: it cannot find what lies in the worker's. The
// filter refuses keyctl before that counts, so here it lets it through; what is left is
// what the box has. The worker is another process, which inherits a keyring of its own.
func TestSessionKeyring(t *testing.T) {
	t.Parallel()
	if os.Getenv("JUDGEFARM_TEST_KEYRING") != "" {
		findKey(t)
		return
	}
	deed(t) // or it is missing
	cmd := exec.Command("/proc/self/exe", "-test.v", "-test.run", "^TestSessionKeyring$")
	cmd.Env = append(os.Environ(), "JUDGEFARM_TEST_KEYRING=1", "JUDGEFARM_TEST_DEEDS="+deedsDir)
	started := make(chan error)
	go func() { // the keyring is this thread's, which is never used again
		runtime.LockOSThread()
		_, err := unix.KeyctlInt(unix.KEYCTL_JOIN_SESSION_KEYRING, 0, 0, 0, 0)
		if err == nil {
			_, err = unix.AddKey("user", keyName, []byte("secret"), unix.KEY_SPEC_SESSION_KEYRING)
		}
		if err == nil {
			var out []byte
			out, err = cmd.CombinedOutput()
			if err != nil || strings.Contains(string(out), "--- SKIP") || !strings.Contains(string(out), "--- PASS") {
				err = errors.Join(err, errors.New(string(out)))
			}
		}
		started <- err
	}()
	if err := <-started; errors.Is(err, syscall.ENOSYS) {
		t.Skip("missing: keyrings in this kernel")
	} else if err != nil {
		t.Error(err)
	}
}

func findKey(t *testing.T) {
	if _, err := unix.KeyctlSearch(unix.KEY_SPEC_SESSION_KEYRING, "user", keyName, 0); err != nil {
		t.Fatalf("the worker has no key: %v", err)
	}
	s := newSandbox(t, sandbox.Config{Slots: 1})
	if err := s.Allow("keyctl"); err != nil {
		t.Fatal(err)
	}
	rep := run(t, s, deed(t, "keyring", keyName))
	want(t, rep, sandbox.CauseExit)
	if got := string(rep.Stdout.Data); got != "session: Required key not available\n" {
		t.Errorf("in the box: %q", got)
	}
}
