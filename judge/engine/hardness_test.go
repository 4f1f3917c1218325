package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"judgefarm/judge"
	"judgefarm/judge/engine"
	"judgefarm/judge/sandbox/sandboxtest"
	"judgefarm/testcases"
)

// failsOn is a program that prints another number than its input where its name holds it.
func failsOn(name string) sandboxtest.Program {
	return func(p *sandboxtest.Proc) int {
		var n string
		if _, err := fmt.Fscan(p.Stdin, &n); err != nil {
			return 1
		}
		if strings.Contains(" "+name+" ", " "+n+" ") {
			n = "wrong"
		}
		fmt.Fprint(p.Stdout, n)
		return 0
	}
}

// numbers is a problem of n cases, each with its own number.
func numbers(t *testing.T, n int) *testcases.Problem {
	t.Helper()
	var pairs []string
	for i := 1; i <= n; i++ {
		pairs = append(pairs, fmt.Sprint(i), fmt.Sprint(i))
	}
	return problem(t, pairs...)
}

// The case that failed most often is run first, whatever its place, and a failure there
// is all that is asked for.
func TestHardestFirst(t *testing.T) {
	t.Parallel()
	programs := map[string]sandboxtest.Program{}
	for _, name := range []string{"fails on 4", "fails on 2 4", "fails on 3", "right"} {
		programs[name] = failsOn(name)
	}
	e, _ := newEngine(t, programs)
	p := numbers(t, 5)
	judged := func(program string, stop judge.Stop) string {
		sub := submission(program)
		sub.Stop = stop
		var heard []int
		out, err := e.Judge(t.Context(), engine.Job{Submission: sub, Problem: p}, engine.Watcher{
			Case: func(i, _ int, _ judge.Run) { heard = append(heard, i) },
		})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(heard, []int{0, 1, 2, 3, 4}) || out.Judgement.Cases[3].Name != p.Cases()[3].Name {
			t.Errorf("%s: heard of %v, cases %+v", program, heard, out.Judgement.Cases)
		}
		return fmt.Sprint(*out.Judgement.Verdict, verdicts(out.Judgement))
	}
	for _, step := range []struct {
		program string
		stop    judge.Stop
		want    string
	}{
		{"fails on 2 4", judge.StopHardest, "WA[AC WA SK SK SK]"}, // nothing is known yet
		{"fails on 4", judge.StopNever, "WA[AC AC AC WA AC]"},
		{"fails on 4", judge.StopNever, "WA[AC AC AC WA AC]"},
		{"fails on 2 4", judge.StopHardest, "WA[SK SK SK WA SK]"},
		{"fails on 2 4", judge.StopFirstFail, "WA[AC WA SK SK SK]"},
		{"fails on 3", judge.StopHardest, "WA[SK AC WA AC SK]"}, // 4 and 2 failed before
		{"right", judge.StopHardest, "AC[AC AC AC AC AC]"},
	} {
		if got := judged(step.program, step.stop); got != step.want {
			t.Errorf("%s, %s: got %s, want %s", step.program, step.stop, got, step.want)
		}
	}
	p.Score = &testcases.Aggregate{}
	for range 3 {
		if got, want := judged("fails on 2 4", judge.StopHardest), "WA[AC WA AC WA AC]"; got != want {
			t.Errorf("with points: got %s, want %s: no order but the problem's", got, want)
		}
	}
}

// Whatever is known: what is accepted is accepted in any order, what fails fails, the
// verdict is that of the one case that failed, and slots change nothing.
func TestHardestFirstKeepsAccepted(t *testing.T) {
	t.Parallel()
	programs := map[string]sandboxtest.Program{}
	rng := rand.New(rand.NewPCG(3, 4))
	var names []string
	for len(names) < 12 {
		var on []string
		for n := 1; n <= 9; n++ {
			if rng.IntN(12) == 0 {
				on = append(on, fmt.Sprint(n))
			}
		}
		name := fmt.Sprintf("%d: %s", len(names), strings.Join(on, " "))
		names, programs[name] = append(names, name), failsOn(strings.Join(on, " "))
	}
	serial, _ := beside(t, 0, programs)
	parallel, _ := beside(t, 3, programs)
	p := numbers(t, 9)
	for range 60 {
		sub := submission(names[rng.IntN(len(names))])
		sub.Stop = judge.StopHardest
		job := engine.Job{Submission: sub, Problem: p}
		got := told(t, serial, job)
		if other := told(t, parallel, job); other != got {
			t.Fatalf("with slots:\ngot  %s\nwant %s", other, got)
		}
		_, on, _ := strings.Cut(string(sub.Files[0].Data), ": ")
		failed := strings.Count(got, `"verdict":"WA"`)
		if on == "" && failed != 0 || on != "" && failed != 2 { // of the case and the judgement
			t.Fatalf("fails on %q: %d times WA in %s", on, failed, got)
		}
	}
}

// What is remembered has a bound.
func TestHardnessIsBounded(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t, map[string]sandboxtest.Program{"right": failsOn("")})
	p := numbers(t, 2)
	for i := range engine.HardProblems + 50 {
		one := *p
		one.Digest = fmt.Sprint("sha256:", i)
		if _, err := e.Judge(context.Background(), engine.Job{Submission: submission("right"), Problem: &one}, engine.Watcher{}); err != nil {
			t.Fatal(err)
		}
	}
	if problems, cases := engine.Remembered(e); problems != engine.HardProblems || cases != 2*problems {
		t.Errorf("got %d problems, %d cases, want %d and twice that", problems, cases, engine.HardProblems)
	}
}
