package memprovider

import "github.com/durosim/durosim/engine"

// Lead overrides what the next fetch finds. It lets a store follow another store whose answers are known, so that its
// observations show what the other store must have done. The fetch takes the given work even if the store's rules
// forbid it, and the observations then show the violation. With the zero value, the fetch finds nothing.
type Lead struct {
	// Instance is the instance that an orchestration fetch delivers, with all its visible messages.
	Instance string
	// Work is the activity that a work fetch delivers. If it has several rows, the fetch takes the oldest, preferably
	// one that is not locked.
	Work *engine.ActivityExecuteItem
}

// Follow sets the lead for the next call. If a fetch cannot follow the lead, because there is no such activity or no
// such instance with a visible message, it finds nothing.
func (s *Store) Follow(l Lead) { s.lead = &l }

// followed returns the instance named by the lead.
func (s *Store) followed(list []*instance) []*instance {
	if in := s.known(s.lead.Instance); in != nil && len(in.visible) > 0 {
		list = append(list, in)
	}
	return list
}

// followedRow returns the row named by the lead, or nil.
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
