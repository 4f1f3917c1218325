package sandbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/criyle/go-sandbox/pkg/seccomp"
	"github.com/criyle/go-sandbox/ptracer"
	"golang.org/x/sys/unix"

	"judgefarm/judge"
)

// Config says how boxes are made. The zero value works.
type Config struct {
	Isolation Isolation    // "" is Full; a level that the host cannot hold is an error, never another level
	Slots     int          // boxes at one time, further runs wait; 0 is as many as the worker has cores
	UIDBase   int          // as root, slot i runs as this uid and gid plus i; 0 is DefaultUIDBase
	System    []Mount      // what boxes see of the host when Spec.Root is ""; nil is DefaultSystem
	Logger    *slog.Logger // what New cleaned up; nil is silent
	NoAhead   bool         // no box is prepared before a run asks for it
	Pin       bool         // slot i runs on the worker's core i alone; there may be no more slots than cores
}

// DefaultUIDBase lies where neither Debian's users nor systemd's dynamic ones do.
const DefaultUIDBase = 60400

// Sandbox runs programs in boxes of namespaces: the levels full and userns. It
// implements Boxes.
type Sandbox struct {
	level      Isolation
	uncounted  atomic.Bool // level userns: the kernel lets us have no counter of CPU time
	cgroups    *cgroups
	filter     seccomp.Filter
	strict     seccomp.Filter  // of boxes with Limits.Ptrace
	handler    ptracer.Handler // of their tracers, in place of their own; for tests
	system     *rootPlan
	privileged bool        // root: each slot has a user of its own
	cpus       unix.CPUSet // the worker's own
	cores      int
	reach      int            // cores that a program can get
	hard       map[int]uint64 // our own hard resource limits
	null       *os.File
	host       *host
	log        *slog.Logger
	seq        atomic.Int64
	noAhead    bool
	carry      bool // mounts come with the program; see rootPlan.carried
	wanted     wanted
	pins       []int // the slots' cores, empty unless pinned
	free       chan *slot
	slots      []*slot

	mu     sync.Mutex
	closed bool
	expiry *time.Timer // of prepared boxes
	// aheadMax is how long one waits.
	aheadMax time.Duration
	runs     sync.WaitGroup
}

// slot is a place for one box at a time. Its user and nursery are its own.
type slot struct {
	uid, gid int
	core     int // that its boxes run on; -1: any of the worker's
	poller   *poller
	nursery  *nursery // nil until needed, or after it died
	ahead    *ahead   // the box prepared for the next run, or nil
	spare    *spare   // its cgroup, or nil
}

// New makes a Sandbox, removes what dead workers left, and runs a box to see that
// everything can be enforced. An error that wraps ErrHost names what is missing
// and its fix. It makes the levels full and userns; Open makes every level.
func New(cfg Config) (*Sandbox, error) {
	level, err := cfg.Isolation.level()
	if err != nil {
		return nil, err
	}
	if level == Ptrace {
		return nil, fmt.Errorf("isolation: %s has no namespaces; Open makes it", level)
	}
	if err := probeHost().Err(level); err != nil {
		return nil, err
	}
	s := &Sandbox{level: level, privileged: os.Geteuid() == 0, hard: hardLimits(), aheadMax: defaultAheadMax, host: openHost()}
	if err := unix.SchedGetaffinity(0, &s.cpus); err != nil {
		s.host.close()
		return nil, fmt.Errorf("read own cores: %w", err)
	}
	s.cores, s.reach = max(s.cpus.Count(), 1), reachable(s.cpus)
	if err := s.setup(cfg); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Sandbox) setup(cfg Config) (err error) {
	s.noAhead, s.log = cfg.NoAhead, cfg.Logger
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if cfg.System == nil {
		cfg.System = DefaultSystem()
	}
	if cfg.Slots <= 0 {
		cfg.Slots = s.cores
	}
	if cfg.UIDBase == 0 {
		cfg.UIDBase = DefaultUIDBase
	}
	if cfg.Pin {
		if s.pins, err = pinsOf(s.cpus, cfg.Slots); err != nil {
			return err
		}
	}
	if s.filter, err = boxFilter(s.level); err != nil {
		return err
	}
	if s.strict, err = strictFilter(); err != nil {
		return err
	}
	if s.system, err = systemPlan(cfg.System); err != nil {
		return err
	}
	if s.null, err = os.Open(os.DevNull); err != nil {
		return err
	}
	if s.level == Full {
		if s.cgroups, err = newCgroups(s.log); err != nil {
			return err
		}
	}
	s.free = make(chan *slot, cfg.Slots)
	for i := range cfg.Slots {
		sl := &slot{uid: os.Geteuid(), gid: os.Getegid(), core: -1}
		if cfg.Pin {
			sl.core = s.pins[i]
		}
		if s.privileged {
			sl.uid, sl.gid = cfg.UIDBase+i, cfg.UIDBase+i
		}
		if sl.poller, err = newPoller(); err != nil {
			return err
		}
		s.slots = append(s.slots, sl)
		s.free <- sl
	}
	return s.trial()
}

