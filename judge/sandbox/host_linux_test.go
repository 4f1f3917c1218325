package sandbox

import (
	"testing"
	"time"

	"judgefarm/judge"
)

func TestHostCounters(t *testing.T) {
	t.Parallel()
	const psi = "some avg10=0.00 avg60=1.20 avg300=0.00 total=1234\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7"
	for text, want := range map[string]time.Duration{
		psi: 1234 * time.Microsecond, "": Unknown, "full total=3": Unknown, "some total=x": Unknown, "some avg10=0.00": Unknown,
	} {
		if got := someTotal(text); got != want {
			t.Errorf("someTotal(%q) = %v, want %v", text, got, want)
		}
	}
	for text, want := range map[string]time.Duration{
		"cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 0": 80 * time.Millisecond, "": Unknown, "cpu 1 2 3": Unknown, "cpu 1 2 3 4 5 6 7 x 9": Unknown,
	} {
		if got := stealTotal(text); got != want {
			t.Errorf("stealTotal(%q) = %v, want %v", text, got, want)
		}
	}
}

// What is younger than HostResolution is not read again.
func TestHostIsReadSeldom(t *testing.T) {
	t.Parallel()
	h := openHost()
	defer h.close()
	at := time.Now()
	first := h.sample(at)
	if again := h.sample(at.Add(HostResolution - 1)); again != first {
		t.Errorf("read again: %+v, then %+v", first, again)
	}
	if later := h.sample(at.Add(HostResolution)); !later.at.Equal(at.Add(HostResolution)) {
		t.Errorf("not read again: %+v", later)
	}
}

func TestNoiseJSON(t *testing.T) {
	t.Parallel()
	var none *Noise
	if j := none.JSON(); j != nil {
		t.Errorf("nothing: %+v", j)
	}
	unknown := Noise{Unknown, Unknown, Pressure{Unknown, Unknown, Unknown}, Unknown}
	if j := unknown.JSON(); j != nil {
		t.Errorf("all unknown: %+v", j)
	}
	known := unknown
	known.RunDelay, known.Steal, known.Involuntary = 1500*time.Microsecond, 0, 0
	j := known.JSON()
	if j == nil || *j.RunDelay != judge.Millis(1.5) || *j.Steal != 0 || *j.Involuntary != 0 {
		t.Fatalf("%+v", j)
	}
	if j.PressureCPU != nil || j.PressureMemory != nil || j.PressureIO != nil {
		t.Errorf("what is unknown is shown: %+v", j)
	}
}
