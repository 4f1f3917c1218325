package docs

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"judgefarm/judge"
)

// blocks returns README's shell examples.
func blocks(t *testing.T) []string {
	t.Helper()
	var found []string
	for _, m := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(read(t, filepath.Join(root, "README.md")), -1) {
		found = append(found, m[1])
	}
	return found
}

// example returns the one shell example with the word in it.
func example(t *testing.T, word string) string {
	t.Helper()
	var found []string
	for _, b := range blocks(t) {
		if strings.Contains(b, word) {
			found = append(found, b)
		}
	}
	if len(found) != 1 {
		t.Fatalf("README has %d examples with %q, want 1", len(found), word)
	}
	return found[0]
}

// sh runs a script in the repository's root, with the built binary for bin/judgefarm.
func sh(t *testing.T, script string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", strings.ReplaceAll(script, "bin/judgefarm", binary(t)))
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "JUDGEFARM_CACHE_DIR="+cacheDir(t))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("run %q: %v\n%s", script, err, out)
	}
	return string(out)
}

// TestReadmeCurl types README's curl example against a server and gets what README says.
func TestReadmeCurl(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("missing: curl (apt-get install curl)")
	}
	script := example(t, "curl ")
	if !strings.Contains(script, "127.0.0.1:8080") {
		t.Fatalf("the example does not speak to the default address:\n%s", script)
	}
	address, _ := start(t, nil, "serve", "--listen", "127.0.0.1:0", "--cache-dir", cacheDir(t), "--data-dir", t.TempDir())
	out := sh(t, strings.ReplaceAll(script, "127.0.0.1:8080", address))
	var j judge.Judgement
	if err := json.Unmarshal([]byte(out), &j); err != nil {
		t.Fatalf("answer: %v\n%s", err, out)
	}
	if j.State != judge.Judged || j.Verdict == nil || *j.Verdict != judge.Accepted || len(j.Cases) != 2 {
		t.Errorf("got %s, want judged, AC and two cases", out)
	}
}

// TestReadmeLocal types README's example without a server, and the two commands
// that tell about the host.
func TestReadmeLocal(t *testing.T) {
	t.Parallel()
	if out := sh(t, example(t, "bin/judgefarm judge")); !strings.Contains(out, "AC") {
		t.Errorf("got %s, want an accepted submission", out)
	}
	text := read(t, filepath.Join(root, "README.md"))
	for _, command := range []string{"bin/judgefarm languages", "bin/judgefarm doctor"} {
		if !strings.Contains(text, "`"+command+"`") {
			t.Errorf("README does not speak of %s", command)
		}
		if out := sh(t, command); out == "" {
			t.Errorf("%s printed nothing", command)
		}
	}
}