// trial runs a program that is not there: everything up to its exec must work.
func (s *Sandbox) trial() error {
	first, err := startNursery(s.slots[0].poller, s.filter, s.strict, s.privileged, s.level)
	if err != nil {
		return fmt.Errorf("%w: a trial box: %w", ErrHost, err)
	}
	s.slots[0].nursery, s.carry = first, s.privileged && first.templates
	rep, err := s.Run(context.Background(), Spec{Args: []string{"/judgefarm-trial"}, Limits: judge.Limits{}.Complete()})
	switch {
	case err != nil:
		return fmt.Errorf("%w: a trial box: %w%s", ErrHost, err, trialHint(err))
	case rep.Cause != CauseExec:
		return fmt.Errorf("%w: a trial box ended with %q", ErrHost, rep.Cause)
	}
	return nil
}

// Enforced implements Runner.
func (s *Sandbox) Enforced() judge.Enforced {
	e := s.level.Enforced()
	if s.uncounted.Load() {
		e.CPU = judge.Sampled
	}
	return e
}

// ErrClosed is returned by Run after Close.
var ErrClosed = errors.New("sandbox is closed")

// Run implements Runner. It waits for a free slot first.
func (s *Sandbox) Run(ctx context.Context, spec Spec) (*Report, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	if spec.Limits.Ptrace && s.level != Full {
		return nil, fmt.Errorf("%w: limits.ptrace needs isolation %s, and this worker has %s", ErrHost, Full, s.level)
	}
	for _, c := range spec.Box.CPUs {
		if !s.cpus.IsSet(c) {
			return nil, judge.Refuse(&judge.FieldError{Field: "box.cpus", Reason: fmt.Sprintf("core %d is not the worker's", c)})
		}
	}
	if !s.begin() {
		return nil, ErrClosed
	}
	defer s.runs.Done()

	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	b, err := s.newBox(spec)
	if err != nil {
		return nil, fmt.Errorf("prepare box: %w", err)
	}
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case sl := <-s.free:
		sl = s.choose(sl, b.key)
		defer func() { s.free <- sl }()
		rep, err := b.runIn(ctx, sl)
		if err != nil && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return rep, err
	}
}

// begin counts a run in, unless the sandbox is closed; runs.Done counts it out.
func (s *Sandbox) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.runs.Add(1)
	return true
}

// Close waits for the runs that are under way and removes everything: afterwards
// no process, mount or cgroup of ours is left.
func (s *Sandbox) Close() error {
	s.mu.Lock()
	again := s.closed
	s.closed = true
	if s.expiry != nil {
		s.expiry.Stop()
	}
	s.mu.Unlock()
	if again {
		return nil
	}
	s.runs.Wait()
	var errs []error
	for _, sl := range s.slots {
		errs = append(errs, sl.dropAhead(), sl.dropSpare(), sl.reset(), sl.poller.close())
	}
	if s.cgroups != nil {
		errs = append(errs, s.cgroups.close())
	}
	s.host.close()
	if s.null != nil {
		errs = append(errs, s.null.Close())
	}
	return errors.Join(errs...)
}

// reset ends the slot's nursery, and the box that it prepared; the next run starts
// another.
func (sl *slot) reset() error {
	if sl.ahead != nil {
		sl.ahead.control.close()
		sl.ahead = nil
	}
	if sl.nursery == nil {
		return nil
	}
	err := sl.nursery.close()
	sl.nursery = nil
	return err
}

// planOf is the root of a spec's box.
func (s *Sandbox) planOf(spec Spec) (*rootPlan, error) {
	plan := s.system
	if spec.Root != "" {
		var err error
		if plan, err = rootPlanOf(filepath.Clean(spec.Root)); err != nil {
			return nil, err
		}
	}
	if len(spec.Mounts) == 0 {
		return plan, nil
	}
	plan = plan.fork()
	plan.carry = s.carry && len(spec.Mounts) <= maxCarried
	return plan, plan.addMounts(spec.Mounts, s.privileged)
}

func (s *Sandbox) nextName() string { return strconv.FormatInt(s.seq.Add(1), 10) }

// hardLimits are the bounds of what an ordinary process may set for itself.
func hardLimits() map[int]uint64 {
	hard := map[int]uint64{}
	for _, res := range []int{unix.RLIMIT_CPU, unix.RLIMIT_FSIZE, unix.RLIMIT_STACK, unix.RLIMIT_NOFILE, unix.RLIMIT_CORE, unix.RLIMIT_NPROC} {
		var r syscall.Rlimit
		if err := syscall.Getrlimit(res, &r); err == nil {
			hard[res] = r.Max
		}
	}
	return hard
}

// Slots is how many boxes there may be at one time.
func (s *Sandbox) Slots() int { return len(s.slots) }
