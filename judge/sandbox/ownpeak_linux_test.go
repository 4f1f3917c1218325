package sandbox

import (
	"testing"

	"judgefarm/judge"
)

func TestOwnPeak(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ peak, cacheLeft, seen, want judge.Bytes }{
		{100, 0, 0, 100},
		{100, 30, 0, 70},
		{100, 30, 80, 80}, // the cache came after the peak
		{100, 30, 120, 100},
		{100, 130, 0, 0}, // memory.stat lags
		{0, 0, 0, 0},
	} {
		if got := ownPeak(c.peak, c.cacheLeft, c.seen); got != c.want {
			t.Errorf("ownPeak(%d, %d, %d) = %d, want %d", c.peak, c.cacheLeft, c.seen, got, c.want)
		}
	}
}

// A look at a program that has just died finds nothing, and is not the last of it.
func TestLastSample(t *testing.T) {
	t.Parallel()
	var l lastSample
	for _, c := range []struct{ anon, shmem judge.Bytes }{{4, 0}, {20, 8}, {0, 8}, {0, 0}} {
		l.keep(c.anon, c.shmem)
	}
	if want := (lastSample{anon: 20, shmem: 8}); l != want {
		t.Errorf("got %+v, want %+v", l, want)
	}
}
