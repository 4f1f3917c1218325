package resultstest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"judgefarm/dispatcher/results"
	"judgefarm/judge"
)

// patience bounds a wait for what must come within milliseconds.
const patience = 2 * time.Minute

// readAll reads events until the end and returns a line for each.
func readAll(ctx context.Context, t *testing.T, s results.Store, id string, after int64) (lines []string, seqs []int64) {
	t.Helper()
	for {
		events, err := s.Events(ctx, id, after)
		if errors.Is(err, io.EOF) {
			return lines, seqs
		}
		if err != nil {
			t.Errorf("Events after %d: %v", after, err)
			return lines, seqs
		}
		for _, e := range events {
			if e.Seq <= after {
				t.Errorf("event %d came after %d", e.Seq, after)
			}
			after = e.Seq
			seqs = append(seqs, e.Seq)
			lines = append(lines, line(t, e))
		}
	}
}

func line(t *testing.T, e results.Event) string {
	t.Helper()
	var err error
	var text string
	switch e.Type {
	case results.EventState:
		var d results.StateEvent
		err = json.Unmarshal(e.Data, &d)
		text = fmt.Sprintf("%s %d %s", d.State, d.Attempt, d.Worker)
	case results.EventCase:
		var d results.CaseEvent
		err = json.Unmarshal(e.Data, &d)
		text = fmt.Sprintf("case %d/%d %s %s", d.Index, d.Total, d.Name, d.Verdict)
	case results.EventFinal:
		var d judge.Judgement
		err = json.Unmarshal(e.Data, &d)
		text = fmt.Sprintf("final %s %s cases %d", d.ID, d.State, len(d.Cases))
	default:
		err = fmt.Errorf("type is %q", e.Type)
	}
	if err != nil {
		t.Errorf("event %d: %v", e.Seq, err)
	}
	return text
}

func wantLines(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %q\nwant %q", what, got, want)
	}
}

// events: numbered from 1 without gaps in one attempt, resumable at any number, ended by io.EOF.
func events(t *testing.T, open New) {
	s := open(t, results.Config{})
	create(t, s, "s1")
	got, err := s.Events(t.Context(), "s1", 0)
	if err != nil || len(got) != 1 {
		t.Fatalf("events when queued: got %v, %v", got, err)
	}
	wantLines(t, "queued", []string{line(t, got[0])}, "queued 0 ")
	a := lease(t, s, "s1")
	progress(t, s, a, 0, 2)
	progress(t, s, a, 1, 2)
	finish(t, s, a, judge.Judged)
	want := []string{"judging 1 worker-1", "case 0/2 case-0 AC", "case 1/2 case-1 AC", "final s1 judged cases 2"}
	for after := int64(1); after <= 5; after++ {
		lines, seqs := readAll(t.Context(), t, s, "s1", after)
		wantLines(t, fmt.Sprintf("after %d", after), lines, want[after-1:]...)
		for i, seq := range seqs {
			if seq != after+1+int64(i) {
				t.Errorf("numbers after %d: got %v", after, seqs)
			}
		}
	}
	if got, err := s.Events(t.Context(), "s1", 99); len(got) != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("events after the end: got %v, %v; want io.EOF", got, err)
	}
	_, err = s.Events(t.Context(), "missing", 0)
	wantErr(t, "Events of a missing submission", err, results.ErrNotFound)
}

// eventsOfNewAttempt: whoever follows sees the new attempt begin and its runs only.
func eventsOfNewAttempt(t *testing.T, open New) {
	s := open(t, results.Config{MaxAttempts: 2})
	create(t, s, "s1")
	a := lease(t, s, "s1")
	progress(t, s, a, 0, 2)
	if _, err := s.Release(t.Context(), a, true, nil); err != nil {
		t.Fatalf("Release: %v", err)
	}
	b := lease(t, s, "s1")
	progress(t, s, b, 1, 2)
	if _, err := s.Release(t.Context(), b, true, nil); err != nil {
		t.Fatalf("Release: %v", err)
	}
	lines, _ := readAll(t.Context(), t, s, "s1", 0)
	wantLines(t, "from the start", lines, "judging 2 worker-1", "case 1/2 case-1 AC", "final s1 failed cases 1")
}

// eventsBound: case events past the bound are left out, the end is not.
func eventsBound(t *testing.T, open New) {
	s := open(t, results.Config{MaxEvents: 3})
	create(t, s, "s1")
	a := lease(t, s, "s1")
	for i := range 6 {
		progress(t, s, a, i, 6)
	}
	if got := len(get(t, s, "s1").Judgement.Cases); got != 3 {
		t.Errorf("runs while judging: got %d, want the bound of 3", got)
	}
	finish(t, s, a, judge.Judged)
	lines, _ := readAll(t.Context(), t, s, "s1", 0)
	wantLines(t, "with a bound of 3", lines, "judging 1 worker-1",
		"case 0/6 case-0 AC", "case 1/6 case-1 AC", "case 2/6 case-2 AC", "final s1 judged cases 2")
}

