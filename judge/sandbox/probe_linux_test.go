package sandbox

import (
	"errors"
	"strings"
	"testing"
)

func TestProbeErr(t *testing.T) {
	t.Parallel()
	p := Probe{Items: []ProbeItem{
		{Name: "a", OK: true, Needed: true},
		{Name: "b", Detail: "is off", Fix: "turn it on", Needed: true},
		{Name: "c", Detail: "would be nice"},
	}}
	err := p.Err()
	if !errors.Is(err, ErrHost) || !strings.Contains(err.Error(), "b: is off (turn it on)") || strings.Contains(err.Error(), "nice") {
		t.Errorf("error %v", err)
	}
	p.Items[1].OK = true
	if err := p.Err(); err != nil {
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
	if err := p.Err(); err != nil {
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
