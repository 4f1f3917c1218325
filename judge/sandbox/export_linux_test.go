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

// BoxFilter is boxFilter for tests of another package.
var BoxFilter = boxFilter
