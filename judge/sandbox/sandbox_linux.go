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

	"github.com/criyle/go-sandbox/pkg/seccomp"
	"golang.org/x/sys/unix"

	"judgefarm/judge"
)

// Config says how boxes are made. The zero value works.
type Config struct {
	Slots   int          // boxes at one time, further runs wait; 0 is as many as the worker has cores
	UIDBase int          // as root, slot i runs as this uid and gid plus i; 0 is DefaultUIDBase
	System  []Mount      // what boxes see of the host when Spec.Root is ""; nil is DefaultSystem
	Logger  *slog.Logger // what New cleaned up; nil is silent
}

// DefaultUIDBase lies where neither Debian's users nor systemd's dynamic ones do.
const DefaultUIDBase = 60400

// Sandbox runs programs in boxes with every isolation and limit in force. It
// implements Runner and Closer.
type Sandbox struct {
	cgroups    *cgroups
	filter     seccomp.Filter
	system     *rootPlan
	privileged bool        // root: each slot has a user of its own
	cpus       unix.CPUSet // the worker's own
	cores      int
	hard       map[int]uint64 // our own hard resource limits
	null       *os.File
	seq        atomic.Int64
	free       chan *slot
	slots      []*slot

	mu     sync.Mutex
	closed bool
	runs   sync.WaitGroup
}

// slot is a place for one box at a time. Its user and nursery are its own.
type slot struct {
	uid, gid int
	poller   *poller
	nursery  *nursery // nil until needed, or after it died
}

// New makes a Sandbox, removes what dead workers left, and runs a box to see that
// everything can be enforced. An error that wraps ErrHost names what is missing
// and its fix.
func New(cfg Config) (*Sandbox, error) {
	if err := probeHost().Err(); err != nil {
		return nil, err
	}
	s := &Sandbox{privileged: os.Geteuid() == 0, hard: hardLimits()}
	if err := unix.SchedGetaffinity(0, &s.cpus); err != nil {
		return nil, fmt.Errorf("read own cores: %w", err)
	}
	s.cores = max(s.cpus.Count(), 1)
	if err := s.setup(cfg); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Sandbox) setup(cfg Config) (err error) {
	log := cfg.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
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
	if s.filter, err = boxFilter(); err != nil {
		return err
	}
	if s.system, err = systemPlan(cfg.System); err != nil {
		return err
	}
	if s.null, err = os.Open(os.DevNull); err != nil {
		return err
	}
	if s.cgroups, err = newCgroups(log); err != nil {
		return err
	}
	s.free = make(chan *slot, cfg.Slots)
	for i := range cfg.Slots {
		sl := &slot{uid: os.Geteuid(), gid: os.Getegid()}
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
	return judge.Enforced{
		Isolation: "full", CPU: judge.Exact, Wall: judge.Exact,
		Memory: judge.Exact, Output: judge.Exact, Tasks: judge.Exact,
	}
}

// ErrClosed is returned by Run after Close.
var ErrClosed = errors.New("sandbox is closed")

// Run implements Runner. It waits for a free slot first.
func (s *Sandbox) Run(ctx context.Context, spec Spec) (*Report, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	for _, c := range spec.Box.CPUs {
		if !s.cpus.IsSet(c) {
			return nil, judge.Refuse(&judge.FieldError{Field: "box.cpus", Reason: fmt.Sprintf("core %d is not the worker's", c)})
		}
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, ErrClosed
	}
	s.runs.Add(1)
	s.mu.Unlock()
	defer s.runs.Done()

	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case sl := <-s.free:
		defer func() { s.free <- sl }()
		rep, err := s.runIn(ctx, sl, spec)
		if err != nil && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return rep, err
	}
}

// Close waits for the runs that are under way and removes everything: afterwards
// no process, mount or cgroup of ours is left.
func (s *Sandbox) Close() error {
	s.mu.Lock()
	again := s.closed
	s.closed = true
	s.mu.Unlock()
	if again {
		return nil
	}
	s.runs.Wait()
	var errs []error
	for _, sl := range s.slots {
		errs = append(errs, sl.reset(), sl.poller.close())
	}
	if s.cgroups != nil {
		errs = append(errs, s.cgroups.close())
	}
	if s.null != nil {
		errs = append(errs, s.null.Close())
	}
	return errors.Join(errs...)
}

// reset ends the slot's nursery; the next run starts another.
func (sl *slot) reset() error {
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
	return plan, plan.addMounts(spec.Mounts, s.privileged)
}

func (s *Sandbox) nextName() string { return strconv.FormatInt(s.seq.Add(1), 10) }

// hardLimits are the bounds of what an ordinary process may set for itself.
func hardLimits() map[int]uint64 {
	hard := map[int]uint64{}
	for _, res := range []int{unix.RLIMIT_CPU, unix.RLIMIT_FSIZE, unix.RLIMIT_STACK, unix.RLIMIT_NOFILE, unix.RLIMIT_CORE} {
		var r syscall.Rlimit
		if err := syscall.Getrlimit(res, &r); err == nil {
			hard[res] = r.Max
		}
	}
	return hard
}

// Slots is how many boxes there may be at one time.
func (s *Sandbox) Slots() int { return len(s.slots) }
