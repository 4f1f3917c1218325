package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"judgefarm/judge"
)

// killDisk is what Evidence.KilledBy says of a run whose files were over the disk limit.
const killDisk = "disk"

// tracedRun is one run of the level ptrace.
type tracedRun struct {
	t     *Traced
	spec  Spec // with the host's paths
	lim   BoxLimits
	uid   int
	began time.Time

	dir     string      // everything of the run lies in it
	root    int         // the same, open
	empty   judge.Bytes // what it takes by itself
	work    int
	poller  *poller
	done    int // eventfd, readable when nothing of the run is left
	streams [2]*capture
	line    *lineage
	over    chan struct{} // closed with done
	sampled
}

// sampled is when what was looked at last.
type sampled struct {
	memory judge.Bytes
	diskAt time.Time // when to look at files again
	stopAt time.Time // the end must have come by then
}

func (t *Traced) runIn(ctx context.Context, slot int, spec Spec) (*Report, error) {
	if len(t.pinned) > 0 && len(spec.Box.CPUs) == 0 {
		spec.Box.CPUs = []int{t.pinned[slot]}
	}
	r := &tracedRun{
		t: t, lim: spec.Box.Complete(spec.Limits), uid: os.Geteuid(), began: time.Now(),
		root: -1, work: -1, done: -1, over: make(chan struct{}),
		line: &lineage{limit: spec.Limits.Tasks, calls: t.calls, tasks: map[int]*task{}, clocks: map[int]bool{}},
	}
	if t.switchUser {
		r.uid = t.uidBase + slot
	}
	rep, err := r.run(ctx, spec)
	if derr := r.discard(); derr != nil { // the run is over and told: Close tries again, or the next worker
		t.log.Warn("cannot remove what a run left", "directory", r.dir, "error", derr)
	}
	return rep, err
}

