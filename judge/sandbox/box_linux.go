package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// box is one sandbox, used once. Its life has three parts: prepare (until it could
// start any program), start and watch, and tear down.
type box struct {
	s     *Sandbox
	slot  *slot
	spec  Spec
	lim   BoxLimits
	plan  *rootPlan
	key   []byte // PREPARE for any slot
	began time.Time

	control *socket
	mounts  int         // its mount namespace, which is to outlive it for a moment; -1 when closed
	work    int         // the work directory, -1 when closed
	meter   meter       // nil before it is there and after it is gone
	streams [2]*capture // stdout and stderr, nil where not captured

	mu       sync.Mutex // guards pidfd and killedBy
	pidfd    int        // PID 1 of the box; -1 before it is there and after it is gone
	killedBy string
	tracer   *tracer // strict: what watches the program from attach on

	dead     bool      // nothing in it lives
	watched  []int     // descriptors that the slot's poller looks at
	sent     time.Time // the program was handed to the box
	started  time.Time // just before its exec; zero until we know
	end      end       // what we know of it
	setupCPU time.Duration
	oomEvent bool
	ending   time.Time // PID 1 was asked to end the box; zero when it was not
	lastSample
	lastNoise   exitNoise  // just before a time limit ended the box
	hostAtStart hostSample // of about when the program was handed over
}

// end is how the main program ended.
type end struct {
	exec   syscall.Errno
	setup  error // of a step of ours within the box's memory limit
	seen   bool  // PID 1 told the status; else it was killed first
	status syscall.WaitStatus
	at     time.Time
	noise  exitNoise // of PID 1, when seen
}

// newBox plans the box of a run. runIn is given a slot for it.
func (s *Sandbox) newBox(spec Spec) (b *box, err error) {
	b = &box{s: s, spec: spec, lim: spec.Box.Complete(spec.Limits), mounts: -1, work: -1, pidfd: -1, lastNoise: noExitNoise}
	if b.plan, err = s.planOf(spec); err != nil {
		return nil, err
	}
	b.key = prepareMessage(b.plan, b.lim)
	if len(b.key) > messageMax {
		return nil, fmt.Errorf("root of %d operations is too large", len(b.plan.ops))
	}
	return b, nil
}

func (b *box) runIn(ctx context.Context, sl *slot) (*Report, error) {
	b.slot, b.began = sl, time.Now()
	b.pinTo(sl)
	b.s.wanted.add(b.key)
	stop := context.AfterFunc(ctx, func() { b.kill(killCancel) })
	defer stop()
	rep, err := b.run(ctx)
	return rep, errors.Join(err, b.discard())
}

