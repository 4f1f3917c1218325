package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// Boxes prepared ahead: when a run's box is dead, its slot's nursery is asked for the
// next one, which stands by the time somebody wants it. Each is handed out at most
// once, to a run that needs exactly what it was made for; else it is ended. A slot has
// at most one. See docs/decisions/0006-boxes-prepared-ahead.md.

// defaultAheadMax is how long a prepared box waits for its run.
const defaultAheadMax = 30 * time.Second

// ahead is a box that was asked for and that nobody uses yet. The nursery's answer is
// read when somebody wants it.
type ahead struct {
	msg     []byte // PREPARE, which says all that it was made for
	control *socket
	made    time.Time
}

// has reports whether the slot's prepared box is one of key.
func (sl *slot) has(key []byte) bool {
	return sl.ahead != nil && bytes.Equal(sl.ahead.msg, forUser(key, sl.uid, sl.gid))
}

// suits reports whether no likely box goes to waste when the slot serves a run that
// needs key.
func (s *Sandbox) suits(sl *slot, key []byte) bool {
	return sl.has(key) || !sl.has(s.wanted.most())
}

// choose takes a free slot that suits, given the one whose turn it is, which it takes
// where there is none. Taking turns gives the nurseries time to prepare. Slots that it
// looks at are missing to others for the moment, who wait for them.
func (s *Sandbox) choose(sl *slot, key []byte) *slot {
	for range len(s.free) {
		if s.suits(sl, key) {
			break
		}
		select {
		case next := <-s.free:
			s.free <- sl
			sl = next
		default:
		}
	}
	return sl
}

// prepareAhead asks the slot's nursery for the box that is likeliest to be wanted next.
// Without one the next run makes its own, as it does when this fails.
func (s *Sandbox) prepareAhead(sl *slot) {
	key := s.wanted.most()
	if s.noAhead || key == nil || sl.nursery == nil || sl.ahead != nil {
		return
	}
	control, other, err := socketPair()
	if err != nil {
		s.log.Warn("no box is prepared", "error", err)
		return
	}
	defer rawClose(other)
	a := &ahead{msg: forUser(key, sl.uid, sl.gid), control: control, made: time.Now()}
	if err := sl.nursery.ask(a.msg, other); err != nil {
		control.close()
		s.log.Warn("no box is prepared", "error", errors.Join(err, sl.reset()))
		return
	}
	sl.ahead = a
	s.armExpiry()
}

// claimAhead takes the slot's prepared box for this run, if it has one that serves. ok
// is false when it has none, or had one that is of no use.
func (b *box) claimAhead(msg []byte) (ok bool, err error) {
	sl := b.slot
	a := sl.ahead
	if a == nil {
		return false, nil
	}
	if !bytes.Equal(a.msg, msg) {
		return false, sl.dropAhead()
	}
	if err := b.makeMeter(); err != nil {
		return false, err // the prepared one may yet serve another run
	}
	sl.ahead = nil
	r, pidfd, err := sl.nursery.answer(sl.poller)
	if err != nil { // the nursery died, or has said why there is no box
		a.control.close()
		return false, sl.reset()
	}
	if sl.nursery.alive() && alive(pidfd) && r.sources == b.plan.sources() {
		b.control = a.control
		b.setPidfd(pidfd)
		return true, nil
	}
	a.control.close()
	return false, sl.end(pidfd)
}

// alive reports whether the process of a pidfd is.
func alive(pidfd int) bool { return unix.PidfdSendSignal(pidfd, 0, nil, 0) == nil }

// dropAhead ends the slot's prepared box, if there is one, and waits for its end.
func (sl *slot) dropAhead() error {
	a := sl.ahead
	if a == nil {
		return nil
	}
	sl.ahead = nil
	defer a.control.close()
	_, pidfd, err := sl.nursery.answer(sl.poller)
	if err != nil { // there is none, or it dies with its nursery
		return sl.reset()
	}
	return sl.end(pidfd)
}

// end kills the box of a pidfd that no run uses, waits for its end and closes it.
func (sl *slot) end(pidfd int) error {
	defer rawClose(pidfd)
	unix.PidfdSendSignal(pidfd, unix.SIGKILL, nil, 0)
	dead, err := sl.poller.waitFor(pidfd, time.Now().Add(setupTimeout))
	switch {
	case err != nil:
		return fmt.Errorf("wait for prepared box: %w", err)
	case !dead:
		return errors.New("prepared box does not die")
	}
	return nil
}

// armExpiry has the sandbox look for prepared boxes that waited too long.
func (s *Sandbox) armExpiry() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.expiry == nil && !s.closed {
		s.expiry = time.AfterFunc(s.aheadMax, s.expire)
	}
}

// expire ends prepared boxes that waited too long; those of slots in use are claimed or
// dropped by their runs. So none waits longer than twice the time.
func (s *Sandbox) expire() {
	if !s.begin() {
		return
	}
	defer s.runs.Done()
	s.mu.Lock()
	s.expiry = nil
	old := time.Now().Add(-s.aheadMax)
	s.mu.Unlock()
	left := s.dropFree(func(a *ahead) bool { return a.made.Before(old) })
	if left {
		s.armExpiry()
	}
}

// dropFree ends the prepared boxes of free slots that old picks and reports whether
// there may be others: a slot in use may have one by the time that it is free.
func (s *Sandbox) dropFree(old func(*ahead) bool) (left bool) {
	free := len(s.free)
	left = free < len(s.slots)
	for range free {
		select {
		case sl := <-s.free:
			if sl.ahead == nil || old(sl.ahead) {
				if err := errors.Join(sl.dropAhead(), sl.dropSpare()); err != nil {
					s.log.Warn("prepared box is not ended", "error", err)
				}
			}
			left = left || sl.ahead != nil
			s.free <- sl
		default:
		}
	}
	return left
}

// sources is the nursery's sources_of in template_linux.c.
func (p *rootPlan) sources() uint64 {
	sum := uint64(0xcbf29ce484222325)
	for _, ops := range [][]operation{p.ops, p.own} {
		for _, op := range ops {
			var st unix.Stat_t
			if op.kind == opBind && unix.Stat(op.b, &st) == nil {
				sum = (sum ^ uint64(st.Dev)) * 0x100000001b3
				sum = (sum ^ st.Ino) * 0x100000001b3
			}
		}
	}
	return sum
}
