package memprovider

import "github.com/durosim/durosim/engine"

// Lead overrides the store's choice of what the next fetch finds. With it a store can follow another store whose
// answers are known, and its observations then show what that store must have done. The fetch takes the given work even
// if the store's rules forbid it, so the observations show the breach. The zero value makes the fetch find nothing.
type Lead struct {
	// Instance is what an orchestration fetch delivers, with all its visible messages.
	Instance string
	// Work is what a work fetch delivers: the oldest row of this activity, preferably one that is free.
	Work *engine.ActivityExecuteItem
}

// Follow sets the lead for the next call. A fetch that cannot follow it, since there is no such instance with a visible
// message, or no such activity, finds nothing.
func (s *Store) Follow(l Lead) { s.lead = &l }

// followed returns the instance that the lead names.
func (s *Store) followed(list []*instance) []*instance {
	if in := s.known(s.lead.Instance); in != nil && len(in.visible) > 0 {
		list = append(list, in)
	}
	return list
}

// followedRow returns the row that the lead names, nil if there is none.
func (s *Store) followedRow() *row {
	want := s.lead.Work
	if want == nil {
		return nil
	}
	in := s.known(want.Instance)
	if in == nil {
		return nil
	}
	var found *row
	for _, r := range in.work {
		if r.execution != want.ExecutionID || r.activity != want.ID {
			continue
		}
		if r.visibleMs <= s.now && !r.lock.live(s.now) {
			return r
		}
		if found == nil {
			found = r
		}
	}
	return found
}
