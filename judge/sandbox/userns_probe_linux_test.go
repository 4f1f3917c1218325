package sandbox

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
)

func TestWhyNoUserNamespace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err         error
		filtered    bool
		detail, fix string
	}{
		{nil, true, "", ""},
		{syscall.EPERM, true, "filter refuses clone(CLONE_NEWUSER)", "seccompProfile"},
		{syscall.EPERM, false, "none can be made", "unprivileged_userns_clone"},
		{fmt.Errorf("fork: %w", syscall.ENOSPC), true, "no more", "max_user_namespaces"},
	} {
		detail, fix := whyNoUserNamespace(c.err, c.filtered)
		if !strings.Contains(detail, c.detail) || !strings.Contains(fix, c.fix) || (detail == "") != (c.detail == "") {
			t.Errorf("%v, filtered %v: %q, %q", c.err, c.filtered, detail, fix)
		}
	}
	if detail, _ := tryUserNamespace(); detail != "" {
		t.Skipf("missing: user namespaces: %s", detail)
	}
}