func (r *tracedRun) run(ctx context.Context, spec Spec) (*Report, error) {
	if err := r.prepare(spec); err != nil {
		return nil, fmt.Errorf("prepare run: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { r.line.kill(killCancel) })
	defer stop()
	l, err := r.start()
	if err != nil {
		return nil, fmt.Errorf("start program: %w", err)
	}
	defer l.close()
	if err := r.watch(); err != nil {
		r.line.kill("")
		<-r.over
		return nil, fmt.Errorf("watch run: %w", err)
	}
	<-r.over
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return r.report(l)
}

// prepare makes the run's directory with its files.
func (r *tracedRun) prepare(spec Spec) (err error) {
	if r.dir, err = os.MkdirTemp(r.t.dir.path, "run"); err != nil {
		return err
	}
	dirs := []string{r.dir, filepath.Join(r.dir, "work"), filepath.Join(r.dir, "tmp")}
	for i, d := range dirs {
		if i > 0 {
			err = os.Mkdir(d, 0o700)
		}
		if err == nil && r.t.switchUser {
			err = os.Chown(d, r.uid, r.uid)
		}
		if err != nil {
			return err
		}
	}
	if r.root, err = unix.Open(r.dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err != nil {
		return fmt.Errorf("open directory of run: %w", err)
	}
	if r.work, err = unix.Open(dirs[1], unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err != nil {
		return fmt.Errorf("open work directory: %w", err)
	}
	r.line.own = ownFiles{dir: r.dir, uid: r.uid, other: r.t.switchUser, groups: r.t.groups}
	m := movesOf(dirs[1], dirs[2], spec.Mounts)
	r.spec = spec
	r.spec.Args, r.spec.Env = m.texts(spec.Args), m.texts(spec.Env)
	r.spec.Dir = dirs[1]
	if spec.Dir != "" {
		r.spec.Dir = m.text(spec.Dir)
	}
	var size judge.Bytes
	for _, f := range spec.Files {
		size += judge.Bytes(len(f.Data))
	}
	if size > r.lim.Disk || len(spec.Files) > r.lim.Inodes {
		return refusal(unix.ENOSPC, r.lim)
	}
	if r.empty, err = r.diskUse(); err != nil {
		return err
	}
	if err := putFiles(r.work, spec.Files, r.uid, r.t.switchUser); err != nil {
		return err
	}
	if _, err = r.diskUse(); errors.Is(err, errOverDisk) {
		err = refusal(unix.ENOSPC, r.lim)
	}
	return err
}

// rules are what the program may reach.
func (r *tracedRun) rules() []string {
	work := filepath.Join(r.dir, "work")
	rules := append([]string{"w" + work, "w" + filepath.Join(r.dir, "tmp")}, r.t.rules...)
	if r.spec.Sealed {
		rules[0] = "r" + work
		for _, name := range r.spec.open(work) {
			rules = append(rules, "d"+name)
		}
	}
	for _, m := range r.spec.Mounts {
		kind := "r"
		if strings.HasPrefix(m.Target, PipesDir+"/") {
			kind = "d" // there are pipes, which are read and written as devices are
		}
		rules = append(rules, kind+m.Source)
	}
	return rules
}

// start begins to trace. It returns when the launcher is on its way to the program.
func (r *tracedRun) start() (*launcher, error) {
	streams, closing, err := r.openStreams()
	defer func() { closeAll(closing) }() // ours; else the streams would never end
	if err != nil {
		return nil, err
	}
	if r.done, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return nil, err
	}
	if r.poller, err = newPoller(); err != nil {
		return nil, err
	}
	msg := r.t.launchMessage(programOf(r.spec, r.lim, r.t.hard, 0), r.rules(), r.uid)
	type begun struct {
		l   *launcher
		err error
	}
	began := make(chan begun)
	go onChildlessThread(nil, func() {
		l, err := launch(msg, streams)
		if err == nil {
			if err = l.seize(r.t.records); err != nil {
				l.abandon()
				err = errors.Join(err, l.close())
			}
		}
		if err != nil {
			began <- begun{nil, err}
			return
		}
		r.line.follow(l.pid)
		began <- begun{l, nil}
		r.line.trace()
		rawWrite(r.done, "\x01\x00\x00\x00\x00\x00\x00\x00")
		if r.line.stranger {
			runtime.LockOSThread() // the thread ends with its goroutine
		}
		close(r.over)
	})
	b := <-began
	return b.l, b.err
}

// onChildlessThread runs f on a thread that has no children and gets none but those that
// f makes: the tracer waits for whatever is its thread's. A thread may have children of
// other goroutines that ran there before, and the main thread inherits orphans. Such a
// thread is held until another one is found.
func onChildlessThread(found chan<- struct{}, f func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT|unix.WALL|unix.WNOTHREAD, nil)
	if !errors.Is(err, unix.ECHILD) || unix.Gettid() == os.Getpid() {
		next := make(chan struct{})
		go onChildlessThread(next, f)
		<-next
		if found != nil {
			close(found)
		}
		return
	}
	if found != nil {
		close(found)
	}
	f()
}

// openStreams is as a box's.
func (r *tracedRun) openStreams() (fds, closing []int, err error) {
	stdin := int(r.t.null.Fd())
	if r.spec.Stdin != nil {
		stdin = int(r.spec.Stdin.Fd())
		if err := noDirectory("stdin", stdin); err != nil {
			return nil, nil, err
		}
	}
	fds = append(fds, stdin)
	for i, s := range []Stream{r.spec.Stdout, r.spec.Stderr} {
		switch {
		case s.Merge:
			fds = append(fds, fds[1])
		case s.File != nil:
			fds = append(fds, int(s.File.Fd()))
		default:
			c, w, err := newCapture(s, r.spec.Limits.Output, func() { r.line.kill(killOutput) })
			if err != nil {
				return nil, closing, err
			}
			r.streams[i] = c
			fds, closing = append(fds, w), append(closing, w)
		}
	}
	return fds, closing, nil
}

// discard removes what there is of the run, in any state.
func (r *tracedRun) discard() error {
	var errs []error
	for _, c := range r.streams {
		if c != nil {
			rawClose(c.r)
		}
	}
	if r.poller != nil {
		errs = append(errs, r.poller.close())
	}
	for _, fd := range []int{r.done, r.root, r.work} {
		if fd >= 0 {
			rawClose(fd)
		}
	}
	if r.dir != "" {
		errs = append(errs, removeTree(r.dir))
	}
	return errors.Join(errs...)
}
