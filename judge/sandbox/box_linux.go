package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"judgefarm/judge"
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
	pidfd    *os.File   // PID 1 of the box; nil before it is there and after it is gone
	killedBy string

	started  time.Time
	setupCPU time.Duration
	oomEvent bool
	lastSample
	watchers sync.WaitGroup // goroutines that may still kill
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
	b := &box{s: s, slot: sl, spec: spec, lim: spec.Box.Complete(spec.Limits), began: time.Now(), work: -1}
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
	e, err := b.start()
	if err == nil && e.exec == 0 {
		e, err = b.watch()
	}
	if err != nil {
		return nil, fmt.Errorf("run in box: %w", err)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return b.report(e)
}

// prepare makes the box up to the point where it waits for a program.
func (b *box) prepare() error {
	plan, err := b.s.planOf(b.spec)
	if err != nil {
		return err
	}
	msg := prepareMessage(plan.ops, b.lim, b.slot.uid, b.slot.gid)
	if len(msg) > messageMax {
		return fmt.Errorf("root of %d operations is too large", len(plan.ops))
	}
	if err := b.clone(msg); err != nil {
		return err
	}
	// The box builds its root meanwhile.
	l := b.spec.Limits
	if b.group, err = b.s.cgroups.newGroup(b.s.nextName(), l.Memory+b.spec.Slack, l.Tasks); err != nil {
		return err
	}
	r, fd, err := b.control.receive()
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
	defer unix.Close(other)
	b.control = control
	pidfd, err := b.askNursery(msg, other)
	if errors.Is(err, io.EOF) || errors.Is(err, unix.EPIPE) { // somebody killed it; nothing has begun yet
		pidfd, err = b.askNursery(msg, other)
	}
	if err != nil {
		return err
	}
	if err := unix.SetNonblock(pidfd, true); err != nil {
		unix.Close(pidfd)
		return errors.Join(fmt.Errorf("set pidfd: %w", err), b.slot.reset())
	}
	b.mu.Lock()
	b.pidfd = os.NewFile(uintptr(pidfd), "pidfd")
	b.mu.Unlock()
	return control.deadline(time.Now().Add(setupTimeout))
}

// askNursery has the slot's nursery do it, a new one if there is none. After an
// error it is ended: whatever state it is in, the next one is fresh.
func (b *box) askNursery(msg []byte, fd int) (int, error) {
	if b.slot.nursery == nil {
		var err error
		if b.slot.nursery, err = startNursery(b.s.filter, b.s.privileged); err != nil {
			return -1, err
		}
	}
	pidfd, err := b.slot.nursery.ask(msg, fd)
	if err != nil {
		return -1, errors.Join(err, b.slot.reset())
	}
	return pidfd, nil
}

// start hands the program to the box and waits until it runs.
func (b *box) start() (end, error) {
	fds, closing, err := b.openStreams()
	defer func() { closeAll(closing) }()
	if err != nil {
		return end{}, err
	}
	joins, err := b.group.joinFiles()
	closing = append(closing, joins...)
	if err != nil {
		return end{}, err
	}
	msg := startMessage(programOf(b.spec, b.lim, b.s.hard, len(joins)))
	if err := b.control.send(msg, append(fds, joins...)...); err != nil {
		return end{}, fmt.Errorf("start program: %w", err)
	}
	closeAll(closing) // ours; else the streams would never end
	closing = nil
	b.watchStreams()

	r, _, err := b.control.receive()
	switch {
	case errors.Is(err, io.EOF):
		// Killed, or out of memory while it shared PID 1's: watch and report see.
		b.started = time.Now()
		return end{}, nil
	case err != nil:
		return end{}, fmt.Errorf("hear from box: %w", err)
	case r.kind == msgStarted:
		b.started, b.setupCPU = b.fromKernel(r.startNS), time.Duration(r.setupNS)
		return end{}, nil
	case r.kind == msgExecFailed:
		b.started, b.setupCPU = b.fromKernel(r.startNS), time.Duration(r.setupNS)
		return end{exec: r.errno, at: time.Now()}, nil
	case r.kind == msgFail && r.errno == unix.ENOMEM:
		// The last steps before the exec count against the box's memory limit.
		b.started = time.Now()
		return end{exec: r.errno, setup: r.failure(), at: b.started}, nil
	case r.kind == msgFail && r.what == "enter directory":
		return end{}, judge.Refuse(&judge.FieldError{Field: "dir", Reason: r.errno.Error()})
	}
	return end{}, r.failure()
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

func (b *box) watchStreams() {
	for _, c := range b.streams {
		if c != nil {
			b.watchers.Go(c.drain)
		}
	}
	if b.group.oom != nil {
		b.watchers.Go(func() {
			if b.group.waitOOM() {
				b.oomEvent = true
				b.kill(killMemory)
			}
		})
	}
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
	if b.pidfd == nil {
		return
	}
	if raw, err := b.pidfd.SyscallConn(); err == nil {
		raw.Control(func(fd uintptr) { unix.PidfdSendSignal(int(fd), unix.SIGKILL, nil, 0) })
	}
}

func (b *box) killer() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.killedBy
}
