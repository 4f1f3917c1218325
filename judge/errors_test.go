package judge

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestFailHidesOursFromSubmitters(t *testing.T) {
	t.Parallel()
	cause := errors.New("dial tcp 10.0.0.1:6379: refused")
	for _, kind := range []FailureKind{FailSandbox, FailChecker, FailProblem, FailToolchain, FailStorage, FailLost, FailInternal} {
		f := Fail(kind, cause)
		if f.Reason == "" || strings.HasPrefix(f.Reason, ";") || strings.Contains(f.Reason, "10.0.0.1") {
			t.Errorf("Fail(%s).Reason = %q, want words for the submitter", kind, f.Reason)
		}
		if !strings.Contains(f.Error(), "10.0.0.1") || !errors.Is(f, cause) || !f.Retryable {
			t.Errorf("Fail(%s) = %v, want the cause for the log, retryable", kind, f)
		}
	}
	own := &Failed{Kind: FailProblem, Reason: "broken"}
	if got := Fail(FailStorage, fmt.Errorf("load: %w", own)); got != own {
		t.Errorf("Fail(wrapped failure) = %v, want the one in the chain", got)
	}
}
