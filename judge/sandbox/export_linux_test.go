package sandbox

import (
	"errors"
	"time"

	"github.com/criyle/go-sandbox/ptracer"
)

// Traces names where something of a run could be left: the boxes' users and the
// directories of our cgroups.
func (s *Sandbox) Traces() (uids map[int]bool, groups []string) {
	uids = map[int]bool{}
	for _, sl := range s.slots {
		if s.privileged {
			uids[sl.uid] = true
		}
	}
	if s.cgroups != nil {
		for _, h := range s.cgroups.all {
			groups = append(groups, h.dir)
		}
	}
	return uids, groups
}

// DropAhead ends the boxes that were prepared for runs to come, which are processes of
// the boxes' users too. No run may be under way.
func (s *Sandbox) DropAhead() { s.dropFree(func(*ahead) bool { return true }) }

// SetAheadMax changes how long prepared boxes wait from the next one on, which all
// those that there are end for.
func (s *Sandbox) SetAheadMax(d time.Duration) {
	s.DropAhead()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.aheadMax = d
	if s.expiry != nil {
		s.expiry.Stop()
		s.expiry = nil
	}
}

// KillNursery ends the nursery of a slot, as the host's out-of-memory killer might.
func (s *Sandbox) KillNursery(slot int) error {
	if err := s.slots[slot].nursery.proc.Kill(); err != nil {
		return err
	}
	_, err := s.slots[slot].nursery.proc.Wait()
	return err
}

// Allow has the filter of boxes to come let calls through that it refuses. No run may be
// under way.
func (s *Sandbox) Allow(calls string) (err error) {
	if s.filter, err = assemble(fullRules.but([]callRule{{allow, calls, "what lies behind the filter is tested"}}, nil)); err != nil {
		return err
	}
	s.DropAhead()
	for _, sl := range s.slots { // its nursery has the old one
		if sl.nursery != nil {
			err = errors.Join(err, sl.reset())
		}
	}
	return err
}

// BreakTracers has the tracers of strict boxes panic at the first call they look at.
func (s *Sandbox) BreakTracers() { s.handler = brokenHandler{} }

type brokenHandler struct{}

func (brokenHandler) Handle(*ptracer.Context) ptracer.TraceAction { panic("broken") }
func (brokenHandler) Debug(...any)                                {}

// Nurseries are the processes that make boxes.
func (s *Sandbox) Nurseries() (pids []int) {
	for _, sl := range s.slots {
		if sl.nursery != nil {
			pids = append(pids, sl.nursery.proc.Pid)
		}
	}
	return pids
}

// Traces is as Sandbox's: the users of runs, none where it is our own, and where their
// directories are.
func (t *Traced) Traces() (uids map[int]bool, dir string) {
	uids = map[int]bool{}
	for i := range t.slots {
		if t.switchUser {
			uids[t.uidBase+i] = true
		}
	}
	return uids, t.dir.path
}
