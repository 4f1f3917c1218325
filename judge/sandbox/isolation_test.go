package sandbox

import (
	"strings"
	"testing"
)

func TestLevel(t *testing.T) {
	t.Parallel()
	for name, want := range map[Isolation]Isolation{"": Full, "full": Full, "userns": Userns, "ptrace": Ptrace} {
		if got, err := name.level(); got != want || err != nil {
			t.Errorf("level of %q: %q, %v, want %q", name, got, err, want)
		}
	}
	for _, name := range []Isolation{"none", "Full", " full"} {
		_, err := name.level()
		if err == nil {
			t.Fatalf("%q is a level", name)
		}
		for _, l := range Levels() {
			if !strings.Contains(err.Error(), string(l)) {
				t.Errorf("error of %q does not name %s: %v", name, l, err)
			}
		}
	}
}

func TestEnforcedIsComplete(t *testing.T) {
	t.Parallel()
	for _, l := range Levels() {
		e := l.Enforced()
		if e.Isolation != string(l) {
			t.Errorf("%s calls itself %q", l, e.Isolation)
		}
		for _, held := range []any{e.CPU, e.Wall, e.Memory, e.Output, e.Tasks, e.Disk, e.Files, e.Network, e.Processes} {
			if held == "" {
				t.Errorf("%s does not say how it holds all: %+v", l, e)
			}
		}
	}
}
