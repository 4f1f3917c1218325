package docs

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"testing"

	"judgefarm/internal/testenv"
)

// binary builds judgefarm once for all tests of the package and returns its path.
func binary(t *testing.T) string {
	t.Helper()
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var built = sync.OnceValues(func() (string, error) {
	cmd := exec.Command("go", "build", "-o", binaryPath(), "./cmd/judgefarm")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build judgefarm: %w\n%s", err, out)
	}
	return binaryPath(), nil
})

func binaryPath() string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("judgefarm-docs-%d", os.Getpid()))
}

func TestMain(m *testing.M) {
	code := m.Run()
	_ = os.Remove(binaryPath()) // absent when no test needed it
	os.Exit(code)
}

// cacheDir makes a directory for --cache-dir: boxes, which have users of their own,
// must be able to reach it, and t.TempDir is closed to them.
func cacheDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "judgefarm-docs-cache-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

var listening = regexp.MustCompile(`\b127\.0\.0\.1:[1-9][0-9]*\b`)

// start runs judgefarm with the variables and arguments until the end of the test
// and returns the address it serves HTTP on, once it is ready.
func start(t *testing.T, vars []string, args ...string) (address string, p *testenv.Process) {
	t.Helper()
	env := append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}, vars...)
	p, err := testenv.StartProcess(t.TempDir(), env, binary(t), args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	err = p.WaitFor(t.Context(), func(ctx context.Context) error {
		address = listening.FindString(p.Output())
		if address == "" {
			return errors.New("no address printed yet")
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/readyz", nil)
		if err != nil {
			return err
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("readyz: %s", resp.Status)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return address, p
}