func (b *box) run(ctx context.Context) (*Report, error) {
	if err := b.prepare(); err != nil {
		return nil, fmt.Errorf("prepare box: %w", err)
	}
	if ctx.Err() != nil { // the kill came before there was anything to kill
		return nil, context.Cause(ctx)
	}
	if err := b.start(); err != nil {
		return nil, fmt.Errorf("run in box: %w", err)
	}
	if b.spec.Limits.Ptrace {
		if err := b.attach(); err != nil {
			return nil, fmt.Errorf("run in box: %w", err)
		}
	}
	e, err := b.watch()
	if b.dead {
		err = errors.Join(b.endTracer(), err)
	}
	if err != nil {
		return nil, fmt.Errorf("run in box: %w", err)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return b.report(e)
}

// prepare has the nursery make the box and makes its cgroup meanwhile. Afterwards
// the box still builds its root.
func (b *box) prepare() error {
	msg := forUser(b.key, b.slot.uid, b.slot.gid)
	ok, err := b.claimAhead(msg)
	if err != nil {
		return err
	}
	if !ok {
		if err := b.clone(msg); err != nil {
			return err
		}
	}
	return b.putFiles()
}

// putFiles waits until the box has its root, where it gets files.
func (b *box) putFiles() error {
	if len(b.spec.Files) == 0 {
		return nil
	}
	r, fd, err := b.control.receive(b.slot.poller)
	switch {
	case err != nil:
		return fmt.Errorf("hear from box: %w", err)
	case r.kind != msgReady || fd < 0:
		return r.failure()
	}
	b.work = fd
	return refusal(putFiles(b.work, b.spec.Files, b.slot.uid, b.s.privileged), b.lim)
}

// clone has the nursery make the box's PID 1.
func (b *box) clone(msg []byte) error {
	control, other, err := socketPair()
	if err != nil {
		return err
	}
	defer rawClose(other)
	b.control = control
	pidfd, err := b.askNursery(msg, other)
	if errors.Is(err, io.EOF) || errors.Is(err, unix.EPIPE) { // somebody killed it; nothing has begun yet
		pidfd, err = b.askNursery(msg, other)
	}
	if err != nil {
		return err
	}
	b.setPidfd(pidfd)
	return nil
}

// setPidfd takes hold of a box. Its PID 1 must not be the last holder of its mount
// namespace: its death would wait for the namespace's; see nursery.bury. Linux before
// 6.11, and an ordinary user, cannot take it; there it waits.
func (b *box) setPidfd(fd int) {
	if ns, err := raw(unix.SYS_IOCTL, uintptr(fd), unix.PIDFD_GET_MNT_NAMESPACE, 0, 0, 0); err == nil {
		b.mounts = ns
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pidfd = fd
}

// askNursery has the slot's nursery do it, a new one if there is none. After an
// error it is ended: whatever state it is in, the next one is fresh.
func (b *box) askNursery(msg []byte, fd int) (int, error) {
	if b.slot.nursery == nil {
		var err error
		if b.slot.nursery, err = startNursery(b.slot.poller, b.s.filter, b.s.strict, b.s.privileged, b.s.level); err != nil {
			return -1, err
		}
	}
	if err := b.slot.nursery.ask(msg, fd); err != nil {
		return -1, errors.Join(err, b.slot.reset())
	}
	gerr := b.makeMeter()
	_, pidfd, err := b.slot.nursery.answer(b.slot.poller)
	if err != nil {
		return -1, errors.Join(err, gerr, b.slot.reset())
	}
	if gerr != nil {
		b.setPidfd(pidfd) // discard waits for its end
		return -1, gerr
	}
	return pidfd, nil
}

func (b *box) makeMeter() error {
	if b.meter != nil {
		return nil
	}
	g, err := b.takeSpare()
	switch {
	case err != nil:
	case g != nil:
		b.meter = g
	default:
		b.meter, err = b.s.newMeter(b.spec)
	}
	return err
}

// start hands the program to the box, which starts it when it is ready.
func (b *box) start() error {
	fds, closing, err := b.openStreams()
	defer func() { closeAll(closing) }() // ours; else the streams would never end
	if err != nil {
		return err
	}
	joins, err := b.meter.joinFiles()
	closing = append(closing, joins...)
	if err != nil {
		return err
	}
	limit, err := b.meter.limitFile()
	if err != nil {
		return err
	}
	if limit >= 0 {
		closing = append(closing, limit)
	}
	trees, err := openMounts(b.plan.carried)
	closing = append(closing, trees...)
	if err != nil {
		return err
	}
	p := b.program(len(joins))
	for _, m := range b.plan.carried {
		p.mounts = append(p.mounts, m.Target)
	}
	msg := startMessage(p)
	if err := fits(msg); err != nil {
		return err
	}
	fds = append(fds, joins...)
	if usage := b.meter.usageFile(); usage >= 0 {
		fds = append(fds, usage, limit)
	}
	b.sent = time.Now()
	err = b.control.send(msg, append(fds, trees...)...)
	if err != nil && !errors.Is(err, unix.EPIPE) && !errors.Is(err, unix.ECONNRESET) {
		return fmt.Errorf("start program: %w", err)
	}
	return nil // a box that is dead by now has told why
}

func (b *box) program(joins int) program {
	lim := b.lim
	if b.s.level == Full {
		return programOf(b.spec, lim, b.s.hard, joins)
	}
	if b.spec.Box.Stack == 0 {
		lim.Stack += roomForStack
	}
	p := programOf(b.spec, lim, b.s.hard, joins)
	p.limits = append(p.limits, taskLimit(b.spec.Limits.Tasks, b.s.hard))
	p.told = true
	return p
}

// openStreams returns the program's three descriptors and those among them that
// are ours to close.
func (b *box) openStreams() (fds, closing []int, err error) {
	// Fd makes a descriptor blocking, as os/exec does: a program expects that.
	stdin := int(b.s.null.Fd())
	if b.spec.Stdin != nil {
		stdin = int(b.spec.Stdin.Fd())
		if err := noDirectory("stdin", stdin); err != nil {
			return nil, nil, err
		}
	}
	hand := func(fd int) {
		if b.s.privileged {
			if other, ok := nameless(fd); ok {
				fd, closing = other, append(closing, other)
			}
		}
		fds = append(fds, fd)
	}
	hand(stdin)
	for i, s := range []Stream{b.spec.Stdout, b.spec.Stderr} {
		switch {
		case s.Merge:
			fds = append(fds, fds[1])
		case s.File != nil && namedPipe(int(s.File.Fd())):
			hand(int(s.File.Fd()))
		case s.File != nil:
			fds = append(fds, int(s.File.Fd()))
		default:
			c, w, err := newCapture(s, b.spec.Limits.Output, func() { b.kill(killOutput) })
			if err != nil {
				return nil, closing, err
			}
			b.streams[i] = c
			fds, closing = append(fds, w), append(closing, w)
			if b.s.privileged { // else the program could not open its /dev/stdout
				if err := unix.Fchown(w, b.slot.uid, b.slot.gid); err != nil {
					return nil, closing, fmt.Errorf("hand pipe to the box's user: %w", err)
				}
			}
		}
	}
	return fds, closing, nil
}

// fromKernel converts a CLOCK_MONOTONIC time that a process of the box took; 0,
// when it came to none, is now. The two clocks are read one after the other, and we
// may lose the core between: then they are read again.
func (b *box) fromKernel(ns int64) time.Time {
	for try := 0; ; try++ {
		now := time.Now()
		var ts unix.Timespec
		if ns == 0 || unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) != nil {
			return now
		}
		if try == 3 || time.Since(now) < 100*time.Microsecond {
			return now.Add(-time.Duration(ts.Nano() - ns))
		}
	}
}

// kill ends the whole box: the kernel kills a pid namespace with its PID 1. The
// first reason is kept. It does nothing when the box is gone. A strict box ends by
// the death of its program, see tracer.
func (b *box) kill(by string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.killedBy == "" {
		b.killedBy = by
	}
	switch {
	case b.tracer != nil && by != killSetup:
		unix.PidfdSendSignal(b.tracer.pidfd, unix.SIGKILL, nil, 0)
	case by != killCancel && by != killSetup && b.meter != nil && b.meter.end(b):
	case b.pidfd >= 0:
		unix.PidfdSendSignal(b.pidfd, unix.SIGKILL, nil, 0)
	}
}

func (b *box) killer() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.killedBy
}
