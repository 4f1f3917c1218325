package sandbox

// Traces names where something of a run could be left: the boxes' users and the
// directories of our cgroups.
func (s *Sandbox) Traces() (uids map[int]bool, groups []string) {
	uids = map[int]bool{}
	for _, sl := range s.slots {
		if s.privileged {
			uids[sl.uid] = true
		}
	}
	for _, h := range s.cgroups.all {
		groups = append(groups, h.dir)
	}
	return uids, groups
}

// KillNursery ends the nursery of a slot, as the host's out-of-memory killer might.
func (s *Sandbox) KillNursery(slot int) error {
	if err := s.slots[slot].nursery.proc.Kill(); err != nil {
		return err
	}
	_, err := s.slots[slot].nursery.proc.Wait()
	return err
}
