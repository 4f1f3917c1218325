package sandbox

// Open makes the runner of the level that cfg names, as New does; see there for its
// errors. A level that this host cannot hold is refused.
func Open(cfg Config) (Boxes, error) {
	level, err := cfg.Isolation.level()
	if err != nil {
		return nil, err
	}
	if level == Ptrace {
		t, err := newTraced(cfg)
		if err != nil {
			return nil, err
		}
		return t, nil
	}
	s, err := New(cfg)
	if err != nil {
		return nil, err // not s: a nil *Sandbox is no nil Boxes
	}
	return s, nil
}
