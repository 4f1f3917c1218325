package sandbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/criyle/go-sandbox/pkg/rlimit"
	"golang.org/x/sys/unix"

	"judgefarm/judge"
)

// How often memory is looked at where no cgroup bounds it: as seldom as a program
// that grows this fast, in bytes a second, allows, and no oftener than is of use.
const (
	fastestGrowth = 4 << 30
	shortestTally = time.Millisecond
	tallyShare    = 4 // at most a part in so many of PID 1's time goes into looking
)

// endTimeout is how long PID 1 may take to end its box before it is killed itself.
const endTimeout = 2 * time.Second

// tally is the meter of a box without a cgroup. PID 1 adds up what the kernel tells
// of each process; a perf event that all of them inherit counts CPU time where the
// kernel lets us have one.
type tally struct {
	limit   judge.Bytes
	counter int                  // the perf event, -1 where there is none
	setup   time.Duration        // CPU time of ours, which the event does not count
	counted time.Duration        // what it said then, with setup
	stolen  func() time.Duration // what the hypervisor took of the host since the start
	ended   bool                 // all of the box is dead
	last    usage                // as PID 1 told last
	lost    time.Duration        // seen once, and then in nobody's sum any more
	least   time.Duration        // the most that a sum was with lost: so much was surely used
	peak    judge.Bytes
	tasks   int64
	asked   time.Time // LOOK was sent and is not answered; zero: none is under way
}

// usage is what PID 1 added up; struct usage.
type usage struct {
	cpu          time.Duration
	user, system time.Duration // of those that were waited for
	anon, shared judge.Bytes
	tasks        int64
	largest      judge.Bytes // high-water mark of one process, files that it mapped included
	took         time.Duration
	hidden       time.Duration // so much of cpu may be missing
}

func parseUsage(b []byte) usage {
	n := func(i int) int64 { return int64(binary.NativeEndian.Uint64(b[8*i:])) }
	return usage{
		cpu: time.Duration(n(0)), user: time.Duration(n(1)), system: time.Duration(n(2)),
		anon: judge.Bytes(n(3)), shared: judge.Bytes(n(4)), tasks: n(5),
		largest: judge.Bytes(n(6)), took: time.Duration(n(7)), hidden: time.Duration(n(8)),
	}
}

// lookMessage and endMessage are struct look.
func lookMessage(limit judge.Bytes) []byte { return tallyMessage(msgLook, limit) }
func endMessage() []byte                   { return tallyMessage(msgEnd, 0) }

func tallyMessage(kind uint32, limit judge.Bytes) []byte {
	var m message
	m.u32(kind, 0)
	m.u64(uint64(limit))
	return m.buf
}

// taskLimit bounds the tasks of a box by RLIMIT_NPROC, which since Linux 5.14 the
// kernel counts for each user in each user namespace, and a box has one of its own;
// user_namespaces(7). Its PID 1 has the same user.
func taskLimit(tasks int, hard map[int]uint64) rlimit.RLimit {
	n := uint64(tasks) + 1
	if h, ok := hard[unix.RLIMIT_NPROC]; ok {
		n = min(n, h)
	}
	return rlimit.RLimit{Res: unix.RLIMIT_NPROC, Rlim: syscall.Rlimit{Cur: n, Max: n}}
}

func (t *tally) joinFiles() ([]int, error) { return nil, nil }
func (t *tally) usageFile() int            { return -1 }
func (t *tally) limitFile() (int, error)   { return -1, nil }

// cpu is the sum, unless the event says so much more that there were children that
// nobody waits for: its clock also runs while the core serves interrupts and the
// hypervisor, some percent on a full machine. Until the end it is the sum as PID 1
// told last, and woke looks at the event.
func (t *tally) cpu() (time.Duration, error) {
	if t.ended && t.counted > apart(t.least)+unwaited {
		return t.counted, nil
	}
	return t.least, nil
}

// add takes a sum. One that fell has lost children that nobody waited for: they used at
// least so much more, but for what of waited ones is hidden until it is a whole tick.
func (t *tally) add(u usage) {
	t.last = u
	t.lost += max(t.least-u.cpu-t.lost-u.hidden, 0)
	t.least = max(t.least, u.cpu+t.lost)
}

// unwaited is what the event must say beyond the sum, besides a twentieth of it; a
// limit is passed by the event alone when it says twice that beyond the limit, since
// the sum of the living lags by some ticks.
const unwaited = 10 * time.Millisecond

func apart(d time.Duration) time.Duration { return d + d/20 }

// count reads the event, less what a hypervisor took of the host: with a fifth of two
// cores taken, a burn of 500 ms was reported as up to 620.
func (t *tally) count() error {
	if t.counter < 0 {
		return nil
	}
	var b [8]byte
	if n, err := rawRead(t.counter, b[:]); err != nil || n != len(b) {
		return fmt.Errorf("read CPU counter of box: %d bytes, %w", n, err)
	}
	t.counted = t.setup + time.Duration(binary.NativeEndian.Uint64(b[:]))
	if t.counted > apart(t.least)+unwaited {
		t.counted = max(t.counted-t.stolen(), t.least)
	}
	return nil
}

