package sandbox

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestProbeErr(t *testing.T) {
	t.Parallel()
	p := Probe{Items: []ProbeItem{
		{Name: "a", OK: true, Needed: Levels()},
		{Name: "b", Detail: "is off", Fix: "turn it on", Needed: []Isolation{Full}},
		{Name: "c", Detail: "would be nice"},
	}}
	if err := p.Err(Userns); err != nil {
		t.Errorf("what only full needs: %v", err)
	}
	err := p.Err(Full)
	if !errors.Is(err, ErrHost) || !strings.Contains(err.Error(), "b: is off (turn it on)") || strings.Contains(err.Error(), "nice") {
		t.Errorf("error %v", err)
	}
	p.Items[1].OK = true
	if err := p.Err(Full); err != nil {
		t.Errorf("nothing missing: %v", err)
	}
}

// Where New works, the probe must not say otherwise.
func TestProbeHost(t *testing.T) {
	t.Parallel()
	p := ProbeHost()
	for _, i := range p.Items {
		if i.Name == "" || i.Detail == "" || !i.OK && i.Fix == "" {
			t.Errorf("item says too little: %+v", i)
		}
	}
	s, err := New(Config{Slots: 1, UIDBase: 1<<19 + 64})
	if err != nil {
		t.Skipf("missing: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := p.Err(Full); err != nil {
		t.Errorf("boxes work here, the probe says %v", err)
	}
}

func TestKernelAtLeast(t *testing.T) {
	t.Parallel()
	for release, want := range map[string]bool{
		"5.14.0": true, "5.13.19-x": false, "6.1.0-57-cloud-amd64": true, "4.19": false, "10.0": true, "": false,
	} {
		if got := kernelAtLeast(release, 5, 14); got != want {
			t.Errorf("kernelAtLeast(%q) = %v", release, got)
		}
	}
}

func TestLandlockItem(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		abi    int
		absent bool
		ok     bool
		detail string
	}{
		{0, true, false, "none"}, {1, false, false, "renames"}, {3, false, true, "files"}, {4, false, true, "TCP"},
		{5, false, true, "TCP"}, {7, false, true, "signals"},
	} {
		p := landlockItem(c.abi, c.absent)
		if p.OK != c.ok || !strings.Contains(p.Detail, c.detail) || !p.OK && p.Fix == "" || !slices.Equal(p.Needed, []Isolation{Ptrace}) {
			t.Errorf("ABI %d: %+v", c.abi, p)
		}
	}
}
