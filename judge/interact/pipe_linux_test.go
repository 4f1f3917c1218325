package interact

import (
	"errors"
	"os"
	"testing"
	"time"
)

// The runtime's poller, which would wake a thread of ours at each write of one box to
// the other, does not know the pipes: nothing of ours is on the way.
func TestPipesAreNotPolled(t *testing.T) {
	t.Parallel()
	var p pipe
	if err := p.open(); err != nil {
		t.Fatal(err)
	}
	defer p.close()
	for _, f := range []*os.File{p.r, p.w} {
		if err := f.SetDeadline(time.Time{}); !errors.Is(err, os.ErrNoDeadline) {
			t.Errorf("got %v, want %v: the file is registered with the poller", err, os.ErrNoDeadline)
		}
	}
}