// overCPU reports whether a limit is passed. What the event said then stays: the hypervisor
// may be found to have taken more by the end, and a box that was ended for its CPU time
// must not be one that used less.
func (t *tally) overCPU(limit, setup time.Duration) bool {
	if t.counted-setup > apart(limit)+2*unwaited {
		t.least = max(t.least, t.counted)
	}
	return t.least-setup > limit
}

func (t *tally) split(total time.Duration) (user, system time.Duration) {
	u, s := t.last.user, t.last.system
	if u+s == 0 {
		return total, 0
	}
	user = time.Duration(float64(total) * (float64(u) / float64(u+s)))
	return user, total - user
}

// sample asks PID 1; the answer wakes the watcher.
func (t *tally) sample(b *box, now time.Time) error {
	if !t.asked.IsZero() {
		if now.After(t.asked.Add(setupTimeout)) {
			return errors.New("box does not tell what it uses")
		}
		return nil
	}
	t.asked = now
	err := b.control.send(lookMessage(t.limit))
	if errors.Is(err, unix.EPIPE) || errors.Is(err, unix.ECONNRESET) { // it is dying
		return nil
	}
	return err
}

func (t *tally) noise() exitNoise { return noExitNoise }

func (t *tally) waker(b *box) int { return b.control.fd }

// woke hears PID 1 and compares what it told with the limits.
func (t *tally) woke(b *box, next time.Time) (time.Time, error) {
	for {
		err := b.hear()
		switch {
		case err == nil:
			continue
		case errors.Is(err, io.EOF):
			return next, b.slot.poller.remove(b.control.fd)
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return next, err
		}
		break
	}
	if b.oomEvent {
		b.kill(killMemory) // PID 1 did so when it told
	}
	if b.started.IsZero() || b.end.seen || b.killer() != "" {
		return next, nil
	}
	if t.overCPU(b.spec.Limits.CPU, b.setupCPU) {
		b.kill(killCPU)
	}
	return b.nextLook(time.Now(), max(t.least, t.counted)-b.setupCPU), nil
}

// told takes the counter, or a sum.
func (t *tally) told(b *box, r reply, fd int) error {
	if r.kind == msgStarted || r.kind == msgExecFailed {
		t.setup, t.counter = time.Duration(r.setupNS), fd
		t.stolen = func() time.Duration { return b.s.host.stolenSince(b.hostAtStart) }
		b.s.uncounted.Store(fd < 0)
	} else if fd >= 0 {
		rawClose(fd)
	}
	if r.kind == msgStarted {
		return nil
	}
	t.asked = time.Time{}
	t.add(r.usage)
	sum := t.last.anon + t.last.shared // at the end of what outlives the processes
	b.oomEvent = b.oomEvent || sum > t.limit
	t.peak = max(t.peak, sum)
	t.tasks = max(t.tasks, t.last.tasks)
	if r.kind == msgUsage {
		b.keep(t.last.anon, t.last.shared)
	}
	return t.count()
}

func (t *tally) within(sleep time.Duration) time.Duration {
	room := max(t.limit-t.last.anon-t.last.shared, 0)
	wait := time.Duration(float64(room) / fastestGrowth * float64(time.Second))
	return min(sleep, max(wait, shortestTally, tallyShare*t.last.took))
}

// end is called before anything else is told to end: the sums of a box that the
// kernel kills are nobody's.
func (t *tally) end(b *box) bool {
	if b.sent.IsZero() {
		return false
	}
	if b.ending.IsZero() {
		b.ending = time.Now()
		return b.control.send(endMessage()) == nil
	}
	return true
}

// roomForStack lies above the memory limit where the stack has no limit of its own:
// else recursion without end would reach a stack as large as memory now before and
// now after memory was looked at.
const roomForStack = 256 * judge.MiB

// endHard kills a box that was asked to end and does not.
func (b *box) endHard(now time.Time) {
	if !b.ending.IsZero() && now.After(b.ending.Add(endTimeout)) {
		b.kill(killCancel) // the reason stays the first
	}
}

// measure reports the sampled peak, or the largest process's high-water mark where
// that is more: a short run is never sampled. The mark has pages of program files in
// it and decides nothing.
func (t *tally) measure(r *Report) error {
	r.Memory = max(t.peak, min(t.last.largest, t.limit))
	r.Evidence.Peak = r.Memory
	r.Evidence.ForksRefused = -1
	r.Evidence.TasksPeak = max(t.tasks, -1)
	t.ended = true
	return t.count()
}

func (t *tally) remove() error {
	if t.counter >= 0 {
		rawClose(t.counter)
		t.counter = -1
	}
	return nil
}
