package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"judgefarm/judge"
	"judgefarm/judge/engine"
	"judgefarm/judge/sandbox/sandboxtest"
	"judgefarm/testcases"
)

// scripted does what its input says, after giving others some turns.
func scripted(p *sandboxtest.Proc) int {
	text, err := io.ReadAll(p.Stdin)
	if err != nil {
		return 1
	}
	for range rand.IntN(20) {
		runtime.Gosched()
	}
	what, _, _ := strings.Cut(string(text), " ")
	switch what {
	case "exit":
		return 3
	case "slow":
		p.CPU = time.Hour
	case "wait": // until somebody ends it
		<-p.Done
	}
	fmt.Fprint(p.Stdout, string(text))
	return 0
}

// beside is an engine with n slots; 0 is one that runs case after case.
func beside(t *testing.T, n int, programs map[string]sandboxtest.Program) (*engine.Engine, *sandboxtest.Fake) {
	t.Helper()
	e, fake := newEngine(t, programs)
	if n == 0 {
		return e, fake
	}
	cfg := e.Config
	cfg.Slots = engine.NewSlots(n)
	return engine.New(cfg), fake
}

// told is all that a judging says, without times.
func told(t *testing.T, e *engine.Engine, job engine.Job) string {
	t.Helper()
	var heard []string
	out, err := e.Judge(t.Context(), job, engine.Watcher{Case: func(i, total int, run judge.Run) {
		heard = append(heard, fmt.Sprintf("%d/%d %s %s", i, total, run.Name, run.Verdict))
	}})
	if err != nil {
		return "error " + err.Error()
	}
	out.Judgement.Timing, out.Judgement.JudgedAt, out.Judgement.CreatedAt = judge.Timing{}, nil, time.Time{}
	for i := range out.Judgement.Cases {
		out.Judgement.Cases[i].Usage = judge.UsageJSON{}
	}
	doc, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	return string(doc) + "\n" + strings.Join(heard, "\n")
}

