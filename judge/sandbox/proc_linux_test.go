package sandbox_test

import (
	"os"
	"strings"
	"testing"

	"judgefarm/judge/sandbox"
)

// procScript tries every file of /proc that a process finds of itself, and the kernel's
// own, and prints what it could open for writing. The score is what keeps a host that is
// out of memory from ending the worker first.
const procScript = `
for f in /proc/$$/* /proc/$$/attr/* /proc/$$/task/$$/* /proc/[a-z]* /proc/sys/*/*; do
  case $f in */kmsg) continue ;; esac
  if [ -f "$f" ] && (: >>"$f") 2>/dev/null; then echo "$f"; fi
done
(echo 0 >/proc/self/oom_score_adj) 2>/dev/null && echo score
(echo name >/proc/self/comm) 2>/dev/null && echo name
read score </proc/self/oom_score_adj && [ "$score" -eq "$1" ] && echo tried`

// procSpec runs it where the worker's own score is the test's.
func procSpec(t *testing.T, score string) sandbox.Spec {
	spec := deed(t)
	spec.Args = []string{"/bin/sh", "-c", procScript, "sh", score}
	spec.Stderr.Merge = true
	return spec
}

// Nothing in /proc can be written to: no runtime needs it, and at level userns a program
// could take back that it is the first to go.
func TestProcIsReadOnly(t *testing.T) {
	t.Parallel()
	own, err := os.ReadFile("/proc/self/oom_score_adj")
	if err != nil {
		t.Fatal(err)
	}
	score := strings.TrimSpace(string(own))
	if level == sandbox.Userns {
		score = "1000"
	}
	rep := run(t, newSandbox(t, sandbox.Config{Slots: 1}), procSpec(t, score))
	want(t, rep, sandbox.CauseExit)
	if got := string(rep.Stdout.Data); got != "tried\n" {
		t.Errorf("it could write to:\n%s", got)
	}
}

func TestTracedProcIsReadOnly(t *testing.T) {
	t.Parallel()
	rep := runTraced(t, newTraced(t, 1), procSpec(t, "1000"))
	want(t, rep, sandbox.CauseExit)
	if got := string(rep.Stdout.Data); got != "tried\n" {
		t.Errorf("it could write to:\n%s", got)
	}
}
