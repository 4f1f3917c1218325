package queue

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

func TestOrder(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, fresh func() Config) {
		for _, test := range []struct {
			name string
			push []string // id priority fair [front]
			want []string
		}{
			{"oldest first", []string{"1 train a", "2 train a", "3 train a"}, []string{"1", "2", "3"}},
			{"priority before age", []string{"1 batch a", "2 train a", "3 interactive a"}, []string{"3", "2", "1"}},
			{"fair keys take turns", []string{"a1 train a", "a2 train a", "a3 train a", "b1 train b", "c1 train c", "c2 train c"},
				[]string{"a1", "b1", "c1", "a2", "c2", "a3"}},
			{"front before all turns", []string{"a1 train a", "b1 train b", "f1 train b front", "f2 train a front"},
				[]string{"f1", "f2", "a1", "b1"}},
			{"front stays in its priority", []string{"1 interactive a", "2 batch a front"}, []string{"1", "2"}},
			{"twice is once", []string{"1 train a", "2 train a", "1 train b", "1 train a front"}, []string{"1", "2"}},
			{"no fair key, odd fair keys", []string{"1 train ", "2 train a:}{\n", "3 train ", "4 train a:}{\n"}, []string{"1", "2", "3", "4"}},
		} {
			t.Run(test.name, func(t *testing.T) {
				q := newQueue(t, fresh())
				for _, p := range test.push {
					j, front := parse(p)
					push(t, q, j.ID, j.Priority, j.FairKey, front)
				}
				if got := pop(t, q, 100); !slices.Equal(got, test.want) {
					t.Errorf("pushed %q: got %v, want %v", test.push, got, test.want)
				}
			})
		}
	})
}

func TestTurnsStayFairAsJobsComeAndGo(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, fresh func() Config) {
		q := newQueue(t, fresh())
		for i := range 4 {
			push(t, q, fmt.Sprintf("a%d", i), Train, "a", false)
		}
		push(t, q, "b0", Train, "b", false)
		got := pop(t, q, 3) // a0 b0 a1
		push(t, q, "b1", Train, "b", false)
		if err := q.Remove(t.Context(), "a2"); err != nil {
			t.Fatalf("Remove: %v", err)
		}
		got = append(got, pop(t, q, 10)...)
		if want := []string{"a0", "b0", "a1", "a3", "b1"}; !slices.Equal(got, want) {
			t.Errorf("order: got %v, want %v", got, want)
		}
	})
}

func TestBound(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, fresh func() Config) {
		cfg := fresh()
		cfg.Bound = 3
		q := newQueue(t, cfg)
		push(t, q, "1", Train, "a", false)
		push(t, q, "2", Batch, "b", false)
		push(t, q, "3", Interactive, "c", false)
		if got := pop(t, q, 1); len(got) != 1 { // handed over still counts
			t.Fatalf("pop: got %v", got)
		}
		if err := q.Push(t.Context(), Job{ID: "4", Priority: Interactive}, false); !errors.Is(err, ErrFull) {
			t.Errorf("Push over the bound: got %v, want ErrFull", err)
		}
		wantDepth(t, q, 1, 1, 1)
		push(t, q, "1", Train, "a", false) // is there already
		push(t, q, "5", Train, "a", true)  // came back
		wantDepth(t, q, 1, 2, 1)
		for _, id := range []string{"2", "5", "missing", "2"} {
			if err := q.Remove(t.Context(), id); err != nil {
				t.Errorf("Remove %s: %v", id, err)
			}
		}
		push(t, q, "6", Batch, "a", false)
		wantDepth(t, q, 1, 1, 1)
		if got, want := pop(t, q, 10), []string{"1", "6"}; !slices.Equal(got, want) {
			t.Errorf("left in the line: got %v, want %v", got, want)
		}
		for _, bad := range []Job{{ID: "7"}, {Priority: Train}, {ID: "7", Priority: "urgent"}} {
			if err := q.Push(t.Context(), bad, false); err == nil || errors.Is(err, ErrFull) {
				t.Errorf("Push %+v: got %v, want an error that says why", bad, err)
			}
		}
	})
}

// Cancels leave nothing behind, and what they leave for a while is bounded by what waits.
func TestCancelsLeaveNothing(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, fresh func() Config) {
		cfg := fresh()
		q := newQueue(t, cfg)
		line := "{" + cfg.Prefix + "}:q:" + Train + ":fair:a"
		push(t, q, "first", Train, "a", false)
		for i := range 300 {
			id := fmt.Sprint(i)
			push(t, q, id, Train, "a", false)
			if err := q.Remove(t.Context(), id); err != nil {
				t.Fatalf("Remove: %v", err)
			}
			if n := q.client.LLen(t.Context(), line).Val(); n > 103 {
				t.Fatalf("after %d cancels the line holds %d entries for one job", i, n)
			}
		}
		push(t, q, "last", Train, "a", false)
		push(t, q, "other", Train, "b", false)
		if got, want := pop(t, q, 10), []string{"first", "other", "last"}; !slices.Equal(got, want) {
			t.Errorf("line: got %v, want %v", got, want)
		}
		for _, id := range []string{"first", "last", "other"} {
			if err := q.Remove(t.Context(), id); err != nil {
				t.Fatalf("Remove: %v", err)
			}
		}
		wantDepth(t, q, 0, 0, 0)
		keys := q.client.Keys(t.Context(), "*"+cfg.Prefix+"}*").Val()
		slices.Sort(keys)
		prefix := "{" + cfg.Prefix + "}:q:"
		if want := []string{prefix + "depth", prefix + "seq"}; !slices.Equal(keys, want) {
			t.Errorf("keys: got %v, want %v", keys, want)
		}
	})
}
