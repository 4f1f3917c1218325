package sandbox

import (
	"errors"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// What cannot be kept ends the program and is told, whatever is read afterwards.
func TestStreamThatCannotBeKept(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	ended := 0
	c, w, err := newCapture(Stream{Spill: full}, 4*SpillAfter, func() { ended++ })
	if err != nil {
		t.Fatal(err)
	}
	defer rawClose(c.r)
	c.out.Data = make([]byte, SpillAfter)
	if _, err := unix.Write(w, []byte("more than is held")); err != nil {
		t.Fatal(err)
	}
	rawClose(w)
	for c.read() {
	}
	if ended != 1 || !errors.Is(c.err, unix.ENOSPC) {
		t.Errorf("the program was ended %d times, error %v", ended, c.err)
	}
	for c.read() { // as when the box is dead: now the stream is at its end
	}
	if !errors.Is(c.err, unix.ENOSPC) {
		t.Errorf("the error became %v", c.err)
	}
}