// Whatever ends when: document, outputs and events are those of one case after another.
func TestSideBySideSaysTheSame(t *testing.T) {
	t.Parallel()
	programs := map[string]sandboxtest.Program{"scripted": scripted}
	serial, _ := beside(t, 0, programs)
	parallel := map[int]*engine.Engine{}
	for _, slots := range []int{1, 2, 5} {
		parallel[slots], _ = beside(t, slots, programs)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 150 {
		var pairs []string
		for i := range 1 + rng.IntN(12) {
			input := fmt.Sprintf("%s %d", []string{"ok", "ok", "ok", "ok", "wrong", "exit", "slow", "fault"}[rng.IntN(8)], i)
			answer := input
			if strings.HasPrefix(input, "wrong") {
				answer = "right"
			}
			pairs = append(pairs, input, answer)
		}
		sub := submission("scripted")
		if sub.Stop = judge.StopFirstFail; rng.IntN(2) == 0 {
			sub.Stop = judge.StopNever
		}
		if rng.IntN(2) == 0 {
			sub.Stop = judge.StopGroup
		}
		sub.Checker = &judge.CheckerSpec{Name: "picky"}
		p := problem(t, pairs...)
		regroup(p, rng)
		job := engine.Job{Submission: sub, Problem: p}
		want := told(t, serial, job)
		for slots, e := range parallel {
			if got := told(t, e, job); got != want {
				t.Fatalf("round %d, %d slots, stop %s, cases %q:\ngot  %s\nwant %s", round, slots, sub.Stop, pairs, got, want)
			}
		}
	}
}

// regroup puts the cases into some groups, which may depend on those before.
func regroup(p *testcases.Problem, rng *rand.Rand) {
	all := p.Cases()
	p.Groups = nil
	for len(all) > 0 {
		n := 1 + rng.IntN(min(len(all), 4))
		g := testcases.Group{Name: fmt.Sprint("g", len(p.Groups)), Cases: all[:n], Stop: rng.IntN(2) == 0}
		if len(p.Groups) > 0 && rng.IntN(3) == 0 {
			g.After = []string{p.Groups[rng.IntN(len(p.Groups))].Name}
		}
		p.Groups, all = append(p.Groups, g), all[n:]
	}
}

// With three slots three cases run at one time.
func TestIdleSlotsRunCasesSideBySide(t *testing.T) {
	t.Parallel()
	var group sync.WaitGroup
	group.Add(3)
	e, _ := beside(t, 3, map[string]sandboxtest.Program{"meet": func(p *sandboxtest.Proc) int {
		group.Done()
		group.Wait() // until all three are here
		return 0
	}})
	out, err := e.Judge(t.Context(), engine.Job{Submission: submission("meet"), Problem: problem(t, "", "", "", "", "", "")}, engine.Watcher{})
	if err != nil || *out.Judgement.Verdict != judge.Accepted {
		t.Errorf("Judge = %+v, %v, want AC", out, err)
	}
}

// A case that fails ends the runs of those after it, which need not have run.
func TestFailureEndsLaterRuns(t *testing.T) {
	t.Parallel()
	later := make(chan struct{})
	e, _ := beside(t, 2, map[string]sandboxtest.Program{"p": func(p *sandboxtest.Proc) int {
		text, _ := io.ReadAll(p.Stdin)
		if string(text) == "first" {
			<-later // the second case runs
			return 1
		}
		close(later)
		<-p.Done
		return 0
	}})
	out, err := e.Judge(t.Context(), engine.Job{Submission: submission("p"), Problem: problem(t, "first", "", "second", "", "third", "")}, engine.Watcher{})
	if err != nil {
		t.Fatal(err)
	}
	if got := verdicts(out.Judgement); !slices.Equal(got, []judge.Verdict{"RTE", "SK", "SK"}) || len(out.Outputs) != 1 {
		t.Errorf("cases %v, %d outputs, want RTE SK SK and one", got, len(out.Outputs))
	}
}

// A submission that comes while all slots are in use gets the next one that is free,
// before a further case of the one that is there.
func TestWaitingSubmissionComesBeforeFurtherCases(t *testing.T) {
	t.Parallel()
	started, goOn := make(chan string), make(chan struct{})
	e, _ := beside(t, 2, map[string]sandboxtest.Program{"p": func(p *sandboxtest.Proc) int {
		text, _ := io.ReadAll(p.Stdin)
		started <- string(text)
		<-goOn
		return 0
	}})
	ended := make(chan error, 2)
	judgeIt := func(pairs ...string) {
		_, err := e.Judge(t.Context(), engine.Job{Submission: submission("p"), Problem: problem(t, pairs...)}, engine.Watcher{})
		ended <- err
	}
	go judgeIt("a", "", "a", "", "a", "", "a", "", "a", "")
	for range 2 {
		if got := <-started; got != "a" {
			t.Fatalf("%q runs, want a", got)
		}
	}
	go judgeIt("b", "", "b", "")
	engine.AwaitSubmission(e.Slots)
	goOn <- struct{}{} // one of a's two cases ends: its own slot takes the next, a borrowed one goes to b
	goOn <- struct{}{}
	if got := []string{<-started, <-started}; !slices.Contains(got, "b") {
		t.Errorf("%q run, want b among them", got)
	}
	go func() {
		for range started {
		}
	}()
	for range 5 {
		goOn <- struct{}{}
	}
	if err := errors.Join(<-ended, <-ended); err != nil {
		t.Error(err)
	}
	close(started)
}

func TestCancelEndsAllCases(t *testing.T) {
	t.Parallel()
	cause := errors.New("drained")
	ctx, cancel := context.WithCancelCause(t.Context())
	running := make(chan struct{}, 3)
	e, _ := beside(t, 3, map[string]sandboxtest.Program{"wait": func(p *sandboxtest.Proc) int {
		if running <- struct{}{}; len(running) == 3 {
			cancel(cause)
		}
		<-p.Done
		return 0
	}})
	_, err := e.Judge(ctx, engine.Job{Submission: submission("wait"), Problem: problem(t, "", "", "", "", "", "", "", "")}, engine.Watcher{})
	if !errors.Is(err, cause) {
		t.Errorf("Judge = %v, want %v", err, cause)
	}
	if free := engine.Free(e.Slots); free != 3 {
		t.Errorf("%d slots free afterwards, want 3", free)
	}
}

// A bug in a borrowed slot comes out where it would in the own one.
func TestPanicComesOutOfJudge(t *testing.T) {
	t.Parallel()
	e, _ := beside(t, 4, map[string]sandboxtest.Program{"p": func(*sandboxtest.Proc) int { panic("a bug") }})
	defer func() {
		if cause := recover(); cause == nil || !strings.Contains(fmt.Sprint(cause), "a bug") {
			t.Errorf("panic = %v, want a bug", cause)
		}
	}()
	_, err := e.Judge(t.Context(), engine.Job{Submission: submission("p"), Problem: problem(t, "", "", "", "")}, engine.Watcher{})
	t.Errorf("Judge = %v, want a panic", err)
}