// eventsTogether: runs that are told in one call are events of their own, in order,
// as many of them as the bound allows.
func eventsTogether(t *testing.T, open New) {
	s := open(t, results.Config{MaxEvents: 3})
	create(t, s, "s1")
	a := lease(t, s, "s1")
	if err := s.Progress(t.Context(), a); err != nil {
		t.Errorf("Progress of no run: %v", err)
	}
	for _, indices := range [][]int{{1, 0}, {2, 3, 4}, {5, 6}} {
		var runs []results.CaseEvent
		for _, i := range indices {
			runs = append(runs, results.CaseEvent{Index: i, Total: 7, Run: run(i)})
		}
		if err := s.Progress(t.Context(), a, runs...); err != nil {
			t.Fatalf("Progress of cases %v: %v", indices, err)
		}
	}
	finish(t, s, a, judge.Judged)
	lines, _ := readAll(t.Context(), t, s, "s1", 0)
	wantLines(t, "told together with a bound of 3", lines, "judging 1 worker-1",
		"case 1/7 case-1 AC", "case 0/7 case-0 AC", "case 2/7 case-2 AC", "final s1 judged cases 2")
}

// eventsWake: several followers see everything as it happens, more than one read's worth of it.
func eventsWake(t *testing.T, open New) {
	const cases, followers = 300, 2
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	s := open(t, results.Config{})
	create(t, s, "s1")
	all := make(chan []string, followers)
	for range followers {
		go func() {
			lines, _ := readAll(ctx, t, s, "s1", 1)
			all <- lines
		}()
	}
	a := lease(t, s, "s1")
	for i := range cases {
		progress(t, s, a, i, cases)
	}
	finish(t, s, a, judge.Judged)
	for range followers {
		lines := <-all
		last := ""
		if len(lines) > 0 {
			last = lines[len(lines)-1]
		}
		if len(lines) != cases+2 || last != "final s1 judged cases 2" {
			t.Errorf("a follower saw %d events, the last %q; want %d with the final one last", len(lines), last, cases+2)
		}
	}
}

// eventsEnd: a waiting reader is freed by its context.
func eventsEnd(t *testing.T, open New) {
	s := open(t, results.Config{})
	create(t, s, "s1")
	ctx, stop := context.WithCancel(t.Context())
	freed := make(chan error, 1)
	go func() {
		_, err := s.Events(ctx, "s1", 1)
		freed <- err
	}()
	stop()
	select {
	case err := <-freed:
		wantErr(t, "Events when its context ended", err, context.Canceled)
	case <-time.After(patience):
		t.Error("Events did not return when its context ended")
	}
}

// wait: returns at the end, at once when it is there already, and as it is when the context ends.
func wait(t *testing.T, open New) {
	s := open(t, results.Config{})
	_, err := s.Wait(t.Context(), "missing")
	wantErr(t, "Wait for a missing submission", err, results.ErrNotFound)
	ends := map[string]func(id string){
		"judged":        func(id string) { finish(t, s, lease(t, s, id), judge.Judged) },
		"cancelled":     func(id string) { _, err := s.Cancel(t.Context(), id); wantErr(t, "Cancel", err, nil) },
		"judged before": func(string) {},
	}
	for id, end := range ends {
		create(t, s, id)
		if id == "judged before" {
			finish(t, s, lease(t, s, id), judge.Judged)
		}
		got := make(chan results.Record, 3)
		for range cap(got) {
			go func() {
				ctx, stop := context.WithTimeout(t.Context(), patience)
				defer stop()
				r, err := s.Wait(ctx, id)
				wantErr(t, "Wait", err, nil)
				got <- r
			}()
		}
		end(id)
		for range cap(got) {
			if r := <-got; !r.State.Final() || r.ID != id {
				t.Errorf("Wait for %s: got %q in state %q, want a final state", id, r.ID, r.State)
			}
		}
	}

	create(t, s, "open")
	a := lease(t, s, "open")
	progress(t, s, a, 0, 2)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	r, err := s.Wait(ctx, "open")
	if err != nil || r.State != judge.Judging || len(r.Judgement.Cases) != 1 {
		t.Errorf("Wait when its context ended: got state %q with %d runs, %v; want judging with 1", r.State, len(r.Judgement.Cases), err)
	}
}
