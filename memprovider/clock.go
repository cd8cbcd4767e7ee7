package memprovider

// setBack moves time backward. Work that was due may no longer be due, so setBack rebuilds the indexes, which takes
// time proportional to the size of the store.
func (s *Store) setBack(ms int64) {
	orchestrations, work := s.generation, s.workGeneration
	s.now = ms
	for _, in := range s.instances {
		in.demote(s.arena, ms)
		s.touch(in)
	}
	s.settle()
	for _, r := range s.rows {
		if r != nil && r.group != nil {
			s.placeWork(r)
		}
	}
	for _, x := range s.sessions {
		s.placeSession(x)
	}
	s.generation, s.workGeneration = orchestrations, work // callers retry once time has advanced
}

// demote moves messages that are not yet visible at time now from visible to delayed.
func (in *instance) demote(a *Arena, now int64) {
	for i := len(in.visible) - 1; i >= 0; i-- {
		if r := in.visible[i]; r.visibleMs > now {
			in.detach(r)
			in.attach(a, r, now)
		}
	}
}
