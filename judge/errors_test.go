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

// What the sandbox or a checker refuses of what we asked for is our failure: it is tried
// again, and its text is not for the submitter.
func TestFailureIsNoBadRequest(t *testing.T) {
	t.Parallel()
	bad := Refuse(&FieldError{Field: "mounts[0].source", Reason: "must be a clean absolute path"})
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"a request":             {bad, true},
		"a request, wrapped":    {fmt.Errorf("judge: %w", bad), true},
		"our failure":           {Fail(FailSandbox, bad), false},
		"our failure, wrapped":  {fmt.Errorf("run case 1: %w", Fail(FailSandbox, fmt.Errorf("run: %w", bad))), false},
		"our failure beside it": {errors.Join(bad, &Failed{Kind: FailStorage}), false},
		"neither":               {errors.New("x"), false},
	} {
		if got := IsBadRequest(c.err); got != c.want {
			t.Errorf("%s: IsBadRequest = %v, want %v", name, got, c.want)
		}
	}
}
