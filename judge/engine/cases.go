package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"judgefarm/judge"
	"judgefarm/testcases"
)

// errCut is the cause of runs that are ended because a case before them, in order,
// settles what the document says of theirs: nothing.
var errCut = errors.New("an earlier case settled it")

// ran is what came of one case.
type ran struct {
	run    judge.Run
	earned earned
	output CaseOutput
	err    error
	panic  any // of a bug in another goroutine; nil for none
}

// cases are the cases of one submission under way: its own slot runs them in order,
// and each borrowed slot takes the first that nobody has. The document says what it
// would say had they run one after another: whether a case counts is told by those
// before it alone.
type cases struct {
	*session
	all   []testcases.Case
	order []int           // the places in the problem of all, which is in the order of the runs
	done  []chan struct{} // closed when results has it
	tried bool            // the program has run on a case; of the submission's own goroutine alone, see misspelt

	mu      sync.Mutex
	plan    *plan
	next    int    // the first that nobody has
	enough  func() // called when nobody needs another slot
	cancels map[int]context.CancelCauseFunc
	results []ran
	lanes   sync.WaitGroup
}

func (s *session) newCases() *cases {
	problem := s.job.Problem.Cases()
	order, all := s.order(problem), make([]testcases.Case, len(problem))
	for i, place := range order {
		all[i] = problem[place]
	}
	c := &cases{
		session: s, all: all, order: order, done: make([]chan struct{}, len(all)), results: make([]ran, len(all)),
		plan:   newPlan(s.job.Problem, s.job.Submission.Stop),
		enough: func() {}, cancels: map[int]context.CancelCauseFunc{},
	}
	for i := range c.done {
		c.done[i] = make(chan struct{})
	}
	return c
}

// runAll runs the cases and gives verdict and score.
func (s *session) runAll(ctx context.Context) error {
	c := s.newCases()
	ctx, cancel := context.WithCancelCause(ctx)
	defer c.lanes.Wait()
	defer cancel(errCut)
	if s.Slots != nil && len(c.all) > 1 {
		lend, enough := context.WithCancel(ctx)
		c.enough = enough
		c.lanes.Go(func() { c.borrow(lend, ctx) })
	}
	told, results := c.newTelling(), map[string]earned{}
	for i, one := range c.all {
		r := ran{run: judge.Run{Name: one.Name, Verdict: judge.Skipped, Sample: one.Sample}}
		if !c.skipped(i) {
			if r = c.result(ctx, i); r.err != nil {
				return fmt.Errorf("run case %s: %w", one.Name, r.err)
			}
			if refused, err := c.misspelt(ctx, one, r); refused || err != nil {
				return err
			}
			results[one.Name] = r.earned
		}
		told.add(c.order[i], r)
	}
	s.hard.learn(s.job.Problem.Digest, s.out.Judgement.Cases)
	return s.total(ctx, results)
}

// telling puts what came of the cases into the document and tells the watcher, in the
// problem's order: a case waits for those before it.
type telling struct {
	*session
	known []*ran // by place in the problem
}

func (c *cases) newTelling() *telling { return &telling{c.session, make([]*ran, len(c.all))} }

func (t *telling) add(place int, r ran) {
	t.known[place] = &r
	j := &t.out.Judgement
	for i := len(j.Cases); i < len(t.known) && t.known[i] != nil; i++ {
		r := t.known[i]
		if r.run.Verdict != judge.Skipped {
			t.out.Outputs = append(t.out.Outputs, r.output)
			j.Timing.Run += r.run.Usage.Wall
		}
		j.Cases = append(j.Cases, r.run)
		if t.watch.Case != nil {
			t.watch.Case(i, len(t.known), r.run)
		}
	}
}

// skipped reports whether case i is not run, when all before it are known.
func (c *cases) skipped(i int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.plan.skips(i) {
		return false
	}
	c.plan.told(i, earned{verdict: judge.Skipped})
	return true
}

// result returns what came of case i, when none before it ended the judging. Until
// it is there the submission's own slot runs what is left.
func (c *cases) result(ctx context.Context, i int) ran {
	for {
		select {
		case <-c.done[i]:
		default:
			if next, ok := c.claim(); ok {
				c.run(ctx, next)
				continue
			}
			<-c.done[i] // whoever has it ends with ctx
		}
		r := c.results[i]
		if r.panic != nil {
			panic(r.panic)
		}
		return r
	}
}

// borrow runs cases in slots that are idle, until lend ends.
func (c *cases) borrow(lend, ctx context.Context) {
	for c.Slots.borrow(lend) == nil {
		i, ok := c.claim()
		if !ok {
			c.Slots.give()
			return
		}
		c.lanes.Go(func() {
			defer c.Slots.give()
			c.run(ctx, i)
		})
	}
}

// claim takes the first case that nobody has.
func (c *cases) claim() (i int, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.left() {
		return 0, false
	}
	i = c.next
	c.next++
	if !c.left() {
		c.enough()
	}
	return i, true
}

// left moves past what need not run and reports whether anything is left.
func (c *cases) left() bool {
	for c.next < len(c.all) && c.plan.skips(c.next) {
		c.next++
	}
	return c.next < len(c.all)
}

// run runs a case that was claimed.
func (c *cases) run(ctx context.Context, i int) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c.mu.Lock()
	if c.plan.skips(i) {
		cancel(errCut)
	}
	c.cancels[i] = cancel
	c.mu.Unlock()
	var r ran
	defer func() {
		if cause := recover(); cause != nil {
			r.panic = fmt.Sprintf("%v\n%s", cause, debug.Stack())
		}
		c.finish(i, r)
	}()
	r = c.runCase(ctx, c.all[i])
}

// finish keeps what came of a case and ends the runs of those after it that it makes
// needless.
func (c *cases) finish(i int, r ran) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.cancels, i)
	c.results[i] = r
	close(c.done[i])
	if r.panic != nil || r.err != nil {
		return // a case before may still make this one skipped: then it never happened
	}
	// So it may with any other; a case that is skipped says as little as one that failed.
	c.plan.told(i, r.earned)
	if !c.left() {
		c.enough()
	}
	for after, cancel := range c.cancels {
		if c.plan.skips(after) {
			cancel(errCut)
		}
	}
}
