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
	began time.Time

	control *socket
	work    int // the work directory, -1 when closed
	group   *group
	streams [2]*capture // stdout and stderr, nil where not captured

	mu       sync.Mutex // guards pidfd and killedBy
	pidfd    int        // PID 1 of the box; -1 before it is there and after it is gone
	killedBy string

	dead     bool      // nothing in it lives
	watched  []int     // descriptors that the slot's poller looks at
	sent     time.Time // the program was handed to the box
	started  time.Time // just before its exec; zero until we know
	end      end       // what we know of it
	setupCPU time.Duration
	oomEvent bool
	lastSample
}

// end is how the main program ended.
type end struct {
	exec   syscall.Errno
	setup  error // of a step of ours within the box's memory limit
	seen   bool  // PID 1 told the status; else it was killed first
	status syscall.WaitStatus
	at     time.Time
}

func (s *Sandbox) runIn(ctx context.Context, sl *slot, spec Spec) (*Report, error) {
	b := &box{s: s, slot: sl, spec: spec, lim: spec.Box.Complete(spec.Limits), began: time.Now(), work: -1, pidfd: -1}
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
	e, err := b.watch()
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
	plan, err := b.s.planOf(b.spec)
	if err != nil {
		return err
	}
	msg := prepareMessage(plan, b.lim, b.slot.uid, b.slot.gid)
	if len(msg) > messageMax {
		return fmt.Errorf("root of %d operations is too large", len(plan.ops))
	}
	if err := b.clone(msg); err != nil {
		return err
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
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pidfd = pidfd
	return nil
}

// askNursery has the slot's nursery do it, a new one if there is none. After an
// error it is ended: whatever state it is in, the next one is fresh.
func (b *box) askNursery(msg []byte, fd int) (int, error) {
	if b.slot.nursery == nil {
		var err error
		if b.slot.nursery, err = startNursery(b.slot.poller, b.s.filter, b.s.privileged); err != nil {
			return -1, err
		}
	}
	if err := b.slot.nursery.ask(msg, fd); err != nil {
		return -1, errors.Join(err, b.slot.reset())
	}
	gerr := b.makeGroup()
	pidfd, err := b.slot.nursery.answer(b.slot.poller)
	if err != nil {
		return -1, errors.Join(err, gerr, b.slot.reset())
	}
	if gerr != nil {
		rawClose(pidfd) // the box ends with its control socket
		return -1, gerr
	}
	return pidfd, nil
}

func (b *box) makeGroup() (err error) {
	if b.group == nil {
		l := b.spec.Limits
		b.group, err = b.s.cgroups.newGroup(b.s.nextName(), l.Memory+b.spec.Slack, l.Tasks)
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
	joins, err := b.group.joinFiles()
	closing = append(closing, joins...)
	if err != nil {
		return err
	}
	msg := startMessage(programOf(b.spec, b.lim, b.s.hard, len(joins)))
	b.sent = time.Now()
	err = b.control.send(msg, append(fds, joins...)...)
	if err != nil && !errors.Is(err, unix.EPIPE) && !errors.Is(err, unix.ECONNRESET) {
		return fmt.Errorf("start program: %w", err)
	}
	return nil // a box that is dead by now has told why
}

// openStreams returns the program's three descriptors and those among them that
// are ours to close.
func (b *box) openStreams() (fds, closing []int, err error) {
	// Fd makes a descriptor blocking, as os/exec does: a program expects that.
	stdin := int(b.s.null.Fd())
	if b.spec.Stdin != nil {
		stdin = int(b.spec.Stdin.Fd())
		if fd, ok := nameless(stdin); ok && b.s.privileged {
			stdin, closing = fd, append(closing, fd)
		}
	}
	fds = append(fds, stdin)
	for i, s := range []Stream{b.spec.Stdout, b.spec.Stderr} {
		switch {
		case s.Merge:
			fds = append(fds, fds[1])
		case s.File != nil:
			fds = append(fds, int(s.File.Fd()))
		default:
			c, w, err := newCapture(s, b.spec.Limits.Output, func() { b.kill(killOutput) })
			if err != nil {
				return nil, closing, err
			}
			b.streams[i] = c
			fds, closing = append(fds, w), append(closing, w)
		}
	}
	return fds, closing, nil
}

// fromKernel converts a CLOCK_MONOTONIC time that a process of the box took; 0,
// when it came to none, is now.
func (b *box) fromKernel(ns int64) time.Time {
	now := time.Now()
	var ts unix.Timespec
	if ns == 0 || unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) != nil {
		return now
	}
	return now.Add(-time.Duration(ts.Nano() - ns))
}

// kill ends the whole box: the kernel kills a pid namespace with its PID 1. The
// first reason is kept. It does nothing when the box is gone.
func (b *box) kill(by string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.killedBy == "" {
		b.killedBy = by
	}
	if b.pidfd >= 0 {
		unix.PidfdSendSignal(b.pidfd, unix.SIGKILL, nil, 0)
	}
}

func (b *box) killer() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.killedBy
}
