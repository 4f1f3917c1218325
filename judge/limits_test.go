package judge

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestCompleteDerivesWall(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		cpu, own time.Duration
		want     time.Duration
	}{
		{"short: cpu plus two seconds", time.Second, 0, 3 * time.Second},
		{"tiny", 100 * time.Millisecond, 0, 2100 * time.Millisecond},
		{"long: three times", 10 * time.Second, 0, 30 * time.Second},
		{"stated wins", time.Second, 1500 * time.Millisecond, 1500 * time.Millisecond},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := Limits{CPU: tt.cpu, Wall: tt.own}.Complete()
			if got.Wall != tt.want {
				t.Errorf("Complete(cpu %v, wall %v).Wall = %v, want %v", tt.cpu, tt.own, got.Wall, tt.want)
			}
			if faults := got.Validate(""); len(faults) != 0 {
				t.Errorf("Validate(%+v) = %v, want none", got, faults)
			}
		})
	}
}

func TestValidateNamesEveryFault(t *testing.T) {
	t.Parallel()
	bad := Limits{CPU: 2 * time.Second, Wall: time.Second, Memory: 1, Output: -1, Tasks: 0}
	err := Refuse(bad.Validate("limits.")...)
	if !IsBadRequest(err) {
		t.Fatalf("Refuse(Validate(%+v)) = %v, want a bad request", bad, err)
	}
	for _, field := range []string{"limits.wall_ms: must be at least the CPU limit of 2s", "limits.memory_kib", "limits.output_kib", "limits.tasks"} {
		if !strings.Contains(err.Error(), field) {
			t.Errorf("error %q does not name %q", err, field)
		}
	}
	if strings.Contains(err.Error(), "cpu_ms") {
		t.Errorf("error %q names cpu_ms, which is right", err)
	}
}

func TestLimitsThroughDocument(t *testing.T) {
	t.Parallel()
	want := Limits{CPU: 1234567 * time.Nanosecond, Wall: 3 * time.Second, Memory: 256 * MiB, Output: MiB, Tasks: 64, Ptrace: true}
	if got := want.JSON().Limits(); got != want {
		t.Errorf("JSON().Limits() = %+v, want %+v", got, want)
	}
}

func TestKibibytesRoundUp(t *testing.T) {
	t.Parallel()
	for in, want := range map[Bytes]Kibibytes{0: 0, 1: 1, 1024: 1, 1025: 2, 256 * MiB: 262144} {
		if got := KibibytesOf(in); got != want {
			t.Errorf("KibibytesOf(%d) = %d, want %d", in, got, want)
		}
	}
}

func TestMillisKeepNanoseconds(t *testing.T) {
	t.Parallel()
	for _, d := range []time.Duration{0, 1, 999, 12345678, time.Hour + 1, 100 * 24 * time.Hour} {
		if got := MillisOf(d).Duration(); got != d {
			t.Errorf("MillisOf(%d).Duration() = %d", d, got)
		}
	}
}

// Nobody takes strict mode off what another put it on.
func TestStrictStays(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ request, problem, want bool }{
		{false, false, false}, {true, false, true}, {false, true, true}, {true, true, true},
	} {
		if got := (Limits{Ptrace: c.request}).Or(Limits{Ptrace: c.problem}).Complete().Ptrace; got != c.want {
			t.Errorf("request %v, problem %v: strict %v, want %v", c.request, c.problem, got, c.want)
		}
	}
}

// Limits of a document may be any number; none of them may turn into "not stated".
func TestKibibytesBeyondBytes(t *testing.T) {
	t.Parallel()
	for _, k := range []Kibibytes{1 << 53, 1 << 54, math.MaxInt64} {
		if got := (LimitsJSON{Memory: k}).Limits().Memory; got < 1<<62 {
			t.Errorf("%d KiB are %d bytes", k, got)
		}
		if got := (-k).Bytes(); got > -1<<62 {
			t.Errorf("%d KiB are %d bytes", -k, got)
		}
	}
}

// What is at most allowed and stretched is still allowed.
func TestCappedLimitsAreValid(t *testing.T) {
	t.Parallel()
	most := Limits{CPU: time.Hour, Wall: 4 * time.Hour}.Complete()
	if got := most.Capped(); got != most {
		t.Errorf("%+v became %+v", most, got)
	}
	more := most
	more.CPU, more.Wall = 2*most.CPU, 2*most.Wall
	if got := more.Capped(); got != most || got.Validate("") != nil {
		t.Errorf("%+v became %+v, want %+v", more, got, most)
	}
}
