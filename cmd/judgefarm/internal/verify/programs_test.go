package verify

import (
	"testing"

	"judgefarm/judge/sandbox"
	"judgefarm/testcases"
)

// A validator that floods, or runs for ever, says nothing of the input when its limits
// end it.
func TestValidatorAtItsLimits(t *testing.T) {
	t.Parallel()
	b := &boxed{v: testcases.Validator{Program: testcases.Program{Protocol: testcases.ProtocolKattis}}}
	for _, cause := range []sandbox.Cause{sandbox.CauseCPU, sandbox.CauseWall, sandbox.CauseMemory, sandbox.CauseOutput, sandbox.CauseFileSize} {
		if a := b.read(&sandbox.Report{Cause: cause, Exit: 42}); a.accepts || a.broken == "" {
			t.Errorf("%s: got %+v, want that it is broken", cause, a)
		}
	}
	if a := b.read(&sandbox.Report{Cause: sandbox.CauseExit, Exit: 42}); !a.accepts || a.broken != "" {
		t.Errorf("status 42: got %+v", a)
	}
}
