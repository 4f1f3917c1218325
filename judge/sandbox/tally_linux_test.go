package sandbox

import (
	"encoding/binary"
	"os"
	"testing"
	"time"
)

// What a hypervisor takes is in the event's clock and nobody's time; children that
// nobody waits for are in the event alone.
func TestStolenTimeIsNobodys(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		sum, event, stolen, want time.Duration
		over                     bool // a limit of 550 ms
	}{
		{500 * ms, 500 * ms, 0, 500 * ms, false},
		{500 * ms, 530 * ms, 0, 500 * ms, false}, // interrupts
		{500 * ms, 620 * ms, 120 * ms, 500 * ms, false},
		{500 * ms, 620 * ms, 400 * ms, 500 * ms, false}, // of other cores too
		{500 * ms, 620 * ms, 0, 620 * ms, true},
		{500 * ms, 720 * ms, 60 * ms, 660 * ms, true},
		{100 * ms, 900 * ms, 100 * ms, 800 * ms, true},
	} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(binary.NativeEndian.AppendUint64(nil, uint64(c.event))); err != nil {
			t.Fatal(err)
		}
		m := tally{counter: int(r.Fd()), least: c.sum, ended: true, stolen: func() time.Duration { return c.stolen }}
		if err := m.count(); err != nil {
			t.Fatal(err)
		}
		if got, err := m.cpu(); err != nil || got != c.want {
			t.Errorf("sum %v, event %v, stolen %v: %v, %v, want %v", c.sum, c.event, c.stolen, got, err, c.want)
		}
		if got := m.overCPU(550*ms, 0); got != c.over {
			t.Errorf("sum %v, event %v, stolen %v: over %t, want %t", c.sum, c.event, c.stolen, got, c.over)
		}
		r.Close()
		w.Close()
	}
}

// A sum falls when children are waited for, by what is no whole tick of theirs, and that
// is no loss; nor does it add up. What falls by more was lost.
func TestFallingSums(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name string
		sums []time.Duration
		want time.Duration
	}{
		{"rising", []time.Duration{10 * ms, 30 * ms, 70 * ms}, 70 * ms},
		{"short children, waited for", []time.Duration{9 * ms, 0, 18 * ms, 10 * ms, 27 * ms, 20 * ms, 36 * ms, 30 * ms}, 36 * ms},
		{"long ones, not waited for", []time.Duration{200 * ms, 0, 200 * ms, 0, 200 * ms}, 560 * ms},
	} {
		var m tally
		for _, sum := range c.sums {
			m.add(usage{cpu: sum, hidden: 20 * ms})
		}
		if got, err := m.cpu(); err != nil || got != c.want {
			t.Errorf("%s: %v of %v, %v, want %v", c.name, got, c.sums, err, c.want)
		}
	}
}

// A box that was ended for its CPU time is reported over the limit, though the hypervisor
// is found to have taken more meanwhile.
func TestPassedLimitStaysPassed(t *testing.T) {
	const ms = time.Millisecond
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	for range 2 {
		if _, err := w.Write(binary.NativeEndian.AppendUint64(nil, uint64(720*ms))); err != nil {
			t.Fatal(err)
		}
	}
	stolen := 60 * ms
	m := tally{counter: int(r.Fd()), least: 500 * ms, stolen: func() time.Duration { return stolen }}
	if err := m.count(); err != nil || !m.overCPU(550*ms, 0) {
		t.Fatalf("%v counted is not over 550 ms; %v", m.counted, err)
	}
	stolen, m.ended = 200*ms, true
	if err := m.count(); err != nil {
		t.Fatal(err)
	}
	if got, err := m.cpu(); err != nil || got <= 550*ms {
		t.Errorf("%v at the end, %v", got, err)
	}
}
