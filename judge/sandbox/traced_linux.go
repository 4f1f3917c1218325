package sandbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"

	"github.com/criyle/go-sandbox/pkg/seccomp"
	"golang.org/x/sys/unix"

	"judgefarm/judge"
)

// Traced runs programs at the level ptrace, for hosts that have neither user namespaces
// nor a cgroup: every process of a run is traced from its first instruction to its
// death, wherever it goes. What the program can reach is bounded by Landlock and the
// filter alone, as the worker's own user where the worker is not root, so it is for code
// that one would run on that host anyway; docs/security.md. It implements Boxes.
type Traced struct {
	filter     seccomp.Filter
	rules      []string // of Landlock, for what programs see of the system
	calls      map[int]string
	switchUser bool
	groups     []uint32 // the worker's own
	uidBase    int
	cpus       unix.CPUSet
	cores      int
	reach      int // cores that a program can get
	hard       map[int]uint64
	null       *os.File
	pins       []int    // files of /proc, see procRules
	records    []string // those of each run's first process
	dir        *tracedDir
	log        *slog.Logger
	free       chan int // numbers of slots
	slots      int
	pinned     []int // the slots' cores, empty unless pinned

	mu     sync.Mutex
	closed bool
	runs   sync.WaitGroup
}

// newTraced makes it, removes what dead workers left and runs a trial.
func newTraced(cfg Config) (*Traced, error) {
	if err := probeHost().Err(Ptrace); err != nil {
		return nil, err
	}
	if !nurseryLinked {
		return nil, fmt.Errorf("%w: this binary was built with CGO_ENABLED=0; build it with cgo and a C compiler", ErrHost)
	}
	t := &Traced{slots: cfg.Slots, uidBase: cfg.UIDBase, hard: hardLimits(), switchUser: canSwitchUser()}
	if err := unix.SchedGetaffinity(0, &t.cpus); err != nil {
		return nil, fmt.Errorf("read own cores: %w", err)
	}
	t.cores, t.reach = max(t.cpus.Count(), 1), reachable(t.cpus)
	if t.slots <= 0 {
		t.slots = t.cores
	}
	if t.uidBase == 0 {
		t.uidBase = DefaultUIDBase
	}
	if err := t.setup(cfg); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

func (t *Traced) setup(cfg Config) (err error) {
	if cfg.Pin {
		if t.pinned, err = pinsOf(t.cpus, t.slots); err != nil {
			return err
		}
	}
	if t.filter, err = tracedFilter(); err != nil {
		return err
	}
	info, err := thisArch()
	if err != nil {
		return err
	}
	t.calls = info.SyscallNumbers
	groups, err := os.Getgroups()
	if err != nil {
		return fmt.Errorf("read own groups: %w", err)
	}
	for _, g := range groups {
		t.groups = append(t.groups, uint32(g))
	}
	system := cfg.System
	if system == nil {
		system = DefaultSystem()
	}
	for _, m := range system {
		t.rules = append(t.rules, "r"+m.Source)
	}
	for _, name := range tracedReads {
		if _, err := os.Stat(name); err == nil {
			t.rules = append(t.rules, "r"+name)
		}
	}
	for _, d := range deviceFiles {
		t.rules = append(t.rules, "d"+d)
	}
	t.rules = append(t.rules, t.procRules()...)
	if t.null, err = os.Open(os.DevNull); err != nil {
		return err
	}
	log := cfg.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	t.log = log
	if t.dir, err = newTracedDir(log); err != nil {
		return err
	}
	t.free = make(chan int, t.slots)
	for i := range t.slots {
		t.free <- i
	}
	// Programs run as the same user, who may otherwise read this process's memory and
	// environment; proc(5), ptrace(2).
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("make worker not dumpable: %w", err)
	}
	// What a program leaves without a parent becomes ours and not init's, so that we can
	// reap it: in a container there may be nobody else who does; prctl(2).
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("adopt orphans: %w", err)
	}
	return t.trial()
}

// tracedReads are files that no box has and programs do without, but do not take a
// refusal for an absence: Node ends at its start where OpenSSL's may not be read.
var tracedReads = []string{"/etc/ssl/openssl.cnf"}

// ownRecords are what the program's first process may read of its own directory in
// /proc, where the kernel has them, and ownThreads, which it may list. Not net, which
// tells of the host's sockets, and is in the directory of each thread too.
var ownRecords = []string{
	"auxv", "cgroup", "cmdline", "comm", "environ", "fd", "io", "limits", "maps", "mountinfo", "mounts",
	"oom_score_adj", "smaps", "smaps_rollup", "stat", "statm", "status",
}

const ownThreads = "task"

