package client

import (
	"strings"
	"testing"
)

func TestEventLines(t *testing.T) {
	t.Parallel()
	var e event
	for line := range strings.SplitSeq("retry: 1000\n\n: quiet\n\nid: 7\nevent: case\ndata: {\"a\":\ndata:1}\nid", "\n") {
		if e.add([]byte(line)) {
			t.Fatalf("complete at %q", line)
		}
	}
	if e.id != 0 { // "id" without a value resets it, as the standard says
		t.Errorf("got id %d", e.id)
	}
	if !e.add(nil) || e.kind != "case" || e.data.String() != "{\"a\":\n1}" {
		t.Errorf("got %+v, %q", e, e.data.String())
	}
}

func FuzzEventLines(f *testing.F) {
	f.Add("id: 1\nevent: final\ndata: {}\n\n")
	f.Fuzz(func(t *testing.T, text string) {
		fl := &follower{}
		var e event
		for line := range strings.SplitSeq(text, "\n") {
			if !e.add([]byte(line)) {
				continue
			}
			before := fl.last
			_, _ = fl.take(e)
			if fl.last < before {
				t.Errorf("the last id went back from %d to %d", before, fl.last)
			}
			e = event{}
		}
	})
}
