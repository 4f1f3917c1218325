package docs

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestAPIPage types the examples of api.md, in order and in one shell, against a
// server: only curl is told that the port is another, and to fail when an answer is
// an error.
func TestAPIPage(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("missing: curl (apt-get install curl)")
	}
	page := read(t, "api.md")
	var script strings.Builder
	for _, m := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(page, -1) {
		script.WriteString(m[1])
	}
	commands := strings.Count(script.String(), "curl ")
	if commands < 9 {
		t.Fatalf("found %d requests in api.md, want at least 9", commands)
	}
	address, _ := start(t, nil, "serve", "--listen", "127.0.0.1:0", "--cache-dir", cacheDir(t), "--data-dir", t.TempDir())
	curl := fmt.Sprintf("curl() { echo request >> requests; command curl --fail-with-body --connect-to 127.0.0.1:8080:%s \"$@\"; }\n", address)
	cmd := exec.CommandContext(t.Context(), "bash", "-euxo", "pipefail", "-c", curl+script.String())
	cmd.Dir = t.TempDir()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("run the examples: %v\n%s", err, out)
	}
	asked, err := os.ReadFile(cmd.Dir + "/requests")
	if err != nil || strings.Count(string(asked), "\n") != commands {
		t.Errorf("%d requests were sent (%v), want %d", strings.Count(string(asked), "\n"), err, commands)
	}
	for _, want := range []string{
		`"cases":1`,                   // of the upload
		`"current":1`,                 // of its versions
		`"version":2`,                 // of the second upload
		`"state":"queued"`,            // of the first submission
		`"verdict":"AC"`,              // of the one that is waited for
		"event: final\ndata: {\"id\"", // of its stream
		`"python3"`,                   // of the languages
		`"state":"applied"`,           // of the rejudge
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no answer has %s:\n%s", want, out)
		}
	}
}