// procRules are what programs may read of /proc: what their runtimes ask about the
// machine, and of the first process's own directory, which is the launcher's when the
// rules are laid down. Not what else the host tells there of itself and of its other
// processes. Landlock allows whole trees or single files, and the directory of a
// process that is to be started does not exist yet: children have none of their own.
// A rule is about an inode, which the kernel would forget, and make another one for the
// same file, when it is short of memory: open files keep them.
func (t *Traced) procRules() []string {
	rules := []string{"l/proc/self/" + ownThreads}
	t.records = []string{ownThreads}
	for _, name := range ownRecords {
		if _, err := os.Stat("/proc/self/" + name); err == nil {
			t.records, rules = append(t.records, name), append(rules, "r/proc/self/"+name)
		}
	}
	for _, r := range strictReads {
		for name := range strings.FieldsSeq(r.patterns) {
			if !below(name, "/proc") || below(name, "/proc/self") {
				continue
			}
			if fd, err := openat(unix.AT_FDCWD, name, unix.O_PATH|unix.O_CLOEXEC); err == nil {
				t.pins, rules = append(t.pins, fd), append(rules, "r"+name)
			}
		}
	}
	return rules
}

// pin keeps the inodes of files of a process; see procRules.
func pin(pid int, records []string) (pins []int, err error) {
	for _, name := range records {
		fd, err := openat(unix.AT_FDCWD, "/proc/"+strconv.Itoa(pid)+"/"+name, unix.O_PATH|unix.O_CLOEXEC)
		if err != nil {
			return pins, fmt.Errorf("open launcher's %s: %w", name, err)
		}
		pins = append(pins, fd)
	}
	return pins, nil
}

// trial runs a program that does nothing: everything has to work.
func (t *Traced) trial() error {
	name, err := exec.LookPath("true")
	if err != nil {
		return fmt.Errorf("%w: a trial: %w", ErrHost, err)
	}
	rep, err := t.Run(context.Background(), Spec{Args: []string{name}, Limits: judge.Limits{}.Complete()})
	switch {
	case err != nil:
		return fmt.Errorf("%w: a trial: %w", ErrHost, err)
	case rep.Cause != CauseExit || rep.Exit != 0:
		return fmt.Errorf("%w: a trial ended with %q, %s", ErrHost, rep.Cause, rep.Evidence.ExecError)
	}
	return nil
}

// canSwitchUser reports whether programs can run as another user than ours.
func canSwitchUser() bool {
	if os.Geteuid() != 0 {
		return false
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if unix.Capget(&header, &data[0]) != nil {
		return false
	}
	const need = 1<<unix.CAP_SETUID | 1<<unix.CAP_SETGID | 1<<unix.CAP_CHOWN | 1<<unix.CAP_KILL | 1<<unix.CAP_FOWNER
	return data[0].Effective&need == need
}

// Enforced implements Runner.
func (t *Traced) Enforced() judge.Enforced { return Ptrace.Enforced() }

// Slots implements Boxes.
func (t *Traced) Slots() int { return t.slots }

// Run implements Runner. It waits for a free slot first.
func (t *Traced) Run(ctx context.Context, spec Spec) (*Report, error) {
	if err := t.validate(spec); err != nil {
		return nil, err
	}
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		return nil, ErrClosed
	}
	t.runs.Add(1)
	t.mu.Unlock()
	defer t.runs.Done()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case slot := <-t.free:
		defer func() { t.free <- slot }()
		rep, err := t.runIn(ctx, slot, spec)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return rep, err
	}
}

// validate refuses what this level cannot do.
func (t *Traced) validate(spec Spec) error {
	if err := spec.Validate(); err != nil {
		return err
	}
	if spec.Limits.Ptrace {
		return fmt.Errorf("%w: limits.ptrace needs isolation %s, and this worker has %s", ErrHost, Full, Ptrace)
	}
	var faults []*judge.FieldError
	if spec.Root != "" {
		faults = append(faults, &judge.FieldError{Field: "root", Reason: "needs isolation full or userns: the level ptrace has no root of its own"})
	}
	for _, c := range spec.Box.CPUs {
		if !t.cpus.IsSet(c) {
			faults = append(faults, &judge.FieldError{Field: "box.cpus", Reason: fmt.Sprintf("core %d is not the worker's", c)})
		}
	}
	for i, m := range spec.Mounts {
		if err := readable(m.Source, t.switchUser); err != nil {
			faults = append(faults, &judge.FieldError{Field: fmt.Sprintf("mounts[%d]", i), Reason: err.Error()})
		}
	}
	return judge.Refuse(faults...)
}

// Close waits for the runs that are under way and removes everything.
func (t *Traced) Close() error {
	t.mu.Lock()
	again := t.closed
	t.closed = true
	t.mu.Unlock()
	if again {
		return nil
	}
	t.runs.Wait()
	var errs []error
	if t.dir != nil {
		errs = append(errs, t.dir.close())
	}
	closeAll(t.pins)
	if t.null != nil {
		errs = append(errs, t.null.Close())
	}
	return errors.Join(errs...)
}
