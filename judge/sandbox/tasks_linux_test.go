package sandbox_test

import (
	"fmt"
	"testing"

	"judgefarm/judge/sandbox"
)

// As many tasks as the limit says are the program's, and none of them PID 1, also when
// that is charged to the box for making its sockets.
func TestTasksAreTheProgramsOwn(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, sandbox.Config{Slots: 1})
	for _, socket := range []string{"0", "1"} {
		spec := deed(t, "crowded", socket)
		spec.Limits.Tasks = 5
		rep := run(t, s, spec)
		want(t, rep, sandbox.CauseExit)
		if got := string(rep.Stdout.Data); got != fmt.Sprint(spec.Limits.Tasks) || rep.Evidence.TasksPeak > 5 {
			t.Errorf("with %s sockets: %s tasks, want %d; %+v", socket, got, spec.Limits.Tasks, rep.Evidence)
		}
	}
}

// The dead count until somebody has waited for them, since each keeps a number of the
// host's; those whose parents are dead too are waited for by us.
func TestDeadCountAsTasks(t *testing.T) {
	t.Parallel()
	boxedAndTraced(t, func(t *testing.T, r sandbox.Runner) {
		for name, want := range map[string]string{"zombies": "15", "orphans": "60"} {
			spec := deed(t, name)
			spec.Limits.Tasks = 16
			rep, err := r.Run(t.Context(), spec)
			if err != nil || rep.Cause != sandbox.CauseExit || string(rep.Stdout.Data) != want {
				t.Errorf("%s: %v, report %+v, want %s", name, err, rep, want)
			}
		}
	})
}
